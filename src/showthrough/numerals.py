"""How whole numbers are written wherever people read them: thin spaces between thousands, which break no line."""

from __future__ import annotations

THIN = "\u202f"


def many(number: float) -> str:
    """A whole number with thin spaces between thousands.

    >>> many(12345).replace(THIN, "_"), many(0), many(-1234.4).replace(THIN, "_")
    ('12_345', '0', '-1_234')
    """
    return f"{round(number):,}".replace(",", THIN)


def tenths(number: float) -> str:
    """The same with one digit more.

    >>> tenths(4977.83).replace(THIN, "_")
    '4_977.8'
    """
    return f"{number:,.1f}".replace(",", THIN)


def number_of(number: float, one: str) -> str:
    """A whole number of things.

    >>> number_of(1, "record"), number_of(0, "record"), number_of(12345, "group").replace(THIN, "_")
    ('1 record', '0 records', '12_345 groups')
    """
    return f"{many(number)} {one}" if round(number) == 1 else f"{many(number)} {one}s"
