"""m-uniqueness: every group has at least m persons, all with different values.

Xiao and Tao, *m-Invariance: Towards Privacy Preserving Re-publication of Dynamic Datasets*,
SIGMOD 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import Criterion, at_least, text
from showthrough.criteria.parameters import whole
from showthrough.table.arrays import Flags, Reals


@dataclass(frozen=True)
class MUniqueness(Criterion):
    """Every group has at least ``m`` persons, all with different values."""

    m: int
    name: ClassVar[str] = "m-uniqueness"
    citation: ClassVar[str] = "Xiao and Tao, SIGMOD 2007"

    def __post_init__(self) -> None:
        whole(self.name, "m", self.m)

    def __str__(self) -> str:
        return f"{self.m}-uniqueness"

    def level(self, counts: GroupCounts) -> Reals:
        """Persons in the group, or 0 if two of them share a value."""
        level: Reals = np.where(counts.largest <= 1, counts.size, 0).astype(np.float64)
        return level

    def met(self, level: Reals) -> Flags:
        """At least m."""
        return at_least(level, self.m)

    def says(self, level: float) -> str:
        """The smallest group, or that a value is repeated."""
        if level == 0:
            return "In some group a value occurs more than once."
        return f"No group repeats a value; the smallest has {text(level)}."
