"""Noisy counts in the numbers of a history: who is in which cell, what is published of it, and the law of its noise.

Legend: a *table* is one marginal of a noisy release, a cell one of its groups. Noise excludes nothing, so a noisy
release has no groups and no rows in the problem; it tells persons of different cells apart, and `noise_belief` weighs
with it what the other releases leave open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.register.ties import Ties
from showthrough.release.noise import Law
from showthrough.release.release import Release
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.codes import positions
from showthrough.table.ragged import starts
from showthrough.table.texts import as_text

ABSENT = -1


@dataclass(frozen=True, eq=False)
class Placement:
    """Who is in which cell; tables with the same cells share one."""

    ids: pl.Series  # who can be in it
    code: Ints  # [ids] a cell, or ``cells`` + k: one of candidate set k
    cells: int
    set_start: Ints
    set_cell: Ints  # ABSENT: perhaps not counted

    def candidates(self, code: int) -> list[int]:
        """The cells behind a code; ABSENT where the person may not be counted."""
        if code < self.cells:
            return [code]
        k = code - self.cells
        return [int(c) for c in self.set_cell[self.set_start[k] : self.set_start[k + 1]]]

    def like(self, other: Placement) -> bool:
        """Whether everybody is in the same cells."""
        return (
            self.cells == other.cells
            and np.array_equal(self.code, other.code)
            and np.array_equal(self.set_start, other.set_start)
            and np.array_equal(self.set_cell, other.set_cell)
            and self.ids.equals(other.ids)
        )


@dataclass(frozen=True)
class NoisyTable:
    """What one table of noisy counts says."""

    release: int  # its place in the history
    law: Law
    placed: Placement
    cell: Ints  # [entries]
    value: pl.Series  # [entries]
    count: Reals  # [entries]

    def listed(self, values: pl.Series) -> Ints:
        """The cells and values that the table counts, as cell · (values + 1) + value."""
        code = {word: k for k, word in enumerate(as_text(values, "values").to_list())}
        value = np.array([code.get(word, ABSENT) for word in as_text(self.value, "values").to_list()], dtype=np.int64)
        return np.where(value == ABSENT, ABSENT, self.cell * (values.len() + 1) + value)


@dataclass(frozen=True, eq=False)
class NoisyLayer:
    """Tables that count the same persons in the same cells, and where everybody is in them."""

    tables: tuple[NoisyTable, ...]
    code: Ints  # [columns of a history] as in `Placement`; ABSENT: not counted

    @property
    def placed(self) -> Placement:
        """Who is in which cell."""
        return self.tables[0].placed


def layered(
    tables: Sequence[NoisyTable], ids: pl.Series, split_release: Codes | None, size: int
) -> tuple[NoisyLayer, ...]:
    """The layers of tables over the columns of a history; of a split id each release counts its own part."""
    found: dict[tuple[int, int], list[NoisyTable]] = {}
    for table in tables:
        part = ABSENT if split_release is None else table.release
        found.setdefault((id(table.placed), part), []).append(table)
    layers = []
    for (_, part), own in found.items():
        placed, code = own[0].placed, np.full(size, ABSENT, dtype=np.int64)
        place = positions(ids, placed.ids).astype(np.int64)
        known = place >= 0
        if split_release is not None:
            known &= np.isin(split_release, [ABSENT, part])
        named = np.flatnonzero(known)
        code[named] = placed.code[place[named]]
        layers.append(NoisyLayer(tuple(own), code))
    return tuple(layers)


def quiet(release: Release) -> Release:
    """The release as far as it excludes anything: nothing, where its counts carry noise."""
    if release.noise is None:
        return release
    return replace(release, tally=release.tally.head(0), labels=release.labels.head(0), size=release.size.head(0))


def noisy_tables(releases: Sequence[Release], ties: Sequence[Ties]) -> tuple[NoisyTable, ...]:
    """The tables of all noisy releases that count somebody who is known.

    Where there is nothing else somebody must be.
    """
    found: list[NoisyTable] = []
    places = _Places()
    for r, own in enumerate(ties):
        for table, told in own.noisy:
            if not told.ids.len():
                continue
            assert table.noise is not None
            found.append(
                NoisyTable(
                    r,
                    table.noise.law(table.roles.quasi),
                    places.of(told, table.labels.len()),
                    positions(table.tally["group"], table.labels).astype(np.int64),
                    table.tally["value"],
                    table.tally["n"].cast(pl.Float64).to_numpy(),
                )
            )
    if not found and all(r.noise is not None for r in releases):
        raise InputError(
            "Noisy counts name nobody: give a register or a membership that tells who is counted in which cell.",
            parameters=("register", "membership"),
        )
    return tuple(found)


class _Places:
    """Placements, each made once for all tables with the same cells."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Ties, Placement]] = {}  # by ties; these are kept, so that no other takes their place

    def of(self, ties: Ties, cells: int) -> Placement:
        """The placement of ties to so many cells."""
        if id(ties) not in self.made:
            code, start, own = _coded(ties.start, ties.group, ties.outside, cells)
            found = Placement(ties.ids, code, cells, start, own)
            known = (other for _, other in self.made.values() if other.like(found))
            self.made[id(ties)] = ties, next(known, found)
        return self.made[id(ties)][1]


def _coded(start: Ints, group: Ints, outside: Flags, cells: int) -> tuple[Ints, Ints, Ints]:
    """A code per person, and the candidate sets that are spoken of."""
    code = np.empty(start.size - 1, dtype=np.int64)
    single = (np.diff(start) == 1) & ~outside
    code[single] = group[start[:-1][single]]
    known: dict[tuple[int, ...], int] = {}
    for k in np.flatnonzero(~single).tolist():
        own = tuple(group[start[k] : start[k + 1]].tolist())
        own = (ABSENT, *own) if outside[k] else own
        code[k] = own[0] if len(own) == 1 else cells + known.setdefault(own, len(known))
    begin = starts(np.array([len(own) for own in known], dtype=np.int64))
    return code, begin, np.array([c for own in known for c in own], dtype=np.int64)
