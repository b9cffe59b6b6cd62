"""Rows of hierarchies by rule: intervals, masked codes, dates, and trees written as nested labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from showthrough.errors import InputError
from showthrough.said import private
from showthrough.table.texts import days, is_code, number, plain

ROOT = "*"

_LONG_CODE = 5  # digits from which whole numbers of one length are codes such as postal codes
_PARTS = 16  # about so many intervals at the finest level
_DEEP = 200


def branches(tree: Mapping[str, Any]) -> list[list[str]]:
    """One row per leaf of nested labels; a leaf is a text in a list or a label with nothing under it."""

    def walk(node: Any, above: list[str]) -> Iterator[list[str]]:
        if len(above) > _DEEP:
            raise InputError(f"The tree is deeper than {_DEEP} levels.")
        if isinstance(node, Mapping):
            for label, below in node.items():
                path = [str(label).strip(), *above]
                if below is None or (isinstance(below, (Mapping, list, tuple)) and not below):
                    yield path
                else:
                    yield from walk(below, path)
        elif isinstance(node, (list, tuple)):
            for child in node:
                if isinstance(child, Mapping):
                    yield from walk(child, above)
                else:
                    yield from walk(_leaf(child), above)
        else:
            yield [_leaf(node), *above]

    if not isinstance(tree, Mapping):
        raise InputError(f"Expected nested labels such as {{'Europe': ['DE', 'FR']}}, got {type(tree).__name__}.")
    return list(walk(tree, []))


def _leaf(node: Any) -> str:
    if isinstance(node, (str, int, float, Decimal)):
        return str(node).strip()
    raise InputError(f"Expected a label or a list of labels in the tree, got {type(node).__name__}.")


def interval_rows(texts: Sequence[str], *, widths: Sequence[Any], origin: Any) -> list[list[str]]:
    """Half-open intervals that start at ``origin`` plus whole widths, exact for any decimals."""
    steps, start = [_exact(w, "width") for w in widths], _exact(origin, "origin")
    if not steps:
        raise InputError("Intervals need at least one width.")
    if steps[0] <= 0:
        raise InputError(f"The width of an interval must be above 0, got {widths[0]}.")
    for k in range(1, len(steps)):
        if steps[k] <= steps[k - 1] or (steps[k] / steps[k - 1]).denominator != 1:
            raise InputError(
                f"Each width must be a multiple of the one before, so that intervals nest: "
                f"{widths[k]} is not a multiple of {widths[k - 1]}."
            )
    rows = []
    for text in texts:
        value = number(text)
        if value is None:
            raise InputError(f"Intervals need numbers, and {private(repr(text), 'a value')} is none.")
        exact = Fraction(value)
        row = [text]
        for step in steps:
            low = start + math.floor((exact - start) / step) * step
            row.append(f"[{_printed(low)}, {_printed(low + step)})")
        rows.append([*row, ROOT])
    return rows


def _exact(given: Any, what: str) -> Fraction:
    value = number(str(given).strip())
    if value is None:
        raise InputError(f"The {what} of intervals must be a number, got {given!r}.")
    return Fraction(value)


def _printed(value: Fraction) -> str:
    """Sums of decimals end after finitely many digits."""
    scale, digits = value.denominator, 0
    while 10**digits % scale:
        digits += 1
    whole = value.numerator * (10**digits // scale)
    return plain(Decimal(f"{whole}E-{digits}"))


def prefix_rows(texts: Sequence[str]) -> list[list[str]]:
    """The last character of the longest code goes first; shorter codes wait until it is their turn."""
    longest = max(len(text) for text in texts)
    rows = []
    for text in texts:
        masked = [text[:kept] + "*" * (len(text) - kept) for kept in range(longest - 1, 0, -1)]
        rows.append([text, *masked, ROOT])
    return rows


def date_rows(texts: Sequence[str]) -> list[list[str]]:
    """Day, month, year and decade of ISO dates."""
    rows = []
    for text in texts:
        span = days(text)
        if span is None or len(text) != len("2021-03-05"):
            raise InputError(f"Expected dates such as 2021-03-05, found {private(repr(text), 'something else')}.")
        decade = int(text[:4]) // 10 * 10
        rows.append([text, text[:7], text[:4], f"{decade:04d}-{decade + 9:04d}", ROOT])
    return rows


def choose(texts: Sequence[str], *, typed: bool) -> tuple[str, list[str]]:
    """The rule for some values, with widths if it is intervals; ``typed`` columns hold numbers, not codes."""
    if all(len(text) == len("2021-03-05") and days(text) for text in texts):
        return "dates", []
    lengths = {len(text) for text in texts}
    same = len(lengths) == 1
    numbers = [number(text) for text in texts]
    if all(n is not None for n in numbers):
        digits = all(text.isdigit() for text in texts)
        if same and digits and not typed and max(lengths) >= _LONG_CODE:
            return "prefixes", []
        known = [n for n in numbers if n is not None]
        return "intervals", _widths(min(known), max(known))
    if same and max(lengths) > 1 and all(_like_code(text) for text in texts):
        return "prefixes", []
    return "flat", []


def _like_code(text: str) -> bool:
    return is_code(text) or (any(c.isdigit() for c in text) and all(c.isalnum() or c in "-." for c in text))


def _widths(low: Decimal, high: Decimal) -> list[str]:
    """Three widths, each twice the one before, from 1, 2 or 5 times a power of ten."""
    reach = Fraction(high) - Fraction(low)
    if reach == 0:
        return ["1"]
    target = reach / _PARTS
    power = Fraction(1)
    while power * 10 <= target:
        power *= 10
    while power > target:
        power /= 10
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= target)
    if Fraction(high).denominator == 1 == Fraction(low).denominator:
        step = max(step, Fraction(1))
    return [_printed(step * m) for m in (1, 2, 4)]
