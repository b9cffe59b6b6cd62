"""Frames of any library become Polars frames; columns become one of a few scalar kinds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import polars as pl

from showthrough.errors import InputError
from showthrough.said import private

KINDS = "text, whole numbers, numbers, truth values, dates or times"

_FAULTS = (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError)
_LOOKED_AT, _LISTED = 500, 100  # columns: of tables with very many, some tell enough
_FIRST_DAY, _LAST_DAY, _DAY = -719162, 2932896, 86400  # the years 1 to 9999 in days since 1970; seconds
_EXACT = 2**53  # whole numbers up to here are exact as Float64


def to_polars(frame: Any) -> pl.DataFrame:
    """Take a frame of Polars, pandas, PyArrow or any library that speaks Arrow or interchange."""
    return in_range(_to_polars(frame), "The frame")


def _to_polars(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pl.DataFrame):
        return frame
    try:
        if isinstance(frame, pl.LazyFrame):
            return frame.collect()
        if isinstance(frame, Mapping):
            return pl.DataFrame({str(name): _entries(str(name), column) for name, column in frame.items()})
        if hasattr(frame, "columns") and hasattr(frame, "iloc"):
            return _from_pandas(frame)
        if hasattr(frame, "__arrow_c_stream__"):
            return pl.DataFrame(frame)
        if hasattr(frame, "__dataframe__"):
            return pl.from_dataframe(frame)
    except _FAULTS as problem:  # the text of these may quote the data
        raise InputError(f"The frame cannot be read{private(f': {problem}', '')}.") from None
    raise InputError(
        f"Expected a frame (polars, pandas, pyarrow or another that speaks Arrow), got {type(frame).__name__}."
    )


def in_range(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    """The frame if all its dates and times exist: files can hold others, at which libraries panic."""
    for place, name in enumerate(frame.columns, start=1):
        column = frame[name].alias("cell")
        if not column.dtype.is_temporal():
            continue
        unit = {"ms": 10**3, "us": 10**6, "ns": 10**9}.get(getattr(column.dtype, "time_unit", None) or "", 10**9)
        low, high = (_FIRST_DAY * _DAY * unit, (_LAST_DAY + 1) * _DAY * unit - 1)
        if column.dtype == pl.Date:
            low, high = _FIRST_DAY, _LAST_DAY
        elif column.dtype == pl.Time:
            low, high = 0, _DAY * unit - 1
        elif isinstance(column.dtype, pl.Duration):  # as far as Python counts
            low, high = -999_999_999 * _DAY * unit, 999_999_999 * _DAY * unit
        fits = column.to_physical().cast(pl.Int64).is_between(max(low, -(2**63)), min(high, 2**63 - 1))
        if not fits.drop_nulls().all():
            row = int((~fits.fill_null(True)).arg_max() or 0) + 1
            called = private(f" ({name!r})", "")  # nobody asked for it yet: it may be a record's cell
            raise InputError(f"{where}: row {row} of column {place}{called} holds a date or time that does not exist.")
    return frame


def _from_pandas(frame: Any) -> pl.DataFrame:
    """Column by column, so that it needs no PyArrow; pandas marks gaps with NaN, None or NA."""
    columns: dict[str, pl.Series] = {}
    for position, label in enumerate(frame.columns):
        name, column = str(label), frame.iloc[:, position]
        if name in columns:
            raise InputError(f"The frame has the column {name!r} more than once.")
        if str(column.dtype) in ("datetime64[ns]", "timedelta64[ns]"):  # a list would lose nanoseconds
            columns[name] = pl.Series(name, column.to_numpy())
            continue
        filled = column[column.notna()].tolist()
        series = _series(name, filled)
        if len(filled) < len(column):
            gaps = column.notna().cumsum().where(column.notna()).tolist()
            index = pl.Series([None if g != g else int(g) - 1 for g in gaps], dtype=pl.Int64)
            series = pl.select(series.gather(index).alias(name)).to_series()
        columns[name] = series
    return pl.DataFrame(columns)


def _entries(name: str, column: Any) -> Any:
    """A list becomes a column of one kind; arrays, series and single values are left to Polars."""
    return _series(name, column) if isinstance(column, (list, tuple)) else column


def _series(name: str, entries: Sequence[Any]) -> pl.Series:
    try:
        return pl.Series(name, entries, strict=True)
    except _FAULTS:
        if all(e is None or type(e) is float or (type(e) is int and abs(e) < _EXACT) for e in entries):
            return pl.Series(name, entries, dtype=pl.Float64, strict=False)
        raise InputError(
            f"Column {name!r} mixes types or holds numbers that are too large: make it one of {KINDS} "
            "(for example with astype(str))."
        ) from None


def need_header(frame: pl.DataFrame, where: str) -> None:
    """Refuse a table whose columns nobody named and whose first row looks like a record, not like names.

    Without a header a person's record would pass for the names of columns, and messages name columns.
    """
    looked = frame.columns[:: max(1, -(-frame.width // _LOOKED_AT))]
    alike = sum(_like_a_cell(name, frame[name]) for name in looked)
    if looked and 2 * alike >= len(looked):
        raise InputError(
            f"{where}: the first row looks like a record and not like the names of the columns ({alike} of "
            f"{len(looked)} look like the cells below them). Put a row of names above it, or name columns with quasi= "
            "if they are names.",
            parameters=("quasi",),
        )


def _like_a_cell(name: str, column: pl.Series) -> bool:
    """Whether the name of a column stands among its cells, or is built as all of them are."""
    if column.dtype != pl.String or not name.strip():
        return False
    cells = column.alias("cell").drop_nulls().head(1000).str.strip_chars()
    shapes = cells.str.replace_all(r"\p{L}+", "a").str.replace_all(r"\d+", "0").unique()
    shape = re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", name.strip()))
    return bool((cells == name.strip()).any()) or (shape != "a" and shapes.to_list() == [shape])


def need_columns(frame: pl.DataFrame, names: Iterable[str], where: str) -> None:
    """All ``names`` are columns, or a sentence says which exist and which may be meant.

    If none of them is there, the file may have no header, and its first row is a person's record: then only the
    internal message lists what was found. Where all columns that there are were asked for, they were taken from the
    file itself and prove nothing.
    """
    asked, held = list(names), set(frame.columns)
    missing = [name for name in asked if name not in held]
    if not missing:
        return
    name = missing[0]
    alike = {c.strip().lower(): c for c in frame.columns}
    close = [alike[key] for key in [name.strip().lower()] if key in alike]
    close = close or get_close_matches(name, frame.columns, n=1, cutoff=0.6)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    more = f" and {frame.width - _LISTED} more" if frame.width > _LISTED else ""
    exist = ", ".join(repr(c) for c in frame.columns[:_LISTED]) + more
    lead = f"{where} has no column {name!r}."
    full = f"{lead}{hint} Its columns are: {exist}."
    named = any(n.strip().lower() in alike for n in asked) and not set(frame.columns) <= set(asked)
    without = f"{lead} None of the columns asked for is there: does its first row hold the names of the columns?"
    if named and any(c not in asked and _doubtful(c, frame[c]) for c in frame.columns):
        named, without = False, f"{lead} It has {frame.width} columns, some of whose names look like cells."
    raise InputError(full, shareable=full if named else without)


def _doubtful(name: str, column: pl.Series) -> bool:
    """Whether the name of a column may be a cell: it has no letter, or looks like those below."""
    return not re.search(r"[^\W\d_]", name) or _like_a_cell(name, column)


def scalar(column: pl.Series, where: str) -> pl.Series:
    """Bring a column to the scalar kind it holds: text, Int64, Float64, Boolean, Date or a time.

    Durations become text. What a kind cannot hold exactly (huge whole numbers, nanoseconds) becomes text.
    """
    if column.name.startswith("^"):  # names such as ^a$ are patterns to Polars, even of one column
        column = column.alias("cell")
    kind = column.dtype
    if isinstance(kind, (pl.Categorical, pl.Enum)):
        return column.cast(pl.String)
    if kind.is_integer():
        whole = column.cast(pl.Int64, strict=False)
        return whole if whole.null_count() == column.null_count() else column.cast(pl.String)
    if kind.is_float():
        return _number(column)
    if kind == pl.Null:
        return column.cast(pl.String)
    if isinstance(kind, pl.Duration):  # Polars has no text for it by itself, and no file but its own a type
        return column.dt.to_string("iso")
    if kind == pl.Time or isinstance(kind, pl.Datetime):
        return _time(column)
    if kind == pl.String or kind == pl.Boolean or kind == pl.Date or kind.is_decimal():
        return column
    raise InputError(f"{where} holds {kind}: expected {KINDS}.")


def _number(column: pl.Series) -> pl.Series:
    """Whole numbers if all are, as files with gaps make them decimal."""
    number = column.cast(pl.Float64).fill_nan(None)
    given = number.drop_nulls()
    if ((given == given.round(0)) & (given.abs() < _EXACT)).all():
        return number.cast(pl.Int64)
    return number


def _time(column: pl.Series) -> pl.Series:
    """Microseconds, which Python and every file can hold, or text where they are not enough."""
    fine = column.dtype == pl.Time or column.dtype.time_unit == "ns"  # type: ignore[attr-defined]
    if fine and not (column.to_physical() % 1000 == 0).drop_nulls().all():
        return column.dt.to_string("iso")
    return column if column.dtype == pl.Time else column.dt.cast_time_unit("us")


def _exact(column: pl.Series) -> bool:
    return column.dtype != pl.Int64 or bool(column.is_between(-_EXACT, _EXACT).all())


def one_kind(columns: Sequence[pl.Series], what: str, names: Sequence[str]) -> list[pl.Series]:
    """Columns of several releases as one kind, so that 11 and "11" are the same person."""
    kinds = {c.dtype for c in columns}
    if len(kinds) == 1:
        return list(columns)
    if kinds <= {pl.String(), pl.Int64()}:
        return [c.cast(pl.String) for c in columns]
    if kinds <= {pl.Int64(), pl.Float64()} and all(_exact(c) for c in columns):
        return [c.cast(pl.Float64) for c in columns]
    listed = "; ".join(f"{name}: {c.dtype}" for name, c in zip(names, columns, strict=True))
    raise InputError(f"The {what} are of different types ({listed}): make them the same.")


def listed_values(values: Any, what: str) -> pl.Series:
    """A list of values as a column; they are all texts, all numbers or all of another kind."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise InputError(f"The {what} is a list of values, not of type {type(values).__name__}.")
    found = values if isinstance(values, pl.Series) else list(values)
    try:
        return scalar(pl.Series("value", found), f"The {what}")
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        names = ", ".join(sorted({type(value).__name__ for value in found}))
        raise InputError(f"The {what} holds values of different types ({names}): make them the same.") from None
