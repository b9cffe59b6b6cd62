"""The audit as coloured tables and sentences for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from showthrough.auditing.audit import Audit
from showthrough.inference.narrate import listed
from showthrough.inference.posterior import Posterior
from showthrough.report.content import facts, facts_frame, summary
from showthrough.report.printable import printable
from showthrough.report.tables import Column, WordTable

SHOWN = 40


def show_audit(console: Console, audit: Audit, *, audience: str, known: pl.DataFrame | None = None) -> None:
    """Figures for everybody; people and reasons for the internal audience (``known``: the facts, if made)."""
    console.print(releases_table(audit))
    console.print()
    located = audit.posterior.locatability()
    if located is not None:
        console.print(locatability_table(located))
        console.print()
    console.print(_bullets(summary(audit)))
    console.print()
    console.print(Text(f"Numerics: {audit.posterior.certificate}.", style="dim"))
    if audience == "internal":
        console.print()
        known = facts_frame(audit, proofs=SHOWN) if known is None else known
        show_facts(console, facts(audit, limit=SHOWN, known=known), total=known.height)
    elif audit.joint.certain or audit.joint.impossible_by_counts:
        console.print(
            Text(
                "Who and why: --audience internal shows ids and proofs, --people FILE writes them.",
                style="dim",
            )
        )


def _bullets(lines: Sequence[str]) -> Table:
    """Sentences that wrap under themselves."""
    table = Table.grid(padding=(0, 1))
    for line in lines:
        table.add_row("•", Text(line))
    return table


def releases_table(audit: Audit) -> WordTable:
    """Each release alone beside all together."""
    names = ("persons", "groups", "values", "certain persons", "entropy (nats)", "same persons, joined")
    rows: list[list[str | Text]] = []
    for r in audit.releases:
        drop = 1 - r.entropy_joined_nats / r.entropy_alone_nats if r.entropy_alone_nats else 0.0
        rows.append(
            [
                f"{r.name} alone",
                str(r.persons),
                str(r.groups),
                str(r.values),
                str(r.certain_alone),
                f"{r.entropy_alone_nats:.6f}",
                f"{r.entropy_joined_nats:.6f}\n(−{100 * max(drop, 0):.1f} %)",
            ]
        )
    j = audit.joint
    style = "bold red" if j.newly_certain else "bold"
    together = ("all together", str(j.persons), "", str(j.values), str(j.certain), f"{j.entropy_nats:.6f}", "")
    rows.append([Text(cell, style=style) for cell in together])
    columns = [Column(""), *(Column(name, whole=True) for name in names)]
    return WordTable("Each release alone, and all together", columns, rows)


def frame_table(frame: pl.DataFrame, *, title: str, whole: Collection[str] = (), most: int = 200) -> WordTable:
    """A frame as a table; numbers and the columns named ``whole`` are kept whole."""
    columns = [Column(name, whole=name in whole or frame[name].dtype.is_numeric()) for name in frame.columns]
    rows = [[_shown(cell) for cell in row] for row in frame.head(most).iter_rows()]
    more = frame.height - most
    return WordTable(title, columns, rows, caption=f"… and {more} more" if more > 0 else "")


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


def show_facts(console: Console, entries: Sequence[Mapping[str, Any]], *, total: int) -> None:
    """Certain first, each with its reason."""
    for heading, fact, by in (
        ("Certain", "certain", None),
        ("Impossible by the counts", "impossible", "counts"),
        ("Impossible by the sets", "impossible", "sets"),
    ):
        mine = [e for e in entries if e["fact"] == fact and by in (None, e["by"])]
        if not mine:
            continue
        console.print(Text(heading, style="bold red" if fact == "certain" else "bold yellow"))
        for (value, reasons), names in _same_reason(mine).items():
            console.print(Text(printable(f"  {listed(names)}: {value}"), style="bold"))
            if reasons:
                console.print(Padding(Text(printable(reasons), style="dim"), (0, 0, 0, 4)))
        console.print()
    if total > len(entries):
        console.print(Text(f"… and {total - len(entries)} more facts: --people FILE writes them all.", style="dim"))


def posterior_table(history: Sequence[tuple[str, Posterior]], *, title: str) -> WordTable:
    """P(value | person) from several views side by side; certain values stand out."""
    together = history[-1][1]
    columns = [Column("person", whole=True), *(Column(name) for name, _ in history)]
    rows: list[list[str | Text]] = [
        [str(person), *(_distribution(post, person, last=post is together) for _, post in history)]
        for person in together.ids
    ]
    return WordTable(title, columns, rows)


def _distribution(post: Posterior, person: Any, *, last: bool) -> Text:
    if person not in post.ids:
        return Text("not in it", style="dim")
    row = post.of(person)
    if len(row) == 1:
        return Text(printable(f"{next(iter(row))} certain"), style="bold red" if last else "bold")
    return Text(printable(", ".join(f"{value} {100 * p:.0f}" for value, p in row.items())))


def _same_reason(entries: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[str]]:
    """Persons for whom the same is shown by the same words: told once."""
    told: dict[tuple[str, str], list[str]] = {}
    for e in entries:
        told.setdefault((str(e["value"]), _reasons(e.get("proof", ""))), []).append(_name(e))
    return told


def _name(entry: Mapping[str, Any]) -> str:
    part = entry.get("release")
    return f"{entry['id']} (as in {part})" if part else f"{entry['id']}"


def _reasons(proof: str) -> str:
    """A proof without its last line, which the heading already says."""
    return "\n".join(proof.split("\n")[:-1])
