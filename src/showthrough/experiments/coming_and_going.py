"""One population published again and again while persons come and go, by several ways to publish.

Every way publishes the same tables. Ways that make groups or noise are options of the room `comparing`; one that looks
at earlier releases remembers them. What readers learn comes from `comparing/course.py` for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from showthrough.comparing.course import Learned, Series, learned, series
from showthrough.comparing.noise_options import matched, noisy
from showthrough.comparing.option import Option, ToCompare, grouping
from showthrough.criteria.l_diversity import FrequencyLDiversity
from showthrough.errors import InputError, NotConvergedError
from showthrough.experiments.study_data import ID
from showthrough.measuring.queries import Workload
from showthrough.policy.policy import Policy
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.republishing.anonymize import anonymize
from showthrough.table.arrays import Ints

SENSITIVE = "occupation"
QUASI = ("age", "sex", "education", "marital-status")
BACK = 0.2  # of those who come, how many were there before
INDEPENDENT, KEPT, NOISE = "independent", "looks at the past", "noise"


def tables(frame: pl.DataFrame, rows: int, stay: int, releases: int, seed: int) -> list[pl.DataFrame]:
    """So many tables of so many rows: so many stay each time, a fifth of the others come back, the rest are new."""
    random = np.random.default_rng(seed)
    order = random.permutation(frame.height)
    here, unseen, gone = order[:rows], order[rows:], order[:0]
    found: list[Ints] = [here]
    for _ in range(releases - 1):
        kept, come = random.permutation(here)[:stay], rows - stay
        back = random.permutation(gone)[: int(BACK * come)]
        new, unseen = unseen[: come - back.size], unseen[come - back.size :]
        gone = np.concatenate([np.setdiff1d(gone, back), np.setdiff1d(here, kept)])
        here = np.concatenate([kept, back, new])
        found.append(here)
    return [frame[np.sort(rows_of)].select(ID, SENSITIVE, *QUASI) for rows_of in found]


@dataclass(frozen=True)
class _Republishing:
    """Makes releases one after the other, each with a look at those before."""

    strategy: str
    l: int
    seconds: float
    history: list[Release]

    def __call__(self, rows: pl.DataFrame, name: str, seed: int) -> Release:
        more: dict[str, Any] = {"policy": Policy(max_posterior=1 / self.l)} if self.strategy == "guarded" else {}
        made = anonymize(
            rows, method="anatomy", id=ID, sensitive=SENSITIVE, quasi=QUASI, quasi_anyway=QUASI, output="bucketized",
            strategy=self.strategy, criteria=[FrequencyLDiversity(self.l)], history=self.history[:], hold_back=True,
            publish_ids=True, name=name, seed=seed, seconds=self.seconds, **more,
        )  # fmt: skip
        self.history.append(made)
        return made


@dataclass(frozen=True)
class CourseStep:
    """What readers of the first so many releases know, what they know of the newest alone, and what that one costs."""

    together: Learned
    alone: Learned
    everybody: int
    error: float | None
    withheld: int
    counterfeits: int

    def figures(self) -> dict[str, Any]:
        """As a row; shares of everybody who stood in a table so far."""
        return {
            "releases": self.together.releases,
            "persons": self.everybody,
            "certain": self.together.certain / self.everybody,
            "at_90": self.together.over_90 / self.everybody,
            "mean_largest_p": self.together.largest,
            "largest_p": self.together.most,
            "newest_alone_at_90": self.alone.over_90 / max(1, self.alone.persons),
            "query_error": self.error,
            "withheld": self.withheld,
            "counterfeits": self.counterfeits,
            "open": self.together.open + self.alone.open,
        }


@dataclass(frozen=True)
class Course:
    """One way to publish, step by step; ``refused`` says why there are no further steps."""

    name: str
    kind: str
    steps: tuple[CourseStep, ...]
    epsilon: float | None = None
    words: str = ""
    refused: str = ""

    @property
    def error(self) -> float | None:
        """The error of counting queries on one release, on average."""
        known = [step.error for step in self.steps if step.error is not None]
        return float(np.mean(known)) if known else None


@dataclass(frozen=True, eq=False)
class Histories:
    """The tables, and what all ways to publish share."""

    parts: Sequence[pl.DataFrame]
    asked: ToCompare
    workload: Workload
    seed: int
    seconds: float
    progress: Progress

    @classmethod
    def of(cls, parts: Sequence[pl.DataFrame], *, k: int, l: int, queries: int, seed: int, **more: Any) -> Histories:
        """Everybody in any table is who readers may know."""
        everybody = pl.concat(parts).unique(ID, maintain_order=True)
        asked = ToCompare(everybody, ID, SENSITIVE, QUASI, {}, k=k, l=l)
        return cls(parts, asked, Workload(queries, dimensions=2, seed=seed), seed, **more)

    def independent(self, method: str) -> Course:
        """Groups made anew each time."""
        return self._course(INDEPENDENT, method, lambda: self._series(grouping(self.asked, method)))

    def kept(self, strategy: str, l: int) -> Course:
        """Groups that look at earlier releases: m-invariance, or a guard that lets nobody be surer than 1/l."""
        limit = f"m = {l}" if strategy == "m-invariance" else f"at most 1/{l}"
        make = _Republishing(strategy, l, self.seconds, [])
        option = Option(f"{strategy}, {limit}", make, by_register=False)
        return self._course(KEPT, option.name, lambda: self._series(option))

    def noise(self, epsilon: float) -> Course:
        """Counts with noise of one ε for each release."""
        name = f"noise, ε = {epsilon:g}"
        return self._course(NOISE, name, lambda: self._series(noisy(self.asked, self.parts[0], epsilon, self.workload)))

    def as_exact(self, other: Course) -> Course:
        """Counts with the noise whose queries err as much as those of another way to publish."""
        like = (other.name, float(other.error or 0.0))
        name = f"noise as exact as {other.name}"
        found = self._course(NOISE, name, lambda: self._series(matched(self.asked, self.parts[0], like, self.workload)))
        return found if found.epsilon is None else replace(found, name=f"noise, ε = {found.epsilon:.3g}, as exact")

    def _series(self, option: Option) -> Series:
        return series(self.asked, option, self.parts, self.seed, self.progress)

    def _course(self, kind: str, name: str, make: Callable[[], Series]) -> Course:
        """Published and read; what a method refuses is told instead."""
        self.progress.stage(f"publishing by {name}")
        try:
            made = make()
            steps = tuple(self._step(made, many) for many in range(1, len(self.parts) + 1))
        except (InputError, NotConvergedError) as problem:
            return Course(name, kind, (), refused=problem.shareable)
        return Course(made.option.name, kind, steps, made.option.epsilon, made.option.words)

    def _step(self, made: Series, many: int) -> CourseStep:
        self.progress.stage(f"{made.option.name}: {many} of {len(self.parts)} releases")
        newest, rows = made.releases[many - 1], self.parts[many - 1]
        one = Series(made.option, (newest,), (made.members[many - 1],))
        quiet = self.progress.silent()
        return CourseStep(
            learned(self.asked, made, many, self.seconds, quiet),
            learned(self.asked, one, 1, self.seconds, quiet),
            pl.concat([part[ID] for part in self.parts[:many]]).n_unique(),
            made.option.error(rows, newest, self.workload),
            0 if newest.made is None else newest.made.suppressed,
            0 if newest.made is None else newest.made.counterfeits,
        )
