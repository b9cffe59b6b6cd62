"""Local recoding beside ARX's: python -m benchmarks.anonymizers --arx [--grid] [--seeds 0,1,2] [--only TABLE]
[--results FILE: one line of JSON per release; what stands in it is not run again]

`st.anonymize` is called as a user calls it, all columns as labels, and what it published is measured here from the
printed cells and the hierarchy files alone, by nothing of the package. *labels*: leaves under a printed label over
all leaves of the hierarchy file, 0 for a leaf. *sets*: different values really in a printed group over those of the
table, 0 for one. Suppressed rows lose 1. CPU seconds of the whole call.

ARX 3.9.2's figures are constants (anonymize and local recoding, loading not counted; w = warm, c = cold JVM).
"""

from __future__ import annotations

import csv
import json
import time
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import showthrough as st

ADULT = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
IPUMS = ("age", "classwkr", "educrec", "marst", "race", "sex", "bpl")
FILES = {
    "Adult": "adult/adult_train.csv.gz",
    "Adult test": "adult/adult_test.csv",
    "IPUMS 97": "ipums/ipums_la_97.csv.gz",
    "IPUMS 98": "ipums/ipums_la_98.csv.gz",
    "IPUMS 99": "ipums/ipums_la_99.csv.gz",
}
DEVELOPED = ("Adult", "IPUMS 97")
"""Tables looked at while the method was made; the others were kept aside."""


@dataclass(frozen=True)
class Row:
    """A task and what ARX makes of it: losses by labels and sets, suppressed rows, CPU seconds."""

    table: str
    criteria: tuple[Any, ...]
    arx: tuple[float, float, int, float] | None = None
    columns: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """In words."""
        some = f", {len(self.columns)} columns" if self.columns else ""
        return f"{self.table}{some}, {' + '.join(map(str, self.criteria))}"


@dataclass(frozen=True)
class Measured:
    """One release."""

    labels: float
    sets: float
    average: float
    suppressed: int
    seconds: float


def k(size: int) -> Any:
    """k-anonymity."""
    return st.KAnonymity(size)


HELD = (
    Row("Adult", (k(3),), (0.0123, 0.0054, 0, 0.4), ("education", "marital-status", "native-country", "occupation")),
    Row("Adult test", (k(7),), (0.0564, 0.0311, 0, 1.1)),
    Row("Adult test", (k(20),), (0.0926, 0.0666, 0, 2.9)),
    Row("Adult test", (k(50),), (0.1339, 0.1108, 0, 2.5)),
    Row("IPUMS 98", (k(7),), (0.0414, 0.0197, 0, 5.5)),
    Row("IPUMS 99", (k(20),), (0.0648, 0.0384, 0, 12.3)),
    Row("Adult", (k(20),), (0.0536, 0.0412, 0, 0.6), ("age", "education", "race", "sex", "occupation")),
    Row("Adult test", (k(5), st.EntropyLDiversity(4)), (0.0909, 0.0575, 49, 6.1)),
    Row("Adult test", (k(5), st.TCloseness(0.3)), (0.2909, 0.2485, 747, 20.6)),
    Row("Adult test", (k(5), st.TCloseness(0.2)), (0.4586, 0.4262, 2301, 21.0)),
)


def grid() -> list[Row]:
    """Every table with every criterion."""
    asked: list[tuple[Any, ...]] = [(k(size),) for size in (3, 5, 7, 20, 50)]
    asked += [(k(5), kind(l)) for kind in (st.EntropyLDiversity, st.DistinctLDiversity) for l in (2, 3, 4)]
    asked += [(k(5), st.TCloseness(t)) for t in (0.2, 0.3, 0.4)]
    return [Row(table, criteria) for table in FILES for criteria in asked]


@cache
def table(data: Path, name: str) -> pl.DataFrame:
    """The rows without gaps, with an id."""
    frame = pl.read_csv(data / FILES[name], infer_schema_length=0)
    if name.startswith("Adult"):
        frame = frame.filter(~pl.any_horizontal(pl.all() == "?"))
    else:
        frame = frame.with_columns(pl.col("age").cast(pl.Int64).cast(pl.String))
    return frame.with_row_index("row")


def run(data: Path, row: Row, seed: int) -> Measured:
    """Publish and measure."""
    adult = row.table.startswith("Adult")
    quasi = row.columns or (ADULT if adult else IPUMS)
    sensitive = None if row.columns else "occupation" if adult else "occ1950"
    frame = table(data, row.table).select("row", *quasi, *([sensitive] if sensitive else []))
    folder = data / ("adult" if adult else "ipums") / "hierarchies"
    began = time.process_time()
    release = st.anonymize(
        frame,
        method="local-recoding",
        id="row",
        sensitive=sensitive,
        quasi=quasi,
        criteria=row.criteria,
        hierarchies={c: folder / f"{c}.csv" for c in quasi},
        seed=seed,
    )
    seconds = time.process_time() - began
    published = release.to_frame()
    gone = frame.height - published.height
    labels = np.mean([_label_loss(folder / f"{c}.csv", published[c]) for c in quasi])
    # the groups that a reader sees: rows with the same cells
    seen = release.groups().rename({"id": "row"}).join(frame, on="row")
    lost, groups = 0.0, seen["group"].n_unique()
    for c in quasi:
        values = seen.group_by("group").agg(pl.col(c).n_unique().alias("values"), pl.len().alias("rows"))
        lost += values.filter(pl.col("values") > 1).select(pl.col("values") * pl.col("rows")).sum().item() / (
            frame[c].n_unique() * frame.height * len(quasi)
        )
    share = gone / frame.height
    size = max(c.k for c in row.criteria if isinstance(c, st.KAnonymity))
    return Measured(
        float(labels) * (1 - share) + share, lost + share, published.height / (groups * size), gone, seconds
    )


def _label_loss(path: Path, cells: pl.Series) -> float:
    """Mean over the published rows of the share of the hierarchy's leaves under their label; the widest where a label
    stands on several levels.
    """
    with path.open() as file:
        rows = list(csv.reader(file))
    under: dict[str, int] = {}
    for level in range(len(rows[0])):
        for label, leaves in Counter(line[level] for line in rows).items():
            under[label] = max(under.get(label, 0), leaves)
    leaf = {line[0] for line in rows}
    tally = cells.cast(pl.String).value_counts().iter_rows()
    lost = sum(n * under[label] for label, n in tally if label not in leaf or under[label] > 1)
    return float(lost) / (len(rows) * len(cells))


def recorded(data: Path, row: Row, seed: int, results: Path | None) -> Measured:
    """As in the file of results, or run and written there."""
    known = results.read_text().splitlines() if results is not None and results.exists() else []
    for line in map(json.loads, known):
        if (line.pop("task"), line.pop("seed")) == (row.name, seed):
            return Measured(**line)
    found = run(data, row, seed)
    if results is not None:
        with results.open("a") as file:
            file.write(json.dumps({"task": row.name, "seed": seed, **asdict(found)}) + "\n")
    return found


def compare(data: Path, seeds: list[int], *, whole: bool, only: str | None = None, results: Path | None = None) -> None:
    """Print a line per task: the worst of the seeds for each figure."""
    print("| task | labels | sets | C_avg | suppressed | CPU s | ARX labels, sets, suppressed, CPU s | below |")
    print("|---|---|---|---|---|---|---|---|")
    for row in grid() if whole else HELD:
        if only is not None and row.table != only:
            continue
        found = [recorded(data, row, seed, results) for seed in seeds]
        worst = Measured(*(max(getattr(one, name) for one in found) for name in Measured.__dataclass_fields__))
        line = f"{worst.labels:.4f} | {worst.sets:.4f} | {worst.average:.2f} | {worst.suppressed} | {worst.seconds:.1f}"
        beside, verdict = "–", "–"
        if row.arx is not None:
            labels, sets, gone, seconds = row.arx
            beside = f"{labels:.4f}, {sets:.4f}, {gone}, {seconds}"
            fails = [
                name
                for name, holds in (
                    ("labels", worst.labels < labels),
                    ("sets", worst.sets <= 1.02 * sets),
                    ("suppressed", worst.suppressed <= gone),
                    ("CPU", worst.seconds <= seconds),
                )
                if not holds
            ]
            verdict = f"not {', '.join(fails)}" if fails else f"by {100 * (1 - worst.labels / labels):.1f} %"
        print(f"| {row.name} | {line} | {beside} | {verdict} |", flush=True)
