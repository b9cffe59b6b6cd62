"""Releases laid on top of each other: who can be in which groups, and what these groups publish, as codes.

Attacks that look at groups and sets, without an inference, all begin here. Persons are tied to groups as everywhere
(`register/tying.py`): by ids, by the register, or by the publisher's link. A release whose counts have totals is
several *layers*, the table and its margins, of which all hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.attacks.targets import attacked
from showthrough.register.reader import Reader, telling
from showthrough.register.ties import Ties
from showthrough.register.tying import located_in
from showthrough.release.release import Release
from showthrough.table.arrays import Flags, Ints, Reals, sum_by
from showthrough.table.codes import codes_of, positions
from showthrough.table.frames import one_kind
from showthrough.table.ragged import items_of, owners, starts

Bits = npt.NDArray[np.uint64]
WORD = 64
HELD = 2**20
"""Words of sets that are held at once."""


@dataclass(frozen=True, eq=False)
class LaidRelease:
    """One release, or a margin of it, in numbers."""

    name: str
    head: int  # the release that it belongs to
    person: Ints  # [m] places among the persons of all releases
    start: Ints  # [m + 1] where the groups of each begin
    group: Ints  # the groups that each can be in
    outside: Flags  # [m] who may not be in it
    size: Ints  # [G] records of each group
    row_group: Ints  # what is published: group, value, how often (of values counted together an equal part)
    row_value: Ints
    row_count: Reals

    @property
    def groups(self) -> int:
        """How many groups it has."""
        return self.size.size

    def counts(self) -> tuple[Ints, Ints, Reals]:
        """What is published of the groups that each person fits, taken together: place in ``person``, value, count.

        Persons who fit the same groups are looked up once.
        """
        order = np.argsort(self.row_group, kind="stable")
        first = np.searchsorted(self.row_group[order], np.arange(self.groups + 1))
        owner = owners(self.start)
        at, many = items_of(first, self.group)
        person, row = np.repeat(owner, many), order[at]
        if self.plain:
            return person, self.row_value[row], self.row_count[row]
        span = int(self.row_value.max(initial=-1)) + 1
        pair, which = np.unique(person * span + self.row_value[row], return_inverse=True)
        total = sum_by(which, self.row_count[row], pair.size)
        return pair // span, pair % span, total

    @property
    def plain(self) -> bool:
        """Whether everybody fits one group."""
        return self.group.size == self.person.size

    def published(self, words: int) -> Bits:
        """[G, words] the values of each group, as bits."""
        found: Bits = np.zeros((self.groups, words), dtype=np.uint64)
        bit = np.uint64(1) << (self.row_value % WORD).astype(np.uint64)
        np.bitwise_or.at(found, (self.row_group, self.row_value // WORD), bit)
        return found

    def sets(self, published: Bits, places: Ints) -> Bits:
        """[places, words] the values of the groups that some persons fit."""
        if self.plain or not places.size:
            return published[self.group[places]]
        at, sizes = items_of(self.start, places)
        found: Bits = np.bitwise_or.reduceat(published[self.group[at]], starts(sizes)[:-1], axis=0)
        return found

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.person, kind="stable")

    def places(self, low: int, high: int, persons: int) -> Ints:
        """Where the persons from ``low`` to ``high``, of so many, stand here."""
        if (low, high) == (0, persons):
            return np.arange(self.person.size)
        ends = np.searchsorted(self.person, [low, high], sorter=self._order)
        return self._order[ends[0] : ends[1]]

    def sizes(self) -> Ints:
        """[m] records of the groups that each person fits."""
        if self.plain:
            return self.size[self.group]
        found: Ints = np.add.reduceat(self.size[self.group], self.start[:-1])
        return found


@dataclass(frozen=True, eq=False)
class Laid:
    """Persons, values and layers of a history."""

    ids: pl.Series
    values: pl.Series
    names: tuple[str, ...]
    layers: tuple[LaidRelease, ...]

    @property
    def words(self) -> int:
        """Words of 64 bits that hold a set of values."""
        return max(1, -(-self.values.len() // WORD))

    @cached_property
    def heads(self) -> tuple[LaidRelease, ...]:
        """The releases themselves."""
        return tuple(next(own for own in self.layers if own.head == k) for k in range(len(self.names)))

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Stretches of persons whose sets fit into memory together."""
        step, persons = max(1, HELD // self.words), self.ids.len()
        for low in range(0, persons, step):
            yield low, min(persons, low + step)

    def members(self, head: int, low: int, high: int) -> Flags:
        """[high - low] who is in a release for certain."""
        own, found = self.heads[head], np.zeros(high - low, dtype=bool)
        places = own.places(low, high, self.ids.len())
        found[own.person[places[~own.outside[places]]] - low] = True
        return found

    def sets_in(self, head: int, low: int, high: int) -> Bits:
        """[high - low, words] the values that a release leaves to persons; all of them to who may be outside."""
        found: Bits = np.full((high - low, self.words), ~np.uint64(0))
        for own, published in zip(self.layers, self._published, strict=True):
            if own.head == head:
                places = own.places(low, high, self.ids.len())
                places = places[~own.outside[places]]
                found[own.person[places] - low] &= own.sets(published, places)
        return found

    @cached_property
    def _published(self) -> list[Bits]:
        return [own.published(self.words) for own in self.layers]

    def values_of(self, sets: Bits) -> tuple[Ints, Ints]:
        """The values in each set, one by one: place among the sets, value."""
        bits = np.unpackbits(sets.view(np.uint8), axis=1, bitorder="little")
        at, value = np.nonzero(bits[:, : self.values.len()])
        return at.astype(np.int64), value.astype(np.int64)


def counted(sets: Bits) -> Ints:
    """[n] how many values are in each set."""
    found: Ints = np.bitwise_count(sets).sum(axis=1, dtype=np.int64)
    return found


def laid(releases: Release | Sequence[Release], register: Any = None) -> Laid:
    """The releases as a reader with a register sees them, one release at a time."""
    given = attacked(releases)
    told = telling(given)
    reader = Reader.of(given, register=register).checked(told)
    names, ties = reader.names_for(told), located_in(told, reader)
    ids, persons = codes_of(one_kind([own.ids for own in ties], "ids", names))
    tallies = [_tally(release) for release in told]
    values, codes = codes_of(one_kind([own["value"] for own in tallies], "values", names), ordered=True)
    heads = np.cumsum([release.part_of is None for release in told]) - 1
    layers = [
        _layer(name, int(head), release, own, person, tally.with_columns(pl.Series("value", code)))
        for name, head, release, own, person, tally, code in zip(
            names, heads, told, ties, persons, tallies, codes, strict=True
        )
    ]
    own_names = tuple(name for name, release in zip(names, told, strict=True) if release.part_of is None)
    return Laid(ids.alias("id"), values.alias("value"), own_names, tuple(layers))


def _tally(release: Release) -> pl.DataFrame:
    """What is published, value by value: group, value, n; of values counted together each an equal part."""
    tally = release.tally.select("group", "value", pl.col("n").cast(pl.Float64))
    if release.upper is not None:  # a hidden count stands for the middle of what it can be
        tally = tally.with_columns(n=(pl.col("n") + release.upper.cast(pl.Float64)) / 2)
    if not release.covers:
        return tally
    names = list(release.covers)
    kind = release.tally["value"].dtype
    under = pl.DataFrame({"value": pl.Series(names, dtype=kind), "under": [list(release.covers[n]) for n in names]})
    each = tally.join(under, on="value", how="left", maintain_order="left")
    each = each.with_columns(under=pl.coalesce(pl.col("under"), pl.concat_list("value")))
    part = pl.col("n") / pl.col("under").list.len()
    found = each.with_columns(n=part).explode("under").select("group", pl.col("under").alias("value"), "n")
    return found.group_by("group", "value", maintain_order=True).agg(pl.col("n").sum())


def _layer(
    name: str, head: int, release: Release, ties: Ties, person: npt.NDArray[np.integer], tally: pl.DataFrame
) -> LaidRelease:
    return LaidRelease(
        name,
        head,
        person.astype(np.int64),
        ties.start,
        ties.group.astype(np.int64),
        ties.outside,
        release.size.to_numpy().astype(np.int64),
        positions(tally["group"], release.labels).astype(np.int64),
        tally["value"].to_numpy().astype(np.int64),
        tally["n"].to_numpy().astype(np.float64),
    )
