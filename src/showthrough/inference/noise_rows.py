"""The problem with the counts of noisy tables as further rows, which anything from nobody to everybody may be in.

They exclude nothing; what they weigh is said by `NoisyProblem`: per row the published count, and the law of its noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor, log

import numpy as np

from showthrough.inference.history import History
from showthrough.inference.noisy_tables import ABSENT, NoisyTable
from showthrough.inference.problem import STATEMENT, Problem
from showthrough.inference.reduce import Reduced
from showthrough.inference.rows import Rows, Seats
from showthrough.inference.worlds import TooManyStates
from showthrough.release.noise import Law
from showthrough.table.arrays import Codes, Flags, Ints, Reals, sum_by
from showthrough.table.ragged import starts

_DIGITS = 53  # binary digits of a likelihood
_LONGEST = 1 << 16  # binary digits between the likeliest and the least likely number of persons


@dataclass(frozen=True)
class NoisyProblem:
    """A problem with rows of noisy counts behind its own, and what they say."""

    problem: Problem
    alive: Flags  # [terms]
    first: int  # the first row of a noisy count
    count: Reals  # [noisy rows] as published
    law: Ints  # [noisy rows] a number among ``laws``
    laws: tuple[Law, ...]

    def of(self, reduced: Reduced) -> Ints:
        """The rows of a reduced problem that are noisy."""
        return np.flatnonzero(reduced.row_of >= self.first)

    def left(self, reduced: Reduced, row: int) -> tuple[float, Law]:
        """What is left of a noisy count once certain persons are taken off, and its law."""
        own = int(reduced.row_of[row])
        taken = int(self.problem.rows.upper[own]) - int(reduced.rows.upper[row])
        return float(self.count[own - self.first]) - taken, self.laws[int(self.law[own - self.first])]

    def likelihood(self, reduced: Reduced, row: int) -> list[int]:
        """How likely the noisy count is for each number of persons that the row may have left, as whole numbers.

        In proportion, and to double precision however small: entry k is for k persons fewer than the most. Numbers of
        more digits than could be counted with are not made.
        """
        count, law = self.left(reduced, row)
        most = int(reduced.rows.upper[row])
        binary = law.log_ratio(count - np.arange(most, -1, -1, dtype=np.float64)) / log(2)
        whole = [floor(b) for b in binary.tolist()]
        least = min(whole)
        if -least > _LONGEST:
            raise TooManyStates
        return [round(2 ** (b - w) * 2**_DIGITS) << (w - least) for b, w in zip(binary.tolist(), whole, strict=True)]


def with_noise(history: History, problem: Problem, of_person: Ints, alive: Flags) -> NoisyProblem:
    """The problem of a history with rows for its noisy counts; ``alive`` are the terms that are not excluded."""
    person = np.zeros(problem.signatures, dtype=np.int64)
    person[of_person[::-1]] = np.arange(of_person.size)[::-1]
    first, counts, laws = problem.rows.size, [np.empty(0)], [np.empty(0, dtype=np.int64)]
    hung = []
    for k, table in enumerate(history.noise):
        begin = first + sum(own.size for own in counts)
        hung.append(
            _Hung(table, history.cells_in(table)[person], table.listed(history.values), begin, history.nobody + 1)
        )
        counts.append(table.count)
        laws.append(np.full(table.count.size, k))
    count = np.concatenate(counts)
    rows, alive = _appended(problem, alive, hung, first + count.size)
    said = np.full(count.size, STATEMENT, dtype=np.int32)
    none = np.zeros(count.size, dtype=bool)
    wide = replace(
        problem,
        rows=rows,
        row_value=np.append(problem.row_value, said),
        row_group=np.append(problem.row_group, said),
        row_release=np.append(problem.row_release, said),
        several=None if problem.several is None else np.append(problem.several, none),
    )
    found = NoisyProblem(wide, alive, first, count, np.concatenate(laws), tuple(t.law for t in history.noise))
    return replace(found, problem=replace(wide, rows=_with_room(found)))


@dataclass(frozen=True)
class _Hung:
    """How variables hang on the rows of one table."""

    table: NoisyTable
    code: Ints  # [m]
    key: Ints  # [entries] cell and value
    begin: int
    span: int

    def row(self, cell: Ints, value: Codes | Ints, outside: int) -> Codes:
        """The row of each cell and value; ``outside`` where there is none."""
        order = np.argsort(self.key, kind="stable")
        wanted = np.where(cell == ABSENT, -2, cell * self.span + value)
        if not order.size:
            return np.full(wanted.size, outside, dtype=np.int32)
        at = np.minimum(np.searchsorted(self.key, wanted, sorter=order), order.size - 1)
        return np.where(self.key[order[at]] == wanted, self.begin + order[at], outside).astype(np.int32)


def _appended(problem: Problem, alive: Flags, hung: list[_Hung], size: int) -> tuple[Rows, Flags]:
    """The rows of a problem with those of noisy tables, over the same variables."""
    rows, old = problem.rows, problem.rows.size

    def outside(row: Codes) -> Codes:
        return np.where(row == old, size, row).astype(np.int32)

    sure = [outside(rows.sure)]
    seats = [replace(own, row=outside(own.row)) for own in rows.seats]
    release = list(rows.sure_release)
    for k, own in enumerate(hung):
        number = problem.places.releases + k
        code = own.code[problem.signature]
        if (code < own.table.cells).all():
            sure.append(own.row(code, problem.value, size)[None])
            release.append(number)
            continue
        lists = [own.table.candidates(c) for c in range(own.table.cells + own.table.set_start.size - 1)]
        chosen = [[ABSENT] if c == ABSENT else lists[c] for c in code.tolist()]
        start = starts(np.array([len(cells) for cells in chosen], dtype=np.int64))
        cell = np.array([c for cells in chosen for c in cells], dtype=np.int64)
        value = np.repeat(problem.value, np.diff(start))
        seat = Seats(number, start, own.row(cell, value, size), sum(one.row.size for one in seats))
        seats.append(seat)
        alive = np.append(alive, alive[: problem.variables][seat.owner])
    more = size - old
    lower = np.append(rows.lower, np.zeros(more, dtype=np.int64))
    upper = np.append(rows.upper, np.zeros(more, dtype=np.int64))
    return Rows(lower, upper, np.concatenate(sure), tuple(release), tuple(seats), rows.stated), alive


def _with_room(noise: NoisyProblem) -> Rows:
    """The rows with room for everybody who can be in a noisy one."""
    problem, rows, alive = noise.problem, noise.problem.rows, noise.alive
    persons = problem.weight[problem.signature] * alive[: problem.variables]
    room = np.zeros(rows.size + 1)
    for row in rows.sure:
        room += sum_by(row, persons.astype(np.float64), rows.size + 1)
    for own in rows.seats:
        room += sum_by(own.row, (persons[own.owner] * rows.open(own, alive)).astype(np.float64), rows.size + 1)
    upper = rows.upper.copy()
    upper[noise.first :] = room[noise.first : -1].astype(np.int64)
    return replace(rows, upper=upper)
