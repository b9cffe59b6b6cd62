"""The values of rows: one each, or several that a row counts together under one published name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from showthrough.release.release import Release
from showthrough.table.arrays import Codes, Ints
from showthrough.table.codes import positions
from showthrough.table.ragged import items_of, starts


@dataclass(frozen=True)
class Together:
    """Values that a row counts together, under the name that is published for them."""

    label: Any
    values: Codes


class Listing(NamedTuple):
    """What is published of groups, value by value: of a row that counts several values one entry for each."""

    start: Ints  # [G + 1] where the entries of each group begin
    group: Codes
    value: Codes
    row: Codes


def listing(group: Codes, value: Codes, groups: int, nobody: int, covers: Sequence[Together]) -> Listing:
    """The entries of rows whose codes above ``nobody`` are those of ``covers``."""
    single = np.arange(nobody + 1, dtype=np.int32)
    lists = np.concatenate([single, *(c.values for c in covers)]).astype(np.int32)
    length = np.append(np.ones(nobody + 1, dtype=np.int64), [c.values.size for c in covers])
    at, size = items_of(starts(length), value.astype(np.int64))
    row = np.repeat(np.arange(value.size, dtype=np.int32), size)
    of_group, word = group[row], lists[at]
    order = np.lexsort((row, word, of_group))
    start = starts(np.bincount(of_group, minlength=groups))
    return Listing(start, of_group[order], word[order], row[order])


def published_values(release: Release) -> pl.Series:
    """The values of the rows of a release that publish one, then those under the names that stand for several."""
    value = release.tally["value"]
    if not release.covers:
        return value
    single = value.filter(~value.is_in(pl.Series(list(release.covers), dtype=value.dtype).implode()))
    under = [v for label in release.covers for v in release.covers[label]]
    return pl.concat([single, pl.Series("value", under, dtype=value.dtype, strict=False)])


def row_values(
    releases: Sequence[Release], value_codes: Sequence[Codes], values: int
) -> tuple[Codes, tuple[Together, ...]]:
    """The code of each row's value, release by release; names that stand for several values get codes behind them."""
    found: list[Codes] = []
    covers: list[Together] = []
    for release, codes in zip(releases, value_codes, strict=False):
        if not release.covers:
            found.append(codes)
            continue
        value, names = release.tally["value"], list(release.covers)
        place = positions(value, pl.Series(names, dtype=value.dtype))
        own = np.where(place >= 0, values + 1 + len(covers) + place, 0).astype(np.int32)
        single = place < 0
        own[single] = codes[: int(single.sum())]
        rest = codes[int(single.sum()) :]
        length = [len(release.covers[name]) for name in names]
        parts = np.split(rest, np.cumsum(length)[:-1])
        covers += [Together(name, np.unique(part).astype(np.int32)) for name, part in zip(names, parts, strict=True)]
        found.append(own)
    return np.concatenate(found), tuple(covers)


def overlapping(release: Release) -> Ints:
    """The places of groups with several rows that count one value."""
    if not release.covers:
        return np.empty(0, dtype=np.int64)
    names = list(release.covers)
    index = pl.DataFrame({"value": names, "under": [list(release.covers[name]) for name in names]})
    rows = release.tally.select("group", "value").join(index, on="value", how="left", maintain_order="left")
    each = rows.select("group", pl.coalesce("under", pl.concat_list("value")).alias("value")).explode("value")
    twice = each.filter(each.is_duplicated())["group"].unique()
    return np.sort(positions(twice, release.labels)).astype(np.int64)
