"""Counts as statistical offices print them: numbers, rounded numbers, marks for what is hidden, and ranges.

What a printed count says is two whole numbers, the least and the most that it may stand for:

| printed | says |
| --- | --- |
| `12`, `1 204`, `1,204` | that number, or with a rounding all numbers that are rounded to it |
| a declared mark (`c`, `*`, `..`, nothing) | what was declared for it |
| `<5`, `<=4`, `≤4` | 0 to 4: less than 5 may be none |
| `5-9`, `5–9`, `5 to 9`, `5..9`, `[5, 9]` | 5 to 9 |
| `100+`, `>=100`, `≥100`, `>99` | 100 or more; a total, or a declaration, must say how many at most |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from showthrough.errors import InputError, ReleaseError
from showthrough.release.columns import LARGEST, named
from showthrough.said import private
from showthrough.table.frames import scalar
from showthrough.table.frozen import Frozen

OPEN = 2**50  # more than any count: nothing says how many at most

RULES = ("conventional", "random", "up", "down")
_NUMBER = re.compile(r"\d+|\d{1,3}(?:[ ,'\u00a0\u2009\u202f]\d{3})+")
_RANGE = re.compile(r"\[?\s*(\d+)\s*(?:-|–|\.\.|,|to)\s*(\d+)\s*\]?")
_ENDS = re.compile(r"(<=|>=|<|>|≤|≥)?\s*(\d+)\s*(\+)?")


@dataclass(frozen=True)
class Printing:
    """How an office prints counts: what marks stand for, and how numbers are rounded (base, rule)."""

    suppressed: Mapping[str, tuple[int, int]] = field(default_factory=Frozen)
    rounding: tuple[int, str] | None = None

    @classmethod
    def of(cls, suppressed: Any = None, rounding: Any = None) -> Printing:
        """From what a caller gives: {"c": (1, 4)} and 5, or (5, "random")."""
        return cls(Frozen(_marks(suppressed)), _rounding(rounding))

    def around(self, number: int) -> tuple[int, int] | None:
        """The least and the most that are rounded to a number; None if nothing is."""
        if self.rounding is None:
            return number, number
        base, rule = self.rounding
        if number % base:
            return None
        down, up = {
            "conventional": (base // 2, base // 2),  # a half may go either way
            "random": (base - 1, base - 1),
            "up": (base - 1, 0),
            "down": (0, base - 1),
        }[rule]
        return max(0, number - down), number + up


def read_counts(frame: pl.DataFrame, name: str, where: str, printing: Printing) -> tuple[pl.Series, pl.Series]:
    """The least and the most that each count of a column stands for."""
    texts = _texts(scalar(frame[name], f"{where}: column {name!r}"))
    each = texts.unique(maintain_order=True)
    low, high = [], []
    for text in each.to_list():
        try:
            ends = _read(text, printing, f" in column {name!r}")
        except InputError as problem:
            row = int((texts == text).arg_max() or 0) + 1
            raise ReleaseError(f"{where}: row {row} has {problem.said}", parameters=problem.parameters) from None
        low.append(ends[0])
        high.append(ends[1])
    index = pl.DataFrame({"text": each, "low": pl.Series(low, dtype=pl.Int64), "high": pl.Series(high, dtype=pl.Int64)})
    found = pl.DataFrame({"text": texts}).join(index, on="text", how="left", maintain_order="left")
    if found.select(pl.col("low").cast(pl.Float64).sum()).item() > LARGEST:
        raise ReleaseError(f"{where}: the counts in column {name!r} add up to more than {LARGEST}, which is no table.")
    return found["low"], found["high"]


def _texts(column: pl.Series) -> pl.Series:
    """The cells as text: numbers that are whole without a decimal point, gaps as nothing."""
    if column.dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        texts = whole.cast(pl.String).zip_with((column == whole).fill_null(False), column.cast(pl.String))
    else:
        texts = column if column.dtype == pl.String else column.cast(pl.String)
    return texts.fill_null("").str.strip_chars()


def _read(text: str, printing: Printing, place: str) -> tuple[int, int]:
    """What one printed count says; ``place`` is the column, for messages."""
    if text in printing.suppressed:
        return printing.suppressed[text]
    if _NUMBER.fullmatch(text):
        number = int(re.sub(r"\D", "", text))
        found = printing.around(number)
        if found is None:
            base = printing.rounding[0] if printing.rounding else 1
            raise InputError(
                f"{named(text, 'a number')}{place}, which is no multiple of {base}, but the counts are said to be "
                "rounded to it.",
                parameters=("rounding",),
            )
        return found
    between = _RANGE.fullmatch(text)
    if between:
        low, high = int(between[1]), int(between[2])
        if low > high:
            raise InputError(f"{named(text, 'a range')}{place}, whose low end is above its high end.")
        return low, high
    ends = _ENDS.fullmatch(text)
    if ends and bool(ends[1]) != bool(ends[3]):
        return _one_end(ends[1] or ends[3], int(ends[2]), text)
    expected = "expected a whole number, 0 or more."
    if re.fullmatch(r"[-−]?\s*\d+(\.\d+)?", text):
        raise InputError(f"{named(text, 'a number')}{place}; {expected}")
    shown, mark = (named(text), named(text, "MARK")) if text else ("no count", "''")
    raise InputError(
        f"{shown}{place}; {expected} If it hides a count, say once what it stands for, such as "
        f"suppressed={{{mark}: (1, 4)}}.",
        parameters=("suppressed",),
    )


def _one_end(sign: str, number: int, text: str) -> tuple[int, int]:
    if sign == "<" and number == 0:
        raise InputError(f"{named(text, 'a range')}: no count is below 0.")
    return {
        "<": (0, number - 1),
        "<=": (0, number),
        "≤": (0, number),
        ">": (number + 1, OPEN),
    }.get(sign, (number, OPEN))


def _marks(given: Any) -> dict[str, tuple[int, int]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(
            'suppressed maps each mark to what it stands for, such as {"c": (1, 4)}.', parameters=("suppressed",)
        )
    return {str(mark).strip(): _meaning(str(mark), ends) for mark, ends in given.items()}


def _meaning(mark: str, ends: Any) -> tuple[int, int]:
    """The two ends that were declared for a mark: a pair, one number, or text such as 1-4."""
    told = f"The mark {private(repr(mark))} stands for a least and a greatest count, such as (1, 4)"
    found: tuple[Any, ...] = ()
    if isinstance(ends, str):
        between = _RANGE.fullmatch(ends.strip())
        found = (int(between[1]), int(between[2])) if between else (int(ends),) * 2 if ends.isdecimal() else ()
    elif isinstance(ends, Sequence):
        found = tuple(ends)
    elif isinstance(ends, int):
        found = (ends, ends)
    whole = len(found) == 2 and all(isinstance(e, int) and not isinstance(e, bool) for e in found)
    if not whole:
        raise InputError(f"{told}.", parameters=("suppressed",))
    low, high = found
    if low < 0 or low > high or high > LARGEST:
        raise InputError(f"{told}, not ({low}, {high}).", parameters=("suppressed",))
    return low, high


def _rounding(given: Any) -> tuple[int, str] | None:
    """Base and rule: 5, (5, "random"), or text such as 5 and 5:random."""
    if given is None:
        return None
    base, rule = given, RULES[0]
    if isinstance(given, str):
        base, _, told = (part.strip() for part in given.partition(":"))
        base, rule = int(base) if base.isdecimal() else base, told or rule
    elif isinstance(given, Sequence) and len(given) == 2:
        base, rule = given
    if not isinstance(base, int) or isinstance(base, bool) or base < 1 or rule not in RULES:
        raise InputError(
            f"rounding is the base that counts are rounded to, 1 or more, perhaps with a rule ({', '.join(RULES)}), "
            f'such as 5 or (5, "random"), not {private(repr(given))}.',
            parameters=("rounding",),
        )
    return base, str(rule)
