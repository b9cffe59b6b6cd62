"""Linear programs over counts of several tables: the least and the most persons that any cell can hold.

Unknowns that no count ties together are apart (*components*), and a program looks at the components of a question.
Counts are whole, so what a program finds is rounded inwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components

from showthrough.attacks.refinement import SUM, Counts
from showthrough.errors import ContradictionError
from showthrough.inference.clock import Clock
from showthrough.table.arrays import Flags, Ints, Reals

ROUNDING = 1e-6
"""Persons by which the ends that programs find are taken to be wrong at most."""
_KEPT = 40  # answers of a component that are kept
_LOOKS = 6  # points that are looked at before any question is asked


def ends(low: float, high: float) -> tuple[int, int]:
    """The whole numbers between two ends.

    >>> ends(0.9999999, 2.7)
    (1, 2)
    """
    return math.ceil(low - ROUNDING), math.floor(high + ROUNDING)


@dataclass(frozen=True)
class Tied:
    """Unknowns, rows of counts above 0, and ties that hang together."""

    columns: Ints
    rows: Ints
    ties: Ints
    seen: list[Reals] = field(default_factory=list)  # points that all tables allow


class CellProgram:
    """Asks how many persons some unknowns hold in all, at least and at most."""

    def __init__(self, counts: Counts, clock: Clock, seed: int = 0) -> None:
        self.counts, self._clock = counts, clock
        told = np.array([row.kind != SUM for row in counts.rows], dtype=bool)
        self._zero = [self._unknowns_in(told & (counts.high == 0) & (counts.table == t)) for t in self.tables]
        self._firm = np.flatnonzero(told & (counts.high > 0))
        both = sp.vstack([counts.matrix[self._firm], counts.ties], format="csr")
        graph = sp.coo_array(both)
        size = both.shape[0] + both.shape[1]
        joined = sp.coo_array((np.ones(graph.nnz), (graph.row, both.shape[0] + graph.col)), shape=(size, size))
        label = connected_components(joined, directed=False)[1]
        self._of_row, self._of_tie = label[: self._firm.size], label[self._firm.size : both.shape[0]]
        self._component = label[both.shape[0] :]
        self._random = np.random.default_rng(seed)
        self._points: list[Reals] = []
        self._parts: dict[tuple[int, ...], Tied] = {}

    @property
    def tables(self) -> range:
        """All tables by their numbers."""
        return range(len(self.counts.names))

    def _unknowns_in(self, rows: Flags) -> Ints:
        return np.unique(self.counts.matrix[np.flatnonzero(rows)].indices).astype(np.int64)

    def bound(self, at: Ints, sign: float, tables: Sequence[int] | None = None) -> float | None:
        """The least (sign 1) or the most (−1) persons at some unknowns, from some of the tables; None: time is over.

        Infinity where nothing bounds them.
        """
        if not at.size:
            return 0.0
        part = self.part(at)
        cost = np.zeros(part.columns.size)
        cost[np.searchsorted(part.columns, at)] = sign
        found = self._solved(part, cost, self.tables if tables is None else tables)
        if tables is None and found is not None and found[1] is not None and len(part.seen) < _KEPT:
            part.seen.append(found[1])
        return None if found is None else sign * found[0]

    def varies(self, at: Ints) -> bool:
        """Whether answers to other questions show already that several whole numbers of persons can be there."""
        part = self.part(at)
        place = np.searchsorted(part.columns, at)
        held = [float(point[place].sum()) for point in part.seen]
        return bool(held) and math.floor(max(held) + ROUNDING) - math.ceil(min(held) - ROUNDING) >= 1

    def between(self, at: Ints, tables: Sequence[int] | None = None) -> tuple[int, int] | None:
        """The whole numbers of persons that some unknowns can hold; None: time is over, or they have no end."""
        low = self.bound(at, 1.0, tables)
        high = None if low is None else self.bound(at, -1.0, tables)
        return None if low is None or high is None or not math.isfinite(high) else ends(low, high)

    def look(self) -> None:
        """Some points that all counts allow, far apart."""
        whole = Tied(np.arange(self.counts.unknowns), self._firm, np.arange(self.counts.ties.shape[0]))
        for _ in range(_LOOKS):
            found = self._solved(whole, self._random.uniform(size=whole.columns.size) - 0.5, self.tables)
            if found is None:
                return
            if found[1] is None:  # without an end in that direction
                continue
            self._points.append(found[1])

    def seems_fixed(self, questions: sp.csr_array) -> tuple[Flags, Ints]:
        """[questions] whether all points that were looked at allow one whole number of persons there, and which."""
        low, high = np.full(questions.shape[0], np.inf), np.full(questions.shape[0], -np.inf)
        for point in self._points:
            held = questions @ point
            low, high = np.minimum(low, held), np.maximum(high, held)
        if not self._points:
            return np.zeros(low.size, dtype=bool), np.zeros(low.size, dtype=np.int64)
        least, most = np.ceil(low - ROUNDING), np.floor(high + ROUNDING)
        return np.asarray(most - least < 1), np.maximum(least, most).astype(np.int64)

    def part(self, at: Ints) -> Tied:
        """The components that some unknowns are in."""
        own = np.unique(self._component[at])
        key = tuple(own.tolist())
        if key not in self._parts:
            where = (self._component, self._of_row, self._of_tie)
            columns, rows, tied = (np.flatnonzero(np.isin(label, own)) for label in where)
            self._parts[key] = Tied(columns, self._firm[rows], tied)
        return self._parts[key]

    def _solved(self, part: Tied, cost: Reals, tables: Sequence[int]) -> tuple[float, Reals | None] | None:
        """The least cost and where it is (None: there is no end); None: time is over."""
        if self._clock.over:
            return None
        counts, columns = self.counts, part.columns
        rows = part.rows[np.isin(counts.table[part.rows], list(tables))]
        most = np.full(columns.size, np.inf)
        for table in tables:
            most[np.isin(columns, self._zero[table])] = 0.0
        A = counts.matrix[rows][:, columns]
        low, high = counts.low[rows], counts.high[rows]
        same = low == high
        C = counts.ties[part.ties][:, columns]
        less, equal = ~same, sp.vstack([A[same], C], format="csr")
        both = sp.vstack([A[less], -A[less]], format="csr")
        limit = np.concatenate([high[less], -low[less]]).astype(np.float64)
        left = self._clock.left(1e6)
        found = self._clock.awaited(
            lambda: linprog(
                cost,
                A_ub=both if both.shape[0] else None,
                b_ub=limit if both.shape[0] else None,
                A_eq=equal if equal.shape[0] else None,
                b_eq=np.concatenate([low[same], np.zeros(C.shape[0])]) if equal.shape[0] else None,
                bounds=np.stack([np.zeros(most.size), most], axis=1),
                options={"time_limit": max(left, 0.01)},
            )
        )
        if found is None or found.status in (1, 4):
            return None
        if found.status == 2:
            raise ContradictionError("The tables contradict each other: no numbers of persons fit all of their counts.")
        if found.status == 3:
            return -math.inf, None
        return float(found.fun), found.x
