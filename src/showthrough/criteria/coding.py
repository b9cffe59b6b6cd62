"""Columns as whole numbers: the fast way from cells to groups.

A combination of columns becomes one number in mixed radix, so that groups are runs of a sorted
array. All codes are exact: no hashes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.table.arrays import Ints
from showthrough.table.frames import KINDS

_ROOM = 2**62  # keys stay below, so that one more digit can be tested without overflow


def codes(columns: Sequence[pl.Series]) -> list[tuple[Ints, int]]:
    """Equal cells of a column get equal codes below its size; in no order. A gap is a cell of its own."""
    columns = [c.alias("cell") for c in columns]  # names such as ^a$ are patterns to Polars, even of one column
    texts = {str(k): c for k, c in enumerate(columns) if c.dtype == pl.String}
    coded = _texts(texts)
    return [coded[str(k)] if str(k) in coded else _other(c) for k, c in enumerate(columns)]


def combine(columns: Sequence[tuple[Ints, int]], rows: int) -> Ints:
    """One key per row: equal if and only if all codes are."""
    key, room = np.zeros(rows, dtype=np.int64), 1
    for code, size in columns:
        if room * max(size, 1) >= _ROOM:
            found, inverse = np.unique(key, return_inverse=True)
            key, room = inverse.astype(np.int64, copy=False), found.size
        if room == 1:
            key = code.copy()
        else:
            key *= size
            key += code
        room *= max(size, 1)
    return key


def ordered(column: pl.Series) -> tuple[Ints, pl.Series]:
    """Codes in the order of the values, and the values by code; a gap comes last.

    Text that holds nothing but numbers is ordered as numbers: 9 before 10.
    """
    return in_order(column, codes([column])[0])


def in_order(column: pl.Series, coded: tuple[Ints, int]) -> tuple[Ints, pl.Series]:
    """The same from codes in no order."""
    rough, size = coded
    if column.len() == 0:
        return rough, column
    column = column.alias("value")
    first = np.full(size, -1, dtype=np.int64)
    first[rough[::-1]] = np.arange(rough.size - 1, -1, -1)
    used = np.flatnonzero(first >= 0)
    found = column.gather(first[used])
    order = sort_order(found)
    rank = np.empty(size, dtype=np.int64)
    rank[used[order]] = np.arange(used.size)
    return rank[rough], found.gather(order)


def sort_order(values: pl.Series) -> Ints:
    """Where each place of the sorted values stands in ``values`` (all different)."""
    if isinstance(values.dtype, pl.Struct):
        parts = values.struct.unnest().get_columns()
    else:
        number = as_numbers(values)
        parts = [values] if number is None or values.dtype.is_numeric() else [number, values]
    names = [f"part{k}" for k in range(len(parts))]
    frame = pl.DataFrame(dict(zip(names, parts, strict=True))).with_row_index("row")
    return frame.sort(names, nulls_last=True)["row"].to_numpy().astype(np.int64)


def as_numbers(values: pl.Series) -> pl.Series | None:
    """The column as numbers, also if they are written as text; None if any cell is no number."""
    values = values.alias("value")
    if values.dtype == pl.String:
        number = values.str.strip_chars().cast(pl.Float64, strict=False)
        fits = number.null_count() == values.null_count() < values.len() and bool(number.is_finite().all())
        return number if fits else None
    if values.dtype.is_numeric():
        return values.cast(pl.Float64)
    return None


def dense(key: Ints) -> tuple[Ints, int]:
    """Keys of any size as codes below the number of different keys."""
    found, inverse = np.unique(key, return_inverse=True)
    return inverse.astype(np.int64, copy=False), int(found.size)


def _texts(columns: dict[str, pl.Series]) -> dict[str, tuple[Ints, int]]:
    if not columns:
        return {}
    physical = pl.DataFrame(columns).select(
        pl.col(name).cast(_category()).to_physical().cast(pl.Int64) for name in columns
    )
    coded = {}
    for name in columns:
        size = int(physical[name].max() or 0) + 1  # type: ignore[arg-type]
        gaps = physical[name].null_count() > 0
        column = physical[name].fill_null(size) if gaps else physical[name]
        coded[name] = (column.to_numpy(), size + gaps)
    return coded


def _category() -> pl.DataType:
    """Categories of the column's own where Polars has a table of them for the whole process."""
    if hasattr(pl, "Categories"):
        return pl.Categorical(pl.Categories.random())
    return pl.Categorical()


def _other(column: pl.Series) -> tuple[Ints, int]:
    """Anything but text; composite values (structs) part by part."""
    kind = column.dtype
    if isinstance(kind, pl.Struct):
        return dense(combine(codes(column.struct.unnest().get_columns()), column.len()))
    if isinstance(kind, (pl.Categorical, pl.Enum)) or kind == pl.Null:
        return codes([column.cast(pl.String)])[0]
    if not (kind.is_numeric() or kind.is_temporal() or kind == pl.Boolean):
        raise InputError(f"A part of a composite value holds {kind}: expected {KINDS}.")
    if column.len() and column.null_count() == 0 and (kind.is_integer() or kind.is_temporal() or kind == pl.Boolean):
        whole = column.to_physical() if kind.is_temporal() else column
        lowest, highest = int(whole.min()), int(whole.max())  # type: ignore[arg-type]
        if highest - lowest <= max(4 * column.len(), 1024):
            wide = whole.cast(pl.Int8) if kind == pl.Boolean else whole
            return wide.to_numpy().astype(np.int64) - lowest, highest - lowest + 1
    rank = column.rank("dense").cast(pl.Int64)
    size = int(rank.max() or 0)  # type: ignore[arg-type]
    gaps = rank.null_count() > 0
    return (rank - 1).fill_null(size).to_numpy(), size + gaps
