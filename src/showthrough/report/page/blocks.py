"""What a page is made of: typed pieces that know nothing of HTML.

Sentences may mark **what matters** and `what is typed`; everything else in them is plain text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class PlainTable:
    """A table for people: headings, rows of text; ``right`` are the columns of numbers."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()
    caption: str = ""
    title: str = ""
    marks: tuple[str, ...] = ()  # a class for each row, if any
    stacked: bool = False  # lines under each other on a phone

    def numbers(self, column: int) -> bool:
        """Whether a column holds numbers."""
        return column in self.right

    def without_empty(self) -> PlainTable:
        """The same without the columns that say nothing in any row."""
        kept = [k for k in range(len(self.headings)) if any(row[k] for row in self.rows)]
        return replace(
            self,
            headings=tuple(self.headings[k] for k in kept),
            rows=tuple(tuple(row[k] for k in kept) for row in self.rows),
            right=tuple(new for new, k in enumerate(kept) if k in self.right),
        )


@dataclass(frozen=True)
class Chart:
    """A chart by the name of its spec, with the data that it draws and the same in words and as tables."""

    name: str
    title: str
    description: str
    data: Mapping[str, Any]
    tables: tuple[PlainTable, ...]
    legend: tuple[tuple[str, str], ...] = ()  # (kind of mark, word)
    summary: str = "The same as a table"
    scrolls: bool = False
    key: str = ""  # tells charts of one name apart

    @property
    def place(self) -> str:
        """What the chart is called on its page."""
        return self.key or self.name


@dataclass(frozen=True)
class Note:
    """A surprise explained where it occurs."""

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Bullets:
    """Sentences one under the other."""

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """What to type."""

    text: str
    title: str = ""


@dataclass(frozen=True)
class Words:
    """Terms with their meanings."""

    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Case:
    """One of the most exposed persons, for internal readers."""

    id: str
    value: str
    before: str
    certain: str
    now: str
    since: str
    proof: tuple[str, ...]
    summary: str = ""  # of a proof that is too long to stand there


@dataclass(frozen=True)
class Cases:
    """The most exposed persons."""

    entries: tuple[Case, ...]


@dataclass(frozen=True)
class Folded:
    """A long table that is opened by whoever wants it."""

    summary: str
    table: PlainTable


PageBlock = PlainTable | Chart | Note | Bullets | Code | Words | Cases | Folded


@dataclass(frozen=True)
class Section:
    """A part of the page: what this is, the finding as a heading, sentences, and the evidence."""

    anchor: str
    short: str
    heading: str
    sentences: tuple[str, ...]
    blocks: tuple[PageBlock, ...] = ()
    quiet: tuple[str, ...] = ()
    wide: bool = False


@dataclass(frozen=True)
class Big:
    """One of the four figures: name, number, what it means beside the state before."""

    kind: str
    name: str
    number: str
    strong: str
    rest: str


@dataclass(frozen=True)
class ShortAnswer:
    """A question that everybody asks, and where the page says more."""

    question: str
    answer: str
    link: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class NextStep:
    """What to do next."""

    strong: str
    rest: str


@dataclass(frozen=True)
class Republish:
    """What the command that makes the newest release again is told, line by line, and what to know of it.

    Names of parameters with what a shell reads; the template makes options of them.
    """

    lines: tuple[tuple[tuple[str, str], ...], ...]
    note: str


@dataclass(frozen=True)
class Headline:
    """The verdict or the finding: a badge, one sentence, and what it leans on."""

    kind: str  # block, review, pass, inconclusive, or finding
    badge: str
    sentence: str
    lead: tuple[str, ...]


@dataclass(frozen=True)
class PageContent:
    """All that the page of an audit says to an audience, before it is placed."""

    audience: str
    title: str
    subject: str
    date: str
    headline: Headline
    figures: tuple[Big, ...]
    states: Chart | None
    states_title: str
    steps: tuple[NextStep, ...]
    command: Republish | None
    answers: tuple[ShortAnswer, ...]
    sections: tuple[Section, ...]
    footer: str
    elsewhere: str  # where persons are named
    missing: tuple[str, ...] = field(default=())  # what the page lacks, and why

    def charts(self) -> dict[str, Chart]:
        """Every chart by its name."""
        found = [block for part in self.sections for block in part.blocks if isinstance(block, Chart)]
        return {chart.place: chart for chart in ([self.states] if self.states else []) + found}
