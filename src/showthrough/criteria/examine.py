"""One release, everything that the criteria say about it: levels, checks, negations, risk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from showthrough.criteria.counts import Counted
from showthrough.criteria.criterion import Check, Criterion
from showthrough.criteria.levels import of_counted, trees_of
from showthrough.criteria.negation import after_negations
from showthrough.criteria.several import FrameRoles, count_each


@dataclass(frozen=True, eq=False)
class Examined:
    """What is found for one sensitive column."""

    sensitive: str | None
    counted: Counted
    levels: pl.DataFrame
    checks: tuple[Check, ...]
    negations: pl.DataFrame | None


def examine(
    release: Any,
    criteria: Sequence[Criterion] | Callable[[str | None], Sequence[Criterion]] = (),
    *,
    roles: FrameRoles | None = None,
    reference: Any = None,
    negations: int = 0,
    hierarchies: Mapping[str, Any] | None = None,
) -> list[Examined]:
    """Levels, checks and what ``negations`` excluded values leave, per sensitive column.

    ``criteria`` may be a function of the sensitive column, where they depend on its hierarchy.
    """
    roles, parts = roles or FrameRoles(), []
    trees = trees_of(release, hierarchies)
    for sensitive, counted in count_each(release, roles, reference):
        after = after_negations(counted, negations) if negations and counted.has_values else None
        asked = criteria(sensitive) if callable(criteria) else criteria
        checks = tuple(criterion.check(counted) for criterion in asked)
        parts.append(Examined(sensitive, counted, of_counted(counted, trees.get(sensitive or "")), checks, after))
    return parts
