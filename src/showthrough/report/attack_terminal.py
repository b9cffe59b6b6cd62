"""An attack for a terminal: the threat in words, rates beside the baseline, and scores."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from showthrough.attacks.outcomes import Outcome
from showthrough.attacks.statistics import Score
from showthrough.report.printable import words
from showthrough.report.tables import Column, WordTable
from showthrough.report.terminal import frame_table


def show_attack(console: Console, outcome: Outcome, score: Score | None) -> None:
    """Words first, then tables, then what was left out."""
    threat = outcome.threat
    for name, told in (("has", threat.has), ("wants", threat.wants), ("assumes", threat.assumes)):
        console.print(words(f"The attacker {name} {told}."))
    console.print()
    console.print(_rates(outcome))
    if outcome.said:
        console.print(words(outcome.said))
    for title, table in outcome.further().items():
        console.print()
        console.print(frame_table(table, title=title))
    if score is not None:
        console.print()
        console.print(_scores(score))
    for note in outcome.notes:
        console.print(words(note, "dim"))


def _rates(outcome: Outcome) -> WordTable:
    every = outcome.rates.columns
    names = every[: every.index("persons")]
    columns = [*(Column(name) for name in names), *(Column(c, whole=True) for c in ("persons", "of", "share", "95 %"))]
    rows = [_row(row, names) for row in outcome.rates.iter_rows(named=True)]
    if outcome.paired:
        beside = {tuple(row[name] for name in names): row["persons"] for row in outcome.baseline.iter_rows(named=True)}
        for shown, row in zip(rows, outcome.rates.iter_rows(named=True), strict=True):
            shown.append(str(beside.get(tuple(row[name] for name in names), "–")))
        return WordTable(f"Attack {outcome.attack}: persons exposed", [*columns, Column("baseline", whole=True)], rows)
    rows += [_row(row, names) for row in outcome.baseline.iter_rows(named=True)]
    return WordTable(f"Attack {outcome.attack}: persons exposed, and the baseline", columns, rows)


def _row(row: dict[str, Any], names: list[str]) -> list[str]:
    share = "–" if row["share"] is None else f"{100 * row['share']:.1f} %"
    ends = f"{100 * row['low']:.1f}–{100 * row['high']:.1f} %"
    return [*(str(row.get(name, "baseline")) for name in names), str(row["persons"]), str(row["of"]), share, ends]


def _scores(score: Score) -> WordTable:
    told = score.told()
    names = told.columns[: told.columns.index("persons")]
    figures = {"persons": "persons", "accuracy": "right", "brier": "Brier", "calibration_error": "calibration error"}
    figures["decile"] = "right in the most confident tenth"
    columns = [*(Column(name) for name in names), *(Column(head, whole=True) for head in figures.values())]
    rows = [
        [*(str(row[name]) for name in names), *(_figure(name, row[name]) for name in figures)]
        for row in told.iter_rows(named=True)
    ]
    return WordTable(
        "Beside the truth", columns, rows, caption="Figures of too few right or wrong guesses are left out."
    )


def _figure(name: str, found: Any) -> str:
    if found is None:
        return "–"
    if name == "persons":
        return str(found)
    return f"{100 * found:.1f} %" if name in ("accuracy", "decile") else f"{found:.4f}"
