"""Statements as sums over persons who are known by name: what is left of them once conditions are looked up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import lcm
from typing import Any

import polars as pl

from showthrough.knowledge.prior import Prior
from showthrough.knowledge.rational import outwards
from showthrough.knowledge.statement import Statement
from showthrough.table.arrays import Ints


@dataclass(frozen=True, eq=False)
class Assertion:
    """least ≤ coefficient · (how many of the persons have one of the values) ≤ most, in whole numbers."""

    name: str
    persons: Ints  # places among the people of whom the reader may know
    values: tuple[Any, ...]
    coefficient: int
    least: int
    most: int

    @classmethod
    def of(cls, said: Statement, persons: Ints, name: str) -> Assertion:
        """A statement about these persons; refused if it asks for more than there are."""
        number = persons.size
        scale = number if said.relative else 1
        least = outwards(said.least, up=False) * scale
        most = Fraction(number) if said.most is None else min(outwards(said.most, up=True) * scale, Fraction(number))
        if least > number:
            text = f"it asks for at least {float(least):.6g} persons, but speaks of {number}."
            raise said.refused(text)
        coefficient = lcm(least.denominator, most.denominator)
        return cls(name, persons, said.values, coefficient, int(least * coefficient), int(most * coefficient))

    def finer(self, parts: int) -> Assertion:
        """The same, counted in parts of persons."""
        return replace(self, coefficient=parts * self.coefficient, least=parts * self.least, most=parts * self.most)


@dataclass(frozen=True, eq=False)
class Informed:
    """What a reader knows of persons by name: assertions, and whose prior is which."""

    assertions: tuple[Assertion, ...] = ()
    prior: Prior | None = None
    people: pl.Series = field(
        default_factory=lambda: pl.Series("id", [], dtype=pl.String)
    )  # whom the prior may tell of
    prior_key: Ints | None = None  # [people] the key of the prior of each, or NOBODY

    def finer(self, parts: int) -> Informed:
        """The same with assertions that are counted in parts of persons, so that they can give way by parts."""
        return replace(self, assertions=tuple(one.finer(parts) for one in self.assertions))
