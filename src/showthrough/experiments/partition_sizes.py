"""Figures 2 and 3 of the composition paper: sizes of partitions, effective anonymity, and its drop.

The effective anonymity of a person is the number of different values in the group; k is only presumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import polars as pl

from showthrough.experiments.composition_pairs import (
    NAME,
    ORDERED,
    RELAXED,
    STRICT,
    TITLES,
    MeasuredPairs,
    PairSetting,
    Scenario,
)  # fmt: skip
from showthrough.experiments.expected import bands
from showthrough.experiments.experiment import PaperFigure
from showthrough.experiments.line_charts import line_chart
from showthrough.experiments.study_data import StudyData
from showthrough.numerals import many
from showthrough.progress import Progress
from showthrough.report.page.blocks import Chart
from showthrough.report.reproduction import PaperClaim, Reproduced, ResultTable, shown

SCHEMES = (STRICT, ORDERED, RELAXED)
AT = 5  # the k of the paper's number
_SIZES = {"size": ".1f", "size_by_group": ".1f", "prior": ".2f", "least_prior": ".2f", "posterior": ".2f"}


@dataclass(frozen=True)
class PartitionSizes(PaperFigure):
    """Mondrian on both subsets for every k, and for subsets of several sizes at k = 5."""

    title: ClassVar[str] = "Presumed anonymity, actual partition sizes, effective anonymity"
    claim: ClassVar[str] = (
        "Effective anonymity is much less than the partition size, which is close to 40 on IPUMS at k = 5."
    )
    reads: ClassVar[tuple[str, ...]] = ("adult", "ipums")

    rows: int = 20_000
    both: int = 5_000
    ks: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 9, 10)
    sizes: tuple[int, ...] = (6_000, 10_000, 17_500, 20_000, 37_500)
    draws: int = 3

    @classmethod
    def quick(cls) -> Self:
        """Small subsets, few k."""
        return cls(rows=600, both=300, ks=(2, 5, 10), sizes=(400, 600), draws=1)

    def run(self, data: StudyData, progress: Progress, seed: int) -> Reproduced:
        """The grid over k, then over sizes."""
        measured = MeasuredPairs(data, self.draws, seed, progress)
        most = {name: measured.most(name, self.both) for name in TITLES}
        progress.stage("sizes of partitions by k")
        cases = [(t, scheme, k) for t in TITLES for scheme in SCHEMES for k in self.ks]
        grid = measured.grid(
            [PairSetting(t, min(self.rows, most[t]), self.both, Scenario.both(scheme, k)) for t, scheme, k in cases]
        )
        progress.stage("subsets of other sizes")
        sizes = measured.grid(
            [
                PairSetting(t, size, self.both, Scenario.both(scheme, AT))
                for t in TITLES
                for scheme in SCHEMES
                for size in self.sizes
                if size <= most[t]
            ]
        )
        full = self == type(self)() and data.folder is not None
        return Reproduced(
            NAME, "2", self.title,
            tables=(_table(grid), _by_size(sizes)),
            claims=tuple(_claims(grid, sizes, full=full)),
            charts=tuple(_chart(grid, table) for table in TITLES.values()), notes=NOTES,
        )  # fmt: skip


def _table(grid: pl.DataFrame) -> ResultTable:
    frame = grid.select("table", "scheme", "k", "rows", "size", "size_by_group", effective_anonymity="prior")
    note = (
        "Averages over the persons in both subsets, as the paper takes them; size by group is the average over groups, "
        "where a large one counts once."
    )
    formats = {**{c: f for c, f in _SIZES.items() if c in frame.columns}, "effective_anonymity": ".2f"}
    return ResultTable("figure-2", "Partition sizes and effective anonymity", frame, formats, note)


def _by_size(sizes: pl.DataFrame) -> ResultTable:
    frame = sizes.select("table", "scheme", "rows", "size", "size_by_group", effective_anonymity="prior")
    formats = {"size": ".1f", "size_by_group": ".1f", "effective_anonymity": ".2f"}
    note = "The paper does not state the size of its subsets; partitions grow with it."
    return ResultTable("sizes", f"Subsets of several sizes, k = {AT}", frame, formats, note)


def _claims(grid: pl.DataFrame, sizes: pl.DataFrame, *, full: bool) -> list[PaperClaim]:
    less = [row["prior"] < row["size"] for row in grid.iter_rows(named=True)]
    larger = [row["size"] > row["k"] for row in grid.iter_rows(named=True)]
    return [
        PaperClaim(
            "Effective anonymity is less than the partition size", "yes", f"in {sum(less)} of {len(less)} settings",
            all(less), why="" if all(less) else "Every person of some groups has a value of its own.",
        ),
        PaperClaim(
            "Partitions are larger than k", "yes", f"in {sum(larger)} of {len(larger)} settings", all(larger),
            why="" if all(larger) else "Relaxed cuts end just at k where k divides the rows.",
        ),
        *_sizes(sizes, full=full),
    ]  # fmt: skip


def _sizes(sizes: pl.DataFrame, *, full: bool) -> list[PaperClaim]:
    """The paper's one number, for every scheme and size of subsets."""
    known, found = bands(NAME, "2"), []
    for (scheme,), part in sizes.filter(pl.col("table") == "IPUMS").group_by("scheme", maintain_order=True):
        told = ", ".join(
            f"{shown(size, '.1f')} of {many(rows)}" for rows, size in part.select("rows", "size").iter_rows()
        )
        pairs = [
            (size, known[f"IPUMS {scheme} {rows}"])
            for rows, size in part.select("rows", "size").iter_rows()
            if full and f"IPUMS {scheme} {rows}" in known
        ]
        reached = any(size in known["IPUMS"] for size in part["size"].to_list())
        nearest = min(part["size"].to_list(), key=known["IPUMS"].missed_by)
        between = min(part["size"].to_list()) < known["IPUMS"].low and max(part["size"].to_list()) > known["IPUMS"].high
        why = (
            f"At none of these sizes, but between two of them (nearest {nearest:.1f}); the paper states none."
            if between
            else f"At most {nearest:.1f}: cuts that know no hierarchies leave no large partitions."
        )
        found.append(
            PaperClaim(
                f"IPUMS, average partition, k = {AT}: {scheme}", "close to 40", told, reached if full else None,
                band="; ".join(str(band) for _, band in pairs),
                within=all(size in band for size, band in pairs) if pairs else None,
                why="" if reached or not full else why,
            )
        )  # fmt: skip
    return found


def _chart(grid: pl.DataFrame, table: str) -> Chart:
    part = grid.filter((pl.col("table") == table) & (pl.col("scheme") == STRICT))
    rows: list[dict[str, Any]] = []
    for row in part.iter_rows(named=True):
        told = {"presumed (k)": row["k"], "partition size": row["size"], "effective anonymity": row["prior"]}
        rows += [{"series": series, "x": row["k"], "y": y} for series, y in told.items()]
    title = f"Figure 2: {table}, Mondrian strict on both, subsets of {many(part['rows'][0])}"
    return line_chart(
        title, rows, x="k", y="persons, or values", key=f"figure-2-{table.lower()}", percent=False, thousands=False
    )


@dataclass(frozen=True)
class AnonymityDrop(PaperFigure):
    """Effective anonymity before and after the attack, for every k."""

    title: ClassVar[str] = "Average drop in effective anonymity by the intersection attack"
    claim: ClassVar[str] = "After the attack effective anonymity is much less than before it, in both subsets."
    reads: ClassVar[tuple[str, ...]] = ("adult", "ipums")

    rows: int = 10_000
    both: int = 5_000
    ks: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 9, 10)
    draws: int = 3

    @classmethod
    def quick(cls) -> Self:
        """Small subsets, few k."""
        return cls(rows=600, both=300, ks=(2, 5, 10), draws=1)

    def run(self, data: StudyData, progress: Progress, seed: int) -> Reproduced:
        """The grid over k."""
        progress.stage("effective anonymity by k")
        cases = [(t, scheme, k) for t in TITLES for scheme in SCHEMES for k in self.ks]
        settings = [PairSetting(t, self.rows, self.both, Scenario.both(scheme, k)) for t, scheme, k in cases]
        grid = MeasuredPairs(data, self.draws, seed, progress).grid(settings)
        return Reproduced(
            NAME, "3", self.title, tables=(_drops(grid),), claims=(_falls(grid),),
            charts=tuple(_drop_chart(grid, table) for table in TITLES.values()), notes=NOTES,
        )  # fmt: skip


def _drops(grid: pl.DataFrame) -> ResultTable:
    frame = grid.select(
        "table", "scheme", "k", before="prior", smaller_of_both="least_prior", after="posterior",
        drop=pl.col("least_prior") - pl.col("posterior"), vulnerable="vulnerable", already_homogeneous="homogeneous",
    )  # fmt: skip
    formats = {
        **dict.fromkeys(("before", "smaller_of_both", "after", "drop"), ".2f"),
        "vulnerable": "percent", "already_homogeneous": "percent",
    }  # fmt: skip
    note = (
        "Values that are left, on average over the persons in both subsets. The drop is counted from the smaller of "
        "both releases (Anon_Drop); vulnerable is everybody with a drop."
    )
    return ResultTable("figure-3", "Effective anonymity before and after", frame, formats, note)


def _falls(grid: pl.DataFrame) -> PaperClaim:
    falls = [1 - row["posterior"] / row["prior"] for row in grid.iter_rows(named=True)]
    holds = min(falls) > 0
    return PaperClaim(
        "Effective anonymity after the attack is much less than before", "much less, read off the figure only",
        f"less by {shown(min(falls), 'percent')} to {shown(max(falls), 'percent')} over all settings", holds,
        why="" if holds else "Where every group has every value, sets have nothing to cross.",
    )  # fmt: skip


def _drop_chart(grid: pl.DataFrame, table: str) -> Chart:
    part = grid.filter((pl.col("table") == table) & (pl.col("scheme") == STRICT))
    rows: list[dict[str, Any]] = []
    for row in part.iter_rows(named=True):
        told = {"before, in one release": row["prior"], "after, of both": row["posterior"]}
        rows += [{"series": series, "x": row["k"], "y": y} for series, y in told.items()]
    return line_chart(
        f"Figure 3: {table}, Mondrian strict on both", rows, x="k", y="values left", key=f"figure-3-{table.lower()}",
        percent=False, thousands=False,
    )  # fmt: skip


NOTES = (
    "Strict cuts follow hierarchies, so that partitions come out much larger than k; relaxed cuts halve what is left.",
)
