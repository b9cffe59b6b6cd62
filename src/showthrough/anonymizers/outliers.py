"""Mondrian with a suppression limit: records that lie alone are left out, and the rest is cut.

A suppressed record loses everything, so leaving it out pays only where the others' groups get that much
tighter: several numbers of records are tried and what loses least is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from showthrough.anonymizers.grouping_cost import grouping_cost
from showthrough.anonymizers.k_member import density
from showthrough.anonymizers.mondrian import MondrianResult, mondrian
from showthrough.anonymizers.quasi_columns import QuasiColumn, row_count
from showthrough.anonymizers.requirement import Requirement
from showthrough.anonymizers.trimming import trimmed
from showthrough.errors import InputError
from showthrough.table.arrays import Ints, Reals

SHARES = (0.0, 0.25, 0.5, 1.0)
"""Parts of the limit that are tried."""


def mondrian_without_outliers(
    columns: Sequence[QuasiColumn],
    requirement: Requirement,
    *,
    limit: int,
    relaxed: bool = False,
    seed: int = 0,
    factors: Reals | None = None,
    objective: str = "loss",
) -> MondrianResult:
    """The cuts that lose least, by the objective, with at most ``limit`` records in no group (-1)."""
    rows = row_count(columns)
    lonely = np.argsort(density(columns, np.random.default_rng(seed)), kind="stable")
    surplus = _surplus(requirement, lonely)
    if len(surplus) > limit:
        raise InputError(
            f"{len(surplus)} of {rows} rows would have to be suppressed, at most {limit} are allowed: "
            f"raise the limit or weaken the requirement."
        )
    others = lonely[~np.isin(lonely, surplus)]
    best: tuple[float, MondrianResult] | None = None
    for share in SHARES:
        out = np.concatenate([surplus, others[: int(share * (limit - len(surplus)))]])
        kept = np.setdiff1d(np.arange(rows), out)
        part = requirement.part(kept)
        if len(kept) < requirement.k or not part.met(np.zeros(len(kept), dtype=np.int64), 1)[0]:
            continue
        some = [replace(column, codes=column.codes[kept]) for column in columns]
        found = mondrian(some, part, relaxed=relaxed, seed=seed, factors=factors)
        group = np.full(rows, -1, dtype=np.int32)
        group[kept] = found.group
        lost = grouping_cost(columns, group, objective, rows)
        if best is None or lost < best[0]:
            best = lost, replace(found, group=group)
    if best is None:
        raise InputError("No part of the table satisfies the requirement as one group: weaken it or allow more rows.")
    return best[1]


def _surplus(requirement: Requirement, lonely: Ints) -> Ints:
    """Records without which the table as one group satisfies the requirement, the loneliest of each value."""
    whole = np.zeros(len(lonely), dtype=np.int64)
    if requirement.sensitive is None or len(lonely) < requirement.k or requirement.met(whole, 1)[0]:
        return lonely[:0]
    value, count = np.unique(requirement.sensitive, return_counts=True)
    ends = np.array([0, len(value)])
    kept = max(
        (trimmed(requirement, ends, value.astype(np.int64), count, relative=relative) for relative in (False, True)),
        key=lambda one: int(one.sum()),
    )
    return np.concatenate(
        [
            lonely[requirement.sensitive[lonely] == code][:gone]
            for code, gone in zip(value.tolist(), (count - kept).tolist(), strict=True)
        ]
    )
