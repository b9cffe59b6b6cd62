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
from showthrough.register.noisy_ties import noisy_ties
from showthrough.register.reader import Reader
from showthrough.release.noise import Law
from showthrough.release.release import Release
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.codes import positions
from showthrough.table.ragged import starts
from showthrough.table.texts import as_text

ABSENT = -1


@dataclass(frozen=True)
class NoisyTable:
    """What one table of noisy counts says."""

    release: int  # its place in the history
    law: Law
    ids: pl.Series  # who can be in it
    code: Ints  # [ids] a cell, or ``cells`` + k: one of candidate set k
    cells: int
    set_start: Ints
    set_cell: Ints  # ABSENT: perhaps not counted
    cell: Ints  # [entries]
    value: pl.Series  # [entries]
    count: Reals  # [entries]

    def columns(self, ids: pl.Series, split_release: Codes | None, size: int) -> Ints:
        """[columns of a history] the code of each; ABSENT: not counted. Of a split id the part of this release is."""
        found = np.full(size, ABSENT, dtype=np.int64)
        place = positions(ids, self.ids).astype(np.int64)
        known = place >= 0
        if split_release is not None:
            known &= np.isin(split_release, [ABSENT, self.release])
        named = np.flatnonzero(known)
        found[named] = self.code[place[named]]
        return found

    def listed(self, values: pl.Series) -> Ints:
        """The cells and values that the table counts, as cell · (values + 1) + value."""
        code = {word: k for k, word in enumerate(as_text(values, "values").to_list())}
        value = np.array([code.get(word, ABSENT) for word in as_text(self.value, "values").to_list()], dtype=np.int64)
        return np.where(value == ABSENT, ABSENT, self.cell * (values.len() + 1) + value)

    def candidates(self, code: int) -> list[int]:
        """The cells behind a code; ABSENT where the person may not be counted."""
        if code < self.cells:
            return [code]
        k = code - self.cells
        return [int(c) for c in self.set_cell[self.set_start[k] : self.set_start[k + 1]]]


def quiet(release: Release) -> Release:
    """The release as far as it excludes anything: nothing, where its counts carry noise."""
    if release.noise is None:
        return release
    return replace(release, tally=release.tally.head(0), labels=release.labels.head(0), size=release.size.head(0))


def noisy_tables(releases: Sequence[Release], names: Sequence[str], reader: Reader) -> tuple[NoisyTable, ...]:
    """The tables of all noisy releases that count somebody who is known.

    Where there is nothing else somebody must be.
    """
    found = []
    for r, (release, name) in enumerate(zip(releases, names, strict=True)):
        for table, ties in noisy_ties(release, name, reader) if release.noise is not None else ():
            if not ties.ids.len():
                continue
            assert table.noise is not None
            code, start, cells = _coded(ties.start, ties.group, ties.outside, table.labels.len())
            found.append(
                NoisyTable(
                    r,
                    table.noise.law(table.roles.quasi),
                    ties.ids,
                    code,
                    table.labels.len(),
                    start,
                    cells,
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


def _coded(start: Ints, group: Ints, outside: Flags, cells: int) -> tuple[Ints, Ints, Ints]:
    """A code per person, and the candidate sets that are spoken of."""
    known: dict[tuple[int, ...], int] = {}
    code = np.empty(start.size - 1, dtype=np.int64)
    for k in range(start.size - 1):
        own = tuple(group[start[k] : start[k + 1]].tolist())
        own = (ABSENT, *own) if outside[k] else own
        code[k] = own[0] if len(own) == 1 else cells + known.setdefault(own, len(known))
    begin = starts(np.array([len(own) for own in known], dtype=np.int64))
    return code, begin, np.array([c for own in known for c in own], dtype=np.int64)
