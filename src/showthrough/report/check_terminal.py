"""Checked releases as tables and sentences for a terminal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from showthrough.criteria.criterion import persons, text
from showthrough.numerals import number_of
from showthrough.report.check import (
    CheckContent,
    Limit,
    ReleaseContent,
    ResultContent,
    RiskContent,
    TellingContent,
    WorstGroup,
)
from showthrough.report.figure import Figures
from showthrough.report.printable import words
from showthrough.report.tables import Column, WordTable
from showthrough.report.terminal import Hints


def show_check(console: Console, told: CheckContent, *, hints: Hints | None = None) -> None:
    """All that the content holds."""
    for name, tree in told.trees.items():
        console.print(words(f"Hierarchy of {name} ({tree.rule})", "bold"))
        console.print(words(tree.tree, lines=True))
        console.print()
    for k, entry in enumerate(told.releases):
        if len(told.releases) > 1:
            if k:
                console.print()
            console.print(words(entry.release, "bold underline"))
        _show_release(console, entry)
    if told.holds is False and told.audience != "internal" and hints is not None:
        console.print(words(hints.internal, "dim"))


def _show_release(console: Console, entry: ReleaseContent) -> None:
    for result in entry.results:
        title = _title(result, several=len(entry.results) > 1)
        rows = [(figure.name, _number(figure.value), figure.meaning) for figure in result.levels]
        console.print(_table(title, ("criterion", "level", ""), rows))
        if result.negations is not None:
            console.print()
            for row in result.negations:
                console.print(words(f"• {row['sentence']}"))
        for limit in result.limits:
            console.print()
            _show_limit(console, limit)
    if entry.risk is not None:
        console.print()
        console.print(words(_risk(entry.risk)))
    if entry.telling is not None:
        console.print()
        _show_telling(console, entry.telling)
    if entry.utility is not None:
        console.print()
        measured = [(figure.label, _number(figure.value), figure.meaning) for figure in entry.utility.measures()]
        console.print(_table("Utility against the table", ("measure", "level", ""), measured))
        for note in entry.utility.notes:
            console.print(words(f"• {note}"))


def _show_telling(console: Console, told: TellingContent) -> None:
    shares = ("distinction", "separation", "unique")
    rows = [(", ".join(one["columns"]), *(f"{100 * one[name]:.3g} %" for name in shares)) for one in told.sets]
    looked = number_of(told.figures["looked_at"], "set")
    part = "" if told.figures["complete"] else ", not all there are"
    title = f"Columns that tell {number_of(told.figures['rows'], 'row')} apart: best of {looked}{part}"
    names = ("columns", "different rows", "pairs told apart", "unique rows")
    console.print(WordTable(title, [Column(name, whole=name != "columns") for name in names], rows))


def _title(result: ResultContent, *, several: bool) -> str:
    told = result.figures
    column = f" of {result.sensitive}" if result.sensitive and several else ""
    gone = f", {number_of(told['suppressed'], 'row')} in no group" if told["suppressed"] else ""
    who = persons(told["persons"])
    if told["counterfeits"]:
        fake = "1 counterfeit" if told["counterfeits"] == 1 else f"{told['counterfeits']} counterfeits"
        who = f"{persons(told['persons'] - told['counterfeits'])} and {fake}"
    groups = "1 group" if told["groups"] == 1 else f"{told['groups']} groups"
    return f"Levels{column}: {who} in {groups}{gone}"


def _show_limit(console: Console, limit: Limit) -> None:
    style = "bold green" if limit.holds else "bold red"
    console.print(words(f"{'pass' if limit.holds else 'FAIL'}  {limit.sentence}", style))
    if limit.holds:
        return
    if limit.worst[0].group is None:
        more = limit.failing_groups - len(limit.worst)
        rest = f", and {more} more fail" if more > 0 else ""
        console.print(words(f"      Worst: {_alike(limit.worst)}{rest}.", "dim"))
        return
    rows = []
    for entry in limit.worst:
        label = ", ".join(f"{name} {cell}" for name, cell in (entry.group or {}).items())
        rows.append((label or "everybody", _number(entry.level), persons(entry.persons)))
    console.print(_table("Worst groups", ("group", "level", "size"), rows))


def _alike(worst: Sequence[WorstGroup]) -> str:
    """Groups without names, those of the same size and level told together."""
    found = Counter((entry.persons, _number(entry.level)) for entry in worst)
    told = [
        f"{'a group' if n == 1 else f'{n} groups'} of {persons(size)}{'' if n == 1 else ' each'} at level {level}"
        for (size, level), n in found.items()
    ]
    return ", ".join(told)


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> WordTable:
    return WordTable(title, [Column(name, whole=name == "level") for name in names], rows)


def _number(level: Any) -> str:
    return "nan" if math.isnan(level) else text(level)


def _risk(told: RiskContent) -> str:
    risk = told.figures
    lines = (
        f"Re-identification (suppressed cells as {risk['suppressed_cells']}): {risk['uniques']} of {risk['records']} "
        f"records are unique. Prosecutor: {_adversary(told.prosecutor)} above {text(risk['threshold'])}."
    )
    if told.journalist is not None:
        lines += f" Journalist: {_adversary(told.journalist)} above it."
    lines += f" Marketer: {100 * risk['marketer']:.3g} % of records expected to be found."
    return f"{lines} {told.sentence}" if told.sentence else lines


def _adversary(found: Figures) -> str:
    return (
        f"{found['highest']:.3g} at worst, {found['average']:.3g} on average, {100 * found['above']:.3g} % of records"
    )
