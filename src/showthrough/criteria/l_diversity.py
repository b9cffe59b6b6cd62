"""l-diversity: every group has l well-represented values, in four readings.

Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, *l-Diversity: Privacy Beyond k-Anonymity*,
ICDE 2006 (TKDD 2007). Frequency l-diversity as in Xiao and Tao, *Anatomy*, VLDB 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import ROUNDING, Criterion, at_least, below, text
from showthrough.criteria.parameters import number, whole
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.ragged import running

CITATION = "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, ICDE 2006"


@dataclass(frozen=True)
class DistinctLDiversity(Criterion):
    """Every group has at least ``l`` different values."""

    l: int
    name: ClassVar[str] = "distinct l-diversity"
    citation: ClassVar[str] = CITATION

    def __post_init__(self) -> None:
        whole("Distinct l-diversity", "l", self.l)

    def __str__(self) -> str:
        return f"distinct {self.l}-diversity"

    def level(self, counts: GroupCounts) -> Reals:
        """Different values in the group."""
        return counts.distinct.astype(np.float64)

    def met(self, level: Reals) -> Flags:
        """At least l."""
        return at_least(level, self.l)

    def says(self, level: float) -> str:
        """The fewest values of any group."""
        return f"The least diverse group has {text(level)} different value{'' if level == 1 else 's'}."


@dataclass(frozen=True)
class FrequencyLDiversity(Criterion):
    """No value makes up more than 1/``l`` of its group."""

    l: float
    name: ClassVar[str] = "frequency l-diversity"
    citation: ClassVar[str] = "Xiao and Tao, VLDB 2006"

    def __post_init__(self) -> None:
        number("Frequency l-diversity", "l", self.l, least=1)

    def __str__(self) -> str:
        return f"frequency {text(self.l)}-diversity"

    def level(self, counts: GroupCounts) -> Reals:
        """Persons in the group for each one with its most frequent value."""
        return counts.size / counts.largest

    def met(self, level: Reals) -> Flags:
        """At least l."""
        return at_least(level, self.l)

    def says(self, level: float) -> str:
        """The largest share of any value."""
        return f"Whoever guesses a person's value from its group is right with probability {text(1 / level)} at most."


@dataclass(frozen=True)
class EntropyLDiversity(Criterion):
    """The entropy of every group is at least log ``l``."""

    l: float
    name: ClassVar[str] = "entropy l-diversity"
    citation: ClassVar[str] = CITATION

    def __post_init__(self) -> None:
        number("Entropy l-diversity", "l", self.l, least=1)

    def __str__(self) -> str:
        return f"entropy {text(self.l)}-diversity"

    def level(self, counts: GroupCounts) -> Reals:
        """Exp of the entropy: so many equally frequent values would be as uncertain."""
        return diversity(counts.size, counts.sums(counts.count * _log(counts.count)))

    def met(self, level: Reals) -> Flags:
        """At least l."""
        return at_least(level, self.l)

    def says(self, level: float) -> str:
        """How many equally frequent values would be as uncertain."""
        return (
            f"The least uncertain group is as uncertain as {text(level)} equally frequent "
            f"value{'' if level == 1 else 's'}."
        )


@dataclass(frozen=True)
class RecursiveLDiversity(Criterion):
    """In every group r₁ < ``c``·(r_l + … + r_m), with the counts of its values in descending order."""

    c: float
    l: int
    name: ClassVar[str] = "recursive (c,l)-diversity"
    citation: ClassVar[str] = CITATION
    more_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number("Recursive (c,l)-diversity", "c", self.c, above=0)
        whole("Recursive (c,l)-diversity", "l", self.l)

    def __str__(self) -> str:
        return f"recursive ({text(self.c)},{self.l})-diversity"

    def level(self, counts: GroupCounts) -> Reals:
        """The c that must be exceeded: r₁/(r_l + … + r_m); infinite with fewer than l values."""
        with np.errstate(divide="ignore"):
            return counts.largest / tail(counts, self.l)

    def met(self, level: Reals) -> Flags:
        """Below c."""
        return below(level, self.c)

    def says(self, level: float) -> str:
        """The c that is needed for this l."""
        if np.isinf(level):
            return f"Some group has fewer than {self.l} different values, so no c is large enough."
        return f"With l = {self.l} it holds for every c above {text(level)}."


def tail(counts: GroupCounts, l: int) -> Ints:
    """r_l + … + r_m of each group, the counts from the l-th most frequent value on; 0 with fewer values."""
    total = running(counts.descending)
    end = counts.start[1:]
    found: Ints = total[end] - total[np.minimum(counts.start[:-1] + l - 1, end)]
    return found


def diversity(size: Ints, logs: Reals) -> Reals:
    """The exponential of the entropy ln N − (Σ r·ln r)/N from N and Σ r·ln r; whole numbers are met exactly."""
    level = size * np.exp(-logs / size)
    whole = np.round(level)
    close: Reals = np.where(np.abs(level - whole) <= ROUNDING * whole * (1 + np.log(size)), whole, level)
    return close


def _log(count: Ints) -> Reals:
    """Logarithm of each count; most counts are small, so a table is faster than the function."""
    top = int(count.max()) if count.size else 0
    if top > 4 * count.size + 64:
        return np.log(count)
    found: Reals = np.log(np.maximum(np.arange(top + 1), 1))[count]
    return found
