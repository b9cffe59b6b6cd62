"""What a grouping costs: NCP per group and column, GCP of the table, average group size, discernibility.

NCP (Xu et al., KDD'06): a numeric range costs (highest − lowest)/(extent of the column); a label
costs the share of the domain's leaves under it and a set the share of the domain in it, 0 for a
single value. A numeric column published by labels costs the range of the values under the label.
GCP = Σ |G| · (weighted mean NCP)/n with suppressed rows at 1 (Ghinita et al., VLDB'07).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.table.arrays import Codes, Ints, Reals
from showthrough.table.ragged import running, starts


@dataclass(frozen=True)
class Cost:
    """Quality of a grouping: lower is better everywhere."""

    groups: int
    suppressed: int
    gcp: float
    average_group: float
    """Rows in groups/(groups · k), written C_avg (LeFevre et al., ICDE'06)."""
    discernibility: int
    """Σ |G|² + n · suppressed."""


def group_ends(values: npt.NDArray[np.integer], order: Ints, start: Ints) -> tuple[Codes, Codes]:
    """Lowest and highest value of each group; ``order`` sorts the rows by group, ``start`` is where each begins."""
    sorted_values = values[order]
    return (
        np.minimum.reduceat(sorted_values, start).astype(np.int32),
        np.maximum.reduceat(sorted_values, start).astype(np.int32),
    )


def open_bits(column: QuasiColumn, rows: Reals | Ints) -> Reals:
    """What cells that so many rows of the table fit cost in bits; a row's own value takes off the same everywhere."""
    return np.asarray(np.log2(np.maximum(rows, 1.0)) * column.bit)


def leaf_losses(column: QuasiColumn) -> Reals:
    """What each leaf costs by itself: nothing, but for bits, which count from one row of the table."""
    return np.zeros(column.size) if column.often is None else open_bits(column, column.often)


def label_losses(column: QuasiColumn) -> list[Reals]:
    """For each level above the leaves: the loss of publishing each leaf by its label there."""
    if column.often is not None:
        return [open_bits(column, np.bincount(level, weights=column.often))[level] for level in column.levels]
    if column.measure == "precision":
        height = len(column.levels)
        return [np.full(column.size, depth / height) for depth in range(1, height + 1)]
    losses = []
    for level in column.levels:
        count = np.bincount(level)
        if column.values is None:
            loss = np.where(count > 1, count / column.size, 0.0)
        else:
            high = np.full(len(count), -np.inf)
            low = np.full(len(count), np.inf)
            np.maximum.at(high, level, column.values)
            np.minimum.at(low, level, column.values)
            loss = (high - low) / column.extent if column.extent else np.zeros(len(count))
        losses.append(loss[level])
    return losses


def common_level(column: QuasiColumn, low: npt.NDArray[np.integer], high: npt.NDArray[np.integer]) -> Ints:
    """Level of the lowest common label of the leaves between two ranks, 0 for a single leaf."""
    leaf = np.empty(column.size, dtype=np.int64)
    leaf[column.rank] = np.arange(column.size)
    first, last = leaf[low], leaf[high]
    found = np.zeros(len(first), dtype=np.int64)
    open_ = np.flatnonzero(first != last)
    for depth, level in enumerate(column.levels, start=1):
        found[open_] = depth
        open_ = open_[level[first[open_]] != level[last[open_]]]
    return found


def label_loss(column: QuasiColumn, low: npt.NDArray[np.integer], high: npt.NDArray[np.integer]) -> Reals:
    """Loss of the lowest common label of the leaves between two ranks."""
    leaf = np.empty(column.size, dtype=np.int64)
    leaf[column.rank] = np.arange(column.size)
    table = np.stack([leaf_losses(column), *label_losses(column)])
    return np.asarray(table[common_level(column, low, high), leaf[low]])


def column_loss(column: QuasiColumn, group: npt.NDArray[np.integer], order: Ints, start: Ints) -> Reals:
    """NCP of each group on one column."""
    if column.shown == "set":
        key = np.unique(group[order].astype(np.int64) * column.size + column.codes[order])
        if column.often is not None:
            inside = np.bincount(key // column.size, weights=column.often[key % column.size])
            return open_bits(column, inside[group[order[start]]])
        present = np.unique(key // column.size, return_counts=True)[1]
        return np.where(present > 1, present / column.size, 0.0)
    if column.shown == "label":
        return label_loss(column, *group_ends(column.rank[column.codes], order, start))
    low, high = group_ends(column.codes, order, start)
    if column.often is not None:
        upto = running(column.often)
        return open_bits(column, upto[high + 1] - upto[low])
    if column.values is None or not column.extent:
        return np.zeros(len(start))
    return np.asarray((column.values[high] - column.values[low]) / column.extent)


def group_losses(columns: Sequence[QuasiColumn], group: npt.NDArray[np.integer]) -> tuple[Ints, Reals]:
    """Sizes of the groups 0, 1, … and their NCP per column; rows with group -1 stand aside; no group may be empty."""
    order = np.argsort(group, kind="stable")
    order = order[np.searchsorted(group[order], 0) :]
    size = np.bincount(group[order]).astype(np.int64)
    start = starts(size)[:-1]
    if not len(size):
        return size, np.zeros((0, len(columns)))
    return size, np.stack([column_loss(column, group, order, start) for column in columns], axis=1)


def cost(columns: Sequence[QuasiColumn], group: npt.NDArray[np.integer], *, k: int) -> Cost:
    """All measures of one grouping as given; ``merge_alike`` first gives what a reader sees."""
    size, losses = group_losses(columns, group)
    weight = np.array([column.weight for column in columns])
    suppressed = int(np.count_nonzero(np.asarray(group) < 0))
    rows = len(group)
    lost = float(size @ (losses @ weight)) / weight.sum() if len(size) else 0.0
    return Cost(
        groups=len(size),
        suppressed=suppressed,
        gcp=float((lost + suppressed) / rows) if rows else 0.0,
        average_group=float(size.sum()) / (len(size) * k) if len(size) else 0.0,
        discernibility=int((size**2).sum()) + rows * suppressed,
    )


def merge_alike(columns: Sequence[QuasiColumn], group: npt.NDArray[np.integer]) -> Codes:
    """Groups that would print the same cells become one, as a reader of the release sees them; codes run from 0."""
    _, dense = np.unique(group[group >= 0], return_inverse=True)
    merged = np.full(len(group), -1, dtype=np.int32)
    if not len(dense):
        return merged
    rows = np.flatnonzero(group >= 0)
    order = np.argsort(dense, kind="stable")
    start = starts(np.bincount(dense))[:-1]
    parts: list[npt.NDArray[np.int64]] = []
    for column in columns:
        codes = column.codes[rows]
        if column.shown == "set":
            parts.append(_same_sets(dense, codes, column.size))
        elif column.shown == "range":
            low, high = group_ends(codes, order, start)
            parts += [low.astype(np.int64), high.astype(np.int64)]
        else:
            low, high = group_ends(column.rank[codes], order, start)
            level = common_level(column, low, high)
            leaf = np.empty(column.size, dtype=np.int64)
            leaf[column.rank] = np.arange(column.size)
            label = np.stack([np.arange(column.size), *column.levels])[level, leaf[low]]
            parts += [level, label.astype(np.int64)]
    alike = np.unique(np.stack(parts, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    merged[rows] = alike[dense]
    return merged


def _same_sets(group: npt.NDArray[np.integer], codes: Codes, size: int) -> npt.NDArray[np.int64]:
    """A code per group that is equal for groups with the same set of values."""
    key = np.unique(group.astype(np.int64) * size + codes)
    owner, value = key // size, key % size
    start = np.concatenate([[0], np.flatnonzero(np.diff(owner)) + 1])
    sets: dict[bytes, int] = {}
    ends = np.append(start[1:], len(value))
    texts = [value[low:high].tobytes() for low, high in zip(start.tolist(), ends.tolist(), strict=True)]
    return np.array([sets.setdefault(text, len(sets)) for text in texts], dtype=np.int64)
