"""What a grouping costs by an objective, cell by cell and class by class as they are printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from showthrough.anonymizers.group_loss import common_level, group_ends, merge_alike
from showthrough.anonymizers.level_range import grounded
from showthrough.anonymizers.objectives import BY_CLASSES, cell_losses, cell_scale, class_cost
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.table.arrays import Codes, Ints, Reals
from showthrough.table.ragged import running, starts


def cheapest(columns: Sequence[QuasiColumn], groupings: Iterable[Codes], name: str, rows: int) -> tuple[Codes, float]:
    """The grouping with the least cost, the first of those that cost the same; and the cost."""
    found = [(grouping_cost(columns, group, name, rows), nth, group) for nth, group in enumerate(groupings)]
    cost, _, group = min(found, key=lambda one: one[:2])
    return group, cost


def grouping_cost(columns: Sequence[QuasiColumn], group: Codes, name: str, rows: int) -> float:
    """The objective of groups 0, 1, … (-1: suppressed); the first ``rows`` records are published, others only fit."""
    if not rows:
        return 0.0
    if name in BY_CLASSES:
        seen = merge_alike([grounded(column) for column in columns], group)[:rows]
        size = np.bincount(seen[seen >= 0])
        size = np.append(size[size > 0], np.count_nonzero(seen < 0))
        return class_cost(name, size, np.arange(len(size)) < len(size) - 1)
    mine = [replace(column, codes=column.codes[:rows]) for column in columns]
    losses, gone = cell_losses(mine, name)
    scale = cell_scale(mine, name).tolist()
    order = np.argsort(group, kind="stable")[np.count_nonzero(group < 0) :]
    start = starts(np.bincount(group[order]))[:-1] if len(order) else order
    own, lost = group[:rows], 0.0
    kept = own >= 0
    for j, column in enumerate(mine):
        lost += float(gone[j][column.codes[~kept]].sum())
        if not kept.any():
            continue
        code, of = column.codes[kept], own[kept]
        if column.shown == "label":
            low, high = group_ends(columns[j].rank[columns[j].codes], order, start)
            level = np.maximum(common_level(column, low, high), column.least)
            lost += float(np.stack(losses[j])[level[of], code].sum())
            continue
        often = np.bincount(column.codes, minlength=column.size)
        inside, width = _fitting(columns[j], often, group, order, start)
        lost += scale[j] * float(np.log2(inside[of] / often[code]).sum() if name == "entropy" else width[of].sum())
    return lost / rows


def _fitting(column: QuasiColumn, often: Ints, group: Codes, order: Ints, start: Ints) -> tuple[Reals, Reals]:
    """For the cell of each group, a range or set: rows of the table that fit it, and its NCP."""
    if column.shown == "range" and column.values is not None:
        low, high = group_ends(column.codes, order, start)
        upto = running(often)
        width = (column.values[high] - column.values[low]) / (column.extent or 1.0)
        return (upto[high + 1] - upto[low]).astype(np.float64), width
    key = np.unique(group[order].astype(np.int64) * column.size + column.codes[order])
    owner, value = np.divmod(key, column.size)
    present = np.bincount(owner)
    inside = np.bincount(owner, weights=often[value]).astype(np.float64)
    return inside, np.where(present > 1, present / column.size, 0.0)
