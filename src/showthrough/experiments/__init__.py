"""Experiments of papers, to be run again: one row each, with the figures that can be asked for.

A new experiment is one file per figure (a `PaperFigure`), a row in `EXPERIMENTS`, and its bands in ``bands.toml``.
"""

from __future__ import annotations

from showthrough.experiments.experiment import Experiment
from showthrough.experiments.growing_records import GrowingRecords
from showthrough.experiments.guided_releases import GuidedReleases
from showthrough.experiments.independent_releases import IndependentReleases
from showthrough.experiments.partition_models import PartitionModels
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
            name="partition-models",
            paper="T. Allard: Partition-Based Models and Algorithms for Privacy-Preserving Data Publishing. 2023.",
            says="k-anonymity, Bayes-optimal privacy and l-diversity on tables small enough to follow by hand",
            figures={"": PartitionModels},
        ),
    )
}
"""By the name that the command takes."""
