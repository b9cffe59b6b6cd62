"""Figure 1 of the composition paper: perfect and partial breach by the intersection of two independent releases.

The paper states neither the size of the subsets nor the hierarchies and cuts of its Mondrian, so several are shown:
Mondrian strict with hierarchies, relaxed on ordered codes, MDAV, and Mondrian beside MDAV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import polars as pl

from showthrough.experiments.composition_pairs import (
    BEYOND,
    CONFIDENCES,
    MDAV,
    NAME,
    OWN,
    OWN_RELAXED,
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

SCENARIOS = ((STRICT, STRICT), (RELAXED, RELAXED), (MDAV, MDAV), (STRICT, MDAV))
PACKAGE = ((OWN, OWN), (OWN_RELAXED, OWN_RELAXED))
MONDRIAN = (STRICT, RELAXED)
MIXED = Scenario((STRICT, MDAV), 1).name
PERSONS = "persons in both subsets"
AT = 5  # the k of the paper's numbers
DRAWN_KS = 3  # of the charts of partial breach
_SAID = {
    ("Adult", "at_100"): "around 12\u202f%", ("IPUMS", "at_100"): "around 60\u202f%",
    ("Adult", "at_25"): "more than 60\u202f%", ("IPUMS", "at_25"): "around 95\u202f%",
}  # fmt: skip
_MEASURES = {"at_100": "perfect breach", "at_25": "confidence of 25\u202f% or more"}


@dataclass(frozen=True)
class IntersectionBreach(PaperFigure):
    """Two subsets of ``rows`` with ``both`` persons in common, for every k and scenario, means over ``draws``."""

    title: ClassVar[str] = "Severity of the intersection attack: perfect and partial breach"
    claim: ClassVar[str] = (
        "At k = 5 around 12 % of Adult and 60 % of IPUMS are breached perfectly, and more than 60 % and around 95 % at "
        "a confidence of 25 %."
    )
    reads: ClassVar[tuple[str, ...]] = ("adult", "ipums")

    rows: int = 10_000
    both: int = 5_000
    ks: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 9, 10)
    sizes: tuple[int, ...] = (6_000, 10_000, 17_500, 37_500)
    draws: int = 3

    @classmethod
    def quick(cls) -> Self:
        """Small subsets, few k."""
        return cls(rows=600, both=300, ks=(2, 5, 10), sizes=(400, 600), draws=1)

    def run(self, data: StudyData, progress: Progress, seed: int) -> Reproduced:
        """The grid over k, what counts tell beyond sets, and the grid over sizes."""
        measured = MeasuredPairs(data, self.draws, seed, progress)
        progress.stage("perfect and partial breach by k")
        scenarios = [(t, Scenario(pair, k)) for t in TITLES for pair in SCENARIOS for k in self.ks]
        grid = measured.grid([PairSetting(t, self.rows, self.both, own) for t, own in scenarios])
        progress.stage("joint maximum entropy and proofs")
        at = [
            PairSetting(t, self.rows, self.both, Scenario(pair, AT)) for t in TITLES for pair in (*SCENARIOS, *PACKAGE)
        ]
        joint = measured.grid(at, beyond=True)
        progress.stage("subsets of other sizes")
        sizes = measured.grid(self._sizes(measured))
        full = self == type(self)() and data.folder is not None
        return Reproduced(
            NAME, "1", self.title,
            tables=(_perfect(grid), _partial(grid), _joint(joint), _by_size(sizes), self._located(measured)),
            claims=(
                *_numbers(grid, sizes, full=full), *([_one_for_all(grid)] if full else []),
                *_orderings(grid), _more(joint),
            ),
            charts=tuple(_charts(grid)),
            notes=NOTES,
        )  # fmt: skip

    def _sizes(self, measured: MeasuredPairs) -> list[PairSetting]:
        """Subsets of every size that the table has persons for."""
        found = []
        for name in TITLES:
            fitting = [size for size in self.sizes if size <= measured.most(name, self.both)]
            found += [
                PairSetting(name, size, self.both, Scenario.both(scheme, AT)) for scheme in MONDRIAN for size in fitting
            ]
        return found

    def _located(self, measured: MeasuredPairs) -> ResultTable:
        """How many find their own group by the nearest centroid."""
        rows: list[dict[str, Any]] = []
        for name, title in TITLES.items():
            people = measured.population(name)
            first, _ = PairSetting(name, self.rows, self.both, Scenario.both(MDAV, AT)).drawn(
                people.table.height, measured.seed
            )
            rows.append({"table": title, "k": AT, "located": people.located(people.table[first], AT)})
        note = "The paper: around 70\u202f%. The attacks above take everybody's group as known, as the paper does."
        frame = pl.DataFrame(rows)
        return ResultTable(
            "located", "Microaggregation: whose own group has the nearest centroid", frame, {"located": "percent"}, note
        )


def _perfect(grid: pl.DataFrame) -> ResultTable:
    frame = grid.select(
        "table", "scheme", "k", perfect="at_100", least="least_perfect", most="most_perfect",
        already_homogeneous="homogeneous", fewer_values_left="vulnerable",
    )  # fmt: skip
    formats = dict.fromkeys(frame.columns[3:], "percent")
    note = (
        "Shares of the persons in both subsets, means over the draws with the least and the most. Already homogeneous: "
        "one release alone leaves one value."
    )
    return ResultTable("figure-1", "Perfect breach (parts a and b)", frame, formats, note)


def _partial(grid: pl.DataFrame) -> ResultTable:
    levels = [f"at_{100 * c:.0f}" for c in CONFIDENCES]
    frame = grid.select("table", "scheme", "k", *levels, already_homogeneous="homogeneous")
    formats = dict.fromkeys(frame.columns[3:], "percent")
    note = "at 25: at most four values are left, so that a guess at one of them is right with 25\u202f% or more."
    return ResultTable("partial", "Confidence of so many percent or more (parts c and d)", frame, formats, note)


def _joint(joint: pl.DataFrame) -> ResultTable:
    frame = joint.select(
        "table",
        "scheme",
        "k",
        perfect_by_sets="at_100",
        at_25_by_sets="at_25",
        **dict(zip(BEYOND, BEYOND, strict=True)),
    )
    note = (
        "Beyond the paper. Certain: proven by the counts of all groups together; only by counts: sets leave these "
        "persons several values; ruled out: a value is impossible that sets leave; joint 50 and 25: a value has that "
        "probability by maximum entropy over both releases. The package's own Mondrian makes smaller groups than the "
        "textbook's, so that more shows."
    )
    return ResultTable(
        "beyond-sets",
        f"What joint inference adds to sets, k = {AT}",
        frame,
        dict.fromkeys(frame.columns[3:], "percent"),
        note,
    )


def _by_size(sizes: pl.DataFrame) -> ResultTable:
    frame = sizes.select("table", "scheme", "rows", "homogeneous", perfect="at_100", at_25="at_25", group_size="size")
    formats = {**dict.fromkeys(("homogeneous", "perfect", "at_25"), "percent"), "group_size": ".1f"}
    note = "The paper does not state how large its subsets are; both always share as many persons."
    return ResultTable("sizes", f"Subsets of other sizes, k = {AT}", frame, formats, note)


def _numbers(grid: pl.DataFrame, sizes: pl.DataFrame, *, full: bool) -> list[PaperClaim]:
    """The paper's four numbers beside every scenario that they may be about."""
    known, found = bands(NAME, "1"), []
    at = grid.filter(pl.col("k") == AT)
    for row in at.iter_rows(named=True):
        for measure, words in _MEASURES.items():
            if measure == "at_25" and row["scheme"] not in MONDRIAN:
                continue  # the paper shows partial breach for Mondrian alone
            table, scheme, figure = row["table"], row["scheme"], row[measure]
            own = known.get(f"{table} {scheme} {measure}") if full else None
            paper = known[f"{table} {measure}"]
            why = _why(at, sizes, row, measure) if full and figure not in paper else ""
            found.append(
                PaperClaim(
                    f"{table}, {words}, k = {AT}: {scheme}", _SAID[table, measure],
                    f"{shown(figure, 'percent')} ({shown(row['homogeneous'], 'percent')} already homogeneous)",
                    (figure in paper) if full else None,
                    band="" if own is None else own.percent(),
                    within=None if own is None else figure in own,
                    why=why,
                )
            )  # fmt: skip
    return found


def _why(at: pl.DataFrame, sizes: pl.DataFrame, row: dict[str, Any], measure: str) -> str:
    """By how much a number is missed, and which choice that the paper leaves open would give it."""
    table, paper = row["table"], bands(NAME, "1")[f"{row['table']} {measure}"]
    short = 100 * paper.missed_by(row[measure])
    there = at.filter((pl.col("table") == table) & (pl.col("scheme") != row["scheme"]))
    giving = [scheme for scheme, figure in there.select("scheme", measure).iter_rows() if figure in paper]
    own = sizes.filter((pl.col("table") == table) & (pl.col("scheme") == row["scheme"]))
    spread = ", ".join(
        f"{shown(figure, 'percent')} with {many(size)}" for size, figure in own.select("rows", measure).iter_rows()
    )
    told = [f"{short:.1f} points {'below' if row[measure] < paper.low else 'above'}."]
    if giving:
        told.append(f"It is reached by {' and by '.join(giving)}: cuts and hierarchies are not stated.")
    if spread:
        told.append(f"Subsets of other sizes (not stated either): {spread}.")
    return " ".join(told)


def _one_for_all(grid: pl.DataFrame) -> PaperClaim:
    """Whether one way to cut gives all four numbers."""
    known, at, told = bands(NAME, "1"), grid.filter(pl.col("k") == AT), {}
    for scheme in MONDRIAN:
        rows = at.filter(pl.col("scheme") == scheme).iter_rows(named=True)
        told[scheme] = sum(row[measure] in known[f"{row['table']} {measure}"] for row in rows for measure in _MEASURES)
    holds = max(told.values()) == len(_SAID)
    why = (
        "12\u202f% of Adult and 60\u202f% of IPUMS fit relaxed cuts, more than 60\u202f% of Adult at 25\u202f% fits "
        "strict cuts with hierarchies, and 95\u202f% of IPUMS lies between both: the paper states neither cuts, "
        "hierarchies nor the size of its subsets."
    )
    ours = "; ".join(f"{scheme} {many_} of {len(_SAID)}" for scheme, many_ in told.items())
    return PaperClaim("One Mondrian gives all four numbers", "as if", ours, holds, why="" if holds else why)


def _orderings(grid: pl.DataFrame) -> list[PaperClaim]:
    """What the paper says of the curves."""
    first, last = int(min(grid["k"])), int(max(grid["k"]))
    ends = {(r["table"], r["scheme"], r["k"]): r["at_100"] for r in grid.iter_rows(named=True)}
    pairs = [(ends[t, s, first], ends[t, s, last]) for t, s, k in ends if k == first]
    falls = all(low <= high for high, low in pairs)
    at = grid.filter(pl.col("k") == AT)
    adult, ipums = (at.filter(pl.col("table") == t)["at_100"].to_list() for t in ("Adult", "IPUMS"))
    severe = all(a < b for a, b in zip(adult, ipums, strict=True))
    partial = all(row["at_25"] > row["at_100"] for row in at.iter_rows(named=True))
    many_fall = f"from k = {first} to {last} in {sum(low <= high for high, low in pairs)} of {len(pairs)} curves"
    higher = f"higher in {sum(a < b for a, b in zip(adult, ipums, strict=True))} of {len(adult)} scenarios"
    everywhere = f"higher at 25\u202f% than at 100\u202f% in {'every' if partial else 'not every'} scenario"
    own = {(row["table"], row["scheme"]): row["at_100"] for row in at.iter_rows(named=True)}
    more = all(own[table, MDAV] > own[table, STRICT] for table in TITLES.values())
    beside = "; ".join(
        f"{t} {shown(own[t, MDAV], 'percent')} beside {shown(own[t, STRICT], 'percent')}" for t in TITLES.values()
    )
    rows = (
        ("Breach falls as k grows", falls, many_fall),
        ("Microaggregation is breached more than Mondrian (strict)", more, beside),
        ("IPUMS is much more severe than Adult", severe, higher),
        ("Severity grows alarmingly for a little less confidence", partial, everywhere),
    )
    why = "Synthetic columns are independent of each other, so that groups say little about values."
    return [PaperClaim(what, "yes", ours, holds, why="" if holds else why) for what, holds, ours in rows]


def _more(joint: pl.DataFrame) -> PaperClaim:
    """What the paper's attack leaves unsaid."""
    more = joint["only_by_counts"].to_list()
    return PaperClaim(
        "Counts prove values that sets leave open", "not looked at",
        f"{shown(min(more), 'percent')} to {shown(max(more), 'percent')} of the persons at k = {AT}, by scenario",
        None,
    )  # fmt: skip


def _charts(grid: pl.DataFrame) -> list[Chart]:
    found = []
    for table in TITLES.values():
        part = grid.filter(pl.col("table") == table)
        rows = [
            {"series": "strict beside MDAV" if s == MIXED else s, "x": k, "y": y}
            for s, k, y in part.select("scheme", "k", "at_100").iter_rows()
        ]
        strict = part.filter(pl.col("scheme") == STRICT)
        rows += [
            {"series": "already homogeneous (strict)", "x": k, "y": y}
            for k, y in strict.select("k", "homogeneous").iter_rows()
        ]
        title = f"Figure 1: perfect breach, {table}"
        found.append(line_chart(title, rows, x="k", y=PERSONS, key=f"figure-1-perfect-{table.lower()}"))
    for table in TITLES.values():
        part = grid.filter((pl.col("table") == table) & (pl.col("scheme") == STRICT))
        found.append(_confidences(part, table))
    return found


def _confidences(part: pl.DataFrame, table: str) -> Chart:
    """Partial breach by the confidence asked for, for a few k."""
    ks = sorted(part["k"].to_list())
    chosen = [ks[0], AT, ks[-1]][:DRAWN_KS]
    rows = [
        {"series": f"k = {row['k']}", "x": round(100 * c), "y": row[f"at_{100 * c:.0f}"]}
        for row in part.filter(pl.col("k").is_in(chosen)).iter_rows(named=True)
        for c in CONFIDENCES
    ]
    title = f"Figure 1: partial breach, {table}, Mondrian strict on both"
    return line_chart(
        title, rows, x="confidence of the attacker (%)", y=PERSONS, key=f"figure-1-partial-{table.lower()}"
    )


NOTES = (
    "43.7\u202f% of IPUMS have no occupation (code 999), and most of them are alike in age or work class: their groups "
    "are homogeneous before any attack, which is why that share stands beside every figure.",
    "IPUMS calls its file 1997; the code 97 is the census of 1970.",
    "Relaxed cuts halve every part, so that 10\u202f000 rows end in groups of 9 or 10 for every k from 6 to 9: stairs.",
    "Everybody's group is known, as the paper assumes.",
)
