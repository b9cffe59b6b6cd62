"""What remains open: the variables of signatures with a choice, and what is left of the counts for them.

A signature has a choice if several values are left for it, or one value with several candidates in some
release. What is certain is taken off the counts: certain persons, and of a person whose value alone is
certain the rows of releases where its group is too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from showthrough.inference import graphs
from showthrough.inference.problem import Problem
from showthrough.inference.rows import Rows
from showthrough.table.arrays import Codes, Flags, Ints, Reals, sum_by
from showthrough.table.ragged import ranks

_ROUNDS = 20  # of spreading from row to row before components are counted out
_EXACT = 2**53  # whole numbers up to here are exact in double precision


@dataclass(frozen=True)
class OpenSeats:
    """The candidates of one release that are still open, of variables with a choice."""

    release: int
    owner: Ints  # position among the variables that remain; ascending
    row: Codes
    term: Ints

    def only(self, keep: Flags, number: Ints) -> OpenSeats:
        """Those of some variables, which get new numbers."""
        at = np.flatnonzero(keep.take(self.owner))
        return OpenSeats(self.release, number[self.owner[at]], self.row[at], self.term[at])


@dataclass(frozen=True)
class Remaining:
    """Some variables with what is asked of them again and again; what is certain is taken off the counts."""

    problem: Problem
    variable: Ints
    signature: Ints
    row: Codes  # [S, their number] in the sure releases; one past the last: absent, or taken off the counts
    weight: Reals
    left: Ints  # [rows] of the lower counts
    most: Ints  # [rows] left of the upper counts; the same array where counts are exact
    seats: tuple[OpenSeats, ...] = ()
    decided: Flags | None = None  # whose value is certain and only the group is not; None: nobody's

    @classmethod
    def of(cls, problem: Problem, alive: Flags, choices: Ints) -> Remaining:
        """All that is alive, where ``choices`` counts the variables per signature."""
        if not problem.rows.seats:
            several = (choices > 1).take(problem.signature)
            certain = _taken(problem, np.flatnonzero(alive & ~several))
            found = _taken(problem, np.flatnonzero(alive & several))
            return found.off(certain.room() + _said_of(problem, certain.variable))
        return _with_seats(problem, alive, choices)

    def off(self, taken: Ints) -> Remaining:
        """The same with persons taken off the counts."""
        left = self.left - taken
        return replace(self, left=left, most=left if self.most is self.left else self.most - taken)

    def tightened(self, rows: Rows) -> Remaining:
        """The same with the counts of rows whose ranges have become tight."""
        own = self.problem.rows
        if rows is own or own.exact:
            return self
        return replace(self, left=self.left + (rows.lower - own.lower), most=self.most + (rows.upper - own.upper))

    def only(self, keep: Flags) -> Remaining:
        """The flagged ones."""
        at = np.flatnonzero(keep)
        number = ranks(keep) if self.seats else at
        return replace(
            self,
            variable=self.variable.take(at),
            signature=self.signature.take(at),
            row=self.row.take(at, axis=1),
            weight=self.weight.take(at),
            decided=None if self.decided is None else self.decided.take(at),
            seats=tuple(own.only(keep, number) for own in self.seats),
        )

    def without(self, zero: Flags, certain: Flags) -> Remaining:
        """The same, of a problem without seats, after some were excluded and others became certain."""
        taken, at = np.zeros(self.left.size + 1, dtype=np.int64), np.flatnonzero(certain)
        for row in self.row:
            np.add.at(taken, row.take(at), self.weight.take(at).astype(np.int64))
        return self.only(~(zero | certain)).off(taken[:-1])

    def room(self) -> Ints:
        """[rows] how many persons could have the value of the row."""
        return self._per_row(self.weight)[:-1].astype(np.int64)

    def even(self) -> Flags:
        """The variables of components where spreading everybody evenly meets all counts.

        No spread is less certain, and as it excludes nothing, nothing there is forced. Who is in no row is
        even too. Sums are of whole numbers: shares are counted in a common part of one person, and who has a
        number of choices for which double precision has none counts as uneven.
        """
        if not self.problem.plain:
            return np.zeros(self.variable.size, dtype=bool)
        choices = np.bincount(self.signature, minlength=self.problem.signatures)[self.signature]
        whole = _common_multiple(np.unique(choices).tolist(), _EXACT // (1 + int(self.weight.sum() + self.left.sum())))
        missed = self._per_row(self.weight * (whole / choices)) != np.append(self.left * whole, 0)
        missed[self.row[:, whole % choices != 0]] = True
        part = self
        for _ in range(_ROUNDS):  # what is not even spreads over rows and signatures
            missed[-1] = False  # the row of those who are absent
            lost = np.zeros(self.problem.signatures, dtype=bool)
            lost[part.signature[missed.take(part.row).any(axis=0)]] = True
            spoiled = lost.take(part.signature)
            if not spoiled.any():
                break
            missed[part.row[:, spoiled]] = True
            part = part.only(~spoiled)
        else:
            missed[-1] = False
            part = part.only(~part._connected_to(missed))
        found = np.zeros(self.variable.size, dtype=bool)
        found[np.searchsorted(self.variable, part.variable)] = True
        return found

    def _connected_to(self, rows: Flags) -> Flags:
        """The variables of components with one of some rows."""
        signatures, absent = self.problem.signatures, self.problem.rows.size
        # an absence becomes a loop, so that the edges stay sorted by signature
        heads = np.where(self.row == absent, self.signature, self.row.astype(np.int64) + signatures)
        tails = np.repeat(self.signature, self.row.shape[0])
        components, label = graphs.components(signatures + absent, tails, heads.T.ravel())
        hit = np.zeros(components, dtype=bool)
        hit[label[signatures + np.flatnonzero(rows[:-1])]] = True
        return np.asarray(hit[label[self.signature]])

    def _per_row(self, figure: Reals) -> Reals:
        total = np.zeros(self.problem.rows.size + 1)
        for row in self.row:
            total += sum_by(row, figure, total.size)
        for own in self.seats:
            total += sum_by(own.row, figure.take(own.owner), total.size)
        return total


def choices_of(problem: Problem, alive: Flags) -> Ints:
    """[m] how many variables are alive for each signature."""
    left = np.flatnonzero(alive[: problem.variables])
    return np.bincount(problem.signature.take(left), minlength=problem.signatures)


def loose(problem: Problem, alive: Flags) -> Flags:
    """[m] signatures that have a value with several candidates in some release."""
    found = np.zeros(problem.signatures, dtype=bool)
    for own in problem.rows.seats:
        several = np.bincount(own.owner[problem.rows.open(own, alive)], minlength=problem.variables) > 1
        found[problem.signature[several & alive[: problem.variables]]] = True
    return found


def _common_multiple(numbers: list[int], most: int) -> int:
    """The least common multiple of as many numbers, smallest first, as keep it below ``most``."""
    whole = 1
    for number in numbers:
        larger = math.lcm(whole, number)
        whole = larger if larger < most else whole
    return whole


def _taken(problem: Problem, variable: Ints) -> Remaining:
    signature = problem.signature.take(variable)
    weight = problem.weight.take(signature).astype(np.float64)
    row = problem.rows.sure.take(variable, axis=1)
    return Remaining(problem, variable, signature, row, weight, problem.rows.lower, problem.rows.upper)


def _with_seats(problem: Problem, alive: Flags, choices: Ints) -> Remaining:
    """The same where somebody fits several groups."""
    rows, live = problem.rows, alive[: problem.variables]
    decided = (choices == 1).take(problem.signature) & live  # the value is certain
    free = live & (~decided | loose(problem, alive).take(problem.signature))
    absent = rows.size
    sure = _taken(problem, np.flatnonzero(decided))
    taken = sure._per_row(sure.weight)
    found = _taken(problem, np.flatnonzero(free))
    found = replace(found, decided=decided[found.variable])
    found.row[:, decided[found.variable]] = absent
    number = ranks(free)
    seats = []
    for own in rows.seats:
        at = np.flatnonzero(rows.open(own, alive) & live.take(own.owner))
        owner = own.owner[at]
        single = np.bincount(owner, minlength=problem.variables) == 1
        settled = (decided & single).take(owner)
        done = at[settled]
        weight = problem.weight[problem.signature[own.owner[done]]].astype(np.float64)
        taken += sum_by(own.row[done], weight, absent + 1)
        at, owner = at[~settled], owner[~settled]
        seats.append(OpenSeats(own.release, number[owner], own.row[at], problem.variables + own.offset + at))
    certain = np.flatnonzero(live & ~free)
    return replace(found, seats=tuple(seats)).off(taken[:-1].astype(np.int64) + _said_of(problem, certain))


def _said_of(problem: Problem, certain: Ints) -> Ints:
    """[rows] what certain persons give to the sums of statements."""
    total, stated = np.zeros(problem.rows.size, dtype=np.int64), problem.rows.stated
    if stated.row.size:
        sure = np.zeros(problem.variables, dtype=bool)
        sure[certain] = True
        at = np.flatnonzero(sure[stated.variable])
        weight = problem.weight[problem.signature[stated.variable[at]]]
        np.add.at(total, stated.row[at], weight * stated.coefficient[at])
    return total
