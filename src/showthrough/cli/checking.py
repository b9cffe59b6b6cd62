"""What ``check`` does with each release, and where the answer goes."""

from __future__ import annotations

import json as encoder
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from showthrough.cli.common import out
from showthrough.cli.files import print_json, write_together
from showthrough.cli.limits import Limits
from showthrough.cli.subjects import Subject
from showthrough.criteria.examine import examine
from showthrough.criteria.levels import trees_of
from showthrough.criteria.risk import risk
from showthrough.errors import InputError
from showthrough.measuring.queries import Workload
from showthrough.measuring.utility import utility
from showthrough.report.check import Entry, show
from showthrough.table.hierarchy import Hierarchy


@dataclass(frozen=True)
class Beside:
    """What every release is looked at beside, and how closely."""

    table: pl.DataFrame | None
    population: pl.DataFrame | None
    trees: Mapping[str, Hierarchy]
    negations: int
    risk: str | None
    threshold: float
    queries: int
    seed: int
    id: str | None


def examined(subject: Subject, limits: Limits, beside: Beside) -> Entry:
    """Levels, limits, risk and utility of one release."""
    trees = trees_of(subject.found, beside.trees)
    parts = examine(
        subject.found,
        lambda sensitive: limits.criteria(sensitive, trees, beside.population),
        roles=subject.roles,
        reference=beside.table,
        negations=beside.negations,
        hierarchies=trees,
    )
    roles = subject.roles
    risked = None
    if beside.risk is not None:
        risked = risk(
            subject.found,
            quasi=roles.quasi,
            population=beside.population,
            threshold=beside.threshold,
            suppressed_cells=beside.risk,
            mark="*" if roles.suppressed is None else roles.suppressed,
        )
    useful = None
    if beside.table is not None:
        useful = utility(
            subject.release(),
            beside.table,
            id=beside.id if beside.id in beside.table.columns else None,
            suppressed=roles.suppressed,
            k=limits.k,
            hierarchies=trees,
            workload=Workload(beside.queries, seed=beside.seed) if beside.queries else 0,
        )
    return Entry(subject.name, subject.kind, tuple(parts), risked, useful)


def draw_trees(
    columns: Sequence[str], subjects: Sequence[Subject], beside: Beside, *, internal: bool
) -> dict[str, tuple[str, str]]:
    """The hierarchy of each column: where it comes from, and its tree; proposed where there is none."""
    found: dict[str, tuple[str, str]] = {}
    for name in columns:
        known = dict(beside.trees)
        for subject in subjects:
            known = {**trees_of(subject.found, None), **known}
        hierarchy = known.get(name)
        if hierarchy is None:
            column = _values(name, subjects, beside)
            if not internal:
                raise InputError(
                    f"There is no hierarchy of {name!r}. Give one with --hierarchy {name}=FILE; with --audience "
                    "internal one is proposed, which shows the values of the column."
                )
            hierarchy = Hierarchy.propose(column)
        found[name] = (hierarchy.rule, hierarchy.tree())
    return found


def _values(name: str, subjects: Sequence[Subject], beside: Beside) -> pl.Series:
    if beside.table is not None and name in beside.table.columns:
        return beside.table[name]
    for subject in subjects:
        column = subject.column(name)
        if column is not None:
            return column
    raise InputError(f"--tree names {name!r}, which is no column of what was read.")


def deliver(told: dict[str, Any], *, json: str | None, quiet: bool) -> None:
    """Tables to the terminal, JSON to a file or to stdout."""
    text = f"{encoder.dumps(told, ensure_ascii=False, indent=2)}\n".encode(errors="replace")
    if json == "-":
        print_json(text)
    elif not quiet:
        show(out(), told)
    if json not in (None, "-"):
        write_together(json=(str(json), text, told["audience"] == "internal"), people=None)
