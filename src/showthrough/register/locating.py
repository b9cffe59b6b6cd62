"""Locate the persons of a register in a release by quasi-identifiers: cells, rows or centroids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.register.attribute import Attribute, Candidates
from showthrough.register.leeway import NEAREST, Near
from showthrough.register.linking import candidates
from showthrough.register.locating_report import locatability
from showthrough.register.unfilled import Unfilled, unfilled
from showthrough.release.cells import CellColumn, read_cells, runs
from showthrough.release.kind import Shows
from showthrough.release.parts import Source
from showthrough.table.ragged import owners

if TYPE_CHECKING:
    from showthrough.register.register import Register
    from showthrough.release.release import Release
    from showthrough.table.hierarchy import Hierarchy


@dataclass(frozen=True)
class Located:
    """Who fits which groups, and how well persons can be located."""

    candidates: Candidates
    report: pl.DataFrame
    unfilled: Unfilled | None = None  # rows that nobody fits


@dataclass(frozen=True)
class _Wanted:
    """Whom to locate where: ``shared`` are the quasi-identifiers of both."""

    release: Release
    name: str
    register: Register
    shared: Sequence[str]
    near: Near
    trees: Mapping[str, Hierarchy]

    @property
    def attributes(self) -> list[Attribute]:
        """The quasi-identifiers one by one."""
        with ThreadPoolExecutor(pl.thread_pool_size()) as pool:  # Polars and NumPy work side by side
            return list(pool.map(lambda c: attribute(self.release, self.name, self.register, c), self.shared))

    def unfilled(self, found: Candidates, attributes: Sequence[Attribute]) -> Unfilled | None:
        """The records that nobody fits."""
        fitting = np.bincount(found.group, minlength=attributes[0].group.size)
        return unfilled(
            self.release, self.name, self.register, fitting=fitting, attributes=attributes, trees=self.trees
        )


def locate(
    release: Release,
    name: str,
    register: Register,
    *,
    near: Near = NEAREST,
    trees: Mapping[str, Hierarchy] | None = None,
) -> Located:
    """All groups of the release that each person of the register fits.

    ``near`` says which centroids are candidates, ``trees`` are hierarchies that other releases have.
    """
    known = set(register.quasi.columns)
    shared = [c for c in release.roles.quasi if c in known]
    if not shared:
        raise InputError(
            f"The register knows none of the quasi-identifiers of {name} ({', '.join(release.roles.quasi) or 'none'}): "
            f"its columns are {', '.join(register.quasi.columns) or 'none'}. Name the columns alike."
        )
    return _LOCATED_BY[release.form.shows](_Wanted(release, name, register, shared, near, trees or {}))


def _by_centroids(wanted: _Wanted) -> Located:
    """The groups whose centroids are near."""
    from showthrough.register.locating_centroids import locate_by_centroids

    found = locate_by_centroids(wanted.release, wanted.register, wanted.shared, near=wanted.near)
    return Located(found, locatability([], found, release=wanted.name))


def _by_cells(wanted: _Wanted) -> Located:
    """The groups whose cells cover what is known of a person."""
    attributes = wanted.attributes
    found = candidates(attributes)
    return Located(found, locatability(attributes, found, release=wanted.name), wanted.unfilled(found, attributes))


def _by_rows(wanted: _Wanted) -> Located:
    """One row of exact quasi-identifiers per person: the groups of the rows that equal what is known."""
    attributes = wanted.attributes
    rows = candidates(attributes)
    found = _groups_of_rows(wanted.release, rows)
    return Located(found, locatability(attributes, found, release=wanted.name), wanted.unfilled(rows, attributes))


_LOCATED_BY: Mapping[Shows, Callable[[_Wanted], Located]] = {
    Shows.EXACT: _by_rows,
    Shows.CELLS: _by_cells,
    Shows.CENTROIDS: _by_centroids,
}


def attribute(release: Release, name: str, register: Register, column: str) -> Attribute:
    """One quasi-identifier: the persons' values and what each published cell covers of them."""
    own = register.quasi[column].alias("value")  # methods of a series take a name such as ^q$ for a pattern
    values = _in_order(own.unique().drop_nulls())
    cells = cells_of(release, name, column, domain=values)
    values = values.filter(~values.is_in(pl.Series(sorted(cells.missing), dtype=pl.String).implode()))
    low_high = runs(cells, values)
    person = own.cast(pl.Enum(values), strict=False).to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
    covered = (low_high.start, low_high.low.astype(np.int32), low_high.high.astype(np.int32))
    return Attribute(person, cells.codes, *covered, cells.any, column)


def _in_order(values: pl.Series) -> pl.Series:
    """Numbers ascending, other text by its letters: intervals then cover neighbours."""
    numbers = values.cast(pl.Float64, strict=False)
    return values.sort() if numbers.null_count() else values.gather(numbers.arg_sort())


def cells_of(release: Release, name: str, column: str, *, domain: pl.Series | None = None) -> CellColumn:
    """How the cells of one quasi-identifier are understood."""
    return read_cells(
        release.records[column].alias("cell"),
        name=column,
        where=name if release.source in ("", Source.where) else release.source,
        hierarchy=release.hierarchies.get(column),
        domain=domain,
        rows=release.first_row,
    )


def understood(release: Release, name: str, *, register: Register | None = None) -> pl.DataFrame:
    """How every different cell of a release was understood: column, cell, kind, meaning, rows."""
    frames: list[pl.DataFrame] = []
    for column in release.roles.quasi:
        domain = None
        if register is not None and column in register.quasi.columns:
            domain = register.quasi[column].alias("value").drop_nulls().unique(maintain_order=True)
        cells = cells_of(release, name, column, domain=domain)
        held = release.size if cells.codes.size == release.size.len() else None  # else a row per person, not per group
        frames.append(cells.understood(held).select(pl.lit(column).alias("column"), pl.all()))
    return pl.concat(frames) if frames else pl.DataFrame()


def _groups_of_rows(release: Release, rows: Candidates) -> Candidates:
    """From the rows that each person matches to the groups of these rows."""
    from showthrough.table.codes import positions

    label = positions(release.person_groups(), release.labels).astype(np.int64)
    person = owners(rows.start)
    groups = release.labels.len()
    pair = np.unique(person * groups + label[rows.group])
    start = np.searchsorted(pair // groups, np.arange(rows.persons + 1))
    return Candidates(start.astype(np.int64), (pair % groups).astype(np.int32))


def names_of(releases: Sequence[Release]) -> list[str]:
    """What releases are called: by their names, or by their place in the history."""
    names = [r.name or f"release {k}" for k, r in enumerate(releases, start=1)]
    while len(set(names)) < len(names):
        names = [n if names.count(n) == 1 else f"{n} ({k})" for k, n in enumerate(names, start=1)]
    return names
