"""What a text says by itself: a number, a code with leading zeros, a date, or just text.

Numbers are compared as decimals, never as floats: ``0.1`` equals ``0.10`` and differs from
``0.1000000000000000055``. A text with leading zeros (``01234``) is a code, not a number. An
exponent needs its sign (``1e+20``, ``1e-05``), so that the code ``1E10`` stays a code.
"""

from __future__ import annotations

import calendar
import datetime
import re
from decimal import Decimal

import polars as pl

from showthrough.table.frames import scalar

NUMBER = r"[+\-−]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+\-][0-9]{1,3})?"
DATE = r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?"

_NUMBER = re.compile(NUMBER)
_DATE = re.compile(DATE)
_LONGEST = 400  # characters; no measured number is longer


def as_text(column: pl.Series, where: str) -> pl.Series:
    """The column as text without blanks around it; whole decimals as ``30``, dates as ``2021-03-05``."""
    typed = scalar(column, where)
    if isinstance(typed.dtype, pl.Datetime):
        days = typed.dt.date()
        if bool((days.cast(typed.dtype) == typed).drop_nulls().all()):
            typed = days
    if typed.dtype == pl.Float64:  # Polars prints 1e20, Python 1e+20
        each = typed.unique()
        printed = pl.Series([None if v is None else repr(v) for v in each.to_list()], dtype=pl.String)
        return typed.replace_strict(each, printed, return_dtype=pl.String)
    return typed.cast(pl.String).str.strip_chars()


def read_as(entries: pl.Series, kind: pl.DataType) -> pl.Series:
    """Entries of any type as values of a kind; null where one is none.

    >>> read_as(pl.Series(["True", "false", "x"]), pl.Boolean()).to_list()
    [True, False, None]
    >>> read_as(pl.Series(["2021-03-05", "x"]), pl.Date()).to_list()
    [datetime.date(2021, 3, 5), None]
    """
    if entries.dtype == kind:
        return entries
    if entries.dtype == pl.String and kind == pl.Boolean:
        return entries.str.to_lowercase().replace_strict(
            ["true", "false"], [True, False], default=None, return_dtype=pl.Boolean
        )
    if entries.dtype == pl.String and isinstance(kind, (pl.Date, pl.Datetime, pl.Time)):
        return entries.str.strptime(kind, strict=False) if entries.len() else entries.cast(kind)
    return entries.cast(kind, strict=False)


def number(text: str) -> Decimal | None:
    """The number a text prints, exactly, or None.

    >>> number("0.10") == number(".1"), number("01"), number("1E10")
    (True, None, None)
    """
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        return None
    return Decimal(text.replace("−", "-"))


def plain(value: Decimal) -> str:
    """The one way to print a number: equal numbers give equal texts.

    >>> plain(Decimal("30.0")), plain(Decimal("-0")), plain(Decimal("1e+2"))
    ('30', '0', '100')
    """
    printed = format(value, "f")
    if "." in printed:
        printed = printed.rstrip("0").rstrip(".")
    return "0" if printed in ("-0", "+0") else printed


def days(text: str) -> tuple[datetime.date, datetime.date] | None:
    """First and last day of ``2021-03-05``, ``2021-03`` or ``2021``, or None if there is no such date.

    >>> days("2020-02")
    (datetime.date(2020, 2, 1), datetime.date(2020, 2, 29))
    """
    if not _DATE.fullmatch(text):
        return None
    parts = [int(part) for part in text.split("-")]
    try:
        if len(parts) == 3:
            day = datetime.date(*parts)
            return day, day
        first = datetime.date(parts[0], parts[1] if len(parts) == 2 else 1, 1)
        month = first.month if len(parts) == 2 else 12
        return first, datetime.date(first.year, month, calendar.monthrange(first.year, month)[1])
    except ValueError:
        return None


def is_code(text: str) -> bool:
    """Digits that start with a zero and are more than that zero."""
    return len(text) > 1 and text[0] == "0" and text.isascii() and text.isdigit()
