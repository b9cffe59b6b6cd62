"""Tables that people open: a spreadsheet takes a cell that begins with = + - or @ for a formula and runs it."""

from __future__ import annotations

import polars as pl

_FORMULA = r"^'*[=+\-@\t\r]"


def escaped(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with an apostrophe before every text, and every name of a column, that could be run as a formula.

    A text that begins with apostrophes before such a sign gets one more, so that taking one away gives what was
    there. Numbers are numbers to a spreadsheet, and stay.

    >>> escaped(pl.DataFrame({"id": ["=1+1", "ann"], "p": [-0.5, 1.0]})).rows()
    [("'=1+1", -0.5), ('ann', 1.0)]
    """
    named = {name: _column(pl.Series([name], dtype=pl.String))[0] for name in frame.columns}
    return pl.DataFrame({named[name]: _column(frame[name]) for name in frame.columns})


def _column(column: pl.Series) -> pl.Series:
    if column.dtype != pl.String:
        return column
    cells = column.alias("cell")  # names such as ^a$ are patterns to Polars
    risky = cells.str.contains(_FORMULA).fill_null(False)
    return cells.zip_with(~risky, pl.Series(["'"]) + cells) if risky.any() else cells
