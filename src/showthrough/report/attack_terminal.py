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
    for belief, meant in outcome.meanings.items():
        if "belief" in outcome.rates.columns or score is not None:
            console.print(words(f"{belief}: {meant}.", "dim"))
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
    console: Console,
    table: pl.DataFrame,
    scores: pl.DataFrame | None,
    wants: Mapping[str, str],
    not_run: Mapping[str, str],
) -> None:
    """One table of all rates, what each attacker wants, one table of all scores, and why others were not run."""
    names = ["attack", "measure"]
    figures = ("persons", "of", "share", "baseline")  # intervals are told attack by attack, where there is room
    heads = [*(Column(name) for name in names), *(Column(c, whole=True) for c in figures)]
    rows = [
        [*_row(row, names)[:-1], "–" if row["baseline"] is None else str(row["baseline"])]
        for row in table.iter_rows(named=True)
    ]
    console.print(WordTable("All attacks: persons exposed", heads, rows))
    if wants:
        console.print()
        console.print(words("Exposed: what the attacker wants", "bold"))
    for name, told in wants.items():
        console.print(words(f"{name}: {told}."))
    if scores is not None:
        console.print()
        console.print(_score_table(scores.drop("low", "high"), ["attack", "belief"]))
    if not_run:
        console.print()
        console.print(words("Not run (… stands for the files and options of this command)", "bold"))
    for name, why in not_run.items():
        console.print(words(f"{name}: {why}"))


def _rates(outcome: Outcome) -> WordTable:
    every = outcome.rates.columns
    names = every[: every.index("persons")]
    columns = [*(Column(name) for name in names), *(Column(c, whole=True) for c in ("persons", "of", "share", "95 %"))]
    rows = [[*_row(row, names), _beside(outcome.beside(row), row["of"])] for row in outcome.rates.iter_rows(named=True)]
    return WordTable(f"Attack {outcome.attack}: persons exposed", [*columns, Column("baseline", whole=True)], rows)


def _beside(baseline: tuple[int, int] | None, of: int) -> str:
    """The baseline of a rate; among whom, where those are others."""
    if baseline is None:
        return "–"
    return str(baseline[0]) if baseline[1] == of else f"{baseline[0]} of {baseline[1]}"


def _row(row: dict[str, Any], names: list[str]) -> list[str]:
    share = "–" if row["share"] is None else f"{100 * row['share']:.1f} %"
    ends = f"{100 * row['low']:.1f}–{100 * row['high']:.1f} %"
    return [*(str(row[name]) for name in names), str(row["persons"]), str(row["of"]), share, ends]


def _scores(score: Score) -> WordTable:
    told = score.told()
    return _score_table(told, told.columns[: told.columns.index("persons")])


def _score_table(told: pl.DataFrame, names: Sequence[str]) -> WordTable:
    figures = {
        "persons": "persons",
        "accuracy": "right",
        "low": "95 %",
        "brier": "Brier",
        "calibration_error": "calibration error",
    }
    figures["decile"] = "right in the most confident tenth"
    figures = {name: head for name, head in figures.items() if name in told.columns}
    columns = [*(Column(name) for name in names), *(Column(head, whole=True) for head in figures.values())]
    rows = [
        [*(str(row[name]) for name in names), *(_figure(name, row) for name in figures)]
        for row in told.iter_rows(named=True)
    ]
    return WordTable(
        "Beside the truth", columns, rows, caption="Figures of too few right or wrong guesses are left out."
    )


def _figure(name: str, row: dict[str, Any]) -> str:
    found = row[name]
    if found is None:
        return "–"
    if name == "low":
        return f"{100 * found:.1f}–{100 * row['high']:.1f} %"
    if name == "persons":
        return str(found)
    return f"{100 * found:.1f} %" if name in ("accuracy", "decile") else f"{found:.4f}"
