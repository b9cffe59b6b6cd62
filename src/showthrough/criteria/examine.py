"""One release, everything that the criteria say about it: levels, checks, negations, risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from showthrough.criteria.counts import Counted, of_release
from showthrough.criteria.criterion import Check, Checked
from showthrough.criteria.levels import of_counted, roles_of
from showthrough.criteria.negation import after_negations
from showthrough.errors import InputError
from showthrough.table.frames import to_polars


@dataclass(frozen=True, eq=False)
class Part:
    """What is found for one sensitive column."""

    sensitive: str | None
    counted: Counted
    levels: pl.DataFrame
    checks: tuple[Check, ...]
    negations: pl.DataFrame | None


@dataclass(frozen=True)
class Roles:
    """Which columns of a frame play which part; releases bring their own."""

    sensitive: tuple[str, ...] = ()
    quasi: tuple[str, ...] | None = None
    others: str = "alone"
    suppressed: str | None = None


def examine(
    release: Any,
    criteria: Sequence[Checked] = (),
    *,
    roles: Roles | None = None,
    reference: Any = None,
    negations: int = 0,
) -> list[Part]:
    """Levels, checks of ``criteria`` and what ``negations`` excluded values leave, per sensitive column."""
    roles = roles or Roles()
    parts = []
    for sensitive, counted in _counted(release, roles, reference):
        after = after_negations(counted, negations) if negations and counted.has_values else None
        checks = tuple(criterion.check(counted) for criterion in criteria)
        parts.append(Part(sensitive, counted, of_counted(counted), checks, after))
    return parts


def _counted(release: Any, roles: Roles, reference: Any) -> list[tuple[str | None, Counted]]:
    kind = {"suppressed": roles.suppressed, "reference": reference}
    if hasattr(release, "tally") and roles.quasi is None and set(roles.sensitive) <= {release.roles.sensitive}:
        return [(release.roles.sensitive, of_release(release, **kind))]
    frame: Any = release if hasattr(release, "tally") else to_polars(release)
    if len(roles.sensitive) < 2:
        only = roles.sensitive[0] if roles.sensitive else None
        return [(only, of_release(frame, only, roles.quasi, **kind))]
    if hasattr(frame, "tally"):
        if frame.kind == "bucketized":
            raise InputError("A bucketized release has one sensitive column: its values stand beside no person.")
        frame = frame.to_frame()
    return [
        (column, of_release(frame, column, roles_of(frame, column, roles.sensitive, roles.quasi, roles.others), **kind))
        for column in roles.sensitive
    ]
