"""What a check found, as JSON content and as tables for a terminal.

``shareable`` content holds counts and levels only; ``internal`` names the worst groups by their
labels, which may single out a person.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from rich.console import Console
from rich.text import Text

from showthrough import __version__
from showthrough.criteria.criterion import Check, persons, text
from showthrough.criteria.examine import Examined
from showthrough.criteria.risk import Risk
from showthrough.measuring.measure import Utility
from showthrough.report.printable import printable
from showthrough.report.tables import Column, WordTable

SCHEMA = "showthrough.check"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Entry:
    """What was found of one release."""

    name: str
    kind: str | None
    parts: tuple[Examined, ...]
    risk: Risk | None = None
    utility: Utility | None = None

    @property
    def holds(self) -> bool | None:
        """Whether all limits hold; None without limits."""
        checks = [check.holds for part in self.parts for check in part.checks]
        return all(checks) if checks else None


def content(
    entries: Sequence[Entry], *, audience: str, trees: Mapping[str, tuple[str, str]] | None = None
) -> dict[str, Any]:
    """Everything as one JSON object; infinity is written as text."""
    held = [entry.holds for entry in entries if entry.holds is not None]
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "showthrough": __version__,
        "audience": audience,
        "holds": all(held) if held else None,
        "releases": [_entry(entry, audience) for entry in entries],
        **({"trees": {name: {"rule": rule, "tree": tree} for name, (rule, tree) in trees.items()}} if trees else {}),
    }


def _entry(entry: Entry, audience: str) -> dict[str, Any]:
    return {
        "release": entry.name,
        "kind": entry.kind,
        "holds": entry.holds,
        "results": [_part(part, audience) for part in entry.parts],
        "risk": None if entry.risk is None else _plain(dataclasses.asdict(entry.risk)),
        "utility": None if entry.utility is None else _plain(dataclasses.asdict(entry.utility)),
    }


def _part(part: Examined, audience: str) -> dict[str, Any]:
    counts = part.counted.counts
    return {
        "sensitive": part.sensitive,
        "persons": int(counts.size.sum()),
        "groups": counts.groups,
        "values": counts.values if part.counted.has_values else None,
        "suppressed": part.counted.suppressed,
        "counterfeits": 0 if part.counted.real is None else int(counts.size.sum() - part.counted.real.sum()),
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
    if isinstance(found, (list, tuple)):
        return [_plain(entry) for entry in found]
    if isinstance(found, float) and not math.isfinite(found):
        return str(found)
    return found if found is None or isinstance(found, (str, int, float)) else str(found)


def show(console: Console, told: dict[str, Any]) -> None:
    """The same content as tables and sentences."""
    for name, tree in told.get("trees", {}).items():
        console.print(Text(printable(f"Hierarchy of {name} ({tree['rule']})"), style="bold"))
        console.print(Text("\n".join(printable(line) for line in tree["tree"].split("\n"))))
        console.print()
    for k, entry in enumerate(told["releases"]):
        if len(told["releases"]) > 1:
            console.print(Text(printable(f"{'' if k == 0 else chr(10)}{entry['release']}"), style="bold underline"))
        _show_entry(console, entry)
    checks = [c for entry in told["releases"] for part in entry["results"] for c in part["checks"]]
    if any(not c["holds"] for c in checks) and told["audience"] != "internal":
        console.print(Text("Which groups: --audience internal names them.", style="dim"))


def _show_entry(console: Console, entry: dict[str, Any]) -> None:
    for part in entry["results"]:
        console.print(
            _table(_title(part, several=len(entry["results"]) > 1), ("criterion", "level", ""), _levels(part))
        )
        if "negations" in part:
            console.print()
            for row in part["negations"]:
                console.print(Text(f"• {row['sentence']}"))
        for check in part["checks"]:
            console.print()
            _show_check(console, check)
    if entry["risk"] is not None:
        console.print()
        console.print(Text(_risk(entry["risk"])))
    if entry["utility"] is not None:
        console.print()
        console.print(_table("Utility against the table", ("measure", "level", ""), _utility(entry["utility"])))
        for note in entry["utility"]["notes"]:
            console.print(Text(printable(f"• {note}")))


def _title(part: dict[str, Any], *, several: bool) -> str:
    column = f" of {part['sensitive']}" if part["sensitive"] and several else ""
    gone = f", {part['suppressed']} rows in no group" if part["suppressed"] else ""
    if part["counterfeits"]:
        real = part["persons"] - part["counterfeits"]
        return (
            f"Levels{column}: {real} persons and {part['counterfeits']} counterfeits in {part['groups']} groups{gone}"
        )
    return f"Levels{column}: {part['persons']} persons in {part['groups']} groups{gone}"


def _levels(part: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(row["criterion"], _number(row["level"]), row["sentence"]) for row in part["levels"]]


MEASURES = (
    ("gcp_published", "GCP as published", "Share of the quasi-identifiers lost in the cells as they are printed."),
    ("gcp_set", "GCP of sets", "The same if each group printed the values really in it."),
    ("gcp_hierarchy", "GCP of hierarchies", "The same if each group printed the lowest common ancestor of its values."),
    ("entropy_loss", "entropy loss", "Bits of the quasi-identifiers lost, as a share of all."),
    ("average_size", "average group size", "Kept rows per group."),
    ("c_avg", "C_avg", "Average group size over k: 1 is the best that k allows."),
    ("discernibility", "discernibility", "Sum of squared group sizes; a suppressed row costs as much as the table."),
    ("query_error_median", "query error, median", "Relative error of random counting queries."),
    ("query_error_mean", "query error, mean", "The same on average."),
)


def _utility(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(name, _number(found[key]), told) for key, name, told in MEASURES if found[key] is not None]


def _show_check(console: Console, check: dict[str, Any]) -> None:
    style = "bold green" if check["holds"] else "bold red"
    console.print(Text(printable(f"{'pass' if check['holds'] else 'FAIL'}  {check['sentence']}"), style=style))
    if check["holds"]:
        return
    if "group" not in check["worst"][0]:
        more = check["failing_groups"] - len(check["worst"])
        rest = f", and {more} more fail" if more > 0 else ""
        console.print(Text(f"      Worst: {_alike(check['worst'])}{rest}.", style="dim"))
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


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> WordTable:
    return WordTable(title, [Column(name, whole=name == "level") for name in names], rows)


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
