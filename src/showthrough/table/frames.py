"""Frames of any library become Polars frames; columns become one of a few scalar kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import polars as pl

from showthrough.errors import InputError

KINDS = "text, whole numbers, numbers, truth values, dates or times"


def to_polars(frame: Any) -> pl.DataFrame:
    """Take a frame of Polars, pandas, PyArrow or any library that speaks Arrow or interchange."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    try:
        if isinstance(frame, Mapping):
            return pl.DataFrame(dict(frame))
        if hasattr(frame, "columns") and hasattr(frame, "iloc"):
            return _from_pandas(frame)
        if hasattr(frame, "__arrow_c_stream__"):
            return pl.DataFrame(frame)
        if hasattr(frame, "__dataframe__"):
            return pl.from_dataframe(frame)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as problem:
        raise InputError(f"The frame cannot be read: {str(problem).splitlines()[0]}") from None
    raise InputError(
        f"Expected a frame (polars, pandas, pyarrow or another that speaks Arrow), got {type(frame).__name__}."
    )


def _from_pandas(frame: Any) -> pl.DataFrame:
    """Column by column, so that it needs no PyArrow; pandas marks gaps with NaN, None or NA."""
    columns = {}
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        filled = column[column.notna()].tolist()
        series = _series(str(name), filled)
        if len(filled) < len(column):
            gaps = column.notna().cumsum().where(column.notna()).tolist()
            index = pl.Series([None if g != g else int(g) - 1 for g in gaps], dtype=pl.Int64)
            series = pl.select(series.gather(index).alias(str(name))).to_series()
        columns[str(name)] = series
    return pl.DataFrame(columns)


def _series(name: str, entries: Sequence[Any]) -> pl.Series:
    try:
        return pl.Series(name, entries, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        raise InputError(
            f"Column {name!r} mixes types: make it one of {KINDS} (for example with astype(str))."
        ) from None


def need_columns(frame: pl.DataFrame, names: Iterable[str], where: str) -> None:
    """All ``names`` are columns, or a sentence says which exist and which may be meant."""
    for name in names:
        if name in frame.columns:
            continue
        close = get_close_matches(name, frame.columns, n=1, cutoff=0.6) or [
            c for c in frame.columns if c.strip().lower() == name.strip().lower()
        ]
        hint = f" Did you mean {close[0]!r}?" if close else ""
        exist = ", ".join(repr(c) for c in frame.columns)
        raise InputError(f"{where} has no column {name!r}.{hint} Its columns are: {exist}.")


def scalar(column: pl.Series, where: str) -> pl.Series:
    """Bring a column to the scalar kind it holds: text, Int64, Float64, Boolean, Date or a time."""
    kind = column.dtype
    if isinstance(kind, (pl.Categorical, pl.Enum)):
        return column.cast(pl.String)
    if kind.is_integer():
        wide = kind in (pl.UInt64, pl.Int128) and column.len() and (column.max() or 0) > 2**63 - 1  # type: ignore[operator]
        return column.cast(pl.String if wide else pl.Int64)
    if kind.is_float():
        whole = column.drop_nulls().drop_nans()
        no_gaps = whole.len() == column.drop_nulls().len()
        if no_gaps and ((whole == whole.round(0)) & (whole.abs() < 2**53)).all():
            return column.cast(pl.Int64)
        return column.cast(pl.Float64).fill_nan(None)
    if kind == pl.Null:
        return column.cast(pl.String)
    if kind == pl.String or kind == pl.Boolean or kind.is_temporal() or kind.is_decimal():
        return column
    raise InputError(f"{where} holds {kind}: expected {KINDS}.")


def one_kind(columns: Sequence[pl.Series], what: str, names: Sequence[str]) -> list[pl.Series]:
    """Columns of several releases as one kind, so that 11 and "11" are the same person."""
    kinds = {c.dtype for c in columns}
    if len(kinds) == 1:
        return list(columns)
    if kinds <= {pl.String(), pl.Int64()}:
        return [c.cast(pl.String) for c in columns]
    if kinds <= {pl.Int64(), pl.Float64()}:
        return [c.cast(pl.Float64) for c in columns]
    listed = "; ".join(f"{name}: {c.dtype}" for name, c in zip(names, columns, strict=True))
    raise InputError(f"The {what} are of different types ({listed}): make them the same.")
