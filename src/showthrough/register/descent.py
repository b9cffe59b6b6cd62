"""Points go down a tree of cuts; at its leaves they are compared with the boxes there.

A leaf with many points is compared as a whole, every point with every box in one table of flags,
attribute by attribute and only where the boxes there differ. Leaves with few points are compared
together, pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from showthrough.register.axis import Axis
from showthrough.register.cut_tree import Boxes, CutTree
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import items_of, starts

PAIRS = 2**21  # pairs that are compared at once one by one
TABLE = 2**16  # pairs of a table of flags; it should stay in the cache
DENSE = 2**10  # pairs of a leaf that make a table worth while

Unsigned = npt.NDArray[np.unsignedinteger]
PointBoxes = tuple[Ints, Ints]


class Descent:
    """A tree with its boxes and all that comparing needs."""

    def __init__(self, axes: Sequence[Axis], boxes: Boxes, tree: CutTree) -> None:
        self.axes, self.boxes, self.tree = axes, boxes, tree
        self.kinds = [np.min_scalar_type(axis.size) for axis in axes]  # small numbers are compared quickest
        spread = [float((boxes.high[:, a] - boxes.low[:, a] + 1.0).mean()) / axis.size for a, axis in enumerate(axes)]
        self.order = [int(a) for a in np.argsort(spread)]  # strictest first

    def pairs(self, points: Codes, node: Ints) -> Iterator[PointBoxes]:
        """Points, from their nodes on, with the boxes they are in; with unknown values (−1) a pair may come twice."""
        tree, point = self.tree, np.arange(points.shape[0])
        covers = np.diff(tree.cover_start)
        while point.size:
            some = np.flatnonzero(covers[node])
            for part in _parts(covers[node[some]]):
                at, sizes = items_of(tree.cover_start, node[some[part]])
                yield np.repeat(point[some[part]], sizes), tree.cover[at].astype(np.int64)
            by = tree.attribute[node]
            leaf = by < 0
            if leaf.any():
                yield from self._leaves(points, point[leaf], node[leaf])
                point, node, by = point[~leaf], node[~leaf], by[~leaf]
                if not point.size:
                    return
            value = points[point, by]
            both = np.flatnonzero(value < 0)
            left = tree.child[node]
            again = left[both] + 1
            node = left + (value >= tree.cut[node])
            if both.size:
                point, node = np.concatenate([point, point[both]]), np.concatenate([node, again])

    def _leaves(self, points: Codes, point: Ints, node: Ints) -> Iterator[PointBoxes]:
        """Pairs of the points that have come to leaves."""
        opens = np.diff(self.tree.open_start)
        if (np.diff(node) < 0).any():
            order = np.argsort(node, kind="stable")
            point, node = point[order], node[order]
        first = np.flatnonzero(np.diff(node, prepend=-1))
        counts = np.diff(first, append=node.size)
        dense = counts * opens[node[first]] >= DENSE
        if dense.any() and self.axes and int(points.min()) < 0:
            dense[:] = False
        few = np.flatnonzero(np.repeat(~dense, counts))
        for part in _parts(opens[node[few]]):
            at, sizes = items_of(self.tree.open_start, node[few[part]])
            yield self._compared(points, np.repeat(point[few[part]], sizes), self.tree.open[at].astype(np.int64))
        if dense.any():
            yield from self._tables(points, point, node[first[dense]], (first[dense], counts[dense]))

    def _compared(self, points: Codes, point: Ints, box: Ints) -> PointBoxes:
        """Keep the pairs where the box covers the point, attribute by attribute."""
        for a in self.order:
            value = points[point, a]
            fits = (value >= self.boxes.low[box, a]) & (value <= self.boxes.high[box, a])
            fits &= self._covered(a, box, value, np.flatnonzero(fits))
            fits |= value < 0
            keep = np.flatnonzero(fits)
            if keep.size < point.size:
                point, box = point[keep], box[keep]
        return point, box

    def _covered(self, a: int, box: Ints, value: Codes, within: Ints) -> Flags:
        """Whether cells cover values ``within`` their intervals: those that are no intervals are looked up."""
        fits = np.ones(box.size, dtype=bool)
        if self._intervals[a]:
            return fits
        rough = within[~self.boxes.exact[box[within], a]]
        if rough.size:
            fits[rough] = self.axes[a].covers(self.boxes.cells[box[rough], a], value[rough])
        return fits

    @cached_property
    def _intervals(self) -> list[bool]:
        """Whether all cells of each attribute are intervals."""
        return [bool(self.boxes.exact[:, a].all()) for a in range(len(self.axes))]

    @cached_property
    def _entries(self) -> list[tuple[Unsigned, Unsigned]]:
        """For each attribute the low ends of the boxes of all leaves, and how far the high ends are from them."""
        own = self.tree.open
        low = [self.boxes.low[own, a] for a in range(len(self.axes))]
        reach = [self.boxes.high[own, a] - low[a] for a in range(len(self.axes))]
        return [(one.astype(k), other.astype(k)) for one, other, k in zip(low, reach, self.kinds, strict=True)]

    def _tables(self, points: Codes, point: Ints, leaf: Ints, segments: tuple[Ints, Ints]) -> Iterator[PointBoxes]:
        """One table for each leaf, or several where it is large."""
        columns = [points[point, a].astype(kind) for a, kind in enumerate(self.kinds)]
        differ = self._differing(columns, leaf, segments)
        begin, end = self.tree.open_start[leaf].tolist(), self.tree.open_start[leaf + 1].tolist()
        found: list[PointBoxes] = []
        waiting = 0
        for k, (first, count) in enumerate(zip(*(s.tolist() for s in segments), strict=True)):
            step = max(TABLE // (end[k] - begin[k]), 1)
            asked = [(a, *self._entries[a]) for a in self.order if differ[a][k]]
            ends = [(a, low[begin[k] : end[k], None], reach[begin[k] : end[k], None]) for a, low, reach in asked]
            for start in range(first, first + count, step):
                stop = min(start + step, first + count)
                fits = np.ones((end[k] - begin[k], stop - start), dtype=bool)
                for a, low, reach in ends:
                    fits &= columns[a][start:stop] - low <= reach  # what is below low wraps around to far above
                box, at = np.divmod(np.flatnonzero(fits), stop - start)
                found.append((at + start, box + begin[k]))
                waiting += at.size
            if waiting > PAIRS:
                yield self._looked_up(points, point, found)
                found, waiting = [], 0
        yield self._looked_up(points, point, found)

    def _differing(self, columns: list[Unsigned], leaf: Ints, segments: tuple[Ints, Ints]) -> list[list[bool]]:
        """For each attribute the leaves where some box does not reach over all points."""
        first, counts = segments
        at, sizes = items_of(self.tree.open_start, leaf)
        own = starts(sizes)[:-1]
        inside = np.stack([first, first + counts], axis=1).ravel()
        differ = []
        for column, (low, reach) in zip(columns, self._entries, strict=True):
            padded = np.append(column, column[-1:])
            least, most = np.minimum.reduceat(padded, inside)[::2], np.maximum.reduceat(padded, inside)[::2]
            bottom, top = np.maximum.reduceat(low[at], own), np.minimum.reduceat(low[at] + reach[at], own)
            differ.append(((bottom > least) | (top < most)).tolist())
        return differ

    def _looked_up(self, points: Codes, point: Ints, found: list[PointBoxes]) -> PointBoxes:
        """The pairs of tables as points and boxes, without those that only the intervals cover."""
        if not found:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        own = point[np.concatenate([at for at, _ in found])]
        box = self.tree.open[np.concatenate([entry for _, entry in found])].astype(np.int64)
        for a in range(len(self.axes)):
            if not self._intervals[a]:
                keep = self._covered(a, box, points[own, a], np.arange(box.size))
                own, box = own[keep], box[keep]
        return own, box


def _parts(sizes: Ints) -> Iterator[slice]:
    """Slices of lists that together have about PAIRS items."""
    end = np.cumsum(sizes)
    total = int(end[-1]) if end.size else 0
    done = 0
    while done < sizes.size and total:
        before = int(end[done - 1]) if done else 0
        stop = max(int(np.searchsorted(end, before + PAIRS, side="right")), done + 1)
        yield slice(done, stop)
        done = stop
