"""Least and greatest levels: how exactly and how coarsely a column may be published.

The least level makes its labels the values that a method sees. The greatest one is kept by parts: rows under different
labels of that level are never in one group, so no label above it is ever needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from showthrough.anonymizers.quasi_columns import QuasiColumn, combined_key
from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from showthrough.numerals import number_of
from showthrough.table.arrays import Codes, Ints
from showthrough.table.ragged import starts

Recoder = Callable[[Sequence[QuasiColumn], Requirement, int], Codes]


def bounded(column: QuasiColumn, ends: Any) -> QuasiColumn:
    """The column with its least and greatest level; level 0 are the values themselves, either end may be None."""
    if ends is None:
        return column
    top = len(column.levels) if column.shown == "label" else 0
    if isinstance(ends, (str, bytes)) or not isinstance(ends, Sequence) or len(ends) != 2:
        raise InputError(f"levels of column {column.name!r}: expected a least and a greatest one, such as (0, 2).")
    least, greatest = (0 if ends[0] is None else ends[0]), (top if ends[1] is None else ends[1])
    whole = all(isinstance(end, (int, np.integer)) and not isinstance(end, bool) for end in (least, greatest))
    if not whole or not 0 <= least <= greatest <= top:
        has = f"has levels 0 to {top}" if top else "has no hierarchy that it is published by: its only level is 0"
        raise InputError(
            f"Column {column.name!r} {has}; a least and a greatest one of these are expected.", parameters=("levels",)
        )
    if ends[1] is None and not top:
        return column
    return replace(column, least=int(least), greatest=int(greatest))


def grounded(column: QuasiColumn) -> QuasiColumn:
    """The column with the labels of its least level as values."""
    if not column.least:
        return column
    at = column.levels[column.least - 1]
    leaf = np.unique(at, return_index=True)[1]
    above = tuple(level[leaf] for level in column.levels[column.least :])
    return QuasiColumn(
        column.name,
        at[column.codes].astype(np.int32),
        column.level_labels[column.least - 1],
        levels=above,
        level_labels=column.level_labels[column.least :],
        shown="label" if above else "set",
        weight=column.weight,
        measure=column.measure,
        often=None if column.often is None else np.bincount(at, weights=column.often).astype(np.float64),
        bit=column.bit,
    )


def in_parts(columns: Sequence[QuasiColumn], requirement: Requirement, limit: int, grouping: Recoder) -> Codes:
    """Groups of the grouping that keep all levels; at most ``limit`` rows are in none (-1)."""
    ground = [grounded(column) for column in columns]
    shared = [code for column in columns if (code := _greatest(column)) is not None]
    if not shared:
        return grouping(ground, requirement, limit)
    key = combined_key(shared, [int(code.max(initial=0)) + 1 for code in shared])
    part = np.unique(key, return_inverse=True)[1].reshape(-1)
    size = np.bincount(part)
    if size.size == 1:
        return grouping(ground, requirement, limit)
    rows = np.split(np.argsort(part, kind="stable"), starts(size)[1:-1])
    alone = requirement.met(part, size.size)
    work = _ByPart(ground, requirement, limit, grouping)
    for number in np.flatnonzero(~alone).tolist():  # those that cannot stand take of the limit first
        work.rescue(rows[number])
    if work.missing:
        raise InputError(
            f"{number_of(work.missing, 'row')} cannot be published within the greatest levels: raise a greatest level, "
            "weaken a criterion or allow more suppressed rows.",
            parameters=("suppression_limit",),
        )
    left = int(size[alone].sum())
    for number in np.flatnonzero(alone).tolist():
        work.group_rows(rows[number], work.left * len(rows[number]) // left)
        left -= len(rows[number])
    return work.group


class _ByPart:
    """Groups of the parts so far, and what is left of the limit."""

    def __init__(self, columns: Sequence[QuasiColumn], requirement: Requirement, limit: int, grouping: Recoder) -> None:
        self.columns, self.requirement, self.grouping, self.left = columns, requirement, grouping, limit
        self.group: Codes = np.full(len(columns[0].codes), -1, dtype=np.int32)
        self.groups = self.missing = 0

    def rescue(self, rows: Ints) -> None:
        """A part that fails as a whole: grouped without a few rows, or suppressed."""
        if self.left and len(rows) > self.requirement.k and not self.requirement.plain:
            try:
                self.group_rows(rows, min(self.left, len(rows) - 1))
            except InputError:
                pass
            else:
                return
        if len(rows) > self.left:
            self.missing += len(rows)
        else:
            self.left -= len(rows)

    def group_rows(self, rows: Ints, limit: int) -> None:
        """Group one part, with so many rows suppressed at most."""
        columns = [replace(column, codes=column.codes[rows]) for column in self.columns]
        found = self.grouping(columns, self.requirement.part(rows), limit)
        inside = found >= 0
        self.group[rows[inside]] = found[inside] + self.groups
        self.groups += int(found.max(initial=-1)) + 1
        self.left -= int(np.count_nonzero(~inside))


def _greatest(column: QuasiColumn) -> Codes | None:
    """The label of each row at the greatest level; None where any may be used."""
    if column.greatest is None or (column.levels and column.greatest >= len(column.levels)):
        return None
    return column.codes if not column.greatest else column.levels[column.greatest - 1][column.codes]
