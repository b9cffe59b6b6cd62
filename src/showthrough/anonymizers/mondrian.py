"""Mondrian (LeFevre, DeWitt, Ramakrishnan, ICDE'06): cut the table until no cut is allowed.

All parts of one depth are cut together, so the work is a few array passes per depth instead of a
call per part. Strict cuts never separate equal records, so they run on distinct records with
weights. The cut of an ordered column is the one of the two around the median that is nearer to
half (the slides' cut, ``≤ median``, may be refused although its neighbour is allowed); when a
column allows no cut the next widest is tried. Widths may be multiplied by a factor per column
(``aimed_cuts.py``), which says nothing but what is cut first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.group_loss import common_level, label_losses
from showthrough.anonymizers.quasi_columns import QuasiColumn, combined_key, row_count
from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.ragged import offsets, owners, ranges, ranks, starts


@dataclass(frozen=True)
class MondrianResult:
    """Group of each row, and the cells of the recursion as closed intervals of ranks [groups, columns]."""

    group: Codes
    groups: int
    cell_low: Codes
    cell_high: Codes
    depth: int


@dataclass(frozen=True)
class _Units:
    """What is cut: records (or distinct records) with weights; ``place`` is the rank on each column."""

    place: Codes
    weight: Ints
    sensitive: Codes | None
    of_row: Codes
    masks: list[npt.NDArray[np.uint64] | None]


@dataclass(frozen=True)
class _Parts:
    """Parts under work: ``unit`` in order of part, where each part starts, and its cell."""

    unit: Ints
    start: Ints
    low: Codes
    high: Codes

    @cached_property
    def length(self) -> Ints:
        return np.diff(np.append(self.start, len(self.unit)))

    @cached_property
    def part(self) -> Ints:
        return owners(np.append(self.start, len(self.unit)))


def mondrian(
    columns: Sequence[QuasiColumn],
    requirement: Requirement,
    *,
    relaxed: bool = False,
    seed: int = 0,
    factors: Reals | None = None,
) -> MondrianResult:
    """Cut the table into groups that satisfy the requirement.

    With ``relaxed`` the records equal to the median may go to either side (the seed says which), so
    groups have at most 2k − 1 records unless all of them are equal; groups may then overlap.
    """
    rows = row_count(columns)
    if rows < requirement.k:
        raise InputError(f"k = {requirement.k} is larger than the table ({rows} rows): lower k or add rows.")
    if not requirement.met(np.zeros(rows, dtype=np.int64), 1)[0]:
        raise InputError("The table as one group does not satisfy the requirement, so no grouping by cuts can.")
    units = _units(columns, requirement, relaxed=relaxed, seed=seed)
    unit_group = np.zeros(len(units.weight), dtype=np.int32)
    lows: list[Codes] = []
    highs: list[Codes] = []
    groups = depth = 0
    top = np.array([[column.size - 1 for column in columns]], dtype=np.int32)
    parts = _Parts(np.arange(len(units.weight)), np.zeros(1, dtype=np.int64), np.zeros_like(top), top)
    while len(parts.start):
        depth += 1
        target, cut, kids = _cut_all(columns, units, parts, requirement, relaxed=relaxed, factors=factors)
        done = np.flatnonzero(~cut)
        number = ranks(~cut) + groups
        settled = ~cut[parts.part]
        unit_group[parts.unit[settled]] = number[parts.part[settled]]
        lows.append(parts.low[done])
        highs.append(parts.high[done])
        groups += len(done)
        parts = _next(parts, target, settled, kids)
    return MondrianResult(unit_group[units.of_row], groups, np.concatenate(lows), np.concatenate(highs), depth)


def _units(columns: Sequence[QuasiColumn], requirement: Requirement, *, relaxed: bool, seed: int) -> _Units:
    codes = [column.codes for column in columns]
    rows = len(codes[0])
    sensitive = None if requirement.plain else requirement.sensitive
    if relaxed:
        # a random order of the rows decides which of several equal records goes to which side
        first: Ints = np.random.default_rng(seed).permutation(rows)
        of_row = np.empty(rows, dtype=np.int32)
        of_row[first] = np.arange(rows, dtype=np.int32)
        weight = np.ones(rows, dtype=np.int64)
    else:
        keyed = codes if sensitive is None else [*codes, sensitive]
        sizes = [column.size for column in columns] + ([] if sensitive is None else [int(sensitive.max()) + 1])
        key = combined_key(keyed, sizes)
        _, first, inverse, weight = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        of_row = inverse.astype(np.int32)
    place = np.stack([column.rank[column.codes[first]] for column in columns])
    masks = [_masks(column, place[j]) if column.shown == "set" else None for j, column in enumerate(columns)]
    return _Units(place, weight, None if sensitive is None else sensitive[first], of_row, masks)


def _masks(column: QuasiColumn, place: Codes) -> npt.NDArray[np.uint64]:
    """One bit per value, in as many words as the domain needs: distinct values of a part are the bits of their OR."""
    words = (column.size + 63) // 64
    mask = np.zeros((words, len(place)), dtype=np.uint64)
    for word in range(words):
        inside = place // 64 == word
        mask[word, inside] = np.uint64(1) << (place[inside] % 64).astype(np.uint64)
    return mask


def _cut_all(
    columns: Sequence[QuasiColumn],
    units: _Units,
    parts: _Parts,
    requirement: Requirement,
    *,
    relaxed: bool,
    factors: Reals | None,
) -> tuple[Ints, Flags, list[tuple[Ints, Codes, Codes]]]:
    """Cut every part that allows it: next part of each position (-1: none), flags of cut parts, and the new cells."""
    count = len(parts.start)
    target = np.full(len(parts.unit), -1, dtype=np.int64)
    cut = np.zeros(count, dtype=bool)
    weight = np.add.reduceat(units.weight[parts.unit], parts.start)
    low, high = _spans(units, parts)
    width = _widths(columns, units, parts, low, high)
    if factors is not None:
        width *= factors[:, None]
    rank = np.argsort(-width, axis=0, kind="stable")
    part = parts.part
    kids: list[tuple[Ints, Codes, Codes]] = []
    made = 0
    for attempt in range(len(columns)):
        dimension = rank[attempt]
        waiting = ~cut & (weight >= 2 * requirement.k) & (width[dimension, np.arange(count)] > 0)
        if not waiting.any():
            break
        for j in np.unique(dimension[waiting]):
            chosen = waiting & (dimension == j)
            at = np.flatnonzero(chosen[part])
            side, cells = _sides(columns[j], units, parts, at, (low[j], high[j]), relaxed=relaxed, j=int(j))
            fine, owner = _allowed(units, parts, at, side, requirement)
            good = np.zeros(count, dtype=bool)
            good[chosen] = True
            good[owner[~fine]] = False
            cut |= good
            kept = good[part[at]]
            slot = ranks(good[owner]) + made
            target[at[kept]] = slot[side[kept]]
            made += int(good[owner].sum())
            if good.any():
                kids.append(_cells(parts, owner[good[owner]], int(j), cells[0][good[owner]], cells[1][good[owner]]))
    return target, cut, kids


def _spans(units: _Units, parts: _Parts) -> tuple[Codes, Codes]:
    place = units.place[:, parts.unit]
    return np.minimum.reduceat(place, parts.start, axis=1), np.maximum.reduceat(place, parts.start, axis=1)


def _widths(columns: Sequence[QuasiColumn], units: _Units, parts: _Parts, low: Codes, high: Codes) -> Reals:
    """Weighted normalised width of every part on every column; 0 where it cannot be cut."""
    widths = np.zeros(low.shape)
    for j, column in enumerate(columns):
        if column.shown == "range" and column.values is not None:
            widths[j] = (column.values[high[j]] - column.values[low[j]]) / (column.extent or 1.0)
        elif column.shown == "set":
            mask = units.masks[j]
            assert mask is not None
            present = np.bitwise_count(np.bitwise_or.reduceat(mask[:, parts.unit], parts.start, axis=1)).sum(axis=0)
            widths[j] = np.where(present > 1, present / column.size, 0.0)
        else:
            leaf = np.argsort(column.rank)
            share = np.stack([np.zeros(column.size), *label_losses(column)])
            level = common_level(column, low[j], high[j])
            widths[j] = np.where(level > 0, np.maximum(share[level, leaf[low[j]]], 1e-12), 0.0)
        widths[j] *= column.weight
    return widths


def _sides(
    column: QuasiColumn, units: _Units, parts: _Parts, at: Ints, span: tuple[Codes, Codes], *, relaxed: bool, j: int
) -> tuple[Ints, tuple[Codes, Codes]]:
    """New part (0, 1, … in order of owner) of the positions ``at``, and the interval of ranks of each new part."""
    part = parts.part[at]
    place = units.place[j, parts.unit[at]]
    if column.shown == "label":
        leaf = np.argsort(column.rank)
        below = common_level(column, *span)[part] - 1
        ancestors = np.stack([np.arange(column.size), *column.levels[:-1]])
        label = ancestors[below, leaf[place]]
        _, first, side = np.unique(part * column.size + label, return_index=True, return_inverse=True)
        low, high = _label_interval(column, below[first], label[first])
        return side, (low, high)
    if relaxed:
        right, cut = _halves(place, part, len(span[0]), column.size)
    else:
        cut = _median_cut(place, part, units.weight[parts.unit[at]], span)
        right = place > cut[part]
    both = part * 2 + right
    owners, side = _renumber(both, 2 * len(span[0]))
    owner = owners // 2
    left = owners % 2 == 0
    touching = 0 if relaxed else 1
    low = np.where(left, parts.low[owner, j], cut[owner] + touching).astype(np.int32)
    high = np.where(left, cut[owner], parts.high[owner, j]).astype(np.int32)
    return side, (low, high)


def _renumber(codes: Ints, size: int) -> tuple[Ints, Ints]:
    """The codes that occur, ascending, and each code's position among them: np.unique without a sort."""
    present = np.zeros(size, dtype=bool)
    present[codes] = True
    return np.flatnonzero(present), ranks(present)[codes]


def _halves(place: Codes, part: Ints, parts: int, size: int) -> tuple[Flags, Codes]:
    """Which records go right when each part is cut in equal halves, and the last rank of its left half."""
    order = np.argsort(part * size + place, kind="stable")
    length = np.bincount(part, minlength=parts)
    begin = starts(length)[:-1]
    position = np.empty(len(order), dtype=np.int64)
    position[order] = offsets(length)
    half = (length + 1) // 2
    cut = np.zeros(parts, dtype=np.int32)
    here = np.flatnonzero(length)
    cut[here] = place[order[begin[here] + half[here] - 1]]
    return position >= half[part], cut


def _label_interval(column: QuasiColumn, level: Ints, label: Ints) -> tuple[Codes, Codes]:
    """Lowest and highest rank under each label."""
    low = np.empty(len(label), dtype=np.int32)
    high = np.empty(len(label), dtype=np.int32)
    for depth, codes in enumerate([np.arange(column.size, dtype=np.int32), *column.levels]):
        here = level == depth
        first = np.full(int(codes.max()) + 1, column.size, dtype=np.int32)
        last = np.zeros(int(codes.max()) + 1, dtype=np.int32)
        np.minimum.at(first, codes, column.rank)
        np.maximum.at(last, codes, column.rank)
        low[here], high[here] = first[label[here]], last[label[here]]
    return low, high


def _median_cut(place: Codes, part: Ints, weight: Ints, span: tuple[Codes, Codes]) -> Codes:
    """For each part the last rank of its left side: of the two cuts around the median the one nearer to half."""
    low, high = span
    chosen = np.zeros(len(low), dtype=np.int32)
    here, index = _renumber(part, len(low))
    length = (high[here] - low[here] + 1).astype(np.int64)
    if length.sum() <= 4 * len(place) + 4096:  # few values: count them instead of sorting
        offset = starts(length)
        count = np.bincount(offset[index] + place - low[part], weights=weight, minlength=int(offset[-1])).astype(
            np.int64
        )
        value = ranges(low[here], length)
        begin = offset[:-1]
    else:
        key = part * (int(high.max()) + 1) + place
        order = np.argsort(key, kind="stable")
        new = np.flatnonzero(np.diff(key[order], prepend=-1))
        count, value = np.add.reduceat(weight[order], new), place[order][new].astype(np.int64)
        length = np.bincount(index[order][new], minlength=len(here))
        begin = starts(length)[:-1]
    upto = np.cumsum(count)
    base = upto[begin] - count[begin]
    end = begin + length
    total = upto[end - 1] - base
    median = np.searchsorted(upto, base + (total + 1) // 2)
    median = np.minimum(median, end - 1)
    below = np.searchsorted(upto, upto[median] - count[median], side="left")  # last filled value under the median
    left_incl = upto[median] - base
    left_excl = left_incl - count[median]
    take = (np.minimum(left_incl, total - left_incl) >= np.minimum(left_excl, total - left_excl)) | (left_excl <= 0)
    chosen[here] = value[np.where(take, median, np.maximum(below, begin))]
    return chosen


def _allowed(units: _Units, parts: _Parts, at: Ints, side: Ints, requirement: Requirement) -> tuple[Flags, Ints]:
    """Does each new part satisfy the requirement, and which part does it come from?"""
    new = int(side.max()) + 1
    owner = np.zeros(new, dtype=np.int64)
    owner[side] = parts.part[at]
    unit = parts.unit[at]
    size = np.bincount(side, weights=units.weight[unit], minlength=new)
    fine: Flags = size >= requirement.k
    alone = np.bincount(owner, minlength=len(parts.start))[owner] < 2
    fine &= ~alone
    if requirement.plain or units.sensitive is None or not fine.any():
        return fine, owner
    whole = np.ones(len(parts.start), dtype=bool)
    whole[owner[~fine]] = False
    ask = np.flatnonzero(whole[owner])
    position = np.full(new, -1, dtype=np.int64)
    position[ask] = np.arange(len(ask))
    inside = position[side] >= 0
    fine[ask] = requirement.judge(
        position[side[inside]], units.sensitive[unit[inside]], len(ask), weight=units.weight[unit[inside]]
    )
    return fine, owner


def _cells(parts: _Parts, owner: Ints, j: int, low: Codes, high: Codes) -> tuple[Ints, Codes, Codes]:
    lows, highs = parts.low[owner].copy(), parts.high[owner].copy()
    lows[:, j], highs[:, j] = low, high
    return owner, lows, highs


def _next(parts: _Parts, target: Ints, settled: Flags, kids: list[tuple[Ints, Codes, Codes]]) -> _Parts:
    """The new parts in contiguous order."""
    if not kids:
        empty = np.zeros(0, dtype=np.int64)
        return _Parts(empty, empty, parts.low[:0], parts.high[:0])
    unit, target = parts.unit[~settled], target[~settled]
    order = np.argsort(target, kind="stable")
    start = np.flatnonzero(np.diff(target[order], prepend=-1))
    low = np.concatenate([kid[1] for kid in kids])
    high = np.concatenate([kid[2] for kid in kids])
    return _Parts(unit[order], start, low, high)
