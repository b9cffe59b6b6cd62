"""What every group must satisfy: at least k rows and, where asked, a predicate on its sensitive values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.criteria.counts import GroupCounts
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import starts

Allowed = Callable[[GroupCounts], Flags]


@dataclass(frozen=True)
class Requirement:
    """``k`` rows per group, and ``allowed(counts)`` true for every group when it is given."""

    k: int
    sensitive: Codes | None = None
    allowed: Allowed | None = None
    population: Ints | None = None
    """Rows of each sensitive value in the whole table, when ``sensitive`` covers only a part of it."""
    labels: pl.Series | None = None
    """The sensitive values by code, for criteria that look at more than equality."""

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(f"k must be at least 1, found {self.k}.")
        if self.allowed is not None and self.sensitive is None:
            raise InputError("A criterion on sensitive values needs the sensitive column.")

    @property
    def plain(self) -> bool:
        """True when only the number of rows matters."""
        return self.allowed is None

    @cached_property
    def total(self) -> Ints:
        """Rows of each sensitive value in the whole table."""
        if self.population is not None:
            return self.population
        if self.sensitive is None:
            return np.zeros(0, dtype=np.int64)
        return np.bincount(self.sensitive).astype(np.int64)

    def part(self, rows: Ints) -> Requirement:
        """The same requirement on some rows of the table; the whole table stays the reference."""
        if self.sensitive is None:
            return self
        return Requirement(self.k, self.sensitive[rows], self.allowed, self.total, self.labels)

    def met(self, group: npt.NDArray[np.integer], groups: int) -> Flags:
        """For each group code below ``groups`` (one code per row of the table): is the requirement satisfied?"""
        met: Flags = np.bincount(group, minlength=groups) >= self.k
        if self.plain or self.sensitive is None or not met.any():
            return met
        chosen = np.flatnonzero(met)
        position = np.full(groups, -1, dtype=np.int64)
        position[chosen] = np.arange(len(chosen))
        inside = met[group]
        met[chosen] = self.judge(position[group[inside]], self.sensitive[inside], len(chosen))
        return met

    def judge(
        self,
        group: npt.NDArray[np.integer],
        sensitive: npt.NDArray[np.integer],
        groups: int,
        *,
        weight: Ints | None = None,
    ) -> Flags:
        """The predicate alone, on records given by group, value and weight; every group must have a record."""
        if self.allowed is None:
            return np.ones(groups, dtype=bool)
        counts = count_groups(group, sensitive, groups=groups, total=self.total, weight=weight)
        return self.allowed(counts if self.labels is None else counts.named(self.labels))

    def judge_counts(self, start: Ints, value: Ints, count: Ints) -> Flags:
        """The predicate alone, on groups given by their counts of values, as `GroupCounts` keeps them."""
        if self.allowed is None:
            return np.ones(len(start) - 1, dtype=bool)
        return self.allowed(GroupCounts.trusted(start, value.astype(np.int32), count, self.total, self.labels))


def count_groups(
    group: npt.NDArray[np.integer],
    sensitive: npt.NDArray[np.integer],
    *,
    groups: int,
    total: Ints,
    weight: Ints | None = None,
) -> GroupCounts:
    """Counts of the sensitive values of each group."""
    values = max(1, len(total))
    key = group.astype(np.int64) * values + sensitive
    if groups * values <= 4 * len(key) + 1024:  # dense enough: counting is cheaper than sorting
        dense = np.bincount(key, weights=weight, minlength=groups * values)
        cell = np.flatnonzero(dense)
        count = dense[cell]
    else:
        cell, inverse = np.unique(key, return_inverse=True)
        count = np.bincount(inverse, weights=weight)
    start = starts(np.bincount(cell // values, minlength=groups))
    return GroupCounts.trusted(start, (cell % values).astype(np.int32), count.astype(np.int64), total)
