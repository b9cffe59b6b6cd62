"""Containment said slowly: does a described cell hold a value? Fractions, character by character."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Between:
    """Numbers as texts; None is no end."""

    low: str | None
    high: str | None
    low_open: bool = False
    high_open: bool = False

    def holds(self, value: str) -> bool:
        x = Fraction(value)
        above = self.low is None or x > Fraction(self.low) or (x == Fraction(self.low) and not self.low_open)
        below = self.high is None or x < Fraction(self.high) or (x == Fraction(self.high) and not self.high_open)
        return above and below


@dataclass(frozen=True)
class OneOf:
    members: tuple[str, ...]
    numbers: bool = False

    def holds(self, value: str) -> bool:
        if self.numbers:
            return any(Fraction(value) == Fraction(member) for member in self.members)
        return any(value == member for member in self.members)


@dataclass(frozen=True)
class Like:
    pattern: str

    def holds(self, value: str) -> bool:
        if len(value) != len(self.pattern):
            return False
        return all(shown in ("*", own) for shown, own in zip(self.pattern, value, strict=True))


@dataclass(frozen=True)
class Days:
    """Every day from one to another, both in, looked at one by one."""

    first: datetime.date
    last: datetime.date

    def holds(self, value: str) -> bool:
        """A value such as 2021-03 is held if one of its days is."""
        day = self.first
        while day <= self.last:
            if day.isoformat().startswith(value):
                return True
            day += datetime.timedelta(days=1)
        return False


class Everything:
    def holds(self, _value: str) -> bool:
        return True
