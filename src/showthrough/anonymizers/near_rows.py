"""Which sensitive values are near each other: the graph of XColor without its edges.

A graph answers three questions: are these pairs of rows near, how many near rows has each row, and
how many near pairs are there. Rows with the same value are near; a row is not its own neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.ragged import owners


class Proximity(Protocol):
    """Near rows, asked by pairs."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def degree(self) -> Ints:
        """Near rows of each row."""

    @property
    def order(self) -> Ints:
        """A key by which near rows tend to sort together."""

    def near(self, one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]) -> Flags:
        """Are the rows near? Broadcasts; a row and itself may answer either way."""


@dataclass(frozen=True)
class ValueProximity:
    """Categorical values by code, with a table of which codes are near (by default only equal ones)."""

    codes: Codes
    table: Flags | None = None

    def __post_init__(self) -> None:
        if self.table is not None and not (
            np.array_equal(self.table, self.table.T)
            and len(self.table) > int(self.codes.max(initial=-1))
            and bool(np.diag(self.table).all())
        ):
            raise InputError(
                "The table of near values must be symmetric, cover every code and be true on the diagonal."
            )

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def order(self) -> Ints:
        """The codes."""
        return self.codes.astype(np.int64)

    @cached_property
    def degree(self) -> Ints:
        """Near rows of each row."""
        count = np.bincount(self.codes, minlength=0 if self.table is None else len(self.table))
        each = count if self.table is None else self.table.astype(np.int64) @ count
        return np.asarray(each[self.codes] - 1, dtype=np.int64)

    def near(self, one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]) -> Flags:
        """Equal codes, or codes that the table calls near."""
        if self.table is None:
            return np.asarray(self.codes[one] == self.codes[other])
        return np.asarray(self.table[self.codes[one], self.codes[other]])


@dataclass(frozen=True)
class NumericProximity:
    """Numbers that differ by at most ε; a hair more, since 0.8 − 0.7 ≤ 0.1 is false in binary."""

    values: Reals
    epsilon: float

    def __post_init__(self) -> None:
        if not np.isfinite(self.values).all() or not self.epsilon >= 0:
            raise InputError("Proximity of numbers needs finite values and an ε of at least 0.")

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @cached_property
    def reach(self) -> float:
        """ε with the rounding of the values allowed for."""
        scale = max(float(np.abs(self.values).max(initial=0.0)), self.epsilon)
        return self.epsilon + 8 * float(np.finfo(np.float64).eps) * scale

    @cached_property
    def order(self) -> Ints:
        """Rank of the value."""
        return np.argsort(np.argsort(self.values, kind="stable"), kind="stable")

    @cached_property
    def degree(self) -> Ints:
        """Near rows of each row: a window in the sorted values."""
        ascending = np.sort(self.values)
        # both edges come from the test that ``near`` makes, upper ≤ lower + reach, so that they always agree
        end = np.searchsorted(ascending, ascending + self.reach, side="right")
        begin = np.searchsorted(end, np.arange(self.rows), side="right")
        return np.asarray(end - begin - 1, dtype=np.int64)[self.order]

    def near(self, one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]) -> Flags:
        """Values at most ε apart."""
        low, high = np.minimum(self.values[one], self.values[other]), np.maximum(self.values[one], self.values[other])
        return np.asarray(high <= low + self.reach)


@dataclass(frozen=True)
class ListedProximity:
    """Any metric: the near pairs of rows as an edge list, kept as compressed rows."""

    start: Ints
    neighbour: Codes

    @classmethod
    def of_pairs(cls, rows: int, pairs: npt.ArrayLike) -> ListedProximity:
        """From pairs of rows in any order; repeated pairs and pairs of a row with itself are dropped."""
        edges = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        if len(edges) and not 0 <= int(edges.min()) <= int(edges.max()) < rows:
            raise InputError(f"A near pair names a row outside the table (0 to {rows - 1}).")
        edges = edges[edges[:, 0] != edges[:, 1]]
        both = np.concatenate([edges[:, 0] * rows + edges[:, 1], edges[:, 1] * rows + edges[:, 0]])
        key = np.unique(both)
        start = np.searchsorted(key, np.arange(rows + 1, dtype=np.int64) * rows)
        return cls(start.astype(np.int64), (key % max(1, rows)).astype(np.int32))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.start) - 1

    @property
    def order(self) -> Ints:
        """The lowest near row: rows of one cluster sort together."""
        lowest = np.arange(self.rows)
        filled = np.flatnonzero(np.diff(self.start))
        lowest[filled] = np.minimum(lowest[filled], self.neighbour[self.start[filled]])
        return lowest

    @property
    def degree(self) -> Ints:
        """Near rows of each row."""
        return np.diff(self.start)

    @cached_property
    def _key(self) -> Ints:
        return owners(self.start) * self.rows + self.neighbour

    def near(self, one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]) -> Flags:
        """Pairs on the list."""
        if not len(self._key):
            return np.zeros(np.broadcast_shapes(np.shape(one), np.shape(other)), dtype=bool)
        asked = np.asarray(one, dtype=np.int64) * self.rows + other
        found = np.minimum(np.searchsorted(self._key, asked), len(self._key) - 1)
        return np.asarray(self._key[found] == asked)
