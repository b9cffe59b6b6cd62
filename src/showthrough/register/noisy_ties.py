"""Who is counted in which cell of a table of noisy counts.

Noise hides how many persons a cell holds, so nothing can be told from sizes: who is located in the table is taken to be
all that it counts. A membership says so by name, a register by quasi-identifiers (who fits is in it, unless the
register says who is), the publisher's link where there is neither. Whom none of them names is not spoken of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.register.ties import Ties, one_each
from showthrough.release.noisy import layers
from showthrough.table.codes import NOWHERE, positions
from showthrough.table.frames import one_kind
from showthrough.table.ragged import owners, starts

if TYPE_CHECKING:
    from showthrough.register.reader import Reader
    from showthrough.register.register import Register
    from showthrough.release.release import Release

PRESENT, AWAY = 1, 0


class NoisyCells:
    """Ties persons to cells of noisy tables: tables with the same cells share their ties, which are made once."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.known: list[tuple[Release, pl.Series | None, Ties]] = []

    def silent(self, release: Release, name: str) -> Ties:
        """The persons of a noisy release, in no group: noise leaves everybody everything."""
        tables = tuple((layer, self._tie(layer, name)) for layer in layers(release))
        told = [own.ids for _, own in tables]
        if len({id(ids) for ids in told}) == 1:
            ids = told[0]
        else:
            ids = pl.concat(told).unique(maintain_order=True) if told else pl.Series("id", [], dtype=pl.String)
        none = np.zeros(ids.len() + 1, dtype=np.int64)
        return Ties(ids, none, np.empty(0, dtype=np.int64), np.ones(ids.len(), dtype=bool), noisy=tables)

    def _tie(self, table: Release, name: str) -> Ties:
        register = self.reader.register
        if name in self.reader.membership or register is None:
            return _tie(table, name, self.reader)
        presence = register.presence.get(name)
        for other, present, ties in self.known:
            if _equal(present, presence) and _same_cells(table, other):
                return ties
        found = _by_register(table, name, self.reader, register)
        self.known.append((table, presence, found))
        return found


def _equal(one: pl.Series | None, other: pl.Series | None) -> bool:
    return one is other or (one is not None and other is not None and one.equals(other))


def _same_cells(table: Release, other: Release) -> bool:
    """Whether the groups of two tables are the same cells, in the same order."""
    if table.roles.quasi != other.roles.quasi or dict(table.hierarchies) != dict(other.hierarchies):
        return False
    return table.labels.len() == other.labels.len() and table.records.equals(other.records)


def _tie(table: Release, name: str, reader: Reader) -> Ties:
    if name in reader.membership:
        return _by_membership(table, name, reader.membership[name])
    if table.link is not None:
        group = positions(table.link["group"], table.labels).astype(np.int64)
        inside = np.flatnonzero(group != NOWHERE)
        return one_each(table.link["id"].gather(inside), group[inside])
    return one_each(pl.Series("id", [], dtype=pl.String), np.empty(0, dtype=np.int64))


def _by_membership(table: Release, name: str, frame: pl.DataFrame) -> Ties:
    """Everybody is in one of the cells listed, or, where an empty one is listed too, perhaps in none."""
    where = f"The membership of {name}"
    labels, asked = one_kind([table.labels, frame["group"]], "groups", [name, where])
    code = positions(asked, labels).astype(np.int64)
    ids = frame["id"].unique(maintain_order=True)
    person = positions(frame["id"], ids).astype(np.int64)
    outside = np.zeros(ids.len(), dtype=bool)
    outside[person[asked.is_null().to_numpy()]] = True
    inside = code != NOWHERE
    size = max(1, labels.len())
    pair = np.unique(person[inside] * size + code[inside])
    count = np.bincount(pair // size, minlength=ids.len())
    there = np.flatnonzero(count)
    return Ties(ids.gather(there), starts(count[there]), pair % size, outside[there])


def _by_register(table: Release, name: str, reader: Reader, register: Register) -> Ties:
    """Everybody who fits a cell, as far as the register does not say that they are away."""
    from showthrough.register.locating import locate

    if table.roles.quasi:
        found = locate(table, name, register, trees=reader.trees).candidates
        start, group = found.start, found.group.astype(np.int64)
    elif table.labels.len() == 1:  # a table of values alone counts everybody
        start, group = np.arange(len(register) + 1), np.zeros(len(register), dtype=np.int64)
    else:
        raise InputError(f"{name} has no quasi-identifiers: give a membership that says who is in which group.")
    present = np.full(len(register), PRESENT, dtype=np.int64)
    if name in register.presence:
        present = register.presence[name].cast(pl.Int64).fill_null(-1).to_numpy().astype(np.int64)
    there = np.flatnonzero((np.diff(start) > 0) & (present != AWAY))
    kept = np.isin(owners(start), there)
    return Ties(register.ids.gather(there), starts(np.diff(start)[there]), group[kept], (present != PRESENT)[there])
