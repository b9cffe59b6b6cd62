"""Locate the persons of a register among published centroids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from showthrough.errors import InputError, ReleaseError
from showthrough.register.attribute import Candidates
from showthrough.register.centroids import Measure, nearest, within_spreads
from showthrough.register.leeway import NEAREST, Near
from showthrough.table.arrays import Flags, Reals
from showthrough.table.frozen import Frozen
from showthrough.table.ragged import owners, starts

if TYPE_CHECKING:
    from showthrough.register.register import Register
    from showthrough.release.release import Release

SCALES = "scales"  # option of a release: standard deviations by column, where those of the register are not at hand


def locate_by_centroids(
    release: Release, register: Register, shared: Sequence[str], *, near: Near = NEAREST
) -> Candidates:
    """The groups with the nearest centroid, or all within the published spread, as the release asks for.

    ``near`` says how many of the nearest. Numbers count in standard deviations of the register (of the
    centroids, if everybody in the register is alike), ordered levels in steps over all steps, names as
    equal or not. A suppressed group, which shows no centroid, fits everybody.
    """
    shown = _shown(release, shared)
    persons, centroids, spreads, measures = [], [], [], []
    for column in shared:
        own, there, measure = _scaled(release.records[column].filter(shown), release, register, column)
        persons.append(own)
        centroids.append(there)
        measures.append(measure)
        width = release.roles.spread.get(column)
        free = np.full(there.size, np.inf)
        known = None if width is None else release.records[width].filter(shown).cast(pl.Float64)
        spreads.append(free if known is None else known.fill_null(np.inf).to_numpy())
    x, c = np.stack(persons, axis=1), np.stack(centroids, axis=1)
    if release.locate == "within":
        found = within_spreads(x, c, spreads=np.stack(spreads, axis=1), measures=measures)
    else:
        found = nearest(x, c, measures=measures, least=near.least)
    return found if shown.all() else _with_suppressed(found, shown.to_numpy())


def with_scales(release: Release, register: Register) -> Release:
    """The same release, whose parts measure distances as the whole does: by the deviations of the whole register."""
    columns = [c for c in release.roles.quasi if c in register.quasi.columns]
    if not columns:
        return release  # whoever locates its persons says so
    shown, scales = _shown(release, columns), {}
    for column in columns:
        _, _, measure = _scaled(release.records[column].filter(shown), release, register, column)
        if measure.kind == "numeric":
            scales[column] = measure.scale
    return replace(release, options=Frozen({**release.options, SCALES: Frozen(scales)}))


def _shown(release: Release, shared: Sequence[str]) -> pl.Series:
    """Which groups show a centroid: all of it, or nothing."""
    missing = [release.records[column].alias("cell").is_null() for column in shared]
    suppressed = pl.Series(np.logical_and.reduce([own.to_numpy() for own in missing]))
    for column, own in zip(shared, missing, strict=True):
        if (own & ~suppressed).any():
            raise ReleaseError(
                f"{release.name or 'The release'}: a centroid is missing in column {column!r}, although its group "
                "shows others. A suppressed record shows none."
            )
    return ~suppressed


def _with_suppressed(found: Candidates, shown: Flags) -> Candidates:
    """Everybody's candidates, in numbers of all groups, and the suppressed groups for everybody."""
    hidden, persons = np.flatnonzero(~shown), np.arange(found.persons)
    person = np.concatenate([owners(found.start), np.repeat(persons, hidden.size)])
    group = np.concatenate([np.flatnonzero(shown)[found.group], np.tile(hidden, found.persons)])
    order = np.lexsort((group, person))
    return Candidates(starts(found.counts + hidden.size), group[order].astype(np.int32))


def _scaled(theirs: pl.Series, release: Release, register: Register, column: str) -> tuple[Reals, Reals, Measure]:
    """Persons and centroids of one column as numbers, and how its differences count."""
    theirs, mine = theirs.alias("cell"), register.quasi[column].alias("value")
    if column in release.ordinal:
        levels = release.ordinal[column]
        rank = dict(zip(levels, range(len(levels)), strict=True))
        own = _numbers(mine.replace_strict(rank, default=None, return_dtype=pl.Float64), mine, column)
        there = theirs.replace_strict(rank, return_dtype=pl.Float64).to_numpy()
        return own, there, Measure("ordinal", float(len(levels) - 1))
    if theirs.dtype == pl.String:
        words = pl.concat([theirs, mine.drop_nulls().alias(theirs.name)]).unique(maintain_order=True)
        code = dict(zip(words, range(words.len()), strict=True))
        own = mine.replace_strict(code, default=None, return_dtype=pl.Float64).fill_null(np.nan).to_numpy()
        return own, theirs.replace_strict(code, return_dtype=pl.Float64).to_numpy(), Measure("nominal")
    own = _numbers(mine.cast(pl.Float64, strict=False), mine, column)
    there = theirs.cast(pl.Float64).to_numpy()
    told = release.options.get(SCALES, {}).get(column)
    if told is not None:
        return own, there, Measure("numeric", told)
    known = own[np.isfinite(own)]
    # a neighbour who knows one person knows no deviation; the published centroids have one
    known = known if np.unique(known).size > 1 or not there.size else there
    scale = float(known.std()) if known.size else 0.0
    return own, there, Measure("numeric", scale if scale > 0 else 1.0)


def _numbers(found: pl.Series, given: pl.Series, column: str) -> Reals:
    strange = int((found.is_null() & given.is_not_null()).sum())
    if strange:
        raise InputError(
            f"The register: {strange} entries of column {column!r} do not fit the centroids of the release."
        )
    return found.fill_null(np.nan).to_numpy()
