"""Numbers as people write them, as exact fractions: 0.2 is one fifth."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

FINEST = 10**6  # the largest denominator that a bound keeps
_SIMPLE, _CLOSE = 1000, Fraction(1, 10**15)  # a third that went through a float is a third again


def exact(given: Any, name: str) -> Fraction:
    """A whole number, decimal, fraction or text such as "1/3" as a fraction.

    >>> exact(0.2, "equals"), exact("1/3", "equals"), exact(1 / 3, "equals")
    (Fraction(1, 5), Fraction(1, 3), Fraction(1, 3))
    """
    if isinstance(given, bool) or not isinstance(given, (int, float, str, Decimal, Fraction)):
        raise ValueError(f"{name} is a number")
    if isinstance(given, float) and not isfinite(given):
        raise ValueError(f"{name} is a finite number")
    try:
        found = Fraction(repr(given)) if isinstance(given, float) else Fraction(given)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise ValueError(f"{name} is a number") from None
    near = found.limit_denominator(_SIMPLE)
    return near if abs(near - found) < _CLOSE else found


def outwards(bound: Fraction, *, up: bool) -> Fraction:
    """A bound with a denominator that is not too large: looser by as little as that takes.

    >>> outwards(Fraction(1, 3), up=True), outwards(Fraction(3141592653, 10**9), up=False)
    (Fraction(1, 3), Fraction(392699, 125000))
    """
    if bound.denominator <= FINEST:
        return bound
    scaled = bound * FINEST
    return Fraction(-(-scaled.numerator // scaled.denominator) if up else int(scaled // 1), FINEST)


def percent(share: Fraction) -> str:
    """A share as people read it.

    >>> percent(Fraction(1, 5)), percent(Fraction(1, 3))
    ('20 %', '33.3333 %')
    """
    return f"{float(100 * share):.6g} %"
