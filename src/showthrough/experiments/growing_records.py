"""Figure 5 of the inference-analysis paper: time, memory, variables and constraints by the number of records.

Variables and constraints are counted as the paper defines them: one variable per person and value of the maximum common
subset, one One constraint per person, one Relation constraint per value of each bucket.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import polars as pl

from showthrough.experiments.expected import bands
from showthrough.experiments.experiment import PaperFigure
from showthrough.experiments.independent_releases import NAME
from showthrough.experiments.study_data import StudyData
from showthrough.experiments.two_releases import independent_pair
from showthrough.inference.infer import infer
from showthrough.numerals import many
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.report.page.blocks import Chart
from showthrough.report.page.wording import listed, small
from showthrough.report.reproduction import PaperClaim, Reproduced, ResultTable, drawn_table

PAPER = {  # records: memory in MB, minutes, variables, constraints
    1200: (33, 32, 11237, 2921), 2400: (73, 43, 30437, 5841), 3600: (116, 49, 49637, 9036),
    4800: (76, 57, 23617, 12101), 6000: (103, 233, 29575, 15601), 7200: (134, 221, 34852, 19121),
}  # fmt: skip
RUNS = 3  # of which the fastest counts
_MB = 1e6
SETTINGS = (
    "The first three of the paper's columns grow by exactly 19\u202f200 = 16 × 1\u202f200, as if each of 1\u202f200 "
    "more persons had 16 values (education has 16) and no zero were removed; from 4\u202f800 on zeros are removed. The "
    "columns are not one setting."
)


@dataclass(frozen=True)
class GrowingRecords(PaperFigure):
    """The paper's sizes; l and the ``share`` of common records are not stated there, so several are shown."""

    title: ClassVar[str] = "Time, memory, variables and constraints by the number of records"
    claim: ClassVar[str] = (
        "From 1\u202f200 to 7\u202f200 records the analysis takes 32 to 233 minutes and 33 to 134 MB."
    )
    reads: ClassVar[tuple[str, ...]] = ("adult",)

    records: tuple[int, ...] = (1200, 2400, 3600, 4800, 6000, 7200)
    diversities: tuple[int, ...] = (2, 3, 5)
    shares: tuple[float, ...] = (5 / 6, 2 / 3)
    sensitive: str = "occupation"

    @classmethod
    def quick(cls) -> Self:
        """The two smallest sizes."""
        return cls(records=(1200, 2400), diversities=(5,))

    def run(self, data: StudyData, progress: Progress, seed: int) -> Reproduced:
        """Every size, once to count and a few times to measure."""
        table, counted, measured = data.table("adult"), [], []
        wanted = [(l, share, n) for l in self.diversities for share in self.shares for n in self.records]
        progress.stage("more and more records")
        for at, (l, share, n) in enumerate(wanted):
            progress.count(at, len(wanted))
            overlap = round(share * n)
            pair = independent_pair(table, self.sensitive, l, overlap=overlap, records=n, seed=seed)
            known = {"l": l, "records": n, "overlap": overlap}
            counted.append(known | counts_of(pair))
            measured.append(known | _measured(pair))
        sizes, effort = pl.DataFrame(counted), pl.DataFrame(measured)
        return Reproduced(
            NAME, "5", self.title,
            tables=(
                self._beside(sizes), _shares_table(explaining(sizes, self.records)), _sizes_table(sizes),
                _effort_table(effort),
            ),
            claims=(*self._counted(sizes), *_measured_claims(effort)),
            charts=(_chart(effort),),
            notes=NOTES,
        )  # fmt: skip

    def _beside(self, sizes: pl.DataFrame) -> ResultTable:
        """The paper's counts beside ours, for the largest l and share."""
        part = sizes.filter(pl.col("l") == max(self.diversities))
        part = part.filter(pl.col("overlap") == (pl.col("records") * max(self.shares)).round().cast(pl.Int64))
        rows = [
            {
                "records": row["records"],
                "variables_paper": PAPER[row["records"]][2],
                "variables": row["variables"],
                "constraints_paper": PAPER[row["records"]][3],
                "constraints": row["constraints"],
                "constraints_independent": row["constraints"] - row["buckets"],
            }
            for row in part.iter_rows(named=True)
        ]
        note = "Independent: one Relation constraint of each bucket follows from the others and is left out."
        title = f"Variables and constraints beside the paper's ({self.sensitive}, l = {max(self.diversities)})"
        return ResultTable("figure-5", title, pl.DataFrame(rows), note=note)

    def _counted(self, sizes: pl.DataFrame) -> list[PaperClaim]:
        linear, first = _linear(sizes), self.records[0]
        common = explaining(sizes, self.records)
        fits = [share for share in common["variables_5"] if share is not None]
        smallest = sizes.filter(pl.col("records") == first)
        ours = smallest["constraints"] - smallest["buckets"]
        claims = [
            PaperClaim(
                "Variables by records", "11\u202f237 to 49\u202f637, falling between 3\u202f600 and 4\u202f800",
                f"{_ends(sizes['variables'])}, never falling",
                False,
                why=f"{SETTINGS}{_fitting(fits)}",
            ),
            PaperClaim(
                "Constraints grow with records", "2\u202f921 to 19\u202f121",
                "in proportion to records" if linear else "not linearly", linear, why="" if linear else "Draws differ.",
            ),
            PaperClaim(
                f"Constraints at {many(first)} records", many(PAPER[first][3]),
                f"{_ends(ours)} over all l and overlaps, redundant ones left out", False,
                why=_too_few(first, PAPER[first][3]),
            ),
        ]  # fmt: skip
        return [*claims, *([_own(sizes)] if self == type(self)() else [])]


def counts_of(releases: list[Release]) -> dict[str, int]:
    """Persons, buckets, variables and constraints as the paper counts them."""
    possible, relations, buckets = [], 0, 0
    for k, release in enumerate(releases):
        values = release.counts().select("group", "value")
        relations, buckets = relations + values.height, buckets + values["group"].n_unique()
        possible.append(release.groups().join(values, on="group").select("id", "value", pl.lit(k).alias("release")))
    pairs = pl.concat(possible)
    inside = pairs.group_by("id").agg(pl.col("release").n_unique().alias("releases"))
    common = pairs.group_by("id", "value").agg(pl.len().alias("times")).join(inside, on="id")
    variables = common.filter(pl.col("times") == pl.col("releases")).height
    persons = inside.height
    return {"persons": persons, "buckets": buckets, "variables": variables, "constraints": persons + relations}


def _measured(pair: list[Release]) -> dict[str, Any]:
    """Processor seconds of the fastest run, and the most that was allocated in a run of its own."""
    seconds = []
    for _ in range(RUNS):
        began = time.process_time()
        post = infer(pair)
        seconds.append(time.process_time() - began)
    tracemalloc.start()
    try:
        infer(pair)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    found = post.certificate
    return {"seconds": min(seconds), "memory_mb": peak / _MB, "status": str(found.status), "error_bar": found.error_bar}


def _ends(column: pl.Series) -> str:
    return f"{many(column.to_numpy().min())} to {many(column.to_numpy().max())}"


def _linear(sizes: pl.DataFrame) -> bool:
    """Whether constraints per record stay within a percent, for each l and share of common records."""
    per = sizes.with_columns(
        (pl.col("constraints") / pl.col("records")).alias("per"),
        (pl.col("overlap") / pl.col("records")).round(3).alias("share"),
    )
    for _, part in per.group_by("l", "share"):
        ratio = part["per"].to_numpy()
        if ratio.max() > 1.01 * ratio.min():
            return False
    return True


def explaining(sizes: pl.DataFrame, records: Sequence[int]) -> pl.DataFrame:
    """The share of common records that would give the paper's counts, by l; none where no share does.

    Constraints are linear in it: 2n(1 − 1/l) independent Relation rows and (2 − share)·n persons. Variables are read
    between the shares that were run.
    """
    rows = []
    for n in records:
        _, _, variables, constraints = PAPER[n]
        row: dict[str, Any] = {"records": n}
        for l in sorted(set(sizes["l"])):
            share = 2 + 2 * (1 - 1 / l) - constraints / n
            row[f"constraints_{l}"] = share if 0 <= share <= 1 else None
            part = sizes.filter((pl.col("l") == l) & (pl.col("records") == n)).sort("overlap")
            ends = list(part.select("overlap", "variables").iter_rows())
            row[f"variables_{l}"] = _between(ends, variables, n)
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _between(ends: list[tuple[int, int]], variables: int, records: int) -> float | None:
    """The share at which so many variables are met, on a straight line between two overlaps."""
    (low, most), (high, fewest) = ends[0], ends[-1]
    if not fewest <= variables <= most or most == fewest:
        return None
    return (low + (most - variables) / (most - fewest) * (high - low)) / records


def _fitting(shares: list[float]) -> str:
    """What the last columns have in common, if anything."""
    if len(shares) < 2:
        return ""
    told = listed([f"{100 * share:.0f}" for share in shares])
    return f" Groups of 5 with {told} % common records would give the variables of the last {small(len(shares))}."


def _too_few(records: int, paper: int) -> str:
    """Why groups of five cannot give the paper's count, and what could."""
    least = records + 2 * records - 2 * records // 5
    return (
        f"Even with the same persons in both releases, groups of 5 different values make {many(least)} independent "
        f"constraints, {many(least - paper)} more. Groups of 3 with {100 * (10 / 3 - paper / records):.0f} % common "
        "records would give the paper's count; l and the overlap are not stated for this figure."
    )


def _own(sizes: pl.DataFrame) -> PaperClaim:
    known = bands(NAME, "5")
    part = sizes.filter((pl.col("records") == 7200) & (pl.col("l") == 5))
    found = dict(part.select("overlap", "variables").iter_rows())
    rows = dict(part.select("overlap", "constraints").iter_rows())
    inside = all(found[overlap] in known[f"variables {overlap}"] for overlap in found)
    inside &= rows[6000] in known["constraints"]
    told = "; ".join(f"{many(found[overlap])} at {many(overlap)} shared" for overlap in found)
    return PaperClaim(
        "Variables and constraints at 7\u202f200 records, l = 5", "–", f"{told}; {many(rows[6000])} constraints", None,
        band="; ".join(f"{name}: {band}" for name, band in known.items()), within=inside,
    )  # fmt: skip


def _measured_claims(effort: pl.DataFrame) -> list[PaperClaim]:
    slowest = float(effort["seconds"].to_numpy().max())
    most = float(effort["memory_mb"].to_numpy().max())
    exact = bool(effort["status"].is_in(["exact", "certified"]).all())
    memory, minutes = (max(PAPER[n][k] for n in effort["records"]) for k in (0, 1))
    return [
        PaperClaim(
            "Time (another machine, a general solver)", f"up to {minutes} minutes",
            f"at most {slowest:.2f} s of a processor; every answer {'certified' if exact else 'not certified'}", exact,
            why="" if exact else "Some answers carry no certificate.", measured=True,
        ),
        PaperClaim(
            "Memory", f"up to {memory} MB",
            f"at most {most:.0f} MB allocated by the inference", most <= memory,
            why="" if most <= memory else "More than the paper's.", measured=True,
        ),
    ]  # fmt: skip


NOTES = (
    "Times are processor seconds of the fastest of three runs, from releases in memory to the certified posterior; "
    "memory is the most that Python and NumPy had allocated at once during an inference, measured in a run of its own.",
)


def _shares_table(common: pl.DataFrame) -> ResultTable:
    formats = dict.fromkeys(common.columns[1:], "percent")
    note = "By l; a dash where no share (for variables: none between those that were run) gives the paper's count."
    return ResultTable("explaining", "Common records that would give the paper's counts", common, formats, note=note)


def _sizes_table(sizes: pl.DataFrame) -> ResultTable:
    return ResultTable("sizes", "Variables and constraints as the paper counts them", sizes)


def _effort_table(effort: pl.DataFrame) -> ResultTable:
    beside = effort.with_columns(
        pl.Series("minutes_paper", [PAPER[n][1] for n in effort["records"]]),
        pl.Series("memory_paper", [PAPER[n][0] for n in effort["records"]]),
    )
    formats = {"seconds": ".3f", "memory_mb": ".1f", "error_bar": ".1g"}
    return ResultTable("measured", "Time and memory of the inference", beside, formats, measured=True)


def _chart(effort: pl.DataFrame) -> Chart:
    rows: list[dict[str, Any]] = [
        {"series": "paper", "x": n, "y": 60.0 * PAPER[n][1]} for n in effort["records"].unique(maintain_order=True)
    ]
    for (l,), part in effort.group_by("l", maintain_order=True):
        slow = part.group_by("records", maintain_order=True).agg(pl.col("seconds").max())
        rows += [{"series": f"here, l = {l}", "x": n, "y": max(s, 1e-3)} for n, s in slow.iter_rows()]
    title = "Figure 5: seconds by records, the slower of the overlaps"
    data = {"rows": rows, "x": "records in each table", "y": "seconds", "title": title, "log": True, "thousands": False}
    return Chart(
        "lines", title, "The paper's times lie three to five powers of ten above ours.", data,
        (drawn_table(rows, {"y": ".3g"}),), key="figure-5",
    )  # fmt: skip
