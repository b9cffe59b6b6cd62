"""A grid over the attributes with narrow cells: the first step of the tree, a table instead of many cuts.

Where cells of some attributes cover few atoms each, boxes are listed under every combination of these
atoms that they cover. A person then looks up one combination, and only the other attributes are left
to compare. Boxes that cover a great many combinations stay outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from showthrough.register.axis import Axis
from showthrough.table.arrays import Codes, Ints
from showthrough.table.ragged import items_of, owners, ranges, starts

ENTRIES = 4  # of the lists, per box; the widest boxes stay outside
HELD = 0.75  # share of the boxes that must be on the lists
FEWER = 0.75  # an attribute must leave at most this share of the boxes to compare


@dataclass(frozen=True)
class Grid:
    """The attributes of the grid, how many atoms each has, and which boxes are listed."""

    attributes: tuple[int, ...]
    sizes: tuple[int, ...]
    held: Ints
    outside: Ints

    @property
    def spots(self) -> int:
        """How many combinations of atoms there are."""
        return int(np.prod(self.sizes, dtype=np.int64))

    def spot(self, points: Codes) -> Ints:
        """The combination of each point, all of whose values are known."""
        at = np.zeros(points.shape[0], dtype=np.int64)
        for a, size in zip(self.attributes, self.sizes, strict=True):
            at *= size
            at += points[:, a]
        return at

    def entries(self, axes: Sequence[Axis], cells: Codes) -> tuple[Ints, Ints]:
        """Combinations, ascending, and the boxes (positions in ``held``) that cover them."""
        box = np.arange(self.held.size)
        at = np.zeros(box.size, dtype=np.int64)
        for a, size in zip(self.attributes, self.sizes, strict=True):
            start, atom = members(axes[a], np.arange(axes[a].low.size))
            where, counts = items_of(start, cells[self.held[box], a])
            box = np.repeat(box, counts)
            at = np.repeat(at, counts) * size + atom[where]
        bits = int(self.held.size).bit_length()
        key = (at << bits) + box
        key.sort()
        return key >> bits, key & ((1 << bits) - 1)


def grid(axes: Sequence[Axis], cells: Codes) -> Grid:
    """Take attributes, those with the narrowest cells first, as long as the lists stay short."""
    count = cells.shape[0]
    width = np.stack([_widths(axis)[cells[:, a]] for a, axis in enumerate(axes)])
    covered, spots = np.ones(count, dtype=np.int64), 1
    chosen: list[int] = []
    held = np.arange(count)
    for a in np.argsort(width.mean(axis=1), kind="stable").tolist():
        if spots * axes[a].size > count:
            continue
        wider = covered * width[a]
        narrowest = np.argsort(wider, kind="stable")
        narrowest = narrowest[: np.searchsorted(np.cumsum(wider[narrowest]), ENTRIES * count, side="right")]
        fewer = int(wider[narrowest].sum()) <= FEWER * axes[a].size * int(covered[narrowest].sum())
        if fewer and narrowest.size >= HELD * count:
            chosen.append(a)
            covered, spots, held = wider, spots * axes[a].size, np.sort(narrowest)
    sizes = tuple(axes[a].size for a in chosen)
    return Grid(tuple(chosen), sizes, held, np.setdiff1d(np.arange(count), held, assume_unique=True))


def members(axis: Axis, cells: Ints) -> tuple[Ints, Ints]:
    """The atoms of each of the cells, as a list of lists."""
    empty = ~axis.exact[cells]
    if axis.inside.size:
        empty &= np.bincount(axis.inside // axis.size, minlength=axis.low.size)[cells] == 0
    width = np.where(empty, 0, axis.high[cells].astype(np.int64) - axis.low[cells] + 1)
    start, atom = starts(width), ranges(axis.low[cells], width)
    rough = ~axis.exact[cells]
    if not rough.any():
        return start, atom
    keep = np.repeat(~rough, width)
    owner = owners(start)
    some = np.flatnonzero(~keep)
    keep[some] = axis.covers(cells[owner[some]].astype(np.int32), atom[some].astype(np.int32))
    return starts(np.bincount(owner[keep], minlength=cells.size)), atom[keep]


def _widths(axis: Axis) -> Ints:
    """How many atoms each cell covers."""
    width = np.where(axis.exact, axis.high.astype(np.int64) - axis.low + 1, 0)
    if axis.inside.size:
        width += np.bincount(axis.inside // axis.size, minlength=width.size)
    return width
