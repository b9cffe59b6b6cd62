"""Experiments of papers, to be run again: one row each, with the figures that can be asked for.

A new experiment is one file per figure (a `PaperFigure`), a row in `EXPERIMENTS`, and its bands in ``bands.toml``.
"""

from __future__ import annotations

from showthrough.experiments.diverse_partitions import DiversePartitions
from showthrough.experiments.experiment import Experiment
from showthrough.experiments.independent_releases import IndependentReleases
from showthrough.experiments.intersection_breach import IntersectionBreach
from showthrough.experiments.partition_sizes import AnonymityDrop, PartitionSizes

EXPERIMENTS: dict[str, Experiment] = {
    one.name: one
    for one in (
        Experiment(
            name="inference-analysis",
            paper="Wang, Zhu, Du, Teng: Inference Analysis in Privacy-Preserving Data Re-publishing. ICDM 2008.",
            says="What two releases of one table tell together: maximum entropy over both, beside each alone",
            figures={"2": IndependentReleases},
        ),
        Experiment(
            name="composition-attacks",
            paper="Ganta, Kasiviswanathan, Smith: Composition Attacks and Auxiliary Information in Data Privacy. "
            "KDD 2008.",
            says="What two independent releases of overlapping populations give away by the values they have in common",
            figures={"1": IntersectionBreach, "2": PartitionSizes, "3": AnonymityDrop, "4": DiversePartitions},
        ),
    )
}
"""By the name that the command takes."""
