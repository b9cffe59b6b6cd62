"""δ-presence and k-map: a release against the population that its persons come from.

Nergiz, Atzori, Clifton, *Hiding the Presence of Individuals from Shared Databases*, SIGMOD 2007;
Sweeney, *Computational Disclosure Control*, PhD thesis, MIT 2001 (k-map).

The population is a frame with the same quasi-identifiers, recoded like the release: its rows
belong to the group whose cells they equal. Or persons per group, where they were counted before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from showthrough.criteria.counts import Counted, GroupCounts
from showthrough.criteria.criterion import Check, Criterion, at_least, at_most, text
from showthrough.criteria.parameters import flag, number, whole
from showthrough.criteria.published import of_release
from showthrough.errors import InputError, ParameterError
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.frames import need_columns, to_polars


@dataclass(frozen=True, eq=False)
class DeltaPresence(Criterion):
    """Of every class of the population, a share between ``minimum`` and ``maximum`` is in the release."""

    minimum: float
    maximum: float
    population: Any = None
    everywhere: bool = True
    """Whether classes of the population without anybody in the release count, with share 0."""
    name: ClassVar[str] = "δ-presence"
    citation: ClassVar[str] = "Nergiz, Atzori, Clifton, SIGMOD 2007"
    more_is_better: ClassVar[bool] = False
    needs_values: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number(self.name, "minimum", self.minimum, least=0, most=1)
        number(self.name, "maximum", self.maximum, least=0, most=1)
        flag(self.name, "everywhere", self.everywhere)
        if self.minimum > self.maximum:
            raise ParameterError(
                f"δ-presence needs a minimum of at most its maximum, not {self.minimum} and {self.maximum}.",
                parameters=("minimum", "maximum"),
            )

    def __str__(self) -> str:
        return f"({text(self.minimum)},{text(self.maximum)})-presence"

    def fitted(self, counted: Counted) -> DeltaPresence:
        """With the persons of each group counted in the population."""
        return replace(self, population=persons_of(self.population, counted)[0])

    def check(
        self, release: Any, *, sensitive: str | Sequence[str] | None = None, quasi: Sequence[str] | None = None
    ) -> Check:
        """Apply it; a class of the population with nobody in the release has the share 0."""
        counted = of_release(release, sensitive, quasi)
        found = super().check(counted)
        empty = persons_of(self.population, counted)[1]
        if not (empty and self.everywhere and self.minimum > 0):
            return found
        more = f" {empty} classes of the population have nobody in the release: their share is 0."
        told = f"{self} does not hold. {self.says(found.level)}" if found.holds else found.sentence
        return replace(found, holds=False, level=0.0, sentence=f"{told}{more}")

    def level(self, counts: GroupCounts) -> Reals:
        """The share of the population's class that is in the release."""
        with np.errstate(divide="ignore"):  # a group of counterfeits alone may fit nobody
            return counts.size / _sizes(self.population, counts)

    def met(self, level: Reals) -> Flags:
        """Between minimum and maximum."""
        return at_least(level, self.minimum) & at_most(level, self.maximum)

    def badness(self, level: Reals) -> Reals:
        """How far outside the limits, or how close to them from inside."""
        return np.maximum(level - self.maximum, self.minimum - level)

    def worst(self, level: Reals) -> float:
        """The level farthest outside, or closest to a limit from inside."""
        return float(level[np.argmax(self.badness(level))])

    def says(self, level: float) -> str:
        """The share nearest to breaking the limits."""
        return f"The share of a class of the population that is in the release comes to {text(level)} at worst."


@dataclass(frozen=True, eq=False)
class KMap(Criterion):
    """Every group of the release fits at least ``k`` persons of the population."""

    k: int
    population: Any = None
    name: ClassVar[str] = "k-map"
    citation: ClassVar[str] = "Sweeney, PhD thesis, MIT 2001"
    needs_values: ClassVar[bool] = False

    def __post_init__(self) -> None:
        whole(self.name, "k", self.k)

    def __str__(self) -> str:
        return f"{self.k}-map"

    def fitted(self, counted: Counted) -> KMap:
        """With the persons of each group counted in the population."""
        return replace(self, population=persons_of(self.population, counted)[0])

    def level(self, counts: GroupCounts) -> Reals:
        """Persons of the population that the group fits."""
        return _sizes(self.population, counts).astype(np.float64)

    def met(self, level: Reals) -> Flags:
        """At least k."""
        return at_least(level, self.k)

    def says(self, level: float) -> str:
        """The fewest persons that a group fits."""
        return f"Every group fits {text(level)} persons of the population or more."


def persons_of(population: Any, counted: Counted) -> tuple[Ints, int]:
    """Persons of the population per group of the release, and its classes without anybody in the release."""
    if population is None:
        raise InputError("This criterion compares a release with its population: give population=.")
    members = counted.counts.size if counted.real is None else counted.real  # counterfeits are in no population
    if isinstance(population, (np.ndarray, list)):
        given = _sizes(population, counted.counts)
        if (given < members).any():
            raise InputError("A group of the release has more persons than the population has there.")
        return given, 0
    if not counted.quasi:
        raise InputError(
            "A population is compared by quasi-identifiers, which make no groups here: name them (quasi), or give "
            "the persons of each group as an array."
        )
    people, quasi = to_polars(population), list(counted.quasi)
    need_columns(people, quasi, "The population")
    groups = counted.labelled(np.arange(counted.counts.groups))
    keys = [f"q{k}" for k in range(len(quasi))]  # names such as * mean every column to Polars
    mine = pl.DataFrame({k: groups[c] for k, c in zip(keys, quasi, strict=True)})
    try:
        theirs = pl.DataFrame({k: people[c].cast(groups[c].dtype) for k, c in zip(keys, quasi, strict=True)})
    except pl.exceptions.PolarsError:
        message = "The quasi-identifiers of the population are of other types than those of the release."
        raise InputError(message) from None
    classes = theirs.group_by(keys).agg(pl.len().cast(pl.Int64).alias("persons"))
    joined = mine.join(classes, on=keys, how="left", nulls_equal=True, maintain_order="left")
    sizes = joined["persons"].fill_null(0).to_numpy()
    if (sizes < members).any():
        short = int((sizes < members).sum())
        raise InputError(
            f"{short} groups of the release have more persons than the population has there: the population must hold "
            "everybody in the release, recoded like it."
        )
    return sizes, classes.height - int((sizes > 0).sum())


def _sizes(population: Any, counts: GroupCounts) -> Ints:
    if not isinstance(population, (np.ndarray, list)):
        raise InputError("The levels of this criterion need the persons of each group in the population: use check.")
    sizes = np.asarray(population, dtype=np.int64)
    if sizes.shape != (counts.groups,):
        raise InputError(f"Expected the population of {counts.groups} groups, got {sizes.size} numbers.")
    return sizes
