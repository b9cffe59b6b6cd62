"""Several sensitive columns published together: values of a row as one composite value, criteria column by column.

The algorithms see one code per row, that of the combination of its values. What a criterion looks at is made of the
counts of combinations. While one column is judged, the others are left ``alone``; or they count as quasi-identifiers
(Machanavajjhala et al., TKDD 1(1), 2007, on several sensitive attributes), so that the criterion holds among those of a
group who share the other values, too; or all are judged ``together`` as one value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.anonymizers.quasi_columns import combined_key
from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import OnColumn
from showthrough.criteria.several import FrameRoles
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import starts


@dataclass(frozen=True, eq=False)
class JointValues:
    """The combinations of values that occur: of each its value in every column; and how the others count."""

    columns: tuple[str, ...]
    codes: tuple[Ints, ...]  # by column: value code of each combination
    values: tuple[pl.Series, ...]  # by column: the values by code
    others: str

    @classmethod
    def of(
        cls, columns: Sequence[str], coded: Sequence[tuple[Codes, pl.Series]], others: str
    ) -> tuple[Codes, pl.Series, JointValues]:
        """The combination of each row, the combinations as composite values, and what they are made of."""
        FrameRoles(tuple(columns), others=others)  # refuses what ``others`` cannot be
        key = combined_key([code for code, _ in coded], [values.len() for _, values in coded])
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        codes = tuple(code[first].astype(np.int64) for code, _ in coded)
        values = tuple(values for _, values in coded)
        shown = {c: v.gather(code) for c, v, code in zip(columns, values, codes, strict=True)}
        made = cls(tuple(columns), codes, values, others)
        return inverse.reshape(-1).astype(np.int32), pl.DataFrame(shown).to_struct("value"), made

    @property
    def judged(self) -> tuple[str, ...]:
        """What a criterion that names no column is judged by."""
        return (" and ".join(self.columns),) if self.others == "together" else self.columns

    @property
    def roles(self) -> FrameRoles:
        """How a release of these columns is counted."""
        return FrameRoles(self.columns, others=self.others)

    @cached_property
    def _rest(self) -> dict[str, Ints]:
        """For each column the code of what a combination has in the other ones."""
        found = {}
        for column in self.columns:
            own = [(c, v.len()) for n, c, v in zip(self.columns, self.codes, self.values, strict=True) if n != column]
            key = combined_key([code for code, _ in own], [size for _, size in own])
            found[column] = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
        return found

    def total(self, column: str, combinations: Ints) -> tuple[Ints, pl.Series]:
        """How often each value of a column occurs, and the values."""
        if column not in self.columns:
            return combinations, pl.Series("value", np.arange(len(combinations)))
        at = self.columns.index(column)
        weight = np.bincount(self.codes[at], weights=combinations, minlength=self.values[at].len())
        return weight.astype(np.int64), self.values[at]

    def met(self, counts: GroupCounts, criteria: Sequence[OnColumn]) -> Flags:
        """Which groups satisfy all criteria, each by its column."""
        fine: Flags = np.ones(counts.groups, dtype=bool)
        for column in dict.fromkeys(one.column for one in criteria):
            seen, owner = self._seen(counts, column)
            for one in criteria:
                if one.column == column:
                    fine[owner[~one.criterion.met(one.criterion.level(seen))]] = False
        return fine

    def _seen(self, counts: GroupCounts, column: str) -> tuple[GroupCounts, Ints]:
        """What a criterion sees of a column, and the group of each part that it judges."""
        if column not in self.columns:
            return counts, np.arange(counts.groups)
        value = self.codes[self.columns.index(column)][counts.value]
        total, labels = self.total(column, counts.total)
        part, parts = counts.group, counts.groups
        if self.others == "quasi":
            rest = self._rest[column]
            several, part = np.unique(part * (int(rest.max()) + 1) + rest[counts.value], return_inverse=True)
            part, parts = part.reshape(-1), len(several)
            owner = several // (int(rest.max()) + 1)
        else:
            owner = np.arange(parts)
        key, inverse = np.unique(part * len(total) + value, return_inverse=True)
        count = np.bincount(inverse.reshape(-1), weights=counts.count).astype(np.int64)
        start = starts(np.bincount(key // len(total), minlength=parts))
        return GroupCounts.trusted(start, (key % len(total)).astype(np.int32), count, total, labels), owner


def spread(criteria: Sequence[Any], columns: Sequence[str], others: str) -> list[Any]:
    """The criteria column by column: one that names no column and looks at values is judged by every one of them.

    With one sensitive column nothing has to be named.
    """
    asked = [one for one in criteria if isinstance(one, OnColumn)]
    strange = next((one.column for one in asked if one.column not in columns), None)
    if strange is not None:
        named = ", ".join(columns) or "none"
        raise InputError(
            f"A criterion names the column {strange!r}, which is none of the sensitive ones ({named}).",
            parameters=("sensitive",),
        )
    if len(columns) < 2:
        if others != "alone":
            raise InputError("others= is about several sensitive columns.", parameters=("others",))
        return [one.criterion if isinstance(one, OnColumn) else one for one in criteria]
    if others == "together" and asked:
        raise InputError("Columns that are judged together have no criteria of their own.", parameters=("others",))
    judged = [" and ".join(columns)] if others == "together" else list(columns)
    found: list[Any] = []
    for one in criteria:
        if isinstance(one, OnColumn) or not one.needs_values:
            found.append(one)
        else:
            found += [OnColumn(one, column) for column in judged]
    return found
