"""Ways to publish side by side: a table for a terminal, JSON, and one plot."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from showthrough import __version__
from showthrough.comparing.comparison import Comparison
from showthrough.errors import InputError
from showthrough.report.charts import drawing
from showthrough.report.origin import Origin
from showthrough.report.printable import words
from showthrough.report.tables import Column, WordTable

VERSION = 1


def show_comparison(console: Console, found: Comparison) -> None:
    """What readers learn by option and number of releases, what each costs, and what was refused."""
    numbers = found.course["releases"].unique().sort().to_list()
    after = [f"after {n}" for n in numbers]
    heads = [Column("option"), *(Column(c, whole=True) for c in ("ε each", "ε in all", "query error", *after))]
    rows = []
    for option in found.options.iter_rows(named=True):
        if option["refused"]:
            continue
        course = {
            row["releases"]: row for row in found.course.iter_rows(named=True) if row["option"] == option["option"]
        }
        total = max((row["total_epsilon"] or 0.0 for row in course.values()), default=0.0)
        epsilon = option["epsilon"]
        rows.append(
            [
                option["option"],
                "–" if epsilon is None else f"{epsilon:.3g}",
                "–" if epsilon is None else f"{total:.3g}",
                _percent(option["query_error"]),
                *(_percent(_share(course[n])) if n in course else "–" for n in numbers),
            ]
        )
    title = "Persons of whom readers of all releases are at least 90 % sure"
    console.print(WordTable(title, heads, rows))
    for option in found.options.iter_rows(named=True):
        if option["refused"]:
            console.print(words(f"{option['option']}: {option['refused']}"))
        elif option["words"]:
            console.print(words(f"{option['option']}: {option['words']}.", "dim"))
    for note in found.notes:
        console.print(words(note, "dim"))


def comparison_json(found: Comparison, made: Origin | None) -> dict[str, Any]:
    """The object that is written as JSON."""
    head = {"schema": "showthrough.options", "version": VERSION, "showthrough": __version__, "audience": "shareable"}
    return {**head, "made": None if made is None else made.as_dict(), **found.as_dict()}


def need_drawing() -> None:
    """Refuse a plot where the library that draws is missing."""
    if not drawing.available():
        raise InputError('A plot needs a library more: pip install "showthrough[report]".')


def drawn(found: Comparison) -> bytes:
    """The plot as a file of its own: persons of whom readers are at least 90 % sure, by number of releases."""
    promised = {row["option"]: row["epsilon"] is not None for row in found.options.iter_rows(named=True)}
    rows = [
        {"option": row["option"], "releases": row["releases"], "share": _share(row), "dashed": promised[row["option"]]}
        for row in found.course.iter_rows(named=True)
    ]
    return drawing.file("by_releases", {"rows": rows}, drawing.WIDE).encode()


def _share(row: Any) -> float:
    return float(row["over_90"] / row["persons"]) if row["persons"] else 0.0


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
