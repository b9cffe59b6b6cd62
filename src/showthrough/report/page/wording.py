"""How numbers are said on a page: count, whole and change; thin spaces; zero is nobody."""

from __future__ import annotations

import math
from collections.abc import Sequence

from showthrough.numerals import THIN as THIN
from showthrough.numerals import many

count = many  # the page's word for it


def persons(n: int) -> str:
    """A number of persons in words."""
    return "nobody" if n == 0 else "1 person" if n == 1 else f"{count(n)} persons"


def are(n: int) -> str:
    """The verb for so many."""
    return "is" if n in (0, 1) else "are"


def percent(share: float) -> str:
    """A share with two digits that matter, and never 0 or 100 unless it is.

    >>> [percent(p).replace(THIN, "") for p in (0, 0.0004, 0.0421, 0.532, 0.9996, 1)]
    ['0%', '0.04%', '4.2%', '53%', 'over99.9%', '100%']
    """
    hundred = 100 * share
    if 0 < hundred < 0.01:
        return f"under{THIN}0.01{THIN}%"
    if 99.9 < hundred < 100:
        return f"over{THIN}99.9{THIN}%"
    digits = 2 if 0 < hundred < 0.1 else 1 if 0 < hundred < 10 or 99 < hundred < 100 else 0
    text = f"{hundred:.{digits}f}"
    return f"{text.removesuffix('.0')}{THIN}%"


def listed(names: Sequence[str]) -> str:
    """Names with commas and an and."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def share_of(n: int, whole: int) -> str:
    """What part of a whole a number is, in words; nothing where the whole is small."""
    if whole < 100 or n <= 0:
        return ""
    part = n / whole
    if part >= 0.95:
        return "Nearly everybody." if n < whole else "Everybody."
    for most, few in (
        (0.9, "9 in 10"),
        (0.75, "3 in 4"),
        (2 / 3, "2 in 3"),
        (0.5, "half"),
        (1 / 3, "1 in 3"),
        (0.25, "1 in 4"),
    ):
        if part > most:
            return f"More than {few}."
    return f"That is {percent(part)}."


WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def small(n: int) -> str:
    """A small number as a word."""
    return WORDS[n] if n < len(WORDS) else count(n)


def all_of(n: int) -> str:
    """All of so many releases: both, all three."""
    return "both" if n == 2 else f"all {small(n)}"


def cut(text: str, most: int) -> str:
    """A label that fits."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def sentence_case(text: str) -> str:
    """The first letter large."""
    return text[:1].upper() + text[1:]


def tiny(error: float) -> str:
    """A bound on an error, in digits that can be read.

    >>> tiny(0.0), tiny(0.00042)
    ('a billionth', '0.0005')
    """
    if error < 1e-9:
        return "a billionth"
    digits = next(k for k in range(1, 12) if error >= 10.0**-k)
    up = math.ceil(error * 10**digits - 1e-9) / 10**digits
    return f"{up:.{digits}f}"
