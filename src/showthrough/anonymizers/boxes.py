"""Boxes around records: the state of a growing group on each column and the loss of one more record.

A state is a stack of integer arrays of any shape. Ranges and labels keep their lowest and highest
rank; sets keep one bit per value. ``Box`` knows how to start a state from records, how to join a
record and what a state costs, always for whole arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.group_loss import label_loss, open_bits
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.table.arrays import Reals
from showthrough.table.ragged import running

State = npt.NDArray[Any]
Singles = npt.NDArray[np.float32]
TABLE_LIMIT = 1024
"""Largest domain for which the loss of every pair of ranks is tabulated."""


@dataclass(frozen=True)
class Box:
    """Losses of one column; ``table`` holds them by (lowest, highest) rank or, for sets, by number of values."""

    column: QuasiColumn
    table: Singles
    numbers: Singles
    words: int
    rows: Reals | None = None
    """Where bits are counted: rows of the table below each rank of a range, or by every byte [bytes, 256] of a set."""

    def start(self, codes: npt.NDArray[np.integer]) -> State:
        """State of single records, with a leading axis of two ranks or of the words of a set."""
        rank = self.column.rank[codes]
        if not self.words:
            return np.stack([rank, rank])
        state = np.zeros((self.words, *rank.shape), dtype=np.uint64)
        for word in range(self.words):
            inside = rank // 64 == word
            state[word][inside] = np.uint64(1) << (rank[inside] % 64).astype(np.uint64)
        return state

    def join(self, one: State, other: State) -> State:
        """State of the union, with broadcasting."""
        if self.words:
            return np.bitwise_or(one, other)
        low = np.minimum(one[0], other[0])
        return np.stack([low, np.maximum(one[1], other[1])])

    def loss(self, state: State) -> Singles:
        """Weighted loss of each state."""
        if self.words and self.rows is not None:
            return self._open(self._inside(state, self.rows))
        if self.words:
            present = np.bitwise_count(state[0]).astype(np.intp)
            for word in range(1, self.words):
                present += np.bitwise_count(state[word])
            return np.asarray(self.table[present])
        return self._between(state[0], state[1])

    def joint(self, one: State, other: State) -> Singles:
        """Weighted loss of each union, without making its state where that can be saved."""
        if self.words:
            return self.loss(np.bitwise_or(one, other))
        return self._between(np.minimum(one[0], other[0]), np.maximum(one[1], other[1]))

    def _inside(self, state: State, rows: Reals) -> Reals:
        """Rows of the table whose value is in each set."""
        inside = np.zeros(state.shape[1:])
        for number, weights in enumerate(rows):
            word, byte = divmod(number, 8)
            inside += weights[((state[word] >> np.uint64(8 * byte)) & np.uint64(255)).astype(np.intp)]
        return inside

    def _open(self, rows: Reals) -> Singles:
        return (open_bits(self.column, rows) * self.column.weight).astype(np.float32)

    def _between(self, low: npt.NDArray[np.integer], high: npt.NDArray[np.integer]) -> Singles:
        if self.rows is not None:
            return self._open(self.rows[high + 1] - self.rows[low])
        if len(self.numbers):
            return np.take(self.numbers, high) - np.take(self.numbers, low)
        if len(self.table):
            return np.take(self.table, low * np.int32(self.column.size) + high)
        flat = label_loss(self.column, low.reshape(-1), high.reshape(-1)) * self.column.weight
        return flat.reshape(low.shape).astype(np.float32)


def box(column: QuasiColumn) -> Box:
    """The losses of one column, tabulated where the domain is small enough."""
    nothing = np.zeros(0, dtype=np.float32)
    size = column.size
    if column.often is not None and column.shown != "label":
        return _counting(column)
    if column.shown == "set":
        table = np.arange(size + 1) * (column.weight / max(1, size))
        table[:2] = 0.0
        return Box(column, table.astype(np.float32), nothing, (size + 63) // 64)
    if column.shown == "range" and column.values is not None:
        numbers = (column.values - column.values[0]) * (column.weight / (column.extent or 1.0))
        return Box(column, nothing, numbers.astype(np.float32), 0)
    if size > TABLE_LIMIT:
        return Box(column, nothing, nothing, 0)
    low, high = np.divmod(np.arange(size * size), size)
    table = label_loss(column, np.minimum(low, high), np.maximum(low, high)) * column.weight
    return Box(column, table.astype(np.float32), nothing, 0)


def _counting(column: QuasiColumn) -> Box:
    """Losses of a range or set in bits: by the rows of the table that fit."""
    assert column.often is not None
    nothing = np.zeros(0, dtype=np.float32)
    often = column.often[np.argsort(column.rank)]
    if column.shown == "range":
        return Box(column, nothing, nothing, 0, running(often))
    of_byte = np.zeros(((column.size + 7) // 8, 8))
    of_byte.reshape(-1)[: column.size] = often
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    return Box(column, nothing, nothing, (column.size + 63) // 64, of_byte @ bits.T)
