"""How well a release answers counting queries.

Xiao and Tao, *Anatomy*, VLDB 2006: random queries "how many persons have these
quasi-identifiers and one of these values", answered from the release by assuming that a group
spreads evenly over what it publishes. Counterfeits (m-invariance, SIGMOD 2007) stand among the
published values; their number per group is published, so they dilute the shares but not the persons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
import polars as pl

from showthrough.criteria.counts import GroupCounts
from showthrough.errors import InputError
from showthrough.measuring.grouping import Grouping
from showthrough.table.arrays import Flags, Ints, Reals

CodeRange = tuple[int, int]
Asked = dict[int, CodeRange]
PUBLISHED = ("range", "set", "exact")
_DRAWS = 50  # tries per query before giving up on one that somebody answers


@dataclass(frozen=True)
class Workload:
    """Which queries are drawn: so many, over so many quasi-identifiers, so selective at best."""

    queries: int = 1000
    dimensions: int = 2
    selectivity: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        if self.queries < 1 or self.dimensions < 0 or not 0 < self.selectivity <= 1:
            raise InputError("A workload needs at least 1 query, 0 or more dimensions, and a selectivity in (0, 1].")


@dataclass(frozen=True, eq=False)
class QueryError:
    """Truth and estimate of every query; the relative error is |estimate − truth|/truth."""

    answers: pl.DataFrame

    @property
    def median(self) -> float:
        """The median relative error."""
        return float(self.answers["error"].median())  # type: ignore[arg-type]

    @property
    def mean(self) -> float:
        """The average relative error."""
        return float(self.answers["error"].mean())  # type: ignore[arg-type]

    def __str__(self) -> str:
        return (
            f"{self.answers.height} counting queries: relative error {self.median:.3g} in the median, "
            f"{self.mean:.3g} on average."
        )


def query_error(
    grouping: Grouping,
    *,
    sensitive: str,
    published: str = "range",
    workload: Workload | None = None,
    counterfeits: pl.DataFrame | None = None,
) -> QueryError:
    """Answer random queries from the table and from what the release publishes of each group.

    ``published``: the ``range`` of codes between a group's smallest and largest value, the ``set``
    of its values, or ``exact`` quasi-identifiers (bucketized). ``counterfeits`` is a frame of group
    (codes as in ``grouping``), value and n, published among the group's values.
    """
    if published not in PUBLISHED:
        raise InputError(f"A group publishes one of {', '.join(PUBLISHED)}, not {published!r}.")
    workload = workload or Workload()
    if workload.dimensions > len(grouping.quasi):
        raise InputError(f"Queries over {workload.dimensions} columns, but there are {len(grouping.quasi)}.")
    columns = [grouping.coded(name) for name in grouping.quasi]
    value, labels = grouping.coded(sensitive)
    codes = [code for code, _ in columns]
    parts = [_part(grouping, code, own.len(), published) for code, own in columns]

    def persons(asked: Asked) -> Reals:
        if published == "exact":
            fits = matching(codes, asked, grouping.group.size) & (grouping.group >= 0)
            return np.bincount(grouping.group[fits], minlength=grouping.groups).astype(np.float64)
        found = grouping.sizes.astype(np.float64)
        for column, ends in asked.items():
            found = found * parts[column](ends)
        return found

    coded = Coded(tuple(codes), tuple(own.len() for _, own in columns), value, labels.len())
    return ask(coded, spread(persons, _shares(grouping, value, labels, counterfeits)), workload)


@dataclass(frozen=True, eq=False)
class Coded:
    """The table as codes: its quasi-identifiers with the number of their values, and the sensitive values."""

    quasi: tuple[Ints, ...]
    sizes: tuple[int, ...]
    value: Ints
    values: int


Estimate = Callable[[Asked, CodeRange], float]


def spread(persons: Callable[[Asked], Reals], shares: Callable[[CodeRange], Reals]) -> Estimate:
    """Answers by groups: ``persons`` of each fit the quasi-identifiers, ``shares`` of its values lie in the stretch."""
    return lambda asked, ends: float((persons(asked) * shares(ends)).sum())


def ask(table: Coded, estimate: Estimate, workload: Workload) -> QueryError:
    """Draw queries, and answer each from the table and by an estimate."""
    random = np.random.default_rng(workload.seed)
    rows = []
    for _ in range(workload.queries):
        drawn = _draw(random, table.sizes, table.values, workload)
        for _ in range(_DRAWS):
            truth = matching(table.quasi, drawn.quasi, table.value.size) & inside(table.value, drawn.value)
            if truth.any():
                break
            drawn = _draw(random, table.sizes, table.values, workload)
        if not truth.any():
            continue  # nobody fits anywhere near: such a query has no relative error
        said, actual = estimate(drawn.quasi, drawn.value), int(truth.sum())
        rows.append((actual, said, abs(said - actual) / actual))
    if not rows:
        raise InputError("No query of this workload fits anybody: take a larger selectivity or fewer dimensions.")
    return QueryError(pl.DataFrame(rows, schema=["truth", "estimate", "error"], orient="row"))


@dataclass(frozen=True)
class _Query:
    """A stretch of codes, both ends included, per quasi-identifier asked about and for the value."""

    quasi: Asked
    value: CodeRange


def _draw(random: np.random.Generator, sizes: Sequence[int], values: int, workload: Workload) -> _Query:
    """Stretches so wide that independent columns would give the selectivity."""
    share = workload.selectivity ** (1 / (workload.dimensions + 1))

    def stretch(size: int) -> CodeRange:
        width = max(min(ceil(size * share), size), 1)
        first = int(random.integers(0, size - width + 1))
        return first, first + width - 1

    chosen = random.permutation(len(sizes))[: workload.dimensions]
    return _Query({int(c): stretch(sizes[c]) for c in sorted(chosen)}, stretch(values))


def inside(code: Ints, ends: CodeRange) -> Flags:
    """Which codes lie in a stretch."""
    found: Flags = (code >= ends[0]) & (code <= ends[1])
    return found


def matching(columns: Sequence[Ints], asked: Asked, rows: int) -> Flags:
    """Which of so many rows lie in all stretches asked about."""
    found = np.ones(rows, dtype=bool)
    for column, ends in asked.items():
        found &= inside(columns[column], ends)
    return found


def _part(grouping: Grouping, code: Ints, size: int, published: str) -> Callable[[CodeRange], Reals]:
    """The part of each group that lies in a stretch, if it spreads evenly over what is published."""
    kept = code[grouping.order]
    if published == "set":
        counts = GroupCounts.from_rows(grouping.group, code, values=size)
        return lambda ends: (
            counts.sums(inside(counts.value.astype(np.int64), ends).astype(np.float64)) / counts.distinct
        )
    low, high = np.minimum.reduceat(kept, grouping.start[:-1]), np.maximum.reduceat(kept, grouping.start[:-1])

    def overlap(ends: CodeRange) -> Reals:
        shared = np.minimum(high, ends[1]) - np.maximum(low, ends[0]) + 1
        found: Reals = np.maximum(shared, 0) / (high - low + 1)
        return found

    return overlap


def _shares(
    grouping: Grouping, value: Ints, labels: pl.Series, counterfeits: pl.DataFrame | None
) -> Callable[[CodeRange], Reals]:
    """The share of each group's published values that lies in a stretch; counterfeits count."""
    real = GroupCounts.from_rows(grouping.group, value, values=labels.len())
    kept = pl.DataFrame({"group": real.group, "value": real.value.astype(np.int64), "n": real.count})
    if counterfeits is not None and counterfeits.height:
        names = pl.DataFrame({"value": labels, "code": np.arange(labels.len())})
        fakes = counterfeits.join(names, on="value", how="left")
        if fakes["code"].null_count():
            raise InputError("A counterfeit has a value that does not occur in the table.")
        if not fakes["group"].is_between(0, grouping.groups - 1).all():
            raise InputError("A counterfeit is in a group without persons.")
        added = fakes.select(pl.col("group").cast(pl.Int64), pl.col("code").alias("value"), pl.col("n").cast(pl.Int64))
        kept = pl.concat([kept, added]).group_by("group", "value").agg(pl.col("n").sum())
    counts = GroupCounts.from_frame(kept)
    codes = np.asarray(counts.labels.to_numpy() if counts.labels is not None else [], dtype=np.int64)[counts.value]
    return lambda ends: counts.sums(np.where(inside(codes, ends), counts.share, 0.0))
