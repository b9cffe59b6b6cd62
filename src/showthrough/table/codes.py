"""Columns as codes: the position of each entry among the distinct ones.

Whole numbers that lie close together are looked up in an array; texts of which there are few become an
enumeration; everything else is joined.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.table.arrays import Codes, Ints

NOWHERE = -1
_FEW = 100  # texts that occur this often on average are looked up rather than joined
_ROOM = 2**62  # keys of several columns stay below this
_SPARSE = 4  # an array may be this many times longer than what is looked up in it


def positions(column: pl.Series, entries: pl.Series) -> Codes:
    """The position of each element of ``column`` among the distinct ``entries``, or −1."""
    near = _close_together([column, entries])
    if near is not None:
        (asked, known), span = near
        table = np.full(span, NOWHERE, dtype=np.int32)
        table[known] = np.arange(known.size, dtype=np.int32)
        return table[asked]
    index = pl.DataFrame({"entry": entries, "code": np.arange(entries.len(), dtype=np.int32)})
    found = pl.DataFrame({"entry": column}).join(index, on="entry", how="left", maintain_order="left")["code"]
    return (found.fill_null(NOWHERE) if found.null_count() else found).to_numpy()


def codes_of(columns: Sequence[pl.Series], *, ordered: bool = False) -> tuple[pl.Series, list[Codes]]:
    """All distinct entries (in order of appearance, or sorted), and each column as positions among them."""
    every = pl.concat([c.rename("entry") for c in columns])
    ends = np.cumsum([c.len() for c in columns])[:-1]
    near = _close_together([every])
    if near is not None:
        (entry,), span = near
        first = _first_places(entry, span, ordered=ordered)
        code = np.empty(span, dtype=np.int32)
        code[entry[first]] = np.arange(first.size, dtype=np.int32)
        return pl.Series("entry", every.to_numpy()[first]), np.split(code[entry], ends)
    distinct = every.unique(maintain_order=not ordered)
    distinct = distinct.sort() if ordered else distinct
    if every.dtype == pl.String and distinct.len() * _FEW <= every.len() and not distinct.null_count():
        return distinct, np.split(every.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int32), ends)
    return distinct, np.split(positions(every, distinct), ends)


def _first_places(entry: Ints, span: int, *, ordered: bool) -> Ints:
    """Where each distinct entry stands first, in order of appearance, or by entry."""
    place = np.full(span, NOWHERE, dtype=np.int64)
    place[entry[::-1]] = np.arange(entry.size - 1, -1, -1)  # of several the last to be written stays: the first
    if ordered:
        return np.asarray(place[place != NOWHERE])
    return np.flatnonzero(place[entry] == np.arange(entry.size))


def _close_together(columns: Sequence[pl.Series]) -> tuple[list[Ints], int] | None:
    """Columns of whole numbers counted from the smallest, and how far they reach; None if they are no such thing."""
    if any(c.dtype != pl.Int64 or c.null_count() for c in columns) or not all(c.len() for c in columns):
        return None
    arrays = [c.to_numpy() for c in columns]
    low, high = min(int(a.min()) for a in arrays), max(int(a.max()) for a in arrays)
    if high - low >= _SPARSE * sum(a.size for a in arrays) + 1000:
        return None
    return [a - low for a in arrays], high - low + 1


def distinct(columns: Sequence[npt.NDArray[np.integer]]) -> tuple[Ints, Ints]:
    """One index for each distinct row of the columns (codes from −1), and the distinct row of each index.

    >>> distinct([np.array([3, -1, 3, 3]), np.array([0, 0, 0, 1])])[1].tolist()
    [1, 0, 1, 2]
    """
    key = np.zeros(columns[0].size, dtype=np.int64)
    space = 1
    for column in columns:
        size = int(column.max(initial=-1)) + 2
        if space * size > _ROOM:
            first, key = _ranked(key)
            space = first.size
        key *= size
        key += column
        key += 1
        space *= size
    return _ranked(key)


def _ranked(key: Ints) -> tuple[Ints, Ints]:
    order = np.argsort(key)
    ordered = key[order]
    new = np.ones(key.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    rank = np.empty(key.size, dtype=np.int64)
    rank[order] = np.cumsum(new) - 1
    return order[new], rank
