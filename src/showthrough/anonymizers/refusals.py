"""Sentences for tables that cannot satisfy a criterion: which value is too frequent, and what would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import text
from showthrough.criteria.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    RecursiveLDiversity,
)
from showthrough.criteria.m_uniqueness import MUniqueness
from showthrough.errors import InputError
from showthrough.numerals import number_of
from showthrough.said import private
from showthrough.table.arrays import Ints

_BEST_EVEN = (DistinctLDiversity, EntropyLDiversity, FrequencyLDiversity, RecursiveLDiversity, MUniqueness)
"""Criteria that a group satisfies best in which all values are equally frequent."""


def out_of_reach(
    count: Ints, values: pl.Series, criteria: Sequence[Any], *, spare: int = 0, of: str = ""
) -> InputError | None:
    """Why no grouping of a table with these counts of values can satisfy the criteria; None if one may.

    Every criterion here is monotone: what fails for the table as one group fails for some group of any grouping.
    ``spare`` rows may be left out; then it is only said where so few, or any number of them, are known not to do.
    ``of`` names the column.
    """
    whole = _one_group(count, values)
    failing = next((c for c in criteria if not c.met(c.level(whole))[0]), None)
    if failing is None:
        return None
    rows, top = int(count.sum()), int(count.argmax())
    level = float(failing.level(whole)[0])
    fewest = _fewest_rows(failing, count, values, top) if failing.needs_values else None
    if spare and (fewest is None or fewest <= spare) and not _whoever_is_left_out(failing, count, values):
        return None
    asked = f"{failing} of {of}" if of else str(failing)
    found = (
        f"No grouping of this table satisfies {asked}: already the whole table as one group fails it. "
        f"{failing.says(level)}"
    )
    if not failing.needs_values:
        return InputError(found)
    share = 100 * count[top] / rows
    value = private(f", {values[top]!r},", "")
    frequent = f" Its most frequent value{value} makes up {share:.1f} % of the {rows} rows."
    rows_out = "" if fewest is None else f"leave out {number_of(fewest, 'row')} with that value"
    ways = [*_weaker(failing, level), *([rows_out] if rows_out else [])]
    advice = f" {' or '.join(ways).capitalize()}." if ways else " Weaken the criterion or join rare values."
    allowed = f" At most {number_of(spare, 'row')} may be suppressed." if spare else ""
    return InputError(f"{found}{frequent}{allowed}{advice}")


def too_few_values(values: pl.Series, criteria: Sequence[Any]) -> InputError | None:
    """Why no groups at all satisfy the criteria, whatever is left out or added: too few values; None if some may."""
    count = np.ones(values.len(), dtype=np.int64)
    failing = next((c for c in criteria if isinstance(c, _BEST_EVEN) and _whoever_is_left_out(c, count, values)), None)
    if failing is None:
        return None
    ways = _weaker(failing, float(failing.level(_one_group(count, values))[0]))
    return InputError(
        f"{failing} takes more different values than the {values.len()} that the table and its past have, so that no "
        f"groups satisfy it, whatever is held back or added. {' or '.join(ways).capitalize() or 'Weaken it'}."
    )


def _one_group(count: Ints, values: pl.Series) -> GroupCounts:
    there = np.flatnonzero(count)
    ends = np.array([0, there.size], dtype=np.int64)
    return GroupCounts(ends, there.astype(np.int32), count[there].astype(np.int64), count, values)


def _whoever_is_left_out(criterion: Any, count: Ints, values: pl.Series) -> bool:
    """Whether a criterion on values fails although all values there are were equally frequent, once each or often."""
    if not criterion.needs_values:
        return False
    even = ((count > 0) * often for often in (1, int(count.sum())))
    return not any(criterion.met(criterion.level(_one_group(one, values)))[0] for one in even)


def _weaker(criterion: Any, level: float) -> list[str]:
    """The strongest form that the table itself satisfies."""
    if not np.isfinite(level):
        return []
    if criterion.more_is_better:
        down = np.floor(level * 1000) / 1000
        return [f"lower {criterion.name} to {text(float(down))}"]
    return [f"raise the limit of {criterion.name} above {text(float(np.ceil(level * 1000) / 1000))}"]


def _fewest_rows(criterion: Any, count: Ints, values: pl.Series, top: int) -> int | None:
    """The fewest rows with the most frequent value that must be left out, where that helps."""
    others = np.delete(count, top)
    most = int(count[top] - others.max(initial=0))

    def holds(less: int) -> bool:
        left = count.copy()
        left[top] -= less
        return bool(left.sum()) and bool(criterion.met(criterion.level(_one_group(left, values)))[0])

    if most < 1 or not holds(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
