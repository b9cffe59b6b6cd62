"""Figure 3 of the inference-analysis paper: history-guided re-publishing, one release beside two.

The paper's method leaves slots empty that no newcomer fills; counterfeits fill them all. Entropies are given over the
persons of the second release, and over those of the first, whose departed are the ones that an empty slot gives away.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from showthrough.experiments.expected import bands
from showthrough.experiments.experiment import PaperFigure
from showthrough.experiments.independent_releases import NAME
from showthrough.experiments.study_data import StudyData
from showthrough.experiments.two_releases import anatomized, draw, guided, independent_pair, together
from showthrough.numerals import many
from showthrough.progress import Progress
from showthrough.report.page.blocks import Chart
from showthrough.report.reproduction import PaperClaim, Reproduced, ResultTable, drawn_table, shown

SLIGHT = 0.05  # what we take "just slightly lower" to mean at most
FEW = "where few newcomers come, more slots find nobody with their value."
REPORT, FILLED = "report", "counterfeits"


@dataclass(frozen=True)
class GuidedReleases(PaperFigure):
    """Sizes as in the paper, the occupation sensitive; means over ``draws``."""

    title: ClassVar[str] = "History-guided re-publishing: one release beside two"
    claim: ClassVar[str] = "The entropy of both releases is just slightly lower; with every slot filled it is the same."
    reads: ClassVar[tuple[str, ...]] = ("adult",)

    records: int = 7200
    diversities: tuple[int, ...] = (2, 3, 5)
    overlaps: tuple[int, ...] = (6000, 4800, 3600)
    sensitive: str = "occupation"
    draws: int = 5

    @classmethod
    def quick(cls) -> Self:
        """A tenth of the records."""
        return cls(records=720, overlaps=(600,), draws=2)

    def run(self, data: StudyData, progress: Progress, seed: int) -> Reproduced:
        """The paper's method, with counterfeits, and independently, on the same tables."""
        table, rows = data.table("adult"), []
        wanted = list(product(self.diversities, self.overlaps))
        progress.stage("two releases, the second guided by the first")
        for at, (l, overlap) in enumerate(wanted):
            progress.count(at, len(wanted))
            drawn = [self._drawn(table, l, overlap, seed + k) for k in range(self.draws)]
            means = {name: float(np.mean([one[name] for one in drawn])) for name in drawn[0]}
            rows.append({"l": l, "overlap": overlap, **means})
        found = pl.DataFrame(rows)
        return Reproduced(
            NAME, "3", self.title,
            tables=(_table(found),),
            claims=self._claims(found),
            charts=(self._chart(found),),
            notes=NOTES,
        )  # fmt: skip

    def _drawn(self, table: pl.DataFrame, l: int, overlap: int, seed: int) -> dict[str, float]:
        """One draw."""
        parts = draw(table.height, self.records, overlap, seed)
        first = anatomized(table[parts.first], self.sensitive, l, name="D1", seed=1000 * seed)
        found: dict[str, float] = {}
        for repair in (REPORT, FILLED):
            second = guided(table[parts.second], self.sensitive, first, l=l, repair=repair, seed=1000 * seed + 1)
            of_second, of_first = together([first, second], of=1), together([first, second], of=0)
            if repair == REPORT:
                found |= {
                    "single_nats": of_second.single, "both_nats": of_second.both,
                    "drop": of_second.drop + 0.0, "drop_first": of_first.drop,
                    "departed_certain": of_first.certain_here_only, "held_back": second.made.suppressed,
                }  # fmt: skip
            else:
                found |= {
                    "counterfeits": second.made.counterfeits or 0,
                    "drop_filled": max(of_second.drop, 0.0) + 0.0, "drop_first_filled": max(of_first.drop, 0.0) + 0.0,
                }  # fmt: skip
        pair = independent_pair(table, self.sensitive, l, overlap=overlap, records=self.records, seed=seed)
        return found | {"drop_independent": together(pair, of=1).drop}

    def _claims(self, found: pl.DataFrame) -> tuple[PaperClaim, ...]:
        falls = [*found["drop"], *found["drop_first"]]
        filled = max(*found["drop_filled"], *found["drop_first_filled"])
        least = float(np.min(found["drop_independent"].to_numpy()))
        worst, same = max(falls), filled < 1e-9
        claims = [
            PaperClaim(
                "The entropy of both releases is slightly lower than that of one", "just slightly lower",
                f"second's persons: {_between(found, 'drop')}; first's persons: {_between(found, 'drop_first')}",
                0 < worst <= SLIGHT,
                why="" if 0 < worst <= SLIGHT else f"The largest fall is {shown(worst, 'percent')}: {FEW}",
            ),
            PaperClaim(
                "With every slot filled the entropy is exactly that of one release", "exactly the same",
                "with counterfeits it falls by less than a billionth" if same else f"with counterfeits by {filled:.1g}",
                same, why="" if same else "Some slot stays open.",
            ),
            PaperClaim(
                "History-guided is better for privacy than independent re-publishing", "better",
                f"independent releases of the same tables fall by {_between(found, 'drop_independent')}", worst < least,
                why="" if worst < least else f"The largest fall is {shown(worst, 'percent')}.",
            ),
        ]  # fmt: skip
        return (*claims, *([self._own(found)] if self == type(self)() else []))

    def _own(self, found: pl.DataFrame) -> PaperClaim:
        """Beside independent scripts, at 6 000 shared records."""
        known, there = bands(NAME, "3"), found.filter(pl.col("overlap") == 6000)
        inside = all(fall in known["drop_first"] for fall in there["drop_first"])
        inside &= all(n in known["departed_certain"] for n in there["departed_certain"])
        counted = f"{_between(there, 'drop_first')}; {many(there['departed_certain'].min())} to "  # type: ignore[arg-type]
        return PaperClaim(
            "Over the first release's persons, and departed persons who are certain (6\u202f000 shared)", "–",
            f"{counted}{many(there['departed_certain'].max())} persons", None,  # type: ignore[arg-type]
            band=f"{known['drop_first'].percent()}; {known['departed_certain']} persons", within=inside,
        )  # fmt: skip

    def _chart(self, found: pl.DataFrame) -> Chart:
        most = max(self.overlaps)
        rows: list[dict[str, Any]] = []
        for l, single, both in (
            found.filter(pl.col("overlap") == most).select("l", "single_nats", "both_nats").iter_rows()
        ):
            rows += [
                {"group": f"{l}-diversity", "series": "one release", "value": single},
                {"group": f"{l}-diversity", "series": f"two, {many(most)} shared", "value": both},
            ]
        title = f"Figure 3: maximum entropy of one release and of two, history-guided ({self.sensitive})"
        return Chart(
            "grouped_bars", title, "Bars of entropy by diversity: both releases reach as high as one.",
            {"rows": rows, "x": None, "y": "entropy (nats)", "title": title}, (drawn_table(rows),), key="figure-3",
        )  # fmt: skip


NOTES = (
    "A slot that nobody fills changes what the second release itself says, so the fall does not show over its persons: "
    "it shows over those of the first release, where the departed are the ones given away.",
    "Records are held back where newcomers are not eligible for groups of their own; the paper does not say.",
)


def _between(found: pl.DataFrame, column: str) -> str:
    low, high = float(np.min(found[column].to_numpy())), float(np.max(found[column].to_numpy()))
    ends = [f"{100 * end:z.{1 if end > 0.1 else 2}f}" for end in (low, high)]
    return f"{ends[0]} %" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]} %"


def _table(found: pl.DataFrame) -> ResultTable:
    shares = [column for column in found.columns if column.startswith("drop")]
    formats = {**dict.fromkeys(shares, "percent"), **dict.fromkeys(("single_nats", "both_nats"), "count")}
    formats |= dict.fromkeys(("departed_certain", "held_back", "counterfeits"), ".1f")
    note = (
        "Means over the draws. drop: over the second release's persons; drop first: over the first's; filled: with "
        "counterfeits in all empty slots; departed certain: persons who left and whose value is then proven."
    )
    return ResultTable("figure-3", "History-guided re-publishing", found, formats, note=note)
