"""Measures that look at the sizes of groups alone."""

from __future__ import annotations

from showthrough.criteria.parameters import whole
from showthrough.errors import InputError
from showthrough.table.arrays import Ints


def discernibility(sizes: Ints, *, suppressed: int = 0) -> int:
    """Σ |G|² + n · suppressed (Bayardo and Agrawal, ICDE 2005), with n all rows; smaller is better."""
    rows = int(sizes.sum()) + suppressed
    return int((sizes.astype(object) ** 2).sum() if sizes.size else 0) + rows * suppressed


def average_size(sizes: Ints) -> float:
    """Kept rows per group."""
    if not sizes.size:
        raise InputError("All rows are suppressed: there is no group whose size could be averaged.")
    return float(sizes.mean())


def c_avg(sizes: Ints, k: int) -> float:
    """Kept rows/(groups · k) (LeFevre, DeWitt, Ramakrishnan, ICDE 2006); 1 is the best that k allows."""
    whole("C_avg", "k", k)
    return average_size(sizes) / k
