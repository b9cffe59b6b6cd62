"""Risk and uniqueness of a release record by record."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction


def mean_risk(cells: Sequence[Hashable]) -> Fraction:
    """The mean over the records of one over the records with the same cells."""
    return sum((Fraction(1, sum(other == own for other in cells)) for own in cells), Fraction(0)) / len(cells)


def share_alone(cells: Sequence[Hashable]) -> Fraction:
    """The share of records whose cells nobody else has."""
    return Fraction(sum(sum(other == own for other in cells) == 1 for own in cells), len(cells))
