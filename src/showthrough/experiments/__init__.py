"""Experiments of papers, to be run again: one row each, with the figures that can be asked for.

A new experiment is one file per figure (a `PaperFigure`), a row in `EXPERIMENTS`, and its bands in ``bands.toml``.
"""

from __future__ import annotations

from showthrough.experiments.colouring_grid import ColouringGrid
from showthrough.experiments.diverse_partitions import DiversePartitions
from showthrough.experiments.experiment import Experiment
from showthrough.experiments.growing_records import GrowingRecords
from showthrough.experiments.guided_releases import GuidedReleases
from showthrough.experiments.independent_releases import IndependentReleases
from showthrough.experiments.intersection_breach import IntersectionBreach
from showthrough.experiments.partition_models import PartitionModels
from showthrough.experiments.partition_sizes import AnonymityDrop, PartitionSizes
from showthrough.experiments.proximity_examples import ProximityExample
from showthrough.experiments.publishing_courses import PublishingCourses
from showthrough.experiments.shared_records import SharedRecords

EXPERIMENTS: dict[str, Experiment] = {
    one.name: one
    for one in (
        Experiment(
            name="inference-analysis",
            paper="Wang, Zhu, Du, Teng: Inference Analysis in Privacy-Preserving Data Re-publishing. ICDM 2008.",
            says="What two releases of one table tell together: maximum entropy over both, beside each alone",
            figures={"2": IndependentReleases, "3": GuidedReleases, "4": SharedRecords, "5": GrowingRecords},
        ),
        Experiment(
            name="composition-attacks",
            paper="Ganta, Kasiviswanathan, Smith: Composition Attacks and Auxiliary Information in Data Privacy. "
            "KDD 2008.",
            says="What two independent releases of overlapping populations give away by the values they have in common",
            figures={"1": IntersectionBreach, "2": PartitionSizes, "3": AnonymityDrop, "4": DiversePartitions},
        ),
        Experiment(
            name="xcolor",
            paper="Wang, Liu: XColor: Protecting General Proximity Privacy. ICDE 2010.",
            says="Groups without near values: the paper's example, and where it can be had on numbers of real tables",
            figures={"1": ProximityExample, "": ColouringGrid},
        ),
        Experiment(
            name="partition-models",
            paper="T. Allard: Partition-Based Models and Algorithms for Privacy-Preserving Data Publishing. 2023.",
            says="k-anonymity, Bayes-optimal privacy and l-diversity on tables small enough to follow by hand",
            figures={"": PartitionModels},
        ),
        Experiment(
            name="beyond",
            paper="No paper's: the histories of all of them, by groups, with a look at the past, and with noise.",
            says="Why the joint view matters: ten releases, each nearly harmless alone, by five ways to publish",
            figures={"": PublishingCourses},
        ),
    )
}
"""By the name that the command takes."""
