"""The types of columns as a release folder names them, written down and applied to text again."""

from __future__ import annotations

import polars as pl

from showthrough.errors import FileError
from showthrough.said import private

TYPES: dict[str, pl.DataType] = {
    "text": pl.String(),
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "boolean": pl.Boolean(),
    "date": pl.Date(),
}


def type_name(column: pl.Series) -> str | None:
    """What the type of a column is called; None where text cannot carry it."""
    return next((name for name, kind in TYPES.items() if column.dtype == kind), None)


def typed(column: pl.Series, name: str, *, where: str, stated: str) -> pl.Series:
    """A column of text as the type that was written down; ``stated`` is the file that names it."""
    kind = TYPES.get(name)
    if kind is None:
        raise FileError(f"{stated}: unknown type {private(repr(name))}.")
    try:
        if kind == pl.Boolean:
            return column.replace_strict({"true": True, "false": False, None: None}, return_dtype=pl.Boolean)
        return column.str.to_date("%Y-%m-%d") if kind == pl.Date else column.cast(kind)
    except pl.exceptions.PolarsError:
        raise FileError(f"{where}: column {column.name!r} is not all of type {name}.") from None
