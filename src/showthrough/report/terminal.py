"""The content of an audit as coloured tables and sentences for a terminal."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from showthrough.inference.words import listed
from showthrough.numerals import many
from showthrough.policy.decision import Decision
from showthrough.report.content import AuditContent, Fact, View
from showthrough.report.glance import Glance
from showthrough.report.printable import printable, words
from showthrough.report.tables import Column, WordTable

SHOWN = 40
_LEFT = "left: a reader is as uncertain as with so many equally likely values per person"


@dataclass(frozen=True)
class Hints:
    """Where readers find more, in the words of the program that prints: a command has options, a page links."""

    internal: str = ""
    """How to see what the shareable form holds back."""
    facts: str = ""
    """How to see all facts."""


def show_audit(console: Console, told: AuditContent, *, hints: Hints | None = None) -> None:
    """Figures for everybody; people and reasons as far as the content holds them."""
    hints = hints or Hints()
    if told.glance is not None:
        show_glance(console, told.glance)
        console.print()
    if told.decision is not None:
        show_decision(console, told.decision, verdict=told.glance is None)
        console.print()
    console.print(releases_table(told))
    console.print()
    if told.locatability is not None:
        console.print(locatability_table(told.locatability))
        console.print()
    console.print(bullets(told.summary))
    console.print()
    console.print(words(told.premise, "dim"))
    console.print(words(told.numerics, "dim"))
    if told.changes is not None and told.changes.height:
        console.print()
        console.print(frame_table(told.changes, title="Who counts as changed", most=SHOWN))
    if told.facts is not None:
        console.print()
        show_facts(console, told.facts.listed(SHOWN), total=len(told.facts), hint=hints.facts)
    elif hints.internal and (told.together["certain"] or told.together["impossible_by_counts"]):
        console.print(words(hints.internal, "dim"))


def show_glance(console: Console, told: Glance) -> None:
    """The verdict, four figures, since when, how sure, and what to do next."""
    table = Table.grid(padding=(0, 2))
    plain = not console.is_terminal or console.no_color
    for number, (label, text) in enumerate(told.lines(plain=plain)):
        table.add_row(words(label, "bold" if number == 0 else "dim"), words(text, "bold" if number == 0 else ""))
    console.print(table)


def show_decision(console: Console, decided: Decision, *, verdict: bool = True) -> None:
    """The verdict, unless it stands above, and every limit that is not simply kept."""
    if verdict:
        console.print(words(f"{str(decided.verdict).upper()}  {decided.said}", "bold"), soft_wrap=True)
    else:
        console.print(words("What became of the limits", "bold"))
    broken = {(r.rule, r.severity) for r in decided.reasons if r.outcome != "within"}
    kept = [r for r in decided.reasons if r.outcome == "within" and (r.rule, r.severity) not in broken]
    rows = [(f"{r.outcome} ({r.severity})", r.said) for r in decided.reasons if r.outcome != "within"]
    rows += [("open", doubt) for doubt in decided.doubts]
    rows += [(f"exception {e.state}", e.said) for e in decided.exceptions if e.state != "used"]
    rows += [("within", f"{', '.join(dict.fromkeys(r.rule for r in kept))}.")] if kept else []
    table = Table.grid(padding=(0, 2))
    for state, sentence in rows:
        table.add_row(f"  {state}", words(sentence))
    console.print(table)


def bullets(lines: Sequence[str], *, indent: int = 0) -> Table:
    """Sentences that wrap under themselves."""
    table = Table.grid(padding=(0, 1))
    for line in lines:
        table.add_row(" " * indent + "•", words(line))
    return table


def releases_table(told: AuditContent) -> WordTable:
    """Each release alone beside all together."""
    names = ("persons", "groups", "values", "certain persons", "left", "left, joined")
    rows: list[list[str | Text]] = []
    for r in told.releases:
        counts = [many(r[name]) for name in ("persons", "groups", "values", "certain_alone")]
        left = [_left(r[name], r["persons"]) for name in ("entropy_alone_nats", "entropy_joined_nats")]
        rows.append([printable(f"{r['name']} alone", lines=False), *counts, *left])
    j = told.together
    style = "bold red" if j["newly_certain"] else "bold"
    left_over = _left(j["entropy_nats"], j["answered"])
    figures = (many(j["persons"]), "", many(j["values"]), many(j["certain"]), "", left_over)
    rows.append([words(cell, style) for cell in ("all together", *figures)])
    columns = [Column(""), *(Column(name, whole=True) for name in names)]
    return WordTable("Each release alone, and all together", columns, rows, caption=_LEFT)


def _left(nats: float, persons: int) -> str:
    """How many equally likely values per person would be as uncertain."""
    return f"{math.exp(nats / persons):.3g}" if persons else "–"


def frame_table(frame: pl.DataFrame, *, title: str, whole: Collection[str] = (), most: int = 200) -> WordTable:
    """A frame as a table; numbers and the columns named ``whole`` are kept whole."""
    columns = [Column(name, whole=name in whole or frame[name].dtype.is_numeric()) for name in frame.columns]
    rows = [[_shown(cell) for cell in row] for row in frame.head(most).iter_rows()]
    more = frame.height - most
    return WordTable(title, columns, rows, caption=f"… and {many(more)} more" if more > 0 else "")


def _shown(cell: Any) -> str:
    return "" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def locatability_table(frame: pl.DataFrame) -> WordTable:
    """How many persons of the register fit one, several or no group of each release."""
    told = frame.filter((pl.col("persons") > 0) | (pl.col("fits") == "one group"))
    shown = told.select(
        "release",
        "fits",
        pl.col("persons"),
        (pl.col("share") * 100).round(1).cast(pl.String).add(" %").alias("share"),
        pl.concat_str([pl.col("column"), pl.col("reason")], separator=": ", ignore_nulls=True).alias("why none"),
    )
    title = "How many groups the persons of the register fit, whether they are in the release or not"
    return frame_table(shown, title=title, whole=["share"])


def show_facts(console: Console, entries: Sequence[Fact], *, total: int, hint: str = "") -> None:
    """Certain first, each with its reason; ``hint`` says how to see all of ``total``."""
    for heading, fact, by in (
        ("Certain", "certain", None),
        ("Impossible by the counts", "impossible", "counts"),
        ("Impossible by the sets", "impossible", "sets"),
    ):
        mine = [e for e in entries if e.fact == fact and by in (None, e.by)]
        if not mine:
            continue
        console.print(words(heading, "bold red" if fact == "certain" else "bold yellow"))
        for (value, reasons), names in _same_reason(mine).items():
            console.print(words(f"  {listed(names)}: {value}", "bold"))
            if reasons:
                console.print(Padding(words(reasons, "dim", lines=True), (0, 0, 0, 4)))
        console.print()
    if total > len(entries):
        more = f"… and {many(total - len(entries))} more facts{f': {hint}' if hint else ''}."
        console.print(words(more, "dim"))


def posterior_table(history: Sequence[View], *, title: str) -> WordTable:
    """P(value | person) from several views side by side, alike ones in one row; certain values stand out."""
    columns = [Column("person", whole=True), *(Column(view.name) for view in history)]
    alike: dict[str, list[Any]] = {}
    for person in history[-1].people:
        alike.setdefault(repr([_rounded(view.people[person]) for view in history]), []).append(person)
    rows: list[list[str | Text]] = [
        [
            listed([str(p) for p in same]),
            *(_distribution(view.people[same[0]], last=view is history[-1]) for view in history),
        ]
        for same in alike.values()
    ]
    return WordTable(title, columns, rows)


def _rounded(row: Mapping[Any, float] | None) -> dict[Any, float] | None:
    """A distribution up to what is printed of it."""
    return None if row is None else {value: round(p, 6) for value, p in sorted(row.items(), key=repr)}


def _distribution(row: Mapping[Any, float] | None, *, last: bool) -> Text:
    if row is None:
        return words("not in it", "dim")
    if len(row) == 1:
        return words(f"{next(iter(row))} certain", "bold red" if last else "bold")
    return words(", ".join(f"{value} {100 * p:.0f}" for value, p in row.items()))


def _same_reason(entries: Sequence[Fact]) -> dict[tuple[str, str], list[str]]:
    """Persons for whom the same is shown by the same words: told once."""
    told: dict[tuple[str, str], list[str]] = {}
    for e in entries:
        name = f"{e.id} (as in {e.release})" if e.release else f"{e.id}"
        told.setdefault((str(e.value), e.reasons), []).append(name)
    return told
