"""The arithmetic behind a number that tables give away together: few counts, added and subtracted.

That some unknowns hold exactly n persons is shown by weights of counts: weighed and added up, the counts cover the
unknowns (once each, and nothing else, for both ends; at least once for the upper end, at most once for the lower one),
and the numbers that they say add up to n. The fewest tables are looked for first, then weights that add up to as little
as possible, which are almost always 1 and −1. What is found is checked in fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from showthrough.attacks.cell_program import CellProgram
from showthrough.attacks.refinement import SUM, CountRow
from showthrough.release.printed_counts import OPEN
from showthrough.said import private
from showthrough.table.arrays import Ints, Reals

_LARGEST = 1000  # the denominator of a weight, at most
_SUBSETS = 64  # sets of tables that are tried, at most
_SHORT = 1e-4  # persons by which an end has to miss the next whole number
_SECONDS = 5.0  # for one program

BOTH, UPPER, LOWER = "both", "upper", "lower"


@dataclass(frozen=True)
class CountSum:
    """Counts with weights, the end that they show, and what they add up to."""

    terms: tuple[tuple[CountRow, Fraction], ...]
    end: str
    total: Fraction

    def __str__(self) -> str:
        text = ""
        for count, weight in self.terms:
            size = abs(weight)
            times = "" if size == 1 else f"{size} × "
            sign = ("− " if weight < 0 else "+ ") if text else ("−" if weight < 0 else "")
            where = ", ".join([count.cell, *([] if count.value is None else [str(count.value)])])
            number = count.high if (weight > 0) == (self.end == UPPER) else count.low
            text += f"{' ' if text else ''}{sign}{times}{number} ({where}; {count.name})"
        return f"{text} = {'' if self.end == BOTH else 'at most ' if self.end == UPPER else 'at least '}{self.total}"


@dataclass(frozen=True)
class Arithmetic:
    """Why some unknowns hold exactly so many persons: one weighing for both ends, or one for each."""

    tables: tuple[str, ...]
    number: int
    sums: tuple[CountSum, ...]
    added: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()

    def said(self) -> str:
        """In words: the cells and their counts are private."""
        persons = "1 person" if self.number == 1 else f"{self.number} persons" if self.number else "nobody"
        worked = private(f": {'; '.join(map(str, self.sums))}", "") if self.sums else ""
        if self.added and self.taken and not set(self.added) & set(self.taken):
            return f"{_joined(self.added)} minus {_joined(self.taken)} leaves {persons}{worked}."
        if len(self.tables) == 1:
            return f"{self.tables[0]} by itself leaves {persons}{worked}."
        return f"{_joined(self.tables)} together leave {persons}{worked}."


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def fewest_tables(program: CellProgram, at: Ints, number: int) -> tuple[int, ...]:
    """The fewest tables that leave exactly so many persons at some unknowns.

    Sets are tried in order of size, but not more than `_SUBSETS`; beyond that tables are left out one by one.
    """
    kept = list(program.tables)
    sets = (chosen for size in range(1, len(kept)) for chosen in combinations(kept, size))
    for chosen in islice(sets, _SUBSETS):
        if program.between(at, chosen) == (number, number):
            return chosen
    if 2 ** len(kept) - 2 > _SUBSETS:
        for table in program.tables:
            fewer = [t for t in kept if t != table]
            if program.between(at, fewer) == (number, number):
                kept = fewer
    return tuple(kept)


def explained(program: CellProgram, at: Ints, number: int) -> Arithmetic:
    """Few counts of few tables that leave so many persons at some unknowns."""
    tables, names = fewest_tables(program, at, number), program.counts.names
    found = _Sums(program, at, tables).found(number)
    upper = [(count.table, weight) for own in found[:1] for count, weight in own.terms]
    added, taken = (sorted({t for t, weight in upper if sign * weight > 0}) for sign in (1, -1))
    return Arithmetic(
        tuple(names[t] for t in tables), number, found, tuple(names[t] for t in added), tuple(names[t] for t in taken)
    )


class _Sums:
    """Weights of the counts of some tables that cover some unknowns.

    A count of 0 says that each of its unknowns is 0, so these may be weighed one by one.
    """

    def __init__(self, program: CellProgram, at: Ints, tables: Sequence[int]) -> None:
        counts, part = program.counts, program.part(at)
        self.counts = counts
        mine = counts.matrix[:, part.columns]
        entries = np.diff(mine.indptr)
        own = np.isin(counts.table, list(tables)) & (entries > 0)
        whole = own & (counts.high > 0) & (entries == np.diff(counts.matrix.indptr))
        zero = sp.coo_array(mine[np.flatnonzero(own & (counts.high == 0))])
        unlisted = np.flatnonzero(own & (counts.high == 0))[zero.row]
        self.rows = np.concatenate([np.flatnonzero(whole), unlisted])
        single = sp.coo_array(
            (np.ones(zero.col.size), (np.arange(zero.col.size), zero.col)), shape=(zero.col.size, part.columns.size)
        )
        self.A = sp.vstack([mine[np.flatnonzero(whole)], single], format="csc").T.tocsc()
        self.ties = counts.ties[part.ties][:, part.columns].T.tocsc()
        self.goal = np.zeros(part.columns.size)
        self.goal[np.searchsorted(part.columns, at)] = 1.0
        self.low, self.high = counts.low[self.rows], counts.high[self.rows]
        summed = np.array([counts.rows[r].kind == SUM for r in self.rows.tolist()], dtype=bool)
        self.cost = np.where(self.high == 0, 0.1, np.where(summed, 1.01, 1.0))  # printed before added up

    def found(self, number: int) -> tuple[CountSum, ...]:
        """One weighing for both ends, or one for each; nothing where weights are not found, or not small."""
        both = self._summed(BOTH, number)
        if both is not None:
            return (both,)
        told = []
        for end in (UPPER, LOWER):
            own = self._summed(end, number) or self._summed(end, number, short=1 - _SHORT)
            if own is None and (end == UPPER or number):
                return ()
            told += [] if own is None else [own]
        return tuple(told)

    def _summed(self, end: str, number: int, short: float = 0.0) -> CountSum | None:
        """The smallest weights that show an end, which may be ``short`` of the number; both by exact counts alone."""
        usable = np.flatnonzero(self.low == self.high) if end == BOTH else np.arange(self.rows.size)
        if not usable.size:
            return None
        high, low = self.high[usable], self.low[usable]
        plus, minus = (low, high) if end == LOWER else (high, low)
        A, many = self.A[:, usable], self.ties.shape[1]
        matrix = sp.hstack([A, -A, self.ties, -self.ties], format="csr")
        worth = np.concatenate([plus, -minus, np.zeros(2 * many)]).astype(np.float64)
        cost = np.concatenate([self.cost[usable], self.cost[usable], np.full(2 * many, 1e-3)])
        most = np.where(np.abs(worth) >= OPEN, 0.0, np.inf)
        limits: dict[str, object] = {"A_eq": sp.vstack([matrix, worth[None]]), "b_eq": np.append(self.goal, number)}
        if end != BOTH:
            sign = -1.0 if end == UPPER else 1.0
            reach = number - sign * short
            limits = {
                "A_ub": sp.vstack([sign * matrix, -sign * worth[None]]),
                "b_ub": np.append(sign * self.goal, -sign * reach),
            }
        bounds = np.stack([np.zeros(most.size), most], axis=1)
        result = linprog(cost, bounds=bounds, options={"time_limit": _SECONDS}, **limits)
        return None if result.status else self._checked(usable, result.x, end, number)

    def _checked(self, usable: Ints, x: Reals, end: str, number: int) -> CountSum | None:
        """The weights as fractions, if they show the end exactly."""
        size, many = usable.size, self.ties.shape[1]
        columns = [(self.A, k, x[i] - x[size + i]) for i, k in enumerate(usable.tolist())]
        columns += [(self.ties, k, x[2 * size + k] - x[2 * size + many + k]) for k in range(many)]
        left = [Fraction(int(g)) for g in self.goal]
        terms: dict[int, Fraction] = {}
        total = Fraction(0)
        for matrix, k, value in columns:
            weight = Fraction(float(value)).limit_denominator(_LARGEST)
            if not weight:
                continue
            for at in range(matrix.indptr[k], matrix.indptr[k + 1]):
                left[int(matrix.indices[at])] -= weight * int(matrix.data[at])
            if matrix is self.A:
                number_of = self.high[k] if (weight > 0) != (end == LOWER) else self.low[k]
                total += weight * int(number_of)
                row = int(self.rows[k])
                terms.setdefault(row, weight)  # of a count of 0 one mention
        fits = {BOTH: not any(left), UPPER: max(left) <= 0, LOWER: min(left) >= 0}[end]
        near = {BOTH: total == number, UPPER: total < number + 1, LOWER: total > number - 1}[end]
        if not fits or not near:
            return None
        order = sorted(terms, key=lambda row: (terms[row] < 0, row))
        return CountSum(tuple((self.counts.rows[row], terms[row]) for row in order), end, total)
