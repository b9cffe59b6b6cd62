"""What worst cases have in common: statements that make them, and levels that lie on the right side of a limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, Protocol

import numpy as np

from showthrough.table.arrays import Reals

ASSUMPTION = (
    "The reader knows who is in which group and takes all assignments of the published values to the persons of a "
    "group for equally likely (random worlds, not maximum entropy)."
)
ROUNDED = 1e-13
"""Levels that differ by less from the highest are that one."""
NEAR = 1e-9
"""Floating point decides what is further than this from a limit; fractions decide the rest."""


@dataclass(frozen=True)
class Hint:
    """One piece of knowledge: a person by its number within a group (the target is 0), and a value by its code."""

    kind: str  # "target", "excluded", "implies", "known" or "family"
    group: int
    person: int
    value: int


class WorstLevels(Protocol):
    """The worst case of every group of a release: the largest P(value | person) of anybody in it."""

    @property
    def level(self) -> Reals:
        """In floating point, group by group."""

    def exactly(self, group: int) -> Fraction:
        """As a fraction, of one group."""

    def knowledge(self, group: int) -> list[Hint]:
        """Statements that reach it: first the value in question, then what the reader knows."""


def worst_group(worst: WorstLevels) -> tuple[int, Fraction]:
    """The group with the largest level, by fractions where floating point cannot tell, and that level."""
    level = worst.level
    close = np.flatnonzero(level >= level.max() - NEAR).tolist()
    best, found = -1, Fraction(-1)
    for group in close:
        if (p := worst.exactly(group)) > found:
            best, found = group, p
        if found == 1:
            break
    return best, found


def beside_limit(level: Reals, exactly: Callable[[int], Fraction], c: Any) -> Reals:
    """Levels such that ``level < c`` is true exactly where the fraction behind it is below ``c``."""
    limit = as_written(c)
    nearest = float(limit)
    top = int(level.argmax())
    told = np.where(level[top] - level <= ROUNDED, float(exactly(top)), level)
    for group in np.flatnonzero(np.abs(level - nearest) <= NEAR).tolist():
        p = exactly(group)
        told[group] = min(float(p), np.nextafter(nearest, 0)) if p < limit else max(float(p), nearest)
    return told


def as_written(c: Any) -> Fraction:
    """A limit as people write it: 0.1 is a tenth.

    >>> as_written(0.1), as_written(Fraction(1, 3))
    (Fraction(1, 10), Fraction(1, 3))
    """
    return Fraction(c) if isinstance(c, Rational) else Fraction(repr(float(c)))


def sure(ratio: Any) -> Any:
    """P = 1/(1 + r), where r is what speaks against a value over what speaks for it."""
    return 1 / (1 + ratio)
