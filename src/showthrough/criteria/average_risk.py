"""Criteria on a release as a whole: the average re-identification risk, and how many are unique.

El Emam, *Guide to the De-Identification of Personal Health Information*, CRC Press 2013: a record of a group of f is
found with probability 1/f, so u groups of n records give u/n on average; records alone in their group are unique. Which
share of a population is unique is estimated from a sample by the rule of Dankar et al. (`uniqueness.py`).

The level of a group is its own risk 1/f, from which figures of the release follow; a release that fails does so
because of the groups that are listed.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import ROUNDING, Criterion, at_most, text
from showthrough.criteria.parameters import number
from showthrough.criteria.uniqueness import estimated
from showthrough.table.arrays import Flags, Ints, Reals


class _OfWhole(Criterion):
    """What both have in common: groups by their own risk, judged together."""

    most: float
    more_is_better: ClassVar[bool] = False
    needs_values: ClassVar[bool] = False
    of_groups: ClassVar[bool] = False

    def level(self, counts: GroupCounts) -> Reals:
        """The risk of a record of the group."""
        return 1 / counts.size

    @abstractmethod
    def _blamed(self, level: Reals) -> Flags:
        """The groups that raise the figure of the release above the limit."""

    def met(self, level: Reals) -> Flags:
        """All groups if the release keeps the limit, otherwise those that are not to blame."""
        kept = level.size == 0 or bool(at_most(np.array([self.worst(level)]), self.most)[0])
        return np.ones(level.size, dtype=bool) if kept else ~self._blamed(level)


@dataclass(frozen=True)
class AverageRisk(_OfWhole):
    """A record is found with probability ``most`` on average, or less: groups over records."""

    most: float
    name: ClassVar[str] = "average risk"
    citation: ClassVar[str] = "El Emam, CRC Press 2013"

    def __post_init__(self) -> None:
        number(self.name, "most", self.most, least=0, most=1, above=0)

    def __str__(self) -> str:
        return f"average risk of at most {text(self.most)}"

    @property
    def k(self) -> int:
        """Groups of so many records keep the limit, whatever their number."""
        return int(np.ceil((1 - ROUNDING) / self.most))

    def worst(self, level: Reals) -> float:
        """Groups over records."""
        return level.size / int(_sizes(level).sum())

    def says(self, level: float) -> str:
        """The average risk."""
        return f"A record is found with probability {text(level)} on average."

    def _blamed(self, level: Reals) -> Flags:
        return level > self.most


@dataclass(frozen=True)
class Uniqueness(_OfWhole):
    """At most a share ``most`` of the records is alone in its group.

    With ``sampling_fraction``, the share of the population that was sampled: at most that share of the population is
    unique, as estimated by the rule of Dankar et al.
    """

    most: float
    sampling_fraction: float | None = None
    name: ClassVar[str] = "uniqueness"
    citation: ClassVar[str] = "El Emam, CRC Press 2013; Dankar, El Emam, Neisa, Roffey, BMC Med. Inform. 2012"

    def __post_init__(self) -> None:
        number(self.name, "most", self.most, least=0, most=1)
        if self.sampling_fraction is not None:
            number(self.name, "sampling_fraction", self.sampling_fraction, least=0, most=1, above=0)

    def __str__(self) -> str:
        if self.sampling_fraction is None:
            return f"share of unique records of at most {text(self.most)}"
        return f"share of unique persons in the population of at most {text(self.most)}"

    @property
    def k(self) -> int:
        """Groups of so many records keep the limit, whatever their number."""
        return 1 if self.most >= 1 else 2

    def worst(self, level: Reals) -> float:
        """The share of the records, or of the population, that is unique."""
        size = _sizes(level)
        if self.sampling_fraction is not None:
            return estimated(size, self.sampling_fraction).share
        return int((size == 1).sum()) / int(size.sum())

    def says(self, level: float) -> str:
        """The share that is unique."""
        if self.sampling_fraction is None:
            return f"{100 * level:.3g} % of the records are unique."
        return (
            f"About {100 * level:.3g} % of the population are unique, if a share of {text(self.sampling_fraction)} "
            "of it was sampled."
        )

    def _blamed(self, level: Reals) -> Flags:
        return level >= 1


def _sizes(level: Reals) -> Ints:
    """Records of each group, from their risk."""
    return np.rint(1 / level).astype(np.int64)
