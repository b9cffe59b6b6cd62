"""XColor on real numbers: where (ε, δ)ᵏ-dissimilarity can be had, what it takes, and what it costs beside Mondrian.

Wang, Liu, *XColor: Protecting General Proximity Privacy*, ICDE 2010. The paper has no experiments. Its Lemma 2 says
when exchanges must succeed; beside it stands the opposite: more rows within one ε than all groups may hold.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from showthrough.anonymizers.mondrian import mondrian
from showthrough.anonymizers.near_rows import NumericProximity
from showthrough.anonymizers.requirement import Requirement
from showthrough.anonymizers.table import Shape, Table, prepare
from showthrough.anonymizers.xcolor import XColorResult, allowed_neighbours, satisfiable, xcolor
from showthrough.criteria.dissimilarity import Dissimilarity
from showthrough.experiments.experiment import PaperFigure
from showthrough.experiments.proximity_examples import NAME
from showthrough.experiments.study_data import ID, StudyData
from showthrough.measuring.grouping import Grouping
from showthrough.measuring.loss import gcp
from showthrough.measuring.queries import Workload, query_error
from showthrough.progress import Progress
from showthrough.report.page.blocks import Chart
from showthrough.report.reproduction import PaperClaim, Reproduced, ResultTable, drawn_table, shown
from showthrough.table.arrays import Ints, Reals

TABLES = {
    "adult": ("age", ("workclass", "education", "marital-status", "race", "sex", "native-country")),
    "census": ("TAXINC", ("AFNLWGT", "EMCONTRB", "PTOTVAL")),
    "tarragona": ("SALES", ("FIXED.ASSETS", "PAID.UP.CAPITAL", "TREASURY")),
    "eia": ("TOTREVENUE", ("MONTH", "RESSALES", "INDSALES")),
}
"""The sensitive number of each table, and quasi-identifiers."""
GUARANTEED, REACHED, LEFT, IMPOSSIBLE = "guaranteed", "reached", "not reached", "impossible"
UTILITY = (0.05, 0.5)  # ε in standard deviations and δ where loss is compared


@dataclass(frozen=True)
class ColouringGrid(PaperFigure):
    """``epsilons`` are standard deviations of the sensitive number, so that tables can be compared."""

    title: ClassVar[str] = "Where (ε, δ)ᵏ-dissimilarity can be had, and what it costs"
    claim: ClassVar[str] = (
        "Exchanges end without violation wherever Θ ≤ m(t + 1)/2, after at most as many as near pairs."
    )
    reads: ClassVar[tuple[str, ...]] = tuple(TABLES)

    tables: tuple[str, ...] = tuple(TABLES)
    rows: int = 30_162
    epsilons: tuple[float, ...] = (0.0, 0.05, 0.1, 0.25, 0.5)
    deltas: tuple[float, ...] = (0.25, 0.5, 0.75)
    ks: tuple[int, ...] = (5, 10, 20)
    queries: int = 500

    @classmethod
    def quick(cls) -> Self:
        """Few rows and levels."""
        return cls(
            tables=("adult", "census"), rows=400, epsilons=(0.0, 0.1, 0.5), deltas=(0.5, 0.75), ks=(5, 10), queries=50
        )

    def run(self, data: StudyData, progress: Progress, seed: int) -> Reproduced:
        """Every setting of every table, then what both methods lose."""
        colourings = [_Colourings.of(data, name, self.rows, seed) for name in self.tables]
        settings = list(product(self.epsilons, self.deltas, self.ks))
        found: list[dict[str, Any]] = []
        for at, own in enumerate(colourings):
            progress.stage(f"colouring {own.name}")
            for k, setting in enumerate(settings):
                progress.count(at * len(settings) + k, len(colourings) * len(settings))
                found.append(own.coloured(*setting, seed))
        progress.stage("utility beside Mondrian")
        lost = pl.DataFrame([row for own in colourings for k in self.ks for row in own.lost(k, self.queries, seed)])
        grid = pl.DataFrame(found)
        return Reproduced(
            NAME, "", self.title,
            tables=(_map(grid), _grid(grid), _lost(lost), _times(grid)),
            claims=(*_theory(grid), _beside(lost)),
            charts=(_map_chart(grid), _loss_chart(lost)),
            notes=NOTES,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Colourings:
    """A table whose sensitive column is a number."""

    name: str
    table: Table
    values: Reals

    @classmethod
    def of(cls, data: StudyData, name: str, rows: int, seed: int) -> _Colourings:
        frame, (sensitive, quasi) = data.table(name), TABLES[name]
        frame = frame.with_columns(pl.col(sensitive).cast(pl.Float64)).select(ID, sensitive, *quasi)
        if frame.height > rows:
            frame = frame[np.sort(np.random.default_rng(seed).permutation(frame.height)[:rows])]
        shape = Shape.of(None, None, None, None, "refuse")
        table = prepare(frame, id=ID, sensitive=sensitive, quasi=list(quasi), shape=shape)
        return cls(name, table, frame[sensitive].to_numpy())

    def proximity(self, epsilon: float) -> NumericProximity:
        """By an ε in standard deviations."""
        return NumericProximity(self.values, epsilon * float(self.values.std()))

    def crowd(self, epsilon: float) -> int:
        """The most rows that lie within one ε, so that all are near each other."""
        ascending = np.sort(self.values)
        reach = self.proximity(epsilon).reach
        return int((np.searchsorted(ascending, ascending + reach, side="right") - np.arange(ascending.size)).max())

    def colouring(self, epsilon: float, delta: float, k: int, seed: int) -> XColorResult:
        """By the same order of quasi-identifiers that `anonymize` deals rows in."""
        order = np.lexsort([column.rank[column.codes] for column in self.table.columns[::-1]])
        return xcolor(self.proximity(epsilon), k, delta, order=order, seed=seed)

    def coloured(self, epsilon: float, delta: float, k: int, seed: int) -> dict[str, Any]:
        """One setting; where no grouping can do it, none is looked for."""
        near, groups = self.proximity(epsilon), self.table.rows // k
        allowed, crowd = allowed_neighbours(self.table.rows, k, delta), self.crowd(epsilon)
        theta, edges = int(near.degree.max()), int(near.degree.sum()) // 2
        sure, never = satisfiable(theta, groups, allowed), crowd > groups * (allowed + 1)
        begun = time.process_time()
        done = None if never else self.colouring(epsilon, delta, k, seed)
        left = None if done is None else done.violations.size
        outcome = IMPOSSIBLE if left is None else GUARANTEED if sure else LEFT if left else REACHED
        return {
            "table": self.name, "column": str(self.table.sensitive), "epsilon_sd": epsilon,
            "epsilon": epsilon * float(self.values.std()), "delta": delta, "k": k, "groups": groups, "allowed": allowed,
            "largest_degree": theta, "crowd": crowd, "near_pairs": edges, "outcome": outcome,
            "left": None if left is None else left / self.table.rows, "swaps": None if done is None else done.swaps,
            "seconds": time.process_time() - begun,
        }  # fmt: skip

    def lost(self, k: int, queries: int, seed: int) -> list[dict[str, Any]]:
        """Information lost by both methods with the same k, and rows of Mondrian's groups that are too near."""
        epsilon, delta = UTILITY
        coloured = self.colouring(epsilon, delta, k, seed)
        groups = {
            "xcolor": coloured.group.astype(np.int64),
            "mondrian": mondrian(self.table.columns, Requirement(k), seed=seed).group.astype(np.int64),
        }
        return [
            {"table": self.name, "k": k, "method": method, **self._loss(group, k, queries)}
            for method, group in groups.items()
        ]

    def _loss(self, group: Ints, k: int, queries: int) -> dict[str, float]:
        epsilon, delta = UTILITY
        grouping = Grouping(self.table.frame, group, self.table.quasi)
        workload = Workload(queries, dimensions=2, seed=0)
        sensitive = str(self.table.sensitive)
        asked = query_error(grouping, sensitive=sensitive, workload=workload)
        near = Dissimilarity(epsilon * float(self.values.std()), delta, k)
        frame = self.table.frame.select(sensitive).with_columns(pl.Series("_group", group))
        failing = near.check(frame, sensitive=sensitive, quasi=["_group"]).failing_persons
        return {
            "information_loss": gcp(grouping), "query_error": asked.median, "group_size": float(grouping.sizes.mean()),
            "in_groups_too_near": failing / self.table.rows,
        }  # fmt: skip


def _map(grid: pl.DataFrame) -> ResultTable:
    """Words by (ε, δ, k)."""
    named = grid.with_columns(setting=pl.format("k = {}, δ = {}", "k", "delta"))
    wide = named.pivot("setting", index=["table", "column", "epsilon_sd"], values="outcome", aggregate_function="first")
    note = (
        "guaranteed: Θ ≤ m(t + 1)/2 (Lemma 2); reached: not guaranteed, but exchanges end without violation; "
        "impossible: more rows lie within one ε than m groups may hold, t + 1 each. ε is in standard deviations."
    )
    return ResultTable("map", "Satisfiability over (ε, δ, k)", wide, {"epsilon_sd": "g"}, note)


def _grid(grid: pl.DataFrame) -> ResultTable:
    formats = {"epsilon_sd": "g", "epsilon": ".4g", "left": "percent"}
    note = "left: rows with too many near values in their group after all exchanges; crowd: the most rows within one ε."
    return ResultTable(
        "settings", "Every setting", grid.drop("seconds", "column", "groups", "near_pairs"), formats, note
    )


def _times(grid: pl.DataFrame) -> ResultTable:
    frame = grid.filter(pl.col("outcome") != IMPOSSIBLE).group_by("table", "outcome", maintain_order=True)
    slow = frame.agg(settings=pl.len(), swaps=pl.col("swaps").max(), seconds=pl.col("seconds").max())
    note = "The slowest of its kind, in processor seconds, and the most exchanges."
    return ResultTable("times", "Time", slow, {"seconds": ".2f"}, note, measured=True)


def _lost(lost: pl.DataFrame) -> ResultTable:
    formats = {
        "information_loss": "percent", "query_error": "percent", "group_size": ".1f", "in_groups_too_near": "percent"
    }  # fmt: skip
    epsilon, delta = UTILITY
    note = (
        f"XColor at ε = {epsilon:g} standard deviations, δ = {delta:g}. Information loss is GCP over the "
        "quasi-identifiers; in groups too near: rows of groups that are not dissimilar."
    )
    return ResultTable("utility", "Loss beside Mondrian with the same k", lost, formats, note)


def _theory(grid: pl.DataFrame) -> list[PaperClaim]:
    sure = grid.filter(pl.col("outcome") == GUARANTEED)
    kept = sure.filter(pl.col("left") == 0).height
    done = grid.filter(pl.col("swaps").is_not_null())
    few = done.filter(pl.col("swaps") <= pl.col("near_pairs")).height
    words = ", ".join(f"{n} {word}" for word, n in grid["outcome"].value_counts(sort=True).iter_rows())
    return [
        PaperClaim(
            "Lemma 2: no violation where Θ ≤ m(t + 1)/2", "always", f"in {kept} of {sure.height} such settings",
            kept == sure.height, why="" if kept == sure.height else "A fault: the lemma is proven.",
        ),
        PaperClaim(
            "Theorem 1: at most as many exchanges as near pairs", "always",
            f"in {few} of {done.height} runs, at most {shown(max(done['swaps'].to_list()))} exchanges",
            few == done.height, why="" if few == done.height else "A fault: each exchange removes a near pair.",
        ),
        PaperClaim(
            "Beyond the criterion", "nothing is said", f"of {grid.height} settings {words}", None,
        ),
    ]  # fmt: skip


def _beside(lost: pl.DataFrame) -> PaperClaim:
    """The paper promises utility without a figure."""
    wide = lost.pivot("method", index=["table", "k"], values=["information_loss", "in_groups_too_near"])
    times = (wide["information_loss_xcolor"] / wide["information_loss_mondrian"]).to_list()
    near = wide["in_groups_too_near_mondrian"].to_list()
    return PaperClaim(
        "Utility is preserved", "guarantees on utility preservation, without a figure",
        f"{min(times):.1f} to {max(times):.1f} times Mondrian's information loss; Mondrian leaves "
        f"{shown(min(near), 'percent')} to {shown(max(near), 'percent')} of the rows in groups that are too near, "
        f"XColor up to {shown(max(wide['in_groups_too_near_xcolor'].to_list()), 'percent')}", None,
    )  # fmt: skip


def _map_chart(grid: pl.DataFrame) -> Chart:
    """The map in colours."""
    rows = [
        {
            "row": f"{row['table']}, ε = {row['epsilon_sd']:g}", "outcome": row["outcome"],
            "column": f"k = {row['k']}, δ = {row['delta']:g}",
        }
        for row in grid.iter_rows(named=True)
    ]  # fmt: skip
    title = "Where (ε, δ)ᵏ-dissimilarity can be had (ε in standard deviations)"
    data = {"rows": rows, "title": title, "outcomes": [GUARANTEED, REACHED, LEFT, IMPOSSIBLE]}
    described = "A map with a row for each table and ε and a column for each k and δ; every cell says its outcome."
    return Chart("outcome_map", title, described, data, (drawn_table(rows),), key="map")


def _loss_chart(lost: pl.DataFrame) -> Chart:
    rows: Sequence[dict[str, Any]] = [
        {"group": f"{table}, k = {k}", "series": method, "value": loss}
        for table, k, method, loss in lost.select("table", "k", "method", "information_loss").iter_rows()
        if k == min(lost["k"].to_list())
    ]
    title = "Information loss with the same k"
    data = {"rows": list(rows), "x": None, "y": "information loss", "title": title, "percent": True}
    described = "Bars of information loss for XColor and Mondrian."
    return Chart("grouped_bars", title, described, data, (drawn_table(rows, {"value": "percent"}),), key="loss")


NOTES = (
    "The criterion says nothing where Θ is larger: exchanges are run all the same, and what remains is told.",
    "XColor parts near values and looks at quasi-identifiers only to begin with: its loss is the price.",
)
