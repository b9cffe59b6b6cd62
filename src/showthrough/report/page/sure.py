"""Everybody's best guess, counted: persons of one machine in one part, those of pieces in parts of their tables.

Whoever has the persons hands them out part by part and may do so again; what a page tells of them are sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl

from showthrough.auditing.bands import Bands
from showthrough.auditing.pieces_audit import SpreadAudit
from showthrough.auditing.whole_audit import Audit, reaches
from showthrough.inference.certificate import Status
from showthrough.inference.cluster.pieces import PEOPLE
from showthrough.report.page.bars import steps
from showthrough.table.arrays import Flags, Ints, Reals

ROWS = 1_000_000  # persons of a table who are looked at at once
_BINS = 1 << 16
_FALLS = 1e-6  # a figure that is lower by less is the same


@dataclass(frozen=True, eq=False)
class SomePersons:
    """Some persons: how sure a reader is of each by all releases, and by the most telling one alone."""

    largest: Reals  # NaN without a certified answer
    certain: Flags
    alone: Reals


class Holder(Protocol):
    """Whoever has the persons of an audit."""

    def parts(self) -> Iterator[SomePersons]:
        """All persons, some at a time, in the same order every time."""

    def exposed(self) -> pl.DataFrame:
        """By value: about how many persons have it, and how many are certain of it or 50 % sure; sorted by value."""


@dataclass(frozen=True, eq=False)
class InArrays:
    """The persons of an audit on one machine."""

    audit: Audit

    def parts(self) -> Iterator[SomePersons]:
        """All at once."""
        post = self.audit.posterior
        yield SomePersons(post.largest(), post.certain(), self.audit.best_alone)

    def exposed(self) -> pl.DataFrame:
        """By value: value, persons, certain, p50."""
        (part,), post = self.parts(), self.audit.posterior
        return _by_value(post.expected(), [_tallied(post.best()["value"], part)])


@dataclass(frozen=True, eq=False)
class InTables:
    """The persons of an audit in pieces, as they stand in its tables for as long as these are there."""

    audit: SpreadAudit

    def parts(self) -> Iterator[SomePersons]:
        """Rows of one file after the other."""
        return (_part(rows) for rows in self._rows("p", "certain", "p_alone"))

    def exposed(self) -> pl.DataFrame:
        """By value: value, persons, certain, p50."""
        answered = [str(state) for state in Status if state.certain]
        rows = self.audit.posterior.scan().filter(pl.col("state").is_in(answered)).group_by("value")
        expected = rows.agg(pl.col("p").sum().alias("persons")).collect(engine="streaming").sort("value")
        found = self._rows("p", "certain", "p_alone", "value")
        return _by_value(expected, (_tallied(rows["value"], _part(rows)) for rows in found))

    def _rows(self, *columns: str) -> Iterator[pl.DataFrame]:
        for path in sorted((self.audit.posterior.folder / PEOPLE).glob("*.parquet")):
            table = pl.scan_parquet(path).select(columns)
            height = int(table.select(pl.len()).collect().item())
            for first in range(0, height, ROWS):
                yield table.slice(first, ROWS).collect()


def holder_of(audit: Audit | SpreadAudit) -> Holder:
    """Where the persons of an audit are."""
    return InTables(audit) if isinstance(audit, SpreadAudit) else InArrays(audit)


@dataclass(frozen=True, eq=False)
class Sureness:
    """How sure a reader can be: persons in bands and in steps of five percent, and the typical person."""

    bands: Bands
    steps: Ints
    typical: float  # NaN where nobody has an answer


@dataclass(frozen=True, eq=False)
class HowSure:
    """All persons: by all releases together, and by each person's most telling release alone."""

    together: Sureness
    alone: Sureness
    most_alone: float  # the surest guess of anybody by one release
    surer_alone: int  # persons whose joint figure is below that of one release

    @classmethod
    def of(cls, people: Holder) -> HowSure:
        """Count them; nothing is kept of anybody."""
        together, alone, most, surer = _Sum(), _Sum(), 0.0, 0
        for part in people.parts():
            together.add(part.largest, part.certain)
            alone.add(np.where(part.alone > 0, part.alone, np.nan), np.asarray(part.alone == 1))
            most = max(most, float(part.alone.max(initial=0.0)))
            surer += int((part.largest < part.alone - _FALLS).sum())
        joint = middle(lambda: (part.largest for part in people.parts()))
        typical = middle(lambda: (part.alone for part in people.parts()))
        return cls(together.told(joint), alone.told(typical), most, surer)


class _Sum:
    """Bands and steps of parts, added up."""

    def __init__(self) -> None:
        self._bands, self._steps = Bands(0, 0, 0, 0), np.zeros_like(steps(np.empty(0), np.empty(0, dtype=bool)))

    def add(self, largest: Reals, certain: Flags) -> None:
        self._bands += Bands.of(largest, certain)
        self._steps += steps(largest, certain)

    def told(self, typical: float) -> Sureness:
        return Sureness(self._bands, self._steps, typical)


def middle(parts: Callable[[], Iterable[Reals]]) -> float:
    """The median of probabilities that are seen part by part, to a billionth; NaN of none.

    The first look counts them in bins, further ones order what is in the bins of the middle.
    """
    counts = np.zeros(_BINS + 1, dtype=np.int64)
    for some in map(_known, parts()):
        counts += np.bincount(_bin(some), minlength=_BINS + 1)
    upto, number = np.cumsum(counts), int(counts.sum())
    if not number:
        return float("nan")
    ranks = sorted({(number - 1) // 2, number // 2})
    bins = np.searchsorted(upto, ranks, side="right")
    found = [_ranked(parts, int(b), rank - int(upto[b] - counts[b])) for rank, b in zip(ranks, bins, strict=True)]
    return sum(found) / len(found)


def _ranked(parts: Callable[[], Iterable[Reals]], bin: int, rank: int) -> float:
    """The number of a rank among those in a bin."""
    counts, least = np.zeros(_BINS, dtype=np.int64), np.full(_BINS, np.inf)
    for some in map(_known, parts()):
        near = some[_bin(some) == bin]
        place = ((near * _BINS - bin) * _BINS).astype(np.int64)
        counts += np.bincount(place, minlength=_BINS)
        np.minimum.at(least, place, near)
    return float(least[np.searchsorted(np.cumsum(counts), rank, side="right")])


def _known(some: Reals) -> Reals:
    return np.clip(some[~np.isnan(some)], 0.0, 1.0)


def _bin(some: Reals) -> Ints:
    return (some * _BINS).astype(np.int64)


def _part(rows: pl.DataFrame) -> SomePersons:
    certain = rows["certain"].to_numpy()
    p, alone = (rows[name].cast(pl.Float64).fill_null(float("nan")).to_numpy() for name in ("p", "p_alone"))
    return SomePersons(np.where(certain & np.isnan(p), 1.0, p), certain, alone)


_Exposed = tuple[Counter[Any], Counter[Any]]


def _tallied(value: pl.Series, part: SomePersons) -> _Exposed:
    """Persons by their likeliest value: the certain ones, and those at 50 %."""
    half = reaches(np.where(part.certain, 1.0, part.largest), 0.5)
    certain, p50 = (Counter(dict(value.filter(pl.Series(f)).value_counts().iter_rows())) for f in (part.certain, half))
    return certain, p50


def _by_value(expected: pl.DataFrame, tallies: Iterable[_Exposed]) -> pl.DataFrame:
    certain, p50 = Counter[Any](), Counter[Any]()
    for some in tallies:
        certain.update(some[0])
        p50.update(some[1])
    values = expected["value"].to_list()
    return expected.with_columns(
        pl.Series("certain", [certain[v] for v in values], dtype=pl.Int64),
        pl.Series("p50", [p50[v] for v in values], dtype=pl.Int64),
    )
