"""The problem with the counts of noisy tables as further rows, which anything from nobody to everybody may be in.

They exclude nothing; what they weigh is said by `NoisyProblem`. Tables with the same cells share their rows, so a row
has one or more *entries*, each a published count with the law of its noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, log

import numpy as np

from showthrough.inference.history import History
from showthrough.inference.noisy_tables import ABSENT, Placement
from showthrough.inference.problem import STATEMENT, Problem
from showthrough.inference.reduce import Reduced
from showthrough.inference.rows import Rows, Seats
from showthrough.inference.worlds import TooManyStates
from showthrough.release.noise import Law
from showthrough.table.arrays import Codes, Flags, Ints, Reals, sum_by
from showthrough.table.ragged import ranges, starts

_DIGITS = 53  # binary digits of a likelihood
_LONGEST = 1 << 16  # binary digits between the likeliest and the least likely number of persons


@dataclass(frozen=True)
class NoisyProblem:
    """A problem with rows of noisy counts behind its own, and what they say."""

    problem: Problem
    alive: Flags  # [terms]
    first: int  # the first row of a noisy count
    start: Ints  # [noisy rows + 1] where the entries of each begin
    count: Reals  # [entries] as published
    law: Ints  # [entries] a number among ``laws``
    laws: tuple[Law, ...]

    @property
    def rows(self) -> int:
        """How many rows are noisy."""
        return self.start.size - 1

    def of(self, reduced: Reduced) -> Ints:
        """The rows of a reduced problem that are noisy."""
        return np.flatnonzero(reduced.row_of >= self.first)

    def entries(self, reduced: Reduced, rows: Ints) -> NoisyEntries:
        """What is left of noisy counts once certain persons are taken off."""
        own = reduced.row_of[rows]
        taken = self.problem.rows.upper[own] - reduced.rows.upper[rows]
        begin, size = self.start[own - self.first], np.diff(self.start)[own - self.first]
        at, owner = ranges(begin, size), np.repeat(np.arange(rows.size), size)
        return NoisyEntries(owner, self.count[at] - taken[owner], self.law[at])

    def likelihood(self, reduced: Reduced, row: int) -> list[int]:
        """How likely the noisy counts are for each number of persons that the row may have left, as whole numbers.

        In proportion, and to double precision however small: entry k is for k persons fewer than the most. Numbers of
        more digits than could be counted with are not made.
        """
        most = int(reduced.rows.upper[row])
        persons, told = np.arange(most, -1, -1, dtype=np.float64), self.entries(reduced, np.array([row]))
        binary = np.zeros(persons.size)
        for count, law in zip(told.count.tolist(), told.law.tolist(), strict=True):
            binary += self.laws[law].log_ratio(count - persons) / log(2)
        binary -= binary.max()
        whole = [floor(b) for b in binary.tolist()]
        least = min(whole)
        if -least > _LONGEST:
            raise TooManyStates
        return [round(2 ** (b - w) * 2**_DIGITS) << (w - least) for b, w in zip(binary.tolist(), whole, strict=True)]


@dataclass(frozen=True)
class NoisyEntries:
    """Noisy counts of some rows: the place of the row among them, what is left of the count, and its law."""

    row: Ints
    count: Reals
    law: Ints


def with_noise(history: History, problem: Problem, of_person: Ints, alive: Flags) -> NoisyProblem:
    """The problem of a history with rows for its noisy counts; ``alive`` are the terms that are not excluded."""
    person = np.zeros(problem.signatures, dtype=np.int64)
    person[of_person[::-1]] = np.arange(of_person.size)[::-1]
    laws = tuple(dict.fromkeys(table.law for table in history.noise))
    first = size = problem.rows.size
    hung, row, count, law = [], [np.empty(0, dtype=np.int64)], [np.empty(0)], [np.empty(0, dtype=np.int64)]
    for layer in history.noisy_layers:
        keys = [table.listed(history.values) for table in layer.tables]
        own = _Hung.of(layer.placed, keys, size, history.nobody + 1)
        hung.append((own, layer.code[person]))
        row += [own.rows_of(key) - first for key in keys]
        count += [table.count for table in layer.tables]
        law += [np.full(table.count.size, laws.index(table.law)) for table in layer.tables]
        size += own.key.size
    entry, told, of_law = np.concatenate(row), np.concatenate(count), np.concatenate(law)
    known = np.flatnonzero(entry >= 0)  # values that nobody can have count nobody
    order = known[np.argsort(entry[known], kind="stable")]
    start = np.searchsorted(entry[order], np.arange(size - first + 1)).astype(np.int64)
    rows, alive = _appended(problem, alive, hung, size)
    said, none = np.full(size - first, STATEMENT, dtype=np.int32), np.zeros(size - first, dtype=bool)
    wide = replace(
        problem,
        rows=rows,
        row_value=np.append(problem.row_value, said),
        row_group=np.append(problem.row_group, said),
        row_release=np.append(problem.row_release, said),
        several=None if problem.several is None else np.append(problem.several, none),
    )
    found = NoisyProblem(wide, alive, first, start, told[order], of_law[order], laws)
    return replace(found, problem=replace(wide, rows=_with_room(found)))


@dataclass(frozen=True)
class _Hung:
    """How variables hang on the rows of tables with the same cells."""

    placed: Placement
    key: Ints  # [rows] cell and value, ascending
    begin: int
    span: int

    @classmethod
    def of(cls, placed: Placement, keys: Sequence[Ints], begin: int, span: int) -> _Hung:
        key = np.unique(np.concatenate(keys))
        return cls(placed, key[key != ABSENT], begin, span)

    def rows_of(self, wanted: Ints, outside: int = -1) -> Ints:
        """The row of each cell and value; ``outside`` where there is none."""
        if not self.key.size:
            return np.full(wanted.size, outside, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.key, wanted), self.key.size - 1)
        return np.where(self.key[at] == wanted, self.begin + at, outside)

    def row(self, cell: Ints, value: Codes | Ints, outside: int) -> Codes:
        """The row of each cell and value; ``outside`` where there is none."""
        wanted = np.where(cell == ABSENT, -2, cell * self.span + value)
        return self.rows_of(wanted, outside).astype(np.int32)


def _appended(problem: Problem, alive: Flags, hung: Sequence[tuple[_Hung, Ints]], size: int) -> tuple[Rows, Flags]:
    """The rows of a problem with those of noisy tables, over the same variables; a code per signature for each."""
    rows, old = problem.rows, problem.rows.size

    def outside(row: Codes) -> Codes:
        return np.where(row == old, size, row).astype(np.int32)

    sure = [outside(rows.sure)]
    seats = [replace(own, row=outside(own.row)) for own in rows.seats]
    release = list(rows.sure_release)
    for k, (own, codes) in enumerate(hung):
        number, placed, code = problem.places.releases + k, own.placed, codes[problem.signature]
        if (code < placed.cells).all():
            sure.append(own.row(code, problem.value, size)[None])
            release.append(number)
            continue
        lists = [placed.candidates(c) for c in range(placed.cells + placed.set_start.size - 1)]
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
