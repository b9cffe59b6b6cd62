"""What reproducing an experiment of a paper gives: tables, charts, and the paper's claims beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from showthrough import __version__
from showthrough.numerals import THIN, many
from showthrough.report.origin import Origin
from showthrough.report.page.blocks import Chart, PlainTable
from showthrough.table.plain import plain

VERSION = 1
HOLDS = {True: "holds", False: "does not hold", None: "not judged"}


@dataclass(frozen=True, eq=False)
class ResultTable:
    """A frame with a title, called ``name`` where it is a file; ``formats`` says how its columns are shown.

    Formats: ``percent`` of a share, ``count``, ``number`` with three digits that matter, or a format of Python such as
    ``.2f``; without one whole numbers are counts and other numbers have three digits. ``measured`` tables hold times
    and memory, which no two runs share.
    """

    name: str
    title: str
    frame: pl.DataFrame
    formats: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    measured: bool = False

    @property
    def headings(self) -> list[str]:
        """The columns in words."""
        return [column.replace("_", " ") for column in self.frame.columns]

    def numeric(self) -> list[bool]:
        """Which columns hold numbers."""
        return [self.frame[column].dtype.is_numeric() for column in self.frame.columns]

    def rows(self) -> list[list[str]]:
        """The cells as people read them."""
        named = [self.formats.get(column, "") for column in self.frame.columns]
        return [[shown(cell, how) for cell, how in zip(row, named, strict=True)] for row in self.frame.iter_rows()]

    def plain(self) -> PlainTable:
        """For a page."""
        right = tuple(k for k, number in enumerate(self.numeric()) if number)
        rows = tuple(tuple(row) for row in self.rows())
        return PlainTable(tuple(self.headings), rows, right=right, caption=self.note, title=self.title)

    def csv(self) -> bytes:
        """As a file, with all digits."""
        return self.frame.write_csv().encode()


def shown(cell: Any, how: str = "") -> str:
    """A cell in words.

    >>> [shown(c, h).replace(THIN, "_") for c, h in [(0.2534, "percent"), (7200, ""), (None, ""), (1.23456, ".2f")]]
    ['25.3_%', '7_200', '–', '1.23']
    >>> shown(7200.4, "count").replace(THIN, "_"), shown(0.000123456), shown(True), shown("a")
    ('7_200', '0.000123', 'yes', 'a')
    """
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if not isinstance(cell, (int, float)):
        return str(cell)
    if how == "percent":
        return f"{100 * cell:z.1f}{THIN}%"
    if how == "count" or (not how and isinstance(cell, int)):
        return many(cell)
    return f"{cell:{'.3g' if how in ('', 'number') else how}}"


@dataclass(frozen=True)
class PaperClaim:
    """One claim of a paper beside what came out; ``holds`` is None where there is nothing to judge.

    ``band`` is where figures that are not the paper's put ours (independent scripts, exact arithmetic); ``why`` says,
    if the claim does not hold, by how much and which unstated choice would explain it.
    """

    what: str
    paper: str
    ours: str
    holds: bool | None
    band: str = ""
    within: bool | None = None
    why: str = ""
    measured: bool = False  # times and memory, which no two runs share

    @property
    def verdict(self) -> str:
        """Whether it holds, and whether we are where others put us."""
        if self.within is None:
            return HOLDS[self.holds]
        known = "inside the band" if self.within else "outside the band"
        return known if self.holds is None else f"{HOLDS[self.holds]}, {known}"


@dataclass(frozen=True, eq=False)
class Reproduced:
    """All that came out of one figure of an experiment."""

    experiment: str
    figure: str
    title: str
    tables: tuple[ResultTable, ...]
    claims: tuple[PaperClaim, ...]
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As files are called."""
        return self.experiment if not self.figure else f"{self.experiment}-figure-{self.figure}"

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "experiment": self.experiment,
            "figure": self.figure or None,
            "title": self.title,
            "claims": [plain(claim) for claim in self.claims],
            "tables": {table.name: table.frame.to_dicts() for table in self.tables},
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Taken:
    """What one figure took: wall and processor seconds, and the most memory that the process had by then."""

    seconds: float
    processor: float
    peak_mb: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s ({self.processor:.1f} s of a processor, process up to {many(self.peak_mb)} MB)"


@dataclass(frozen=True, eq=False)
class ReproductionContent:
    """An experiment with the figures that were run, and how to run it again."""

    experiment: str
    paper: str
    says: str
    figures: tuple[Reproduced, ...]
    effort: tuple[Taken, ...]
    data: str
    seed: int
    quick: bool
    machine: str
    made: Origin

    @property
    def name(self) -> str:
        """As the page is called."""
        several = len(self.figures) > 1 or not self.figures[0].figure
        return self.experiment if several else self.figures[0].name

    def as_json(self) -> dict[str, Any]:
        """The object that is written as JSON."""
        return {
            "schema": "showthrough.reproduction",
            "version": VERSION,
            "showthrough": __version__,
            "audience": "shareable",
            "made": self.made.as_dict(),
            "experiment": self.experiment,
            "paper": self.paper,
            "data": self.data,
            "seed": self.seed,
            "quick": self.quick,
            "machine": self.machine,
            "figures": [
                {**one.as_dict(), "effort": plain(effort)}
                for one, effort in zip(self.figures, self.effort, strict=True)
            ],
        }


def claims_table(claims: Sequence[PaperClaim]) -> tuple[tuple[str, ...], list[list[str]]]:
    """Headings and rows of the claims; columns that nobody fills are left out."""
    headings = ("claim", "paper", "here", "band", "verdict", "if not, why")
    rows = [[c.what, c.paper, c.ours, c.band, c.verdict, c.why] for c in claims]
    kept = [k for k in range(len(headings)) if any(row[k] for row in rows)]
    return tuple(headings[k] for k in kept), [[row[k] for k in kept] for row in rows]


def drawn_table(rows: Sequence[Mapping[str, Any]], formats: Mapping[str, str] | None = None) -> PlainTable:
    """What a chart draws, as the table under it."""
    return ResultTable("drawn", "", pl.DataFrame(rows), formats or {}).plain()
