"""Rows: everything that releases and statements say of the variables, in whole numbers.

A row says that a sum over variables lies between a lower and an upper count; for what releases publish
today the two are equal. Variables hang on rows in three ways:

- *sure*: in a release where everybody's group is known, each variable stands in one row or in none;
- *seats*: in a release where somebody fits several groups, each variable has *candidates*, one of which
  holds the person. Given the value, the groups of different releases are independent, so candidates are
  kept release by release: their number grows with the sum over the releases, never with the product;
- *stated*: a statement weighs the variables themselves with whole coefficients.

So no row ever runs over the seats of two releases. Legend: v variables, E candidates of all releases
together. A *term* is a variable or a candidate; arrays over terms hold the variables first, then the
candidates. The row of somebody outside a release is ``size``, one past the last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import owners

LOWEST = np.iinfo(np.int64).min // 4  # below every score, with room to add


@dataclass(frozen=True)
class Seats:
    """The candidates of every variable in one release; each variable has at least one."""

    release: int
    start: Ints  # [v + 1]
    row: Codes  # [candidates]
    offset: int = 0  # where they begin among the candidates of all releases

    @cached_property
    def owner(self) -> Ints:
        """[candidates] the variable of each."""
        return owners(self.start)

    @property
    def span(self) -> slice:
        """These among the candidates of all releases."""
        return slice(self.offset, self.offset + self.row.size)

    def most(self, figure: Ints, possible: Flags) -> Ints:
        """[v] the largest figure among the possible candidates; LOWEST where none is."""
        found: Ints = np.maximum.reduceat(np.where(possible, figure, LOWEST), self.start[:-1])
        return found


@dataclass(frozen=True)
class Stated:
    """Rows over the variables themselves: one entry per variable that a statement weighs."""

    variable: Ints
    row: Codes
    coefficient: Ints


NOTHING_STATED = Stated(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class Rows:
    """All rows with their counts, and what hangs on them."""

    lower: Ints  # [rows]
    upper: Ints  # [rows]; the same array where every count is exact
    sure: Codes  # [S, v]
    sure_release: tuple[int, ...]
    seats: tuple[Seats, ...] = ()
    stated: Stated = NOTHING_STATED

    @property
    def size(self) -> int:
        """How many rows there are."""
        return self.lower.size

    @property
    def variables(self) -> int:
        return int(self.sure.shape[1])

    @property
    def candidates(self) -> int:
        """Candidates of all releases together."""
        return sum(own.row.size for own in self.seats)

    @property
    def terms(self) -> int:
        return self.variables + self.candidates

    @property
    def exact(self) -> bool:
        """Whether every count is one number."""
        return self.lower is self.upper

    @property
    def plain(self) -> bool:
        """Whether every variable stands in one row per release and nothing else is said."""
        return not self.seats and not self.stated.row.size and self.exact

    @cached_property
    def ranged(self) -> Flags:
        """[rows] whether the count lies anywhere between two numbers."""
        return self.lower < self.upper

    @cached_property
    def owner(self) -> Ints:
        """[terms] the variable of each term."""
        return np.concatenate([np.arange(self.variables), *(own.owner for own in self.seats)])

    # --- whole numbers: the algebra of weighings -------------------------------------------------------------

    def scores(self, weights: Ints, alive: Flags) -> Ints:
        """[v] the score of each variable: its rows' weights, in each release that of its best candidate."""
        extended = np.append(weights, 0)
        total = np.zeros(self.variables, dtype=np.int64)
        for row in self.sure:
            total += extended[row]
        for own in self.seats:
            total += np.maximum(own.most(extended[own.row], self.open(own, alive)), LOWEST)
        if self.stated.row.size:
            np.add.at(total, self.stated.variable, self.stated.coefficient * extended[self.stated.row])
        return total

    def behind(self, weights: Ints, alive: Flags) -> Flags:
        """[terms] candidates that weigh less than another open one of their variable; no variable is."""
        extended = np.append(weights, 0)
        found = np.zeros(self.terms, dtype=bool)
        for own in self.seats:
            possible, figure = self.open(own, alive), extended[own.row]
            found[self.places(own)] = possible & (figure < own.most(figure, possible)[own.owner])
        return found

    def reach(self, weights: Ints) -> int:
        """What the counts at least add up to under the weights."""
        if self.exact:
            return exact_dot(self.lower, weights)
        return exact_dot(self.lower, np.maximum(weights, 0)) - exact_dot(self.upper, np.maximum(-weights, 0))

    def places(self, own: Seats) -> slice:
        """The candidates of one release among the terms."""
        return slice(self.variables + own.offset, self.variables + own.offset + own.row.size)

    def open(self, own: Seats, alive: Flags) -> Flags:
        """Which candidates of one release are possible, given what terms are alive."""
        return alive[self.places(own)]

    # --- who hangs on what ------------------------------------------------------------------------------------

    def served(self) -> Flags:
        """[rows] whether anything hangs on the row."""
        found = np.zeros(self.size + 1, dtype=bool)
        for row in (*self.sure, *(own.row for own in self.seats), self.stated.row):
            found[row] = True
        return found[:-1]

    def touching(self, rows: Flags) -> Flags:
        """[v] the variables that hang on one of some rows."""
        on = np.append(rows, False)
        found = np.zeros(self.variables, dtype=bool)
        for row in self.sure:
            found |= on[row]
        for own in self.seats:
            found[own.owner[on[own.row]]] = True
        found[self.stated.variable[on[self.stated.row]]] = True
        return found

    def of(self, variables: Ints) -> Ints:
        """The rows that some variables hang on."""
        chosen = np.zeros(self.variables, dtype=bool)
        chosen[variables] = True
        found = [row[variables] for row in self.sure]
        found += [own.row[chosen[own.owner]] for own in self.seats]
        found.append(self.stated.row[chosen[self.stated.variable]])
        rows = np.unique(np.concatenate(found))
        return rows[rows < self.size].astype(np.int64)

    def links(self) -> tuple[Ints, Ints]:
        """Variable and row of everything that hangs together, sorted by variable as far as it costs nothing.

        Absences are loops: (variable, −1).
        """
        count = self.sure.shape[0]
        tails = [np.repeat(np.arange(self.variables), count), *(own.owner for own in self.seats), self.stated.variable]
        heads = [self.sure.T.ravel(), *(own.row for own in self.seats), self.stated.row]
        tail, head = (np.concatenate(parts).astype(np.int64) for parts in (tails, heads))
        return tail, np.where(head == self.size, -1, head)

    # --- smaller problems ----------------------------------------------------------------------------------------

    def over(self, variables: Ints, keep: Flags | None = None) -> tuple[Rows, Ints]:
        """The same rows over some variables in another order, with the candidates that are kept, and these."""
        place = np.full(self.variables, -1, dtype=np.int64)
        place[variables] = np.arange(variables.size)
        seats: list[Seats] = []
        taken = [np.empty(0, dtype=np.int64)]
        for own in self.seats:
            owner = place[own.owner]
            at = np.flatnonzero(owner >= 0 if keep is None else keep[own.span] & (owner >= 0))
            at = at[np.argsort(owner[at], kind="stable")]
            start = np.searchsorted(owner[at], np.arange(variables.size + 1)).astype(np.int64)
            seats.append(Seats(own.release, start, own.row[at], sum(one.row.size for one in seats)))
            taken.append(own.offset + at)
        said = np.flatnonzero(place[self.stated.variable] >= 0) if self.stated.row.size else self.stated.variable
        stated = Stated(place[self.stated.variable[said]], self.stated.row[said], self.stated.coefficient[said])
        sure = self.sure.take(variables, axis=1)
        return replace(self, sure=sure, seats=tuple(seats), stated=stated), np.concatenate(taken)

    def stretch(self, variables: slice, rows: slice) -> tuple[Rows, Ints]:
        """Neighbouring variables and rows that share nothing with the others, and their candidates."""
        size = rows.stop - rows.start

        def moved(row: Codes) -> Codes:
            return np.asarray(np.where(row == self.size, size, row - rows.start), dtype=np.int32)

        seats: list[Seats] = []
        taken = [np.empty(0, dtype=np.int64)]
        for own in self.seats:
            at = slice(int(own.start[variables.start]), int(own.start[variables.stop]))
            start = own.start[variables.start : variables.stop + 1] - at.start
            seats.append(Seats(own.release, start, moved(own.row[at]), sum(one.row.size for one in seats)))
            taken.append(own.offset + np.arange(at.start, at.stop))
        said, stated = self.stated, self.stated
        if said.row.size:
            on = np.flatnonzero((said.variable >= variables.start) & (said.variable < variables.stop))
            stated = Stated(said.variable[on] - variables.start, moved(said.row[on]), said.coefficient[on])
        lower = self.lower[rows]
        upper = lower if self.exact else self.upper[rows]
        part = Rows(lower, upper, moved(self.sure[:, variables]), self.sure_release, tuple(seats), stated)
        return part, np.concatenate(taken)

    def settled(self) -> tuple[Rows, Flags]:
        """Releases in which every variable has one candidate become sure ones; says which candidates are left."""
        single = [own for own in self.seats if own.row.size == self.variables]
        left = np.ones(self.candidates, dtype=bool)
        if not single:
            return self, left
        seats: list[Seats] = []
        for own in self.seats:
            if any(own is one for one in single):
                left[own.span] = False
            else:
                seats.append(replace(own, offset=sum(one.row.size for one in seats)))
        sure = np.concatenate([self.sure, *(own.row[None] for own in single)])
        releases = (*self.sure_release, *(own.release for own in single))
        return replace(self, sure=sure, sure_release=releases, seats=tuple(seats)), left

    def numbered(self) -> tuple[Rows, Ints]:
        """Without the rows that nothing hangs on; gives the old number of each row."""
        kept = np.flatnonzero(self.served())
        return self.renumbered(kept), kept

    def renumbered(self, kept: Ints) -> Rows:
        """The same with row ``kept[k]`` as row k."""
        place = np.full(self.size + 1, kept.size, dtype=np.int32)
        place[kept] = np.arange(kept.size)
        lower = self.lower[kept]
        return replace(
            self,
            lower=lower,
            upper=lower if self.exact else self.upper[kept],
            sure=place.take(self.sure),
            seats=tuple(replace(own, row=place.take(own.row)) for own in self.seats),
            stated=replace(self.stated, row=place.take(self.stated.row)),
        )


def exact_dot(a: Ints, b: Ints) -> int:
    """Σ a·b in whole numbers of any size.

    >>> exact_dot(np.array([2**40, 1]), np.array([2**40, -1])) == 2**80 - 1
    True
    """
    used = np.flatnonzero(b)
    a, b = a[used], b[used]
    if used.size and float(np.abs(a).max()) * float(np.abs(b).max()) * used.size >= 2.0**62:
        return sum(int(p) * int(q) for p, q in zip(a, b, strict=True))
    return int(a @ b)
