"""Points in boxes by a tree of cuts: the way for boxes of many shapes.

Boxes are products of intervals (a cell that is no interval stands for the smallest one around it and
is looked up in the end). Each node of the tree cuts its region at a value of one attribute; boxes on
both sides go both ways, boxes that cover the whole region of a node stay there and fit whoever
passes. The cut is the one after which a person meets the fewest boxes, if persons spread half like the
values of the attribute and half like the boxes; for strict Mondrian that finds cuts which no box
straddles, and nested cells (`<30`, `<40`) are cut in the middle. All nodes of a level are cut
at once. The idea is that of k-d trees (Bentley, Communications of the ACM 18(9), 1975).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from showthrough.register.axis import Axis
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import ranks, starts

LEAF = 128  # boxes; more are cut
COPIES = 24  # entries of one level, per box
WORTH = 1.75  # a cut may make this many entries of one


@dataclass(frozen=True)
class Boxes:
    """Groups with distinct cells as intervals of atoms."""

    cells: Codes  # [b, attributes]
    low: Codes
    high: Codes
    exact: Flags


def boxes(axes: Sequence[Axis], cells: Codes) -> Boxes:
    """The intervals of the boxes with these cells."""
    # a column at a time is read, so columns lie together
    low, high = np.empty(cells.shape, dtype=np.int32, order="F"), np.empty(cells.shape, dtype=np.int32, order="F")
    exact = np.empty(cells.shape, dtype=bool, order="F")
    for a, axis in enumerate(axes):
        low[:, a], high[:, a], exact[:, a] = axis.low[cells[:, a]], axis.high[cells[:, a]], axis.exact[cells[:, a]]
    return Boxes(np.asfortranarray(cells), low, high, exact)


@dataclass(frozen=True)
class CutTree:
    """Nodes in breadth-first order; the right child follows the left one."""

    attribute: Codes  # [nodes], -1 for a leaf
    cut: Codes  # values below it go left
    child: Ints  # the left one
    open_start: Ints  # boxes of each leaf that are to be compared
    open: Codes
    cover_start: Ints  # boxes that cover the region of each node
    cover: Codes


@dataclass
class _Level:
    """The nodes of one level: their regions, and entries (node, box) sorted by node."""

    low: Codes  # [nodes, attributes]
    high: Codes
    node: Ints
    box: Ints


def grow_tree(axes: Sequence[Axis], boxes: Boxes, roots: int, entries: tuple[Ints, Ints]) -> CutTree:
    """Cut until the leaves are small or cutting does not help; ``entries`` are roots, ascending, and their boxes."""
    sizes = np.array([axis.size for axis in axes], dtype=np.int32)
    whole = np.repeat(sizes[None, :] - 1, roots, axis=0)
    level = _Level(np.zeros_like(whole), whole, *entries)
    budget = COPIES * entries[0].size + 1000
    columns: list[list[np.ndarray]] = [[], [], [], [], [], [], []]
    offset = 0
    while level.low.shape[0]:
        nodes = level.low.shape[0]
        covering = _covering(boxes, level)
        cover_count, cover = np.bincount(level.node[covering], minlength=nodes), level.box[covering]
        level = _Level(level.low, level.high, level.node[~covering], level.box[~covering])
        attribute, cut, following = _cuts(axes, boxes, level)
        if following > budget:
            attribute[:] = -1
        split = attribute >= 0
        stays = ~split[level.node]
        open_count, opened = np.bincount(level.node[stays], minlength=nodes), level.box[stays]
        child = offset + nodes + 2 * ranks(split)
        for column, part in zip(columns, (attribute, cut, child, open_count, opened, cover_count, cover), strict=True):
            column.append(part)
        offset += nodes
        level = _children(boxes, level, attribute, cut)
    joined = [np.concatenate(column) for column in columns]
    return CutTree(
        joined[0], joined[1], joined[2], starts(joined[3]), joined[4].astype(np.int32), starts(joined[5]),
        joined[6].astype(np.int32),
    )  # fmt: skip


def _covering(boxes: Boxes, level: _Level) -> Flags:
    """Which entries cover the whole region of their node."""
    covering = np.ones(level.node.size, dtype=bool)
    at = np.arange(level.node.size)
    for a in range(level.low.shape[1]):
        node, box = level.node[at], level.box[at]
        here = boxes.exact[box, a] & (boxes.low[box, a] <= level.low[node, a])
        here &= boxes.high[box, a] >= level.high[node, a]
        covering[at[~here]] = False
        at = at[here]
    return covering


def _cuts(axes: Sequence[Axis], boxes: Boxes, level: _Level) -> tuple[Codes, Codes, int]:
    """Attribute (−1: leave it) and cut of each node, and how many entries the next level has."""
    nodes = level.low.shape[0]
    count = np.bincount(level.node, minlength=nodes)
    attribute, cut = np.full(nodes, -1, dtype=np.int32), np.zeros(nodes, dtype=np.int32)
    best, entries = np.full(nodes, np.inf), np.zeros(nodes, dtype=np.int64)
    large = count > LEAF
    some = np.flatnonzero(large[level.node])
    if not some.size:
        return attribute, cut, 0
    compact = ranks(large)
    own = np.flatnonzero(large)
    node, box = level.node[some], level.box[some]
    first = starts(count[own])
    for a, axis in enumerate(axes):
        base = compact[node] * (axis.size + 1)
        low = np.sort(base + np.maximum(boxes.low[box, a], level.low[node, a]))
        high = np.sort(base + np.minimum(boxes.high[box, a], level.high[node, a]))
        where, value, left, right = _candidates(low, high, axis.size + 1, first)
        inside = (value > level.low[own[where], a]) & (value <= level.high[own[where], a])
        where, value, left, right = where[inside], value[inside], left[inside], right[inside]
        if not where.size:
            continue
        bottom, top = level.low[own[where], a], level.high[own[where], a]
        share = 0.5 * (value - bottom) / (top - bottom + 1) + 0.5 * left / (left + right)
        score = share * left + (1 - share) * right
        chosen = _least(where, score)
        at = own[where[chosen]]
        better = (score[chosen] < best[at]) & (left[chosen] + right[chosen] <= WORTH * count[at])
        chosen, at = chosen[better], at[better]
        best[at], entries[at], attribute[at], cut[at] = score[chosen], (left + right)[chosen], a, value[chosen]
    return attribute, cut, int(entries.sum())


def _candidates(low: Ints, high: Ints, stride: int, first: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Node, value, boxes to the left and boxes to the right of every sensible cut: where a box starts or has ended."""
    key = np.concatenate([low, high + 1])
    key.sort()
    new = np.ones(key.size, dtype=bool)
    np.not_equal(key[1:], key[:-1], out=new[1:])
    key = key[new]
    where, value = np.divmod(key, stride)
    inner = (value > 0) & (value < stride - 1)
    key, where, value = key[inner], where[inner], value[inner]
    left = np.searchsorted(low, key) - first[where]
    right = first[where + 1] - np.searchsorted(high, key)
    return where, value, left, right


def _least(where: Ints, score: np.ndarray) -> Ints:
    """The position of the first smallest score of each node; ``where`` ascends."""
    new = np.flatnonzero(np.diff(where, prepend=-1))
    low = np.repeat(np.minimum.reduceat(score, new), np.diff(new, append=where.size))
    at = np.flatnonzero(score == low)
    return at[np.diff(where[at], prepend=-1) > 0]


def _children(boxes: Boxes, level: _Level, attribute: Codes, cut: Codes) -> _Level:
    """Both halves of every node that is cut, with their entries."""
    split = np.flatnonzero(attribute >= 0)
    low, high = np.repeat(level.low[split], 2, axis=0), np.repeat(level.high[split], 2, axis=0)
    at, by = np.arange(split.size), attribute[split]
    high[2 * at, by] = cut[split] - 1
    low[2 * at + 1, by] = cut[split]
    rank = ranks(attribute >= 0)
    some = np.flatnonzero(attribute[level.node] >= 0)
    node, box = level.node[some], level.box[some]
    by, value = attribute[node], cut[node]
    left, right = boxes.low[box, by] < value, boxes.high[box, by] >= value
    bits = int(boxes.low.shape[0]).bit_length()
    to = 2 * rank[node]
    key = np.concatenate([(to[left] << bits) + box[left], ((to[right] + 1) << bits) + box[right]])
    key.sort()
    return _Level(low, high, key >> bits, key & ((1 << bits) - 1))
