"""Tables of one population: their unnamed members are the same persons.

Tables that are said to count one population count everybody whom their cells cover. So whoever is unnamed in one table
is in all others that cover it. What tells these persons apart are *atoms*: combinations of values of the columns that
matter, each covered by the same cells of every table. An atom stands for as many persons as the smallest of its groups
leaves room for, each of whom may not exist: the counts say how many there are. A column that stands in one table alone
tells its groups apart and ties them to no other; there the groups are candidates, unless totals of that table
run across them.

Values of a column are as fine as its cells (`overlay.py`). A combination that a table could count, but does not list,
counts nobody; what one of its columns does not cover at all lies outside the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.register.attribute import Attribute, Candidates
from showthrough.register.linking import candidates
from showthrough.register.locating import cells_of
from showthrough.register.overlay import column_parts, covering, listed_cells
from showthrough.register.ties import Pool, Ties
from showthrough.release.cells import CellColumn, runs
from showthrough.table.arrays import Flags, Ints
from showthrough.table.ragged import owners

if TYPE_CHECKING:
    from showthrough.release.release import Release

MOST_ATOMS = 3_000_000


def population_of(release: Release) -> str | None:
    """The population that a table counts, if that is said."""
    name = release.options.get("population")
    return None if name is None else str(name)


def share_members(releases: Sequence[Release], names: Sequence[str], ties: list[Ties]) -> list[Ties]:
    """The ties of releases in which tables of one population share their unnamed members."""
    found = list(ties)
    told = [population_of(r) if r.part_of is None else None for r in releases]
    for population in dict.fromkeys(name for name in told if name is not None):
        mine = [k for k, name in enumerate(told) if name == population]
        if len(mine) < 2:
            continue
        pools = _Atoms([releases[k] for k in mine], [names[k] for k in mine]).pools([ties[k] for k in mine])
        for k, own in zip(mine, pools, strict=True):
            found[k] = replace(ties[k], pools=own, like=None if k == mine[0] else mine[0])
    return found


class _Atoms:
    """The atoms of some tables, and the groups of each table that each of them can be in."""

    def __init__(self, releases: Sequence[Release], names: Sequence[str]) -> None:
        self.releases, self.names = releases, names
        if any(r.counterfeits.height for r in releases):
            raise InputError("Tables of one population hold no counterfeits.")
        self.columns = self._telling()
        self.points = {c: self._points(c) for c in self.columns}
        size = 1
        for own in self.points.values():
            size *= own.len()
        if size > MOST_ATOMS:
            raise InputError(
                f"The tables of one population have {size} combinations of cells, and {MOST_ATOMS} at most are looked "
                "at: leave out columns that single tables have, or totals across them."
            )
        self.size = size
        self.fits = [self._candidates(r, name) for r, name in zip(releases, names, strict=True)]

    def _telling(self) -> list[str]:
        """Columns of several tables, and of tables with totals that run across the columns of that table alone."""
        every = [c for r in self.releases for c in r.roles.quasi]
        found = {c for c in every if every.count(c) > 1}
        for release in self.releases:
            free = set(release.roles.quasi) - found
            if any(not free <= set(margin.over) for margin in release.margins):
                found |= free
        return [c for c in dict.fromkeys(every) if c in found]

    def _points(self, column: str) -> pl.Series:
        """A value for each part of a column that cells tell apart."""
        tables = zip(self.releases, self.names, strict=True)
        return column_parts([(r, name) for r, name in tables if column in r.roles.quasi], column)

    def _codes(self, column: str) -> Ints:
        """[atoms] the place of each atom's value among the points of a column."""
        lengths = [self.points[c].len() for c in self.columns]
        at = self.columns.index(column)
        inner = int(np.prod(lengths[at + 1 :], dtype=np.int64))
        return (np.arange(self.size) // inner) % lengths[at]

    def _candidates(self, release: Release, name: str) -> tuple[Candidates, Flags]:
        """The groups that each atom fits, and whether the table counts it."""
        attributes, inside = [], np.ones(self.size, dtype=bool)
        for column in release.roles.quasi:
            if column not in self.points:
                continue
            points, code = self.points[column], self._codes(column)
            if points[0] is None:
                continue  # every cell says anything
            cells = cells_of(release, name, column, domain=points)
            inside &= np.asarray(covering(listed_cells(release, name, column, points), points).any(axis=0))[code]
            attributes.append(_attribute(cells, points, code, column))
        groups = release.labels.len()
        if not attributes:
            start = np.arange(self.size + 1, dtype=np.int64) * groups
            return Candidates(start, np.tile(np.arange(groups, dtype=np.int32), self.size)), inside
        return candidates(attributes), inside

    def pools(self, ties: Sequence[Ties]) -> list[tuple[Pool, ...]]:
        """For each table its pools, atom by atom; those that nobody can be in are left out."""
        room = np.full(self.size, np.iinfo(np.int64).max)
        anywhere = np.zeros(self.size, dtype=bool)
        for release, own, (fits, inside) in zip(self.releases, ties, self.fits, strict=True):
            left = release.size.to_numpy().astype(np.int64) - _named(own, release.labels.len())
            total = np.bincount(owners(fits.start), weights=np.maximum(left, 0)[fits.group], minlength=self.size)
            room = np.where(inside, np.minimum(room, total.astype(np.int64)), room)
            anywhere |= inside
        kept = np.flatnonzero(anywhere & (room > 0))
        nowhere = np.empty(0, dtype=np.int64)
        return [
            tuple(
                Pool(fits.of(int(a)).astype(np.int64) if inside[a] else nowhere, int(room[a]), spare=True) for a in kept
            )
            for fits, inside in self.fits
        ]


def _named(ties: Ties, groups: int) -> Ints:
    """[groups] the named persons who are surely there."""
    sure = (np.diff(ties.start) == 1) & ~ties.outside
    return np.bincount(ties.group[ties.start[:-1][sure]], minlength=groups)


def _attribute(cells: CellColumn, points: pl.Series, code: Ints, column: str) -> Attribute:
    low_high = runs(cells, points)
    covered = (low_high.start, low_high.low.astype(np.int32), low_high.high.astype(np.int32))
    return Attribute(code.astype(np.int32), cells.codes, *covered, cells.any, column)
