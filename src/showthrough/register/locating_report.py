"""How well persons can be located in a release, and why some fit nowhere: counts only, never a value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from showthrough.register.attribute import Attribute, Candidates, matched
from showthrough.table.arrays import Flags
from showthrough.table.ragged import items_of

ONE, SEVERAL, NONE = "one group", "several groups", "no group"
ONE_COLUMN = "no cell of this column covers the value"
MORE_COLUMNS = "values of several columns are covered by no cell"
TOGETHER = "each value is covered by some cell, but no group covers all"
SCHEMA = {
    "release": pl.String,
    "fits": pl.String,
    "reason": pl.String,
    "column": pl.String,
    "persons": pl.Int64,
    "share": pl.Float64,
    "unknown": pl.Int64,
    "with_others": pl.Int64,
}


def locatability(attributes: Sequence[Attribute], candidates: Candidates, *, release: str = "") -> pl.DataFrame:
    """Persons by how many groups they fit; those who fit none by the reason.

    ``persons`` of all rows sum to the register. ``unknown`` counts those among them with at least one
    unknown value. ``with_others`` counts, for a column, the persons whose value it does not cover and
    for whom other columns fail too (they stand in the row "values of several columns").
    """
    persons = candidates.persons
    matched(persons, attributes[0].group.size if attributes else 0, list(attributes))
    counts = candidates.counts
    unknown = np.zeros(persons, dtype=bool)
    uncovered = np.zeros((len(attributes), persons), dtype=bool)
    for a, attribute in enumerate(attributes):
        unknown |= attribute.person < 0
        covered = _covered(attribute)
        if not covered.all():
            uncovered[a] = ~covered[attribute.person]
    failing = np.zeros(persons, dtype=np.int32)
    for row in uncovered:
        failing += row
    nowhere = counts == 0
    parts: list[tuple[str, str | None, str | None, Flags, int | None]] = [
        (ONE, None, None, counts == 1, None),
        (SEVERAL, None, None, counts > 1, None),
    ]
    for a, attribute in enumerate(attributes):
        others = int(np.count_nonzero(uncovered[a] & (failing > 1)))
        parts.append((NONE, ONE_COLUMN, attribute.name, uncovered[a] & (failing == 1), others))
    parts.append((NONE, MORE_COLUMNS, None, failing > 1, None))
    parts.append((NONE, TOGETHER, None, nowhere & (failing == 0), None))
    rows = [
        (
            release,
            fits,
            reason,
            column,
            np.count_nonzero(who),
            np.count_nonzero(who) / max(persons, 1),
            np.count_nonzero(who & unknown),
            n,
        )
        for fits, reason, column, who, n in parts
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _covered(attribute: Attribute) -> Flags:
    """Whether a cell that some group has covers each value; the last entry is for an unknown one (−1)."""
    used = np.unique(attribute.group)
    covered = np.full(attribute.values + 1, bool(used.size) and bool(attribute.everything[used].any()))
    at, _ = items_of(attribute.start, used)
    runs = np.zeros(covered.size, dtype=np.int64)  # that begin at a value, less those that end there
    np.add.at(runs, attribute.low[at], 1)
    np.subtract.at(runs, attribute.high[at], 1)
    covered |= np.cumsum(runs) > 0
    covered[-1] = True
    return covered
