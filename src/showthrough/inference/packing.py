"""How many persons can keep one value throughout: the linear program behind the smallest set of changed persons.

Split some persons into one per release. In each release such a part may have any value that is left over in its
group, so of the split persons only the left-overs matter: let x[σ,s] be how many of signature σ keep the value s
everywhere, z[σ] how many are split, and U[g,s] what is left over of the count of value s in group g. Then

    minimise Σ z   subject to   Σ_s x[σ,s] + z[σ] = w[σ],   Σ_{σ in g} x[σ,s] + U[g,s] = c[g,s],   x, z, U ≥ 0

says all: as everybody in a group has one value, the left-overs of a group are as many as its members who are
split or in this release alone, and they can be dealt out in any way. So it is a packing of persons into counts.
Where persons fit several groups, e[σ,s,g] of those who keep a value are counted in g, with Σ_g e = x, and V[σ,g]
of those who are split (or in this release alone) are, with Σ_g V = z[σ] (or w[σ]); then Σ_s U[g,s] = Σ_σ V[σ,g]
is asked for too. It can always be met if each release can be met by itself; *artificial* columns, at a high
price, keep the program solvable where one cannot.

Legend: the columns are x, z, e, V, U and the artificial ones, in this order; the rows say A·columns = b, all in
whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from showthrough.inference.history import ABSENT
from showthrough.inference.problem import STATEMENT, Problem
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.ragged import ranges

_NONE = np.empty(0, dtype=np.int64)
PRICE = 100.0  # of what no release can do, in split persons


@dataclass(frozen=True, eq=False)
class Packing:
    """The program over some islands of a problem."""

    A: sp.csr_array
    b: Ints
    row_island: Ints
    column_island: Ints
    variable: Ints  # of each x
    signature: Ints  # of each z: who may be in several releases
    seat_term: Ints  # of each e
    part_signature: Ints  # of each V
    part_release: Ints
    part_group: Ints  # ABSENT: outside the release
    left_row: Ints  # of each U: a row of the problem
    artificial: int

    @cached_property
    def starts(self) -> Ints:
        """Where x, z, e, V, U and the artificial columns begin, and where they end."""
        sizes = [self.variable.size, self.signature.size, self.seat_term.size, self.part_group.size]
        return np.cumsum([0, *sizes, self.left_row.size, self.artificial])

    @property
    def columns(self) -> int:
        return int(self.starts[-1])

    @property
    def z(self) -> slice:
        """The columns that count split persons."""
        return slice(int(self.starts[1]), int(self.starts[2]))

    @property
    def real(self) -> slice:
        """All columns but the artificial ones."""
        return slice(0, int(self.starts[5]))

    @cached_property
    def cost(self) -> Reals:
        """[columns] what is to be as small as possible."""
        found = np.zeros(self.columns)
        found[self.z] = 1.0
        found[self.real.stop :] = PRICE
        return found

    def kind(self, k: int) -> slice:
        """The columns of kind k: 0 x, 1 z, 2 e, 3 V, 4 U, 5 artificial."""
        return slice(int(self.starts[k]), int(self.starts[k + 1]))


def unpackable(problem: Problem, island: Ints) -> Flags:
    """[m] islands that no split makes consistent, or about which more is known than counts.

    A group whose members are known must have as many as its counts add up to. Ranges and statements are not for
    the program.
    """
    places, published = problem.places, problem.row_release != STATEMENT
    size = np.bincount(problem.row_group[published], weights=problem.count[published], minlength=places.known)
    least, most = np.zeros((2, places.known))
    bad = np.zeros(int(island.max(initial=-1)) + 1, dtype=bool)
    for r in range(places.releases):
        owner, group = places.fits(r)
        inside = group != ABSENT
        owner, group = owner[inside], group[inside].astype(np.int64)
        sure = places.codes[r, owner] < places.known
        most += np.bincount(group, weights=problem.weight[owner], minlength=places.known)
        least += np.bincount(group[sure], weights=problem.weight[owner[sure]], minlength=places.known)
        wrong = (least[group] > size[group]) | (most[group] < size[group])
        bad[island[owner[wrong]]] = True
    stated = problem.rows.stated
    bad[island[problem.signature[stated.variable]]] = True
    ranged = problem.rows.touching(problem.rows.ranged)
    bad[island[problem.signature[np.flatnonzero(ranged)]]] = True
    return np.asarray(bad[island])


def packing(problem: Problem, island: Ints, among: Flags) -> Packing:
    """Write down the program of some islands, given by their signatures."""
    return _Writer(problem, island, among).written()


class _Writer:
    """Numbers the columns, then writes block of rows by block of rows."""

    def __init__(self, problem: Problem, island: Ints, among: Flags) -> None:
        places, rows = problem.places, problem.rows
        self.problem, self.island = problem, island
        several = among & ((places.codes != ABSENT).sum(axis=0) > 1)
        self.signature = np.flatnonzero(several)
        self.place = np.full(problem.signatures, -1, dtype=np.int64)  # of signatures among those that may be split
        self.place[self.signature] = np.arange(self.signature.size)
        self.variable = np.flatnonzero(several[problem.signature])
        self.seats = [_several(own.start, self.variable) for own in rows.seats]
        terms = [rows.places(own).start + at for own, (at, _) in zip(rows.seats, self.seats, strict=True)]
        self.seat_term = np.concatenate([_NONE, *terms])
        fits = [places.fits(r, np.flatnonzero(among & (own >= places.known))) for r, own in enumerate(places.codes)]
        self.part_signature, self.part_group = (np.concatenate([f[k] for f in fits]).astype(np.int64) for k in (0, 1))
        self.part_release = np.repeat(np.arange(places.releases), [f[0].size for f in fits])
        self.group_island = np.full(places.known + 1, -1, dtype=np.int64)  # the last is ABSENT
        for r in range(places.releases):
            own, group = places.fits(r, np.flatnonzero(among))
            self.group_island[group] = island[own]
        self.group_island[ABSENT] = -1
        here = (problem.row_release != STATEMENT) & (self.group_island[problem.row_group] >= 0)
        self.left_row = np.flatnonzero(here)
        sizes = [a.size for a in (self.variable, self.signature, self.seat_term, self.part_group, self.left_row)]
        self.x, self.z, self.e, self.v, self.u, self.end = np.cumsum([0, *sizes]).tolist()
        self.entries: list[tuple[Ints, Ints, Ints]] = []
        self.b: list[Ints] = []
        self.row_island: list[Ints] = []
        self.size = 0

    def written(self) -> Packing:
        """All rows, in order, and artificial columns for those that seat parts."""
        problem = self.problem
        one = self._block(problem.weight[self.signature], self.island[self.signature])
        self._add(one + self.place[problem.signature[self.variable]], self.x + _numbers(self.variable))
        self._add(one + _numbers(self.signature), self.z + _numbers(self.signature))
        self._counts()
        hard = self.size
        self._part_rows()
        eased = np.arange(hard, self.size)
        self._add(np.concatenate([eased, eased]), self.end + np.arange(2 * eased.size), np.repeat([1, -1], eased.size))
        row, column, figure = (np.concatenate(parts) for parts in zip(*self.entries, strict=True))
        row_island = np.concatenate(self.row_island)
        owner = problem.rows.owner[self.seat_term] if self.seat_term.size else self.seat_term
        column_island = [
            self.island[problem.signature[self.variable]],
            self.island[self.signature],
            self.island[problem.signature[owner]],
            self.island[self.part_signature],
            self.group_island[problem.row_group[self.left_row]],
            np.tile(row_island[eased], 2),
        ]
        shape = (self.size, self.end + 2 * eased.size)
        return Packing(
            A=sp.csr_array((figure, (row, column)), shape=shape, dtype=np.int64),
            b=np.concatenate(self.b),
            row_island=row_island,
            column_island=np.concatenate(column_island),
            variable=self.variable,
            signature=self.signature,
            seat_term=self.seat_term,
            part_signature=self.part_signature,
            part_release=self.part_release,
            part_group=self.part_group,
            left_row=self.left_row,
            artificial=2 * eased.size,
        )

    def _block(self, b: Ints, island: Ints) -> int:
        """Begin a block of rows; says where."""
        self.b.append(b.astype(np.int64))
        self.row_island.append(island)
        self.size += b.size
        return self.size - b.size

    def _add(self, row: Ints, column: Ints, figure: Ints | int = 1) -> None:
        self.entries.append((row, column, np.broadcast_to(figure, row.shape).astype(np.int64)))

    def _counts(self) -> None:
        """What is counted in each published row, with its left-over; the seats of a variable add up to it."""
        problem, rows, variable = self.problem, self.problem.rows, self.variable
        first = self._block(problem.count[self.left_row], self.group_island[problem.row_group[self.left_row]])
        at = np.full(rows.size + 1, -1, dtype=np.int64)
        at[self.left_row] = first + _numbers(self.left_row)
        self._add(at[self.left_row], self.u + _numbers(self.left_row))
        for row in rows.sure:
            self._count(at[row[variable]], self.x + _numbers(variable))
        column = self.e
        for own, (seat, owner) in zip(rows.seats, self.seats, strict=True):
            single = np.flatnonzero(np.diff(own.start)[variable] == 1)
            self._count(at[own.row[own.start[variable[single]]]], self.x + single)
            self._count(at[own.row[seat]], column + _numbers(seat))
            loose, which = np.unique(owner, return_inverse=True)
            link = self._block(np.zeros_like(loose), self.island[problem.signature[variable[loose]]])
            self._add(link + which, column + _numbers(seat))
            self._add(link + _numbers(loose), self.x + loose, -1)
            column += seat.size

    def _count(self, row: Ints, column: Ints) -> None:
        """Count columns in their rows; −1: in none."""
        inside = np.flatnonzero(row >= 0)
        self._add(row[inside], column[inside])

    def _part_rows(self) -> None:
        """Parts that fit several groups sit somewhere, and the left-overs of these groups are their members'."""
        problem, places = self.problem, self.problem.places
        key, which = np.unique(self.part_signature * places.releases + self.part_release, return_inverse=True)
        owner = key // places.releases
        split = np.flatnonzero(self.place[owner] >= 0)
        seat = self._block(np.where(self.place[owner] >= 0, 0, problem.weight[owner]), self.island[owner])
        self._add(seat + which, self.v + _numbers(self.part_group))
        self._add(seat + split, self.z + self.place[owner[split]], -1)
        loose = np.unique(self.part_group[self.part_group != ABSENT])
        at = np.full(places.known + 1, -1, dtype=np.int64)
        at[loose] = _numbers(loose)
        alone = np.zeros(loose.size, dtype=np.int64)
        members: list[tuple[Ints, Ints]] = []
        for own in places.codes if loose.size else ():
            sure = np.flatnonzero(own < places.known)
            sure = sure[at[own[sure]] >= 0]
            once = self.place[sure] < 0
            np.add.at(alone, at[own[sure[once]]], problem.weight[sure[once]])
            members.append((at[own[sure[~once]]], self.place[sure[~once]]))
        group = self._block(alone, self.group_island[loose])
        left = at[problem.row_group[self.left_row]]
        self._add(group + left[left >= 0], self.u + np.flatnonzero(left >= 0))
        inside = np.flatnonzero(self.part_group != ABSENT)
        self._add(group + at[self.part_group[inside]], self.v + inside, -1)
        for row, column in members:
            self._add(group + row, self.z + column, -1)


def _numbers(items: Ints) -> Ints:
    return np.arange(items.size)


def _several(start: Ints, variable: Ints) -> tuple[Ints, Ints]:
    """The candidates of variables that have several in a release, and the place of the variable of each."""
    size = np.diff(start)[variable]
    chosen = np.flatnonzero(size > 1)
    return ranges(start[variable[chosen]], size[chosen]), np.repeat(chosen, size[chosen])
