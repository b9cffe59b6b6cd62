"""An attack for a terminal: the threat in words, rates beside the baseline, and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
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


def show_all_attacks(
    console: Console, table: pl.DataFrame, scores: pl.DataFrame | None, not_run: Mapping[str, str]
) -> None:
    """One table of all rates, one of all scores, and a sentence for each attack that was not run."""
    names = ["attack", "measure"]
    heads = [
        *(Column(name) for name in names),
        *(Column(c, whole=True) for c in ("persons", "of", "share", "baseline")),
    ]
    rows = []
    for row in table.iter_rows(named=True):
        share = "–" if row["share"] is None else f"{100 * row['share']:.1f} %"
        beside = "–" if row["baseline"] is None else str(row["baseline"])
        rows.append([row["attack"], row["measure"], str(row["persons"]), str(row["of"]), share, beside])
    console.print(WordTable("All attacks: persons exposed", heads, rows))
    if scores is not None:
        console.print()
        console.print(_score_table(scores, ["attack", "belief"]))
    if not_run:
        console.print()
        console.print(words("Not run", "bold"))
    for name, why in not_run.items():
        console.print(words(f"{name}: {why}"))


def _rates(outcome: Outcome) -> WordTable:
    every = outcome.rates.columns
    names = every[: every.index("persons")]
    columns = [*(Column(name) for name in names), *(Column(c, whole=True) for c in ("persons", "of", "share", "95 %"))]
    rows = [_row(row, names) for row in outcome.rates.iter_rows(named=True)]
    if outcome.paired:
        for shown, row in zip(rows, outcome.rates.iter_rows(named=True), strict=True):
            baseline = outcome.beside(row)
            shown.append("–" if baseline is None else str(baseline[0]))
        return WordTable(f"Attack {outcome.attack}: persons exposed", [*columns, Column("baseline", whole=True)], rows)
    rows += [_row(row, names) for row in outcome.baseline.iter_rows(named=True)]
    return WordTable(f"Attack {outcome.attack}: persons exposed, and the baseline", columns, rows)


def _row(row: dict[str, Any], names: list[str]) -> list[str]:
    share = "–" if row["share"] is None else f"{100 * row['share']:.1f} %"
    ends = f"{100 * row['low']:.1f}–{100 * row['high']:.1f} %"
    return [*(str(row.get(name, "baseline")) for name in names), str(row["persons"]), str(row["of"]), share, ends]


def _scores(score: Score) -> WordTable:
    told = score.told()
    return _score_table(told, told.columns[: told.columns.index("persons")])


def _score_table(told: pl.DataFrame, names: Sequence[str]) -> WordTable:
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
