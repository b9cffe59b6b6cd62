"""What the command publish does, without its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from showthrough.cli.inputs import pairs
from showthrough.cli.limits import Limits
from showthrough.errors import InputError
from showthrough.policy.policy import Policy
from showthrough.release.reading import read_release
from showthrough.release.release import Release
from showthrough.republishing.anonymize import anonymize
from showthrough.republishing.compare import compare
from showthrough.table.files import read_table
from showthrough.table.hierarchy import Hierarchy

Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Request:
    """Everything that the command line says."""

    table: Path
    limits: Limits
    roles: Mapping[str, Any]
    hierarchies: Sequence[str]
    population: Path | None
    history: Sequence[Path]
    coding: Sequence[str]
    policy: Policy | None
    plan: Path | None
    encoding: str | None
    options: Mapping[str, Any]

    def arguments(self) -> dict[str, Any]:
        """What `anonymize` is called with."""
        trees = {c: Hierarchy.read(file) for c, file in pairs("hierarchy", self.hierarchies).items()}
        people = None if self.population is None else read_table(self.population, encoding=self.encoding)
        criteria = self.limits.criteria(self.roles["sensitive"], trees, people)
        own = {c: tree for c, tree in trees.items() if c != self.roles["sensitive"]}
        return {
            **self.roles,
            **self.options,
            "criteria": criteria,
            "hierarchies": own,
            "limits": _codings(self.coding),
            "history": [read_release(folder) for folder in self.history],
            "plan": self.plan,
        }


def published(request: Request, progress: Progress) -> Release:
    """Make the release that was asked for."""
    table = read_table(request.table, encoding=request.encoding)
    return anonymize(table, policy=request.policy, progress=progress, **request.arguments())


def compared(request: Request, progress: Progress) -> pl.DataFrame:
    """All strategies on the same table."""
    table = read_table(request.table, encoding=request.encoding)
    arguments = request.arguments()
    if arguments["id"] is None:
        raise InputError("Strategies are compared by what they tell of persons: name the id column with --id.")
    limit = None if request.policy is None else request.policy.max_posterior

    def make(strategy: str) -> Release:
        policy = request.policy if strategy == "guarded" else None
        if strategy == "guarded" and policy is None:
            raise InputError("The guard needs a limit, such as --max-posterior 0.5.")
        return anonymize(table, policy=policy, **{**arguments, "strategy": strategy})

    return compare(
        make,
        arguments["history"],
        table=table,
        id=arguments["id"],
        limit=limit,
        changed=arguments["changed"],
        progress=progress,
    )


def _codings(given: Sequence[str]) -> dict[str, tuple[float | None, float | None]]:
    found = {}
    for entry in given:
        column, _, ends = entry.partition("=")
        low, colon, high = ends.partition(":")
        try:
            found[column] = (float(low) if low.strip() else None, float(high) if high.strip() else None)
        except ValueError:
            colon = ""
        if not column or not colon:
            raise InputError(f"--coding takes COLUMN=LOW:HIGH, such as age=:90, not {entry!r}.")
    return found
