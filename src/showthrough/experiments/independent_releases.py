"""Figure 2 of the inference-analysis paper: independent re-publishing, one release beside two.

The paper says neither how many records both tables share nor which column is sensitive, so the whole grid is shown,
with the place where its 20 to 25 % lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from showthrough.experiments.expected import Band, bands
from showthrough.experiments.experiment import PaperFigure
from showthrough.experiments.study_data import ID, StudyData
from showthrough.experiments.two_releases import eligible, overlap_grid
from showthrough.numerals import many
from showthrough.progress import Progress
from showthrough.report.page.blocks import Chart
from showthrough.report.page.wording import listed
from showthrough.report.reproduction import PaperClaim, Reproduced, ResultTable, drawn_table, shown

NAME = "inference-analysis"
_LOW, _HIGH = "least_overlap", "most_overlap"


@dataclass(frozen=True)
class IndependentReleases(PaperFigure):
    """Sizes as in the paper; every overlap and both columns that can be meant, means over ``draws``."""

    title: ClassVar[str] = "Independent re-publishing: one release beside two"
    claim: ClassVar[str] = "The maximum entropy of both releases is 20 to 25 % lower than that of one."
    reads: ClassVar[tuple[str, ...]] = ("adult",)

    records: int = 7200
    diversities: tuple[int, ...] = (2, 3, 5)
    overlaps: tuple[int, ...] = (6000, 4800, 3600, 2400, 1200, 600, 0)
    drawn: tuple[int, ...] = (6000, 3600, 1200)
    """The overlaps in the bars."""
    sensitive: tuple[str, ...] = ("occupation", "education")
    draws: int = 5

    @classmethod
    def quick(cls) -> Self:
        """A tenth of the records."""
        return cls(records=720, overlaps=(600, 360, 120, 0), drawn=(600, 360, 120), draws=2)

    def run(self, data: StudyData, progress: Progress, seed: int) -> Reproduced:
        """The whole grid."""
        table = data.table("adult")
        progress.stage("two releases, made independently")
        settings = [(column, l) for column in self.sensitive for l in self.diversities]
        refused = [(column, l) for column, l in settings if not eligible(table[column], l)]
        wanted = [(column, l, n) for column, l in settings if (column, l) not in refused for n in self.overlaps]
        grid = overlap_grid(table, wanted, records=self.records, draws=self.draws, seed=seed, tell=progress)
        full = self == type(self)()
        ranges = where(grid, bands(NAME, "2")["paper"])
        return Reproduced(
            NAME, "2", self.title,
            tables=(
                self._bars(grid), _grid_table(grid), _ranges_table(ranges), _columns_table(table, self.diversities)
            ),
            claims=(*_drop_claims(grid, ranges), _nats(grid), *([_own(grid)] if full else [])),
            charts=(_bar_chart(grid, self.drawn), _grid_chart(grid)),
            notes=(*_refusals(refused, table), *NOTES),
        )  # fmt: skip

    def _bars(self, grid: pl.DataFrame) -> ResultTable:
        chosen = grid.filter(pl.col("overlap").is_in(self.drawn))
        wide = chosen.pivot(
            "overlap", index=["sensitive", "l", "single_nats"], values="both_nats", aggregate_function="first"
        )
        named = wide.rename({str(n): f"two_releases_{n}_shared" for n in self.drawn})
        formats = dict.fromkeys(named.columns[2:], "count")
        note = "Nats, summed over the persons of the second release; single is that release alone."
        return ResultTable("figure-2", "Maximum entropy of one release and of two", named, formats, note=note)


def where(grid: pl.DataFrame, band: Band) -> pl.DataFrame:
    """For each column and l: the overlaps at which the entropy falls as the paper says, between grid points."""
    rows = []
    for (column, l), part in grid.group_by("sensitive", "l", maintain_order=True):
        points = sorted(zip(part["overlap"], part["drop"], strict=True))
        rows.append({"sensitive": column, "l": l, _LOW: _at(points, band.low), _HIGH: _at(points, band.high)})
    return pl.DataFrame(rows, schema={"sensitive": pl.String, "l": pl.Int64, _LOW: pl.Float64, _HIGH: pl.Float64})


def _at(points: Sequence[tuple[float, float]], drop: float) -> float | None:
    """The overlap at which a drop is reached, on straight lines between points."""
    for (x, y), (further, more) in pairwise(points):
        if y <= drop <= more and more > y:
            return float(x + (drop - y) / (more - y) * (further - x))
    return None


def _drop_claims(grid: pl.DataFrame, ranges: pl.DataFrame) -> list[PaperClaim]:
    """That two releases tell more than one, and by how much."""
    shared = grid.filter(pl.col("overlap") > 0)
    none = grid.filter(pl.col("overlap") == 0)
    lower = bool((shared["drop"] > 0).all()) and bool((none["drop"].abs() < 1e-9).all())
    claims = [
        PaperClaim(
            "Two releases leave less entropy than one; common records are the cause", "lower at every l",
            f"lower in all {shared.height} settings with common records, equal without" if lower else "not everywhere",
            lower,
        )
    ]  # fmt: skip
    band = bands(NAME, "2")["paper"]
    for (column,), part in ranges.group_by("sensitive", maintain_order=True):
        claims.append(_alike(str(column), grid.filter(pl.col("sensitive") == column), part, band))
    return claims


def _alike(column: str, grid: pl.DataFrame, part: pl.DataFrame, band: Band) -> PaperClaim:
    """Whether one overlap gives the paper's fall for every l; if not, which comes closest, and how far off."""
    told = [f"l = {row['l']}: {_said(row)}" for row in part.iter_rows(named=True)]
    ends = [row for row in part.iter_rows(named=True) if row[_LOW] is not None and row[_HIGH] is not None]
    low, high = max((row[_LOW] for row in ends), default=0.0), min((row[_HIGH] for row in ends), default=0.0)
    holds = len(ends) == part.height and low <= high
    overlap, missed, falls = _closest(grid, band)
    _, otherwise, _ = _closest(grid, band, "drop_per_person")
    why = (
        f"No number of common records fits all l: {many(overlap)} comes closest, with "
        f"{listed([shown(fall, 'percent') for fall in falls])}, off by up to {100 * missed:.1f} points. Counted "
        f"per person of either release it is off by {100 * otherwise:.1f}. The paper does not state the overlap: one "
        "chosen for each l explains it."
    )
    return PaperClaim(
        f"20–25\u202f% lower for every l ({column} sensitive)", band.percent(),
        f"common records that give it: {'; '.join(told)}", holds, why="" if holds else why,
    )  # fmt: skip


def _closest(grid: pl.DataFrame, band: Band, column: str = "drop") -> tuple[float, float, list[float]]:
    """The overlap, between grid points, at which the worst l misses the band by least: overlap, miss, falls."""
    curves = []
    for _, part in grid.group_by("l", maintain_order=True):
        known = part.sort("overlap")
        curves.append((known["overlap"].to_numpy().astype(float), known[column].to_numpy()))
    tried = np.linspace(0, float(np.asarray(grid["overlap"].to_list()).max()), 601)
    falls = np.array([np.interp(tried, x, y) for x, y in curves])
    missed = np.maximum(np.maximum(band.low - falls, falls - band.high), 0).max(axis=0)
    best = int(missed.argmin())
    return float(tried[best]), float(missed[best]), [float(fall) for fall in falls[:, best]]


def _said(row: dict[str, Any]) -> str:
    if row[_LOW] is None:
        return "none"
    return f"{many(row[_LOW])} to {'over the grid' if row[_HIGH] is None else many(row[_HIGH])}"


def _nats(grid: pl.DataFrame) -> PaperClaim:
    """The unit of the paper's axis: n ln l, where all groups have l different values."""
    part = grid.unique(["sensitive", "l"], maintain_order=True)
    told = "; ".join(
        f"l = {l}: {many(nats)}"
        for l, nats in part.unique("l", maintain_order=True).select("l", "single_nats").iter_rows()
    )
    return PaperClaim(
        "Entropy of one release", "bars between 3\u202f000 and 12\u202f000, read off the axis",
        f"{told} nats, n ln l where no group is larger", None,
    )  # fmt: skip


def _own(grid: pl.DataFrame) -> PaperClaim:
    """Whether the grid is where independent scripts put it."""
    known = bands(NAME, "2")
    names = [f"{row['sensitive']} {row['l']} {row['overlap']}" for row in grid.iter_rows(named=True)]
    pairs = [(fall, known[name]) for name, fall in zip(names, grid["drop"], strict=True) if name in known]
    inside = sum(fall in band for fall, band in pairs)
    return PaperClaim(
        "The whole grid beside scripts that share no code", "–",
        f"{inside} of {len(pairs)} falls inside their bands", None,
        band="bands.toml", within=inside == len(pairs),
    )  # fmt: skip


def _refusals(refused: Sequence[tuple[str, int]], table: pl.DataFrame) -> list[str]:
    found = []
    for column, l in refused:
        most = float(table[column].value_counts()["count"].to_numpy().max()) / table.height
        found.append(
            f"{column} cannot be {l}-diverse by Anatomy: its commonest value has {100 * most:.1f} % of the records, "
            f"more than one in {l}. A paper that shows {l}-diversity used another column."
        )
    return found


NOTES = (
    "The second table is the same at every overlap, and entropies are summed over its persons, as in figure 4.",
    "Where a draw has a value slightly too often for l, Anatomy leaves out as few records as it can.",
)


def _grid_table(grid: pl.DataFrame) -> ResultTable:
    formats = {
        "single_nats": "count",
        "both_nats": "count",
        **dict.fromkeys(("drop", "least_drop", "most_drop", "drop_per_person", "certain"), "percent"),
    }
    note = "Means over the draws; certain is the share of the second release's persons whose value is proven."
    return ResultTable("grid", "The fall of the entropy over the whole grid", grid, formats, note=note)


def _columns_table(table: pl.DataFrame, diversities: Sequence[int]) -> ResultTable:
    """Which columns can be meant: those that are l-diverse for every l of the paper."""
    rows = []
    for column in table.columns:
        if column not in (ID, "age"):  # the paper speaks of categorical attributes
            most = int(table[column].value_counts()["count"].to_numpy().max())
            able = {f"l_{l}": eligible(table[column], l) for l in diversities}
            rows.append(
                {"column": column, "values": table[column].n_unique(), "commonest": most / table.height, **able}
            )
    title = "Columns that can be sensitive: whether Anatomy can make groups of l different values"
    return ResultTable("columns", title, pl.DataFrame(rows), {"commonest": "percent"})


def _ranges_table(ranges: pl.DataFrame) -> ResultTable:
    formats = {_LOW: "count", _HIGH: "count"}
    return ResultTable("where", "Common records at which the fall is the paper's 20 to 25 %", ranges, formats)


def _bar_chart(grid: pl.DataFrame, overlaps: Sequence[int]) -> Chart:
    column = grid["sensitive"][0]
    part = grid.filter(pl.col("sensitive") == column)
    rows = [
        {"group": f"{l}-diversity", "series": "one release", "value": nats}
        for l, nats in part.unique("l", maintain_order=True).select("l", "single_nats").iter_rows()
    ]
    for overlap in overlaps:
        rows += [
            {"group": f"{l}-diversity", "series": f"two, {many(overlap)} shared", "value": nats}
            for l, nats in part.filter(pl.col("overlap") == overlap).select("l", "both_nats").iter_rows()
        ]
    title = f"Figure 2: maximum entropy of one release and of two ({column})"
    return Chart(
        "grouped_bars", title, "Bars of entropy by diversity, for one release and for two with several overlaps.",
        {"rows": rows, "x": None, "y": "entropy (nats)", "title": title}, (drawn_table(rows),), key="figure-2",
    )  # fmt: skip


def _grid_chart(grid: pl.DataFrame) -> Chart:
    rows = [
        {"series": f"{column}, l = {l}", "x": overlap, "y": fall}
        for column, l, overlap, fall in grid.select("sensitive", "l", "overlap", "drop").iter_rows()
    ]
    band = bands(NAME, "2")["paper"]
    title = "By how much the entropy falls, by the number of common records"
    data = {
        "rows": rows, "x": "records in both tables", "y": "fall of the entropy", "title": title, "percent": True,
        "band": [band.low, band.high, "the paper's 20–25\u202f%"], "domain": [0, 1],
    }  # fmt: skip
    return Chart(
        "lines", title, "Lines that rise with the overlap, steeper for small l; a band shows the paper's 20 to 25 %.",
        data, (drawn_table(rows),), key="figure-2-grid",
    )  # fmt: skip
