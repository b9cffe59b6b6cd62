"""What a check found, as JSON content and as tables for a terminal.

``shareable`` content holds counts and levels only; ``internal`` names the worst groups by their
labels, which may single out a person.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from showthrough import __version__
from showthrough.criteria.criterion import Check, persons, text
from showthrough.criteria.examine import Part
from showthrough.criteria.risk import Risk
from showthrough.report.printable import printable

SCHEMA = "showthrough.check"
VERSION = 1


def content(name: str, parts: Sequence[Part], risk: Risk | None, *, audience: str) -> dict[str, Any]:
    """Everything as one JSON object; infinity is written as text."""
    checks = [check for part in parts for check in part.checks]
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "showthrough": __version__,
        "audience": audience,
        "release": name,
        "holds": all(check.holds for check in checks) if checks else None,
        "results": [_part(part, audience) for part in parts],
        "risk": None if risk is None else _plain(dataclasses.asdict(risk)),
    }


def _part(part: Part, audience: str) -> dict[str, Any]:
    counts = part.counted.counts
    return {
        "sensitive": part.sensitive,
        "persons": int(counts.size.sum()),
        "groups": counts.groups,
        "values": counts.values if part.counted.has_values else None,
        "suppressed": part.counted.suppressed,
        "levels": [_plain(row) for row in part.levels.iter_rows(named=True)],
        "checks": [_check(check, audience) for check in part.checks],
        **({} if part.negations is None else {"negations": _rows(part.negations)}),
    }


def _check(check: Check, audience: str) -> dict[str, Any]:
    return {
        "criterion": check.criterion,
        "holds": check.holds,
        "level": _plain(check.level),
        "failing_groups": check.failing_groups,
        "failing_persons": check.failing_persons,
        "sentence": check.sentence,
        "worst": _worst(check, audience),
    }


def _worst(check: Check, audience: str) -> list[dict[str, Any]]:
    """Size and level of the worst groups; their labels for the internal audience."""
    *labels, size, level = check.worst.get_columns()
    found = []
    for row in range(check.worst.height):
        entry: dict[str, Any] = {"persons": size[row], "level": _plain(level[row])}
        if audience == "internal":
            entry["group"] = {column.name: _plain(column[row]) for column in labels}
        found.append(entry)
    return found


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return [_plain(row) for row in frame.iter_rows(named=True)]


def _plain(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _plain(entry) for key, entry in found.items()}
    if isinstance(found, float) and not math.isfinite(found):
        return str(found)
    return found if found is None or isinstance(found, (str, int, float)) else str(found)


def show(console: Console, told: dict[str, Any]) -> None:
    """The same content as tables and sentences."""
    for part in told["results"]:
        column = f" of {part['sensitive']}" if part["sensitive"] and len(told["results"]) > 1 else ""
        gone = f", {part['suppressed']} rows in no group" if part["suppressed"] else ""
        title = f"Levels{column}: {part['persons']} persons in {part['groups']} groups{gone}"
        console.print(_table(title, ("criterion", "level", ""), [_level(row) for row in part["levels"]]))
        if "negations" in part:
            console.print()
            for row in part["negations"]:
                console.print(Text(f"• {row['sentence']}"))
        for check in part["checks"]:
            console.print()
            _show_check(console, check)
    if told["risk"] is not None:
        console.print()
        console.print(Text(_risk(told["risk"])))
    failed = any(not c["holds"] for part in told["results"] for c in part["checks"])
    if failed and told["audience"] != "internal":
        console.print(Text("Which groups: --audience internal names them.", style="dim"))


def _show_check(console: Console, check: dict[str, Any]) -> None:
    style = "bold green" if check["holds"] else "bold red"
    console.print(Text(printable(f"{'pass' if check['holds'] else 'FAIL'}  {check['sentence']}"), style=style))
    if check["holds"]:
        return
    if "group" not in check["worst"][0]:
        console.print(Text(f"      Worst: {_alike(check['worst'])}.", style="dim"))
        return
    rows = []
    for entry in check["worst"]:
        label = ", ".join(f"{name} {cell}" for name, cell in entry["group"].items())
        rows.append((label or "everybody", _number(entry["level"]), persons(entry["persons"])))
    console.print(_table("Worst groups", ("group", "level", "size"), rows))


def _alike(worst: Sequence[dict[str, Any]]) -> str:
    """Groups without names, those of the same size and level told together."""
    found = Counter((entry["persons"], _number(entry["level"])) for entry in worst)
    told = [
        f"{'a group' if n == 1 else f'{n} groups'} of {persons(size)}{'' if n == 1 else ' each'} at level {level}"
        for (size, level), n in found.items()
    ]
    return ", ".join(told)


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=Text(printable(title)), title_justify="left", title_style="bold")
    for k, name in enumerate(names):
        table.add_column(name, justify="right" if k == 1 else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def _level(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["criterion"], _number(row["level"]), row["sentence"]


def _number(level: Any) -> str:
    return "∞" if level == "inf" else str(level) if isinstance(level, str) else text(level)


def _risk(risk: dict[str, Any]) -> str:
    prosecutor, journalist = risk["prosecutor"], risk["journalist"]
    told = (
        f"Re-identification (suppressed cells as {risk['suppressed_cells']}): {risk['uniques']} of {risk['records']} "
        f"records are unique. Prosecutor: {_adversary(prosecutor)} above {text(risk['threshold'])}."
    )
    if journalist is not None:
        told += f" Journalist: {_adversary(journalist)} above it."
    return f"{told} Marketer: {100 * risk['marketer']:.3g} % of records expected to be found."


def _adversary(found: dict[str, Any]) -> str:
    return (
        f"{found['highest']:.3g} at worst, {found['average']:.3g} on average, {100 * found['above']:.3g} % of records"
    )
