"""Figure 4 of the inference-analysis paper: what is left of the entropy by the number of common records."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

import polars as pl

from showthrough.experiments.expected import bands
from showthrough.experiments.experiment import PaperFigure
from showthrough.experiments.independent_releases import NAME
from showthrough.experiments.study_data import StudyData
from showthrough.experiments.two_releases import overlap_grid
from showthrough.numerals import many
from showthrough.progress import Progress
from showthrough.report.page.blocks import Chart
from showthrough.report.reproduction import PaperClaim, Reproduced, ResultTable, drawn_table


@dataclass(frozen=True)
class SharedRecords(PaperFigure):
    """The paper's overlaps with the second table fixed; means over ``draws``."""

    title: ClassVar[str] = "The impact of common records"
    claim: ClassVar[str] = "The more records both tables share, the lower the entropy of the second one's persons."
    reads: ClassVar[tuple[str, ...]] = ("adult",)

    records: int = 7200
    diversities: tuple[int, ...] = (2, 3, 5)
    overlaps: tuple[int, ...] = (6000, 4800, 3600, 2400, 1200, 0)
    sensitive: str = "occupation"
    draws: int = 5

    @classmethod
    def quick(cls) -> Self:
        """A tenth of the records."""
        return cls(records=720, overlaps=(600, 480, 360, 240, 120, 0), draws=2)

    def run(self, data: StudyData, progress: Progress, seed: int) -> Reproduced:
        """One curve per diversity."""
        progress.stage("tables with fewer and fewer common records")
        wanted = [(self.sensitive, l, overlap) for l in self.diversities for overlap in self.overlaps]
        grid = overlap_grid(
            data.table("adult"), wanted, records=self.records, draws=self.draws, seed=seed, tell=progress
        )
        shown = grid.pivot("l", index="overlap", values="both_nats")
        named = shown.rename({str(l): f"l_{l}_nats" for l in self.diversities})
        table = ResultTable(
            "figure-4", "Entropy of the second release's persons, knowing both releases", named,
            dict.fromkeys(named.columns[1:], "count"), note=f"{self.sensitive} sensitive; nats, means over the draws.",
        )  # fmt: skip
        falls = ResultTable(
            "drops", "The same as a share of what one release leaves", grid.select("l", "overlap", "drop", "certain"),
            {"drop": "percent", "certain": "percent"},
        )  # fmt: skip
        return Reproduced(
            NAME, "4", self.title, tables=(table, falls), claims=self._claims(grid), charts=(_chart(grid),)
        )

    def _claims(self, grid: pl.DataFrame) -> tuple[PaperClaim, ...]:
        parts = [part.sort("overlap")["both_nats"].to_list() for _, part in grid.group_by("l", maintain_order=True)]
        falls = all(more > fewer for part in parts for more, fewer in pairwise(part))
        none = grid.filter(pl.col("overlap") == 0)
        equal = bool((none["drop"].abs() < 1e-9).all())
        high = float(grid["both_nats"].to_numpy().max())
        claims = [
            PaperClaim(
                "Fewer common records leave more entropy, at every l", "a rising curve as common records fall",
                "strictly, at every step of every curve" if falls else "not at every step", falls,
                why="" if falls else "Neighbouring overlaps differ by less than draws do.",
            ),
            PaperClaim(
                "Without common records the second release tells what it tells alone", "(the cause is common records)",
                "equal to the single release" if equal else "not equal", equal, why="" if equal else "A fault of ours.",
            ),
            PaperClaim(
                "The axis of the figure", "0 to 12\u202f000", f"0 to {many(high)} nats",
                high <= 12_000 if self == type(self)() else None, why="" if high <= 12_000 else "Another unit.",
            ),
        ]  # fmt: skip
        known = bands(NAME, "2")
        pairs = [
            (fall, known[f"{column} {l} {overlap}"])
            for column, l, overlap, fall in grid.select("sensitive", "l", "overlap", "drop").iter_rows()
            if f"{column} {l} {overlap}" in known and self == type(self)()
        ]
        if pairs:
            inside = sum(fall in band for fall, band in pairs)
            told = f"{inside} of {len(pairs)} inside their bands"
            claims.append(
                PaperClaim(
                    "The falls beside scripts that share no code", "–", told, None, "bands.toml", inside == len(pairs)
                )
            )
        return tuple(claims)


def _chart(grid: pl.DataFrame) -> Chart:
    rows = [
        {"series": f"{l}-diversity", "x": overlap, "y": nats}
        for l, overlap, nats in grid.select("l", "overlap", "both_nats").iter_rows()
    ]
    title = "Figure 4: entropy of the second release's persons by common records"
    data = {
        "rows": rows, "x": "records in both tables", "y": "entropy (nats)", "title": title, "falling": True
    }  # fmt: skip
    return Chart(
        "lines", title, "Lines that rise as common records become fewer, up to the entropy of one release.",
        data, (drawn_table(rows, {"y": "count"}),), key="figure-4",
    )  # fmt: skip
