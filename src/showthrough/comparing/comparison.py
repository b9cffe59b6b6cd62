"""`compare`: ways to publish one table, each again and again, by what readers learn and what the figures are worth."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from showthrough.comparing.course import Learned, learned, series
from showthrough.comparing.noise_options import matched, noisy
from showthrough.comparing.option import Option, ToCompare, grouping
from showthrough.dp.items import MOST_EPSILON
from showthrough.errors import InputError, NotConvergedError, ParameterError
from showthrough.measuring.queries import Workload
from showthrough.numerals import number_of
from showthrough.progress import Progress
from showthrough.release.noise import positive
from showthrough.table.frames import need_columns, to_polars
from showthrough.table.plain import plain

METHODS = ("mondrian", "anatomy")
EPSILONS = (0.1, 1.0)
RELEASES = (1, 2, 5, 10)
SHARE = 0.9
QUERIES = 500
SECONDS = 600.0
MOST = 100  # releases
EMPTY = 3.0  # ε by which odds of 1 become 20
OPTIONS = {
    "option": pl.String, "epsilon": pl.Float64, "query_error": pl.Float64, "words": pl.String, "refused": pl.String,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Comparison:
    """Options side by side; made by `compare`."""

    options: pl.DataFrame
    """One row per option: option, epsilon (of one release; null: nothing is promised), query_error, words, refused."""
    course: pl.DataFrame
    """One row per option and number of releases: what readers of all of them learn, and the total epsilon."""
    notes: tuple[str, ...]
    """How the releases were made, and what the figures mean."""

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data for JSON."""
        return {"options": plain(self.options), "course": plain(self.course), "notes": list(self.notes)}

    def __str__(self) -> str:
        told = []
        for (option,), rows in self.course.group_by("option", maintain_order=True):
            last = rows.sort("releases").row(-1, named=True)
            told.append(
                f"{option}: after {number_of(last['releases'], 'release')} readers are at least 90 % sure of "
                f"{last['over_90']} of {last['persons']} persons"
            )
        return f"{'; '.join(told)}." if told else "No option could be published."


def compare(
    table: Any,
    *,
    id: str,
    sensitive: str,
    quasi: Sequence[str],
    methods: Sequence[str] = METHODS,
    epsilons: Sequence[float] = EPSILONS,
    match: bool = True,
    k: int = 5,
    l: int = 3,
    releases: Sequence[int] = RELEASES,
    share: float = SHARE,
    hierarchies: Mapping[str, Any] | None = None,
    queries: int = QUERIES,
    seconds: float = SECONDS,
    seed: int = 0,
    progress: Progress | Callable[[str], None] | None = None,
) -> Comparison:
    """Publish one table by several methods, each several times independently, and tell what readers of all learn.

    Each release has a random ``share`` of the persons, the same for every option, and readers know who is in it.
    ``methods`` make groups (of ``k`` rows, with Anatomy of ``l`` values); ``epsilons`` are tables of counts with
    geometric noise, and with ``match`` there is one more for each method, whose counting queries err as much as that
    method's: its noise is chosen by looking at the table, which is for comparing and not for publishing. ``seconds``
    are for all inferences together. Noise needs ``showthrough[dp]``.
    """
    asked = _asked(to_polars(table), id, sensitive, tuple(quasi), hierarchies or {})
    asked = ToCompare(**{**vars(asked), "k": k, "l": l})
    numbers = _numbers(releases)
    for epsilon in epsilons:
        positive("epsilon", epsilon, high=MOST_EPSILON)
    if not 0 < share <= 1:
        raise ParameterError(f"share is the part of the persons in each release, above 0 and up to 1, not {share}.")
    rng = np.random.default_rng(seed)
    parts = [_part(asked.table, share, rng) for _ in range(numbers[-1])]
    workload = Workload(queries, dimensions=min(2, len(asked.quasi)), seed=seed)
    run = _Trials(asked, parts, numbers, workload, seed, time.monotonic() + seconds, Progress.of(progress))
    run.left = len(numbers) * (len(methods) * (2 if match else 1) + len(epsilons))
    for method in methods:
        run.add(method, partial(grouping, asked, method))
    if match:
        for name, error in list(run.errors.items()):
            run.add(f"noise as exact as {name}", partial(matched, asked, parts[0], (name, error), workload))
    for epsilon in epsilons:
        run.add(f"noise, ε = {epsilon:g}", partial(noisy, asked, parts[0], epsilon, workload))
    return run.comparison(share)


def _asked(table: pl.DataFrame, id: str, sensitive: str, quasi: tuple[str, ...], trees: Mapping[str, Any]) -> ToCompare:
    need_columns(table, [id, sensitive, *quasi], "The table")
    if not quasi:
        raise ParameterError("Name the quasi-identifiers that readers know persons by.", parameters=("quasi",))
    if table.height < 2:
        raise InputError("The table has fewer than two rows: there is nothing to compare.")
    if table[id].n_unique() < table.height:
        raise InputError(f"The column {id!r} holds an id more than once: a table has one record per person.")
    empty = [c for c in (id, sensitive, *quasi) if table[c].null_count()]
    if empty:
        raise InputError(f"The column {empty[0]!r} has empty cells: fill them or leave these rows out to compare.")
    return ToCompare(table.select(list(dict.fromkeys([id, sensitive, *quasi]))), id, sensitive, quasi, trees)


def _numbers(releases: Sequence[int]) -> list[int]:
    found = sorted(set(releases))
    if not found or found[0] < 1 or found[-1] > MOST:
        raise ParameterError(f"releases are numbers from 1 to {MOST}, such as 1, 2, 5, 10.", parameters=("releases",))
    return found


def _part(table: pl.DataFrame, share: float, rng: np.random.Generator) -> pl.DataFrame:
    many = max(1, round(share * table.height))
    return table[np.sort(rng.permutation(table.height)[:many])]


@dataclass
class _Trials:
    """Options one after the other, under one clock."""

    asked: ToCompare
    parts: Sequence[pl.DataFrame]
    numbers: Sequence[int]
    workload: Workload
    seed: int
    until: float
    progress: Progress
    left: int = 0
    """Inferences to come."""
    errors: dict[str, float] = field(default_factory=dict)
    """Of methods that make groups: the error of counting queries."""
    options: list[dict[str, Any]] = field(default_factory=list)
    course: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, make: Callable[[], Option]) -> None:
        """Publish by one more option; what it refuses is told in its row."""
        row: dict[str, Any] = {"option": name, "epsilon": None, "query_error": None, "words": "", "refused": ""}
        self.options.append(row)
        after = self.left - len(self.numbers)
        try:
            option = make()
            row |= {"option": option.name, "epsilon": option.epsilon, "words": option.words}
            self.progress.stage(f"publishing by {option.name}")
            made = series(self.asked, option, self.parts, self.seed, self.progress)
            row["query_error"] = error = option.error(self.parts[0], made.releases[0], self.workload)
            if option.epsilon is None and error is not None:
                self.errors[option.name] = error
            for many in self.numbers:
                self.progress.stage(f"{option.name}, {number_of(many, 'release')}")
                seconds = max(0.0, self.until - time.monotonic()) / max(1, self.left)
                found = learned(self.asked, made, many, seconds, self.progress.silent())
                self.course.append(_row(option, found))
                self.left -= 1
        except (InputError, NotConvergedError) as problem:
            row["refused"] = problem.shareable
        self.left = after

    def comparison(self, share: float) -> Comparison:
        """Both tables and their notes."""
        notes = [
            f"Each release has {100 * share:g} % of the {number_of(self.asked.table.height, 'person')}, drawn anew; "
            "every option publishes the same persons, and readers know who is in which release.",
            f"The query error is the median relative error of {self.workload.queries} counting queries on one release.",
        ]
        if any(row["epsilon"] is not None for row in self.options):
            notes.append(
                "Noise promises what ε says whatever readers know; the figures beside it are beliefs of readers who "
                "know nothing but the releases. Over several releases ε adds up."
            )
        empty = sorted({row["total_epsilon"] for row in self.course if (row["total_epsilon"] or 0.0) > EMPTY})
        if empty:
            here = ", ".join(f"{e:.3g}" for e in empty)
            notes.append(
                f"From ε = {EMPTY:g} in all on (here {here}) little is promised, however small the figures are: "
                "who knows everybody else may move from 50 % to 95 % or more."
            )
        open_ = sum(row["open"] for row in self.course)
        if open_:
            notes.append("Where an inference had no time to end, its best figures count: more time gives exact ones.")
        schema = {
            "option": pl.String,
            **dict.fromkeys(Learned.__dataclass_fields__),
            "total_epsilon": pl.Float64,
        }
        course = pl.DataFrame(self.course, schema=schema) if self.course else pl.DataFrame(schema=list(schema))
        return Comparison(pl.DataFrame(self.options, schema=OPTIONS), course, tuple(notes))


def _row(option: Option, found: Learned) -> dict[str, Any]:
    total = None if option.epsilon is None else found.releases * option.epsilon
    return {"option": option.name, **asdict(found), "total_epsilon": total}
