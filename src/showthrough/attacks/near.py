"""Which values are near to each other, and how much probability lies near one of them.

Decimals are compared as decimals: 0.8 and 0.7 are 0.1 apart, which binary fractions miss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.ground import close_by, decimals, metric_of, numbers_of
from showthrough.errors import InputError, ParameterError
from showthrough.table.arrays import Flags, Ints, Reals

CELLS = 2**22  # persons times values that are held at once
_ROUNDING = 4e-16
MOST = 6000  # values of which every pair is compared


@dataclass(frozen=True, eq=False)
class Nearness:
    """The values within ε of each: a stretch of the sorted numbers, or a table of all pairs."""

    order: Ints  # the values, sorted where they are numbers
    first: Ints | None  # [values in that order] where those near to it begin and end
    last: Ints | None
    table: Flags | None  # [values, values] otherwise

    @classmethod
    def of(cls, values: pl.Series, epsilon: float, metric: Any = "numeric") -> Nearness:
        """Which values are at most ``epsilon`` apart."""
        if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)) or not 0 <= epsilon < float("inf"):
            raise ParameterError(f"epsilon is a number of 0 or more, not {epsilon!r}.", parameters=("epsilon",))
        size = values.len()
        plain = isinstance(metric, str) and metric in ("numeric", "manhattan", "euclidean", "min", "max")
        if plain and not isinstance(values.dtype, pl.Struct):
            points, reach = decimals(numbers_of(values), epsilon)
            order = np.argsort(points, kind="stable")
            line = points[order]
            around: Any = reach
            if points.dtype.kind == "f":  # no common decimals: room for the rounding of each number, not of the largest
                around = epsilon + _ROUNDING * np.maximum(np.abs(line), epsilon)
            with np.errstate(over="ignore"):  # what lies beyond the largest number is as far as can be
                below, above = line - around, line + around
            first, last = np.searchsorted(line, below), np.searchsorted(line, above, side="right")
            return cls(order, first, last, None)
        if size > MOST:
            raise InputError(
                f"Of {size} different values not every pair can be compared: use numbers, or fewer values."
            )
        near = close_by(metric_of(metric), values, epsilon, size)
        one, other = np.divmod(np.arange(size * size), max(size, 1))
        table = near(one.astype(np.int32), other.astype(np.int32)).reshape(size, size)
        return cls(np.arange(size), None, None, table)

    def near(self, one: Ints, other: Ints) -> Flags:
        """Whether two values, by their codes, are near."""
        if self.table is not None:
            found: Flags = self.table[one, other]
            return found
        assert self.first is not None
        assert self.last is not None
        rank = np.empty_like(self.order)
        rank[self.order] = np.arange(self.order.size)
        at = rank[other]
        return np.asarray((self.first[rank[one]] <= at) & (at < self.last[rank[one]]))

    def heaviest(self, person: Ints, value: Ints, p: Reals, persons: int) -> tuple[Ints, Reals]:
        """[persons] the value with most probability near it, and how much; any value can be the centre.

        ``person`` is sorted. Of values that are equally good it is the first that the person can have, else the first.
        """
        centre, mass = np.zeros(persons, dtype=np.int64), np.zeros(persons)
        size, start = self.order.size, np.searchsorted(person, np.arange(persons + 1))
        step = max(1, CELLS // max(size, 1))
        rank = np.empty_like(self.order)
        rank[self.order] = np.arange(size)
        for low in range(0, persons if size else 0, step):
            high = min(persons, low + step)
            own = slice(int(start[low]), int(start[high]))
            table = np.zeros((high - low, size))
            table[person[own] - low, rank[value[own]]] = p[own]
            weight = self._around(table)
            best = np.argmax(weight + 1e-12 * (table > 0), axis=1)
            centre[low:high] = self.order[best]
            mass[low:high] = weight[np.arange(high - low), best]
        return centre, np.minimum(mass, 1.0)

    def _around(self, table: Reals) -> Reals:
        """[persons, values] Σ of the entries near each value."""
        if self.table is not None:
            around: Reals = table @ self.table.T.astype(np.float64)
            return around
        assert self.first is not None
        assert self.last is not None
        total = np.concatenate([np.zeros((table.shape[0], 1)), np.cumsum(table, axis=1)], axis=1)
        found: Reals = total[:, self.last] - total[:, self.first]
        return found
