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
_LOOKING = 0.3  # the share of the time for them
_LOOKS = 6  # points that are looked at before any question is asked


def ends(low: float, high: float) -> tuple[int, int]:
    """The whole numbers between two ends.

    >>> ends(0.9999999, 2.7)
    (1, 2)
    """
    return math.ceil(low - ROUNDING), math.floor(high + ROUNDING)


def _grouped(label: Ints) -> dict[int, Ints]:
    """The places of each label, ascending."""
    order = np.argsort(label, kind="stable")
    cut = np.flatnonzero(np.diff(label[order], prepend=-1))
    return {int(label[own[0]]): own for own in np.split(order, cut[1:])} if order.size else {}


@dataclass(frozen=True)
class Tied:
    """Unknowns, rows of counts above 0, and ties that hang together."""

    columns: Ints
    rows: Ints
    ties: Ints
    A: sp.csr_array  # [rows, columns]
    C: sp.csr_array  # [ties, columns]
    zero: Flags  # [tables, columns] whether the table says that nobody is there
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
        self._lists = [_grouped(own) for own in (self._component, self._of_row, self._of_tie)]
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
        own = np.unique(self._component[at])
        if own.size > 1:
            return self._added_up([at[self._component[at] == label] for label in own.tolist()], sign, tables)
        part = self.part(at)
        cost = np.zeros(part.columns.size)
        cost[np.searchsorted(part.columns, at)] = sign
        found = self._solved(part, cost, self.tables if tables is None else tables)
        if tables is None and found is not None and found[1] is not None and len(part.seen) < _KEPT:
            part.seen.append(found[1])
        return None if found is None else sign * found[0]

    def _added_up(self, parts: Sequence[Ints], sign: float, tables: Sequence[int] | None) -> float | None:
        """The same for unknowns of several components, which have nothing to do with each other."""
        total = 0.0
        for at in parts:
            found = self.bound(at, sign, tables)
            if found is None:
                return None
            total += found
        return total

    def least_of_all(self, at: Ints) -> tuple[int, int]:
        """The least persons at some unknowns as far as there is time, and in how many components there is none."""
        order = np.argsort(self._component[at], kind="stable")
        parts = np.split(at[order], np.flatnonzero(np.diff(self._component[at][order])) + 1)
        found = [self.bound(part, 1.0) for part in parts]
        told = [ends(own, own)[0] for own in found if own is not None]
        return sum(told), len(found) - len(told)

    def reached(self, at: Ints) -> tuple[float, float]:
        """The least and the most persons that answers so far have put at some unknowns; infinite if there is none."""
        low = high = 0.0
        for label in np.unique(self._component[at]).tolist():
            part = self._part((label,))
            place = np.searchsorted(part.columns, at[self._component[at] == label])
            held = [float(point[place].sum()) for point in part.seen]
            low, high = low + min(held, default=math.inf), high + max(held, default=-math.inf)
        return low, high

    def varies(self, at: Ints) -> bool:
        """Whether answers to other questions show already that several whole numbers of persons can be there."""
        low, high = self.reached(at)
        return low <= high and math.floor(high + ROUNDING) - math.ceil(low - ROUNDING) >= 1

    def narrowed(self, at: Ints, low: int, high: int) -> tuple[int, int] | None:
        """The whole numbers of persons within a range; an end that was reached already is not asked for again."""
        least, most = self.reached(at)
        if least > low + ROUNDING:
            found = self.bound(at, 1.0)
            if found is None:
                return None
            low = max(low, math.ceil(found - ROUNDING))
        if most < high - ROUNDING:
            found = self.bound(at, -1.0)
            if found is None:
                return None
            high = min(high, math.floor(found + ROUNDING)) if math.isfinite(found) else high
        return low, high

    def between(self, at: Ints, tables: Sequence[int] | None = None) -> tuple[int, int] | None:
        """The whole numbers of persons that some unknowns can hold; None: time is over, or they have no end."""
        low = self.bound(at, 1.0, tables)
        high = None if low is None else self.bound(at, -1.0, tables)
        return None if low is None or high is None or not math.isfinite(high) else ends(low, high)

    def look(self) -> None:
        """Some points that all counts allow, far apart; nothing of components for which time does not suffice."""
        points = np.full((_LOOKS, self.counts.unknowns), np.nan)
        enough = self._clock.left(1e6) * (1 - _LOOKING)
        for label in np.unique(self._component).tolist():
            part = self._part((label,))
            for point in points if self._clock.left(1e6) > enough else ():
                found = self._solved(part, self._random.uniform(size=part.columns.size) - 0.5, self.tables)
                if found is not None and found[1] is None:  # without an end in that direction
                    found = self._solved(part, self._random.uniform(size=part.columns.size), self.tables)
                if found is not None and found[1] is not None:
                    point[part.columns] = found[1]
                    part.seen.append(found[1])
        self._points = list(points)

    def seems_fixed(self, questions: sp.csr_array) -> tuple[Flags, Ints]:
        """[questions] whether all points that were looked at allow one whole number of persons there, and which."""
        low, high = np.full(questions.shape[0], np.inf), np.full(questions.shape[0], -np.inf)
        for point in self._points:
            held = questions @ np.nan_to_num(point)
            seen = (questions @ np.isnan(point).astype(np.float64)) == 0
            low, high = np.where(seen, np.minimum(low, held), low), np.where(seen, np.maximum(high, held), high)
        looked = np.isfinite(low)
        least, most = np.ceil(np.where(looked, low, 0.0) - ROUNDING), np.floor(np.where(looked, high, 0.0) + ROUNDING)
        return np.asarray(looked & (most - least < 1)), np.maximum(least, most).astype(np.int64)

    def part(self, at: Ints) -> Tied:
        """The components that some unknowns are in."""
        return self._part(tuple(np.unique(self._component[at]).tolist()))

    def _part(self, key: tuple[int, ...]) -> Tied:
        if key not in self._parts:
            none = np.empty(0, dtype=np.int64)
            columns, rows, tied = (
                np.sort(np.concatenate([own.get(label, none) for label in key])) for own in self._lists
            )
            A, C = self.counts.matrix[self._firm[rows]][:, columns], self.counts.ties[tied][:, columns]
            zero = np.array([np.isin(columns, own) for own in self._zero], dtype=bool)
            self._parts[key] = Tied(columns, self._firm[rows], tied, A, C, zero)
        return self._parts[key]

    def _solved(self, part: Tied, cost: Reals, tables: Sequence[int]) -> tuple[float, Reals | None] | None:
        """The least cost and where it is (None: there is no end); None: time is over."""
        if self._clock.over:
            return None
        counts = self.counts
        own = np.flatnonzero(np.isin(counts.table[part.rows], list(tables)))
        rows, A, C = part.rows[own], part.A[own], part.C
        most = np.where(part.zero[list(tables)].any(axis=0), 0.0, np.inf)
        low, high = counts.low[rows], counts.high[rows]
        same = low == high
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
