"""What every criterion is, and what checking one gives.

A criterion is a frozen dataclass of its parameters. It turns the counts of all groups into one
level per group and says which levels satisfy it; everything else is shared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from showthrough.criteria.counts import Counted, GroupCounts
from showthrough.criteria.published import of_release
from showthrough.errors import InputError
from showthrough.showing import Showable
from showthrough.table.arrays import Flags, Reals
from showthrough.table.plain import plain

WORST = 10
"""How many of the worst groups a check lists."""
_OWN = ("persons", "level")
ROUNDING = 1e-12
"""Relative room for binary rounding: 0.8 − 0.7 is 0.1, and three equally frequent values reach l = 3."""


@dataclass(frozen=True, eq=False, repr=False)
class Check(Showable):
    """One criterion applied to one release."""

    criterion: str
    holds: bool
    level: float
    """The worst level of any group."""
    failing_groups: int
    failing_persons: int
    worst: pl.DataFrame
    """The worst groups: their labels, persons and level, the worst first."""
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """The check as plain data for JSON."""
        return dict(plain(self))

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<Check {'holds' if self.holds else 'fails'}: {self.sentence}>"

    def __bool__(self) -> bool:
        return self.holds


class Criterion(ABC):
    """A privacy model with its parameters: what is the same for all of them."""

    name: ClassVar[str]
    citation: ClassVar[str]
    more_is_better: ClassVar[bool] = True
    """Whether a larger level protects more, as k does, or less, as t does."""
    needs_values: ClassVar[bool] = True
    of_groups: ClassVar[bool] = True
    """Whether each group is judged by itself, beside the counts of the whole table."""

    @abstractmethod
    def says(self, level: float) -> str:
        """What the worst level of a release means, in one sentence."""

    def told(self, level: float, counted: Counted) -> str:  # noqa: ARG002
        """The same for these counts, where they hold more than levels show."""
        return self.says(level)

    @abstractmethod
    def level(self, counts: GroupCounts) -> Reals:
        """The level that each group reaches."""

    @abstractmethod
    def met(self, level: Reals) -> Flags:
        """Which of these levels satisfy the criterion."""

    def __str__(self) -> str:
        return self.name

    def on(self, column: str) -> OnColumn:
        """The criterion for one of several sensitive columns of a table that is to be published."""
        return OnColumn(self, str(column))

    def fitted(self, counted: Counted) -> Criterion:  # noqa: ARG002
        """The criterion made ready for these groups; most need nothing."""
        return self

    def worst(self, level: Reals) -> float:
        """The level of the release: that of its worst group."""
        return float(level.min() if self.more_is_better else level.max())

    def badness(self, level: Reals) -> Reals:
        """The larger, the worse the group."""
        return -level if self.more_is_better else level

    def check(
        self, release: Any, *, sensitive: str | Sequence[str] | None = None, quasi: Sequence[str] | None = None
    ) -> Check:
        """Apply the criterion to a release, or to a frame with its roles."""
        counted = of_release(release, sensitive, quasi)
        if self.needs_values and not counted.has_values:
            raise InputError(f"{self.name} looks at sensitive values: name their column (sensitive).")
        if counted.counts.groups == 0:
            raise InputError("The release has no groups: there is nothing to check.")
        ready = self.fitted(counted)
        level = ready.level(counted.counts)
        failing = ~ready.met(level)
        size = counted.counts.size
        worst = ready.worst(level)
        order = np.lexsort((size, -ready.badness(level)))[:WORST]
        columns = {c.name if c.name not in _OWN else f"{c.name} (cell)": c for c in counted.labelled(order)}
        listed = pl.DataFrame({**columns, "persons": size[order], "level": level[order]})
        groups, persons = int(failing.sum()), int(size[failing].sum())
        return Check(
            criterion=str(self),
            holds=groups == 0,
            level=worst,
            failing_groups=groups,
            failing_persons=persons,
            worst=listed,
            sentence=_sentence(str(self), ready.told(worst, counted), groups, counted.counts.groups, persons),
        )


@dataclass(frozen=True)
class OnColumn:
    """A criterion that is judged by one sensitive column of several, or by several as one composite value."""

    criterion: Any
    column: str

    def __str__(self) -> str:
        return f"{self.criterion} of {self.column}"

    def check(self, release: Any, *, quasi: Sequence[str] | None = None) -> Check:
        """Apply the criterion to the column of a release, or of a frame with its quasi-identifiers."""
        return self.told(self.criterion.check(release, sensitive=self.column, quasi=quasi))

    def told(self, check: Check) -> Check:
        """What the criterion says, said of the column."""
        sentence = check.sentence.replace(check.criterion, str(self), 1)
        return replace(check, criterion=str(self), sentence=sentence)


def at_least(level: Reals, limit: float) -> Flags:
    """Level ≥ limit, up to rounding."""
    found: Flags = level >= limit - ROUNDING * abs(limit)
    return found


def at_most(level: Reals, limit: float) -> Flags:
    """Level ≤ limit, up to rounding."""
    found: Flags = level <= limit + ROUNDING * max(abs(limit), 1.0)
    return found


def below(level: Reals, limit: float) -> Flags:
    """Level < limit, where a difference within rounding is none."""
    found: Flags = level < limit - ROUNDING * max(abs(limit), 1.0)
    return found


def text(level: float) -> str:
    """A level as people write it: 3, 2.5, 0.375, ∞."""
    if np.isinf(level):
        return "∞" if level > 0 else "−∞"
    return f"{level:.0f}" if level == round(level) else f"{level:.6g}"


def persons(n: int) -> str:
    """A number of persons in words."""
    return "1 person" if n == 1 else f"{n} persons"


def _sentence(what: str, says: str, failing: int, groups: int, n: int) -> str:
    if not failing:
        return f"{what} holds. {says}"
    each = "1 group" if groups == 1 else f"{groups} groups"
    return f"{what} does not hold for {failing} of {each} ({persons(n)}). {says}"
