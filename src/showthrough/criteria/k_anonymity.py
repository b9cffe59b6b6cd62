"""k-anonymity: every group has at least k persons.

Samarati, *Protecting Respondents' Identities in Microdata Release*, TKDE 13(6), 2001;
Sweeney, *k-Anonymity: A Model for Protecting Privacy*, IJUFKS 10(5), 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from showthrough.criteria.counts import Counted, GroupCounts
from showthrough.criteria.criterion import Criterion, at_least, persons
from showthrough.criteria.parameters import whole
from showthrough.table.arrays import Flags, Reals


@dataclass(frozen=True)
class KAnonymity(Criterion):
    """Every group has at least ``k`` persons.

    Counterfeits count: the size of a group is what is published. Where they are declared, the
    sentence says how many persons the smallest group has without them.
    """

    k: int
    name: ClassVar[str] = "k-anonymity"
    citation: ClassVar[str] = "Samarati, TKDE 2001; Sweeney, IJUFKS 2002"
    needs_values: ClassVar[bool] = False

    def __post_init__(self) -> None:
        whole(self.name, "k", self.k)

    def __str__(self) -> str:
        return f"{self.k}-anonymity"

    def level(self, counts: GroupCounts) -> Reals:
        """Persons in the group."""
        return counts.size.astype(np.float64)

    def met(self, level: Reals) -> Flags:
        """At least k."""
        return at_least(level, self.k)

    def says(self, level: float) -> str:
        """The size of the smallest group."""
        return f"The smallest group has {persons(int(level))}."

    def told(self, level: float, counted: Counted) -> str:
        """The size of the smallest group, as published and without counterfeits."""
        if counted.real is None:
            return self.says(level)
        fake = int(counted.counts.size.sum() - counted.real.sum())
        of_nobody = "1 counterfeit" if fake == 1 else f"{fake} counterfeits"
        return (
            f"The smallest group has {int(level)} published {'record' if level == 1 else 'records'}; without the "
            f"{of_nobody} of this release the smallest has {persons(int(counted.real.min()))}."
        )
