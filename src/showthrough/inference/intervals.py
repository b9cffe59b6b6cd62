"""Quick bounds: how many persons of each signature can have each value, by propagation and single rows.

Every term (a variable or a candidate, in persons) lies in an interval. Each row says what its terms add up to, so that
a term has at most what the count leaves when the others have their least, and at least what it needs when they have
their most; likewise for the persons of a signature (One) and for the candidates of a variable. A few rounds over all
rows take a moment where linear programs take minutes, and a round that is left out only makes the bounds wider.

Counts are whole numbers, and so is everything that is added and taken off: double precision is exact there. Only
statements divide by their coefficients; what is not whole is moved outwards by more than sums can be rounded, and what
is nearer to a whole number than that is this number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from showthrough.inference import islands
from showthrough.inference.clock import Clock
from showthrough.inference.face import Face
from showthrough.inference.pairs import Pairs
from showthrough.inference.rows import Seats
from showthrough.table.arrays import Codes, Flags, Ints, Reals, sum_by

_ROUNDS = 100
_OUTWARDS = 1e-9  # of what a statement adds up to
_BEYOND = 1.0  # persons past what a term can hold: where empty intervals end
_ANY = 1e300  # persons; no limit, and still a number
_WHOLE = 1e-10  # of what may be rounded: nearer to a whole number than anything that was moved outwards


@dataclass(frozen=True)
class Intervals:
    """[v] the least and the most persons of each variable."""

    least: Reals
    most: Reals

    def per_person(self, face: Face, pairs: Pairs) -> tuple[Reals, Reals]:
        """[pairs] the bounds of one person: it takes as much as there is, and only what the others cannot hold."""
        others = face.problem.weight[pairs.signature] - 1.0
        lower, upper = np.maximum(0.0, self.least - others), np.minimum(1.0, self.most)
        sure = pairs.alive & (pairs.left() == 1)[pairs.signature]
        lower[sure] = upper[sure] = 1.0
        return np.where(pairs.alive, lower, 0.0), np.where(pairs.alive, upper, 0.0)


def intervals(face: Face, clock: Clock | None = None) -> Intervals:
    """Rounds over all rows until nothing changes or time is over; the first is always made."""
    return Narrowing(face).within(clock or Clock())


class Narrowing:
    """Bounds that become narrower for as long as somebody has time, and are kept from one time to the next."""

    def __init__(self, face: Face) -> None:
        self.problem, self._rounds = face.problem, _Rounds(face)
        self._left = _ROUNDS if face.problem.variables else 0
        self._begun = False

    def within(self, clock: Clock) -> Intervals:
        """Further rounds until nothing changes or time is over; the very first is always made.

        Where an interval is empty the releases contradict each other: nothing is said of anybody on that island.
        """
        while self._left and not (self._begun and clock.over):
            self._begun, self._left = True, self._left - 1
            if not self._rounds.round():
                self._left = 0
        problem, found = self.problem, self._rounds
        variables = problem.variables
        least, most = found.least[:variables].copy(), found.most[:variables].copy()
        empty = found.owner[np.flatnonzero(found.least > found.most + (0.0 if found.whole else _OUTWARDS))]
        if empty.size:
            island = islands.label(problem)
            open_again = np.isin(island, island[problem.signature[empty]])[problem.signature]
            least[open_again] = 0.0
            most[open_again] = problem.weight[problem.signature[open_again]]
        return Intervals(least, most)


class _Rounds:
    """The intervals of all terms as they become narrower."""

    def __init__(self, face: Face) -> None:
        problem = face.problem
        self.problem, self.rows = problem, face.rows
        self.owner: Ints = problem.rows.owner
        self.least = np.zeros(problem.terms)
        self.most: Reals = problem.weight[problem.signature[self.owner]].astype(np.float64)
        self.most[~face.alive] = 0.0
        self.changed, self.whole = False, bool((np.abs(self.rows.stated.coefficient) <= 1).all())
        self.largest = float(problem.weight.max(initial=0)) + _BEYOND

    def round(self) -> bool:
        """Look once at every row; says whether anything became narrower."""
        self.changed = False
        self._signatures()
        for own in self.rows.seats:
            self._candidates(own)
        self._counts()
        if self.rows.stated.row.size:
            self._statements()
        return self.changed

    def _narrow(self, terms: slice | Ints, least: Reals, most: Reals) -> None:
        if not self.whole:
            least, most = _snapped(least), _snapped(most)
        old_least, old_most = self.least[terms], self.most[terms]
        least, most = np.maximum(old_least, least), np.minimum(old_most, most)
        # an interval that is empty stays so; without an end it would run off, and take others with it
        np.minimum(least, self.largest, out=least)
        np.maximum(most, -_BEYOND, out=most)
        self.changed |= bool((least > old_least).any() or (most < old_most).any())
        self.least[terms], self.most[terms] = least, most

    def _signatures(self) -> None:
        """The values of a signature add up to its persons."""
        start, size, weight = self.problem.start[:-1], np.diff(self.problem.start), self.problem.weight
        variables = slice(0, self.problem.variables)
        least, most = self.least[variables], self.most[variables]
        room = np.repeat(weight - np.add.reduceat(least, start), size)
        need = np.repeat(weight - np.add.reduceat(most, start), size)
        self._narrow(variables, need + most, room + least)

    def _candidates(self, own: Seats) -> None:
        """The candidates of a variable in one release add up to it."""
        variables, places = slice(0, self.problem.variables), self.rows.places(own)
        start, owner = own.start[:-1], own.owner
        least, most = np.add.reduceat(self.least[places], start), np.add.reduceat(self.most[places], start)
        self._narrow(variables, least, most)
        room, need = (self.most[variables] - least)[owner], (self.least[variables] - most)[owner]
        self._narrow(places, need + self.most[places], room + self.least[places])

    def _layers(self) -> Iterator[tuple[slice, Codes]]:
        """Terms and their rows, release by release."""
        for row in self.rows.sure:
            yield slice(0, self.problem.variables), row
        for own in self.rows.seats:
            yield self.rows.places(own), own.row

    def _counts(self) -> None:
        """The terms of a row add up to its count; who is outside a release stands in no row."""
        size = self.rows.size
        least, most = np.zeros(size + 1), np.zeros(size + 1)
        for terms, row in self._layers():
            least += sum_by(row, self.least[terms], size + 1)
            most += sum_by(row, self.most[terms], size + 1)
        room = np.append(self.rows.upper, 0) - least
        need = np.append(self.rows.lower, 0) - most
        published = size - len(self.problem.statements)
        room[published:], need[published:] = _ANY, -_ANY
        old_least, old_most = self.least.copy(), self.most.copy()  # the sums are of these
        for terms, row in self._layers():
            self._narrow(terms, need[row] + old_most[terms], room[row] + old_least[terms])

    def _statements(self) -> None:
        """The weighed variables of a statement add up to something between its ends."""
        said, size = self.rows.stated, self.rows.size
        used = np.flatnonzero(said.coefficient)
        row, at, factor = said.row[used], said.variable[used], said.coefficient[used].astype(np.float64)
        low, high = self.least[at] * factor, self.most[at] * factor
        low, high = np.minimum(low, high), np.maximum(low, high)
        least, most = sum_by(row, low, size), sum_by(row, high, size)
        scale = sum_by(row, np.maximum(np.abs(low), np.abs(high)), size) + np.abs(self.rows.lower)
        aside = _OUTWARDS * (1.0 + scale)[row]
        largest = (self.rows.upper - least)[row] + low
        smallest = (self.rows.lower - most)[row] + high
        ends = _snapped(np.sort(np.stack([smallest, largest]) / factor, axis=0))
        ends = np.where(ends == np.rint(ends), ends, ends + np.stack([-aside, aside]))
        own, place = np.unique(at, return_inverse=True)  # several statements may speak of one variable
        down, up = np.full(own.size, -np.inf), np.full(own.size, np.inf)
        np.maximum.at(down, place, ends[0])
        np.minimum.at(up, place, ends[1])
        self._narrow(own, down, up)


def _snapped(ends: Reals) -> Reals:
    """What is whole but for rounding is whole."""
    whole = np.rint(ends)
    return np.where(np.abs(ends - whole) <= _WHOLE * np.maximum(1.0, np.abs(whole)), whole, ends)


def narrow(pairs: Pairs, lower: Reals, upper: Reals) -> Flags:
    """[m] signatures of which some value that stands in all their groups has bounds narrower than [0, 1]."""
    found = np.zeros(pairs.start.size - 1, dtype=bool)
    found[pairs.signature[(lower > 0) | (upper < 1)]] = True
    return found
