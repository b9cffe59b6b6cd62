"""The cells that groups have, and how much wider they become where groups join or records come in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from showthrough.anonymizers.boxes import Box, State, box
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.table.arrays import Codes, Ints, Reals


@dataclass(frozen=True, eq=False)
class CellShapes:
    """The quasi-identifiers of a table, with what their cells lose."""

    columns: tuple[QuasiColumn, ...]
    boxes: tuple[Box, ...]

    @classmethod
    def of(cls, columns: Sequence[QuasiColumn]) -> CellShapes:
        """Of some columns."""
        return cls(tuple(columns), tuple(box(column) for column in columns))

    def extents(self, rows: Ints, group: Ints | Codes) -> Extents:
        """Of the groups of some rows."""
        order = np.argsort(group, kind="stable")
        number, first, size = np.unique(group[order], return_index=True, return_counts=True)
        inside, lost, states = rows[order], np.zeros(number.size), []
        for b, column in zip(self.boxes, self.columns, strict=True):
            states.append(_joined(b, b.start(column.codes[inside]), first))
            lost = lost + b.loss(states[-1])
        return Extents(self, tuple(states), size.astype(np.int64), lost, number.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Extents:
    """One state per column of each group, by its place among the groups that have members."""

    cells: CellShapes
    states: tuple[State, ...]
    size: Ints  # [groups]
    lost: Reals  # [groups] what each member loses
    number: Ints  # [groups] the number that it was given, ascending

    @property
    def loss(self) -> float:
        """What all members lose."""
        return float(self.size @ self.lost)

    def place(self, number: Ints | Codes) -> Ints:
        """The place of each group that is asked for, or −1."""
        at = np.searchsorted(self.number, number)
        near = np.minimum(at, max(self.number.size - 1, 0))
        same = self.number[near] == number if self.number.size else np.zeros(number.size, dtype=bool)
        return np.where(same, near, -1)

    def joining(self, one: int, others: Ints) -> Reals:
        """[others] what all members together lose more where one group joins another."""
        joint = np.zeros(others.size)
        for b, state in zip(self.cells.boxes, self.states, strict=True):
            joint += b.joint(state[:, [one]], state[:, others])
        before = self.size * self.lost
        return np.asarray(joint * (self.size[one] + self.size[others]) - before[one] - before[others])

    def taking(self, rows: Ints, groups: Ints) -> Reals:
        """[rows, groups] what a group loses more by taking a record in, the record's own loss among it."""
        joint = np.zeros((rows.size, groups.size))
        for b, state, column in zip(self.cells.boxes, self.states, self.cells.columns, strict=True):
            joint += b.joint(b.start(column.codes[rows])[:, :, None], state[:, None, groups])
        return np.asarray(joint * (self.size[groups] + 1) - (self.size * self.lost)[groups])


def _joined(b: Box, single: State, first: Ints) -> State:
    """What records make of their groups, which follow each other."""
    if not first.size:
        return single
    if b.words:
        return np.asarray(np.bitwise_or.reduceat(single, first, axis=1))
    return np.stack([np.minimum.reduceat(single[0], first), np.maximum.reduceat(single[1], first)])
