"""Background knowledge: how many rules about sub-populations somebody needs until a release gives a person away.

Rules come from `showthrough.knowledge.mine`, the strongest first, or from anywhere else. The attacker holds the first
of them, one more each time, and reads the releases by maximum entropy (Du, Teng, Zhu, SIGMOD 2008, for any history).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl

from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import rates
from showthrough.attacks.targets import attacked
from showthrough.errors import ContradictionError, ParameterError
from showthrough.inference.infer import SECONDS, infer
from showthrough.inference.posterior import Posterior, Told
from showthrough.knowledge.statement import Statement
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.table.arrays import Flags

EVERY = 32
"""Up to so many rules each number of them is looked at; beyond it powers of two, and what lies between by halving."""
_ROUNDING = 1e-9
_CURVE = {"rules": pl.Int64, "persons": pl.Int64, "new": pl.Int64, "certain": pl.Int64, "largest": pl.Float64}


@dataclass(frozen=True, eq=False, repr=False)
class Background(Outcome):
    """The outcome of rules about sub-populations, one more each time."""

    meanings: ClassVar[Mapping[str, str]] = {
        "informed": "maximum entropy with all rules",
        "release": "the baseline: the same without any rule",
    }
    curve: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_CURVE))
    """For each number of rules that was looked at: persons over the limit, those who are not without any rule, the
    certain ones, and the largest probability of anybody."""
    first: int | None = None
    """The fewest rules that put somebody over the limit who is not without them; None if all of them do not."""
    exact: bool = True
    """Whether no smaller number does; otherwise it is the fewest of those that were looked at."""

    @property
    def said(self) -> str:
        """The first breach in words."""
        rules = self.curve["rules"][-1]
        if self.first is None:
            some = f"Not even {rules} rules put" if rules > 1 else "No rule puts"
            return f"{some} anybody over the limit who is not without them."
        many = "1 rule puts" if self.first == 1 else f"{self.first} rules put"
        fewer = "fewer do not" if self.exact else "fewer may do, as a probability can fall again and not all were tried"
        return f"{many} somebody over the limit who is not without them; {fewer}."

    def further(self) -> dict[str, pl.DataFrame]:
        """The curve."""
        heads = {"persons": "over the limit", "new": "not without rules"}
        return {"With more and more rules": self.curve.rename(heads)}

    def as_dict(self) -> dict[str, Any]:
        """Counts and words as plain data for JSON."""
        return {**super().as_dict(), "curve": self.curve.to_dicts(), "first": self.first, "exact": self.exact}


def background(
    releases: Release | Sequence[Release],
    rules: Sequence[Statement],
    limit: float = 1.0,
    *,
    register: Any = None,
    elastic: bool = False,
    seconds: float = SECONDS,
    progress: Told = None,
) -> Background:
    """How many of the ``rules``, taken in their order, put somebody over the limit.

    A person is over it where a value is more likely than ``limit``, or proven certain if that is 1. Facts stay facts
    with more rules, so the first breach of limit 1 is exact; a probability can fall again, so up to 32 rules every
    number of them is tried, and beyond that the answer is the fewest of those tried. With ``elastic`` rules that
    contradict the releases give way, as in `infer`.
    """
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit <= 1:
        raise ParameterError(f"limit is a number above 0 and at most 1, not {limit!r}.", parameters=("limit",))
    given = attacked(releases)
    known = list(rules)
    tell, without = Progress.of(progress), [0]  # contradictions of the releases alone, which come first

    def knowing(many: int) -> Posterior:
        tell.stage(f"{many} of {len(known)} rules")
        own = known[:many]
        post = infer(given, register=register, knowledge=own, elastic=elastic, seconds=seconds, progress=tell)
        if many and len(post.contradictions) > without[0]:
            first = "The first rule contradicts" if many == 1 else f"The first {many} rules contradict"
            raise ContradictionError(
                f"{first} the releases: they hold for other persons. With elastic=True rules give way.",
                parameters=("elastic",),
            )
        without[0] = max(without[0], len(post.contradictions))
        return post

    curve = _Curve(knowing, limit, len(known))
    looked = range(len(known) + 1) if len(known) <= EVERY else _powers(len(known))
    for many in looked:
        curve.at(many)
    first = curve.first(halve=len(known) > EVERY)
    people, over = curve.people(), [curve.at(0), curve.at(len(known))]
    every = rates([({"rules": len(known)}, over[1].persons, over[1].everybody)])
    alone = rates([({"rules": 0}, over[0].persons, over[0].everybody)])
    threat = Threat(
        f"all releases and {len(known)} rules about sub-populations, the strongest first",
        f"to be more than {limit:g} sure of somebody's value" if limit < 1 else "to prove somebody's value",
        "that the rules hold exactly for the persons of the releases; probabilities are those of maximum entropy",
    )
    return Background(
        "background", threat, people, every, alone, ("informed", "release"), (), _notes(people),
        curve.frame(), first, limit == 1 or len(known) <= EVERY,
    )  # fmt: skip


def _notes(people: pl.DataFrame) -> tuple[str, ...]:
    lost = people.filter(pl.col("informed").is_null())["id"].n_unique()
    who = "1 person is" if lost == 1 else f"{lost} persons are"
    return (f"{who} without a certified answer with all rules, and not counted as over the limit.",) if lost else ()


@dataclass(frozen=True)
class _Point:
    """What so many rules lead to."""

    rules: int
    over: Flags
    certain: int
    largest: float

    @property
    def persons(self) -> int:
        return int(self.over.sum())

    @property
    def everybody(self) -> int:
        return int(self.over.size)


class _Curve:
    """What each number of rules leads to, looked at once."""

    def __init__(self, knowing: Callable[[int], Posterior], limit: float, most: int) -> None:
        self._knowing, self._limit, self._ends = knowing, limit, (0, most)
        self._points: dict[int, _Point] = {}
        self._frames: dict[int, pl.DataFrame] = {}

    def at(self, many: int) -> _Point:
        """So many rules."""
        if many not in self._points:
            post = self._knowing(many)
            largest = np.nan_to_num(post.largest())
            over = post.certain() if self._limit == 1 else largest > self._limit + _ROUNDING
            self._points[many] = _Point(many, over, int(post.certain().sum()), float(largest.max(initial=0.0)))
            if many in self._ends:
                self._frames[many] = post.to_frame().select("id", "value", "p")
        return self._points[many]

    def new(self, many: int) -> int:
        """Persons over the limit who are not without any rule."""
        return int((self.at(many).over & ~self.at(0).over).sum())

    def first(self, *, halve: bool) -> int | None:
        """The fewest rules with somebody new, of those that were looked at, or between two of them by halving."""
        tried = sorted(self._points)
        hit = next((many for many in tried if self.new(many)), None)
        if hit is None or not halve:
            return hit
        low, high = max(many for many in tried if many < hit), hit
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.new(middle) else (middle, high)
        return high

    def people(self) -> pl.DataFrame:
        """id, value, with all rules and without any."""
        alone, informed = self._frames[min(self._frames)], self._frames[max(self._frames)]
        lost = pl.col("id").is_in(informed.filter(pl.col("p").is_null())["id"].unique().implode())
        both = alone.rename({"p": "release"}).join(
            informed.rename({"p": "informed"}), on=["id", "value"], how="left", maintain_order="left"
        )  # what the rules prove impossible is listed without them alone
        said = pl.when(~lost).then(pl.col("informed").fill_null(0.0)).alias("informed")
        return both.select("id", "value", said, "release")

    def frame(self) -> pl.DataFrame:
        """The curve."""
        rows = [(n, p.persons, self.new(n), p.certain, p.largest) for n, p in sorted(self._points.items())]
        return pl.DataFrame(rows, schema=_CURVE, orient="row")


def _powers(most: int) -> list[int]:
    """0, 1, 2, 4, … and the last."""
    found = [0, 1]
    while found[-1] * 2 < most:
        found.append(found[-1] * 2)
    return [*found, most]
