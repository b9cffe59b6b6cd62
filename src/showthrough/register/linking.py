"""Who can be in which group, by quasi-identifiers, without comparing everybody with everything.

The story: values that no cell tells apart become one atom (axis.py); persons with equal atoms become
one point, groups with equal cells one box; boxes of common patterns are found by hash join
(families.py), the others by a grid over the attributes with narrow cells (grid.py) and a tree of cuts
below it (cut_tree.py, descent.py); points are taken some at a time (gathering.py), so that memory grows
with the answer and not with persons × groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from showthrough.errors import InputError
from showthrough.progress import Progress
from showthrough.register.attribute import Attribute, Candidates, matched
from showthrough.register.axis import Axis, axis
from showthrough.register.cut_tree import boxes, grow_tree
from showthrough.register.descent import Descent
from showthrough.register.families import Families, Pattern, families, join, patterns
from showthrough.register.gathering import Gathering
from showthrough.register.grid import Grid, grid
from showthrough.table.arrays import Codes, Ints
from showthrough.table.codes import distinct

__all__ = ["Attribute", "Candidates", "candidates"]

AT_MOST = 100_000_000  # candidates
POINTS = 2**18  # taken at once, at most
FIRST = 2**12  # taken at once to begin with, and of the points with unknown values, which may fit a great many boxes
PAIRS = 2**22  # of point and group that a block may be expected to have
JOINS = 16  # patterns that are joined one by one; with more, only the common ones are
COMMON = 0.04  # share of the boxes that makes a pattern common

Way = Literal["best", "tree"]


def candidates(
    attributes: Sequence[Attribute],
    *,
    at_most: int = AT_MOST,
    progress: Progress | None = None,
    way: Way = "best",
) -> Candidates:
    """All groups all of whose cells cover the person's values, for every person.

    ``at_most`` limits the candidates of all persons together. ``progress`` is told again and again how
    many persons are done and how many there are. ``way`` "tree" does without joins by pattern.
    """
    if not attributes:
        raise InputError("Linking persons to groups needs at least one quasi-identifier, but none was given.")
    persons, groups = attributes[0].person.size, attributes[0].group.size
    matched(persons, groups, list(attributes))
    return link([axis(attribute) for attribute in attributes], at_most=at_most, progress=progress, way=way)


def link(
    axes: list[Axis],
    *,
    at_most: int = AT_MOST,
    progress: Progress | None = None,
    way: Way = "best",
) -> Candidates:
    """The same for attributes that are intervals of atoms already."""
    persons, groups = axes[0].person.size, axes[0].cell.size
    if not persons or not groups:
        return Candidates(np.zeros(persons + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
    first, box_of = distinct([a.cell for a in axes])
    if first.size == groups:  # every group is a box of its own: the groups need not be sorted again
        first = box_of = np.arange(groups)
    search = _Search.of(axes, np.stack([a.cell[first] for a in axes], axis=1), way)
    points, point_of, known = _points(axes, search.first)
    gathering = Gathering(box_of, np.bincount(point_of), at_most)
    done, step = 0, FIRST
    while done < points.shape[0]:
        stop = min(done + step, known) if done < known else min(done + FIRST, points.shape[0])
        for point, box in search.find(points[done:stop]):
            gathering.add(point + done, box)
        found = gathering.close(stop)
        step = min(max(PAIRS * (stop - done) // max(found, 1), 1), 4 * step, POINTS)
        done = stop
        if progress is not None:
            progress.count(int(gathering.weight[:done].sum()), persons)
    return gathering.candidates(point_of)


def _points(axes: list[Axis], attributes: Sequence[int]) -> tuple[Codes, Ints, int]:
    """Distinct points, the point of each person, and how many points (the first ones) have all values known.

    Points are in the order of the ``attributes``, so that those at one place of the grid stand together.
    """
    others = [a for a in range(len(axes)) if a not in attributes]
    first, point_of = distinct([axes[a].person for a in [*attributes, *others]])
    points = np.stack([a.person[first] for a in axes]).T  # a column at a time is read, so columns lie together
    unknown = points < 0
    if not unknown.any():
        return points, point_of, points.shape[0]
    _, kind = distinct(list(unknown.T.astype(np.int8)))
    partly = unknown.any(axis=1)
    order = np.lexsort([kind, partly])
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return points[order], rank[point_of], int((~partly).sum())


@dataclass(frozen=True)
class _Search:
    """What is joined by pattern and what goes down trees."""

    axes: list[Axis]
    cells: Codes  # [boxes, attributes]
    families: list[Families]
    joined: list[Pattern]
    rest: Ints  # boxes for the trees

    @classmethod
    def of(cls, axes: list[Axis], cells: Codes, way: Way) -> _Search:
        """Decide by the number of patterns."""
        count = cells.shape[0]
        if way == "tree":
            return cls(axes, cells, [], [], np.arange(count))
        sorted_out = [families(a) for a in axes]
        joined, _ = patterns(sorted_out, cells)
        if len(joined) > JOINS:
            joined = [p for p in joined if p.boxes.size >= COMMON * count]
        left = np.ones(count, dtype=bool)
        for pattern in joined:
            left[pattern.boxes] = False
        return cls(axes, cells, sorted_out, joined, np.flatnonzero(left))

    @property
    def first(self) -> tuple[int, ...]:
        """The attributes that points are best sorted by."""
        return self._grid.attributes if self.rest.size else ()

    def find(self, points: Codes) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of point and box, a part at a time."""
        known = points >= 0
        if known.all():
            kinds, kind_of = np.zeros(1, dtype=np.int64), np.zeros(points.shape[0], dtype=np.int64)
        else:
            kinds, kind_of = distinct(list(known.T.astype(np.int8)))
        if len(self.joined) * kinds.size > JOINS:
            yield from self._of_all.pairs(points)
            return
        for kind in range(kinds.size if self.joined else 0):
            own = np.flatnonzero(kind_of == kind)
            for pattern in self.joined:
                point, box = join(pattern, self.families, self.cells, points[own], known=known[kinds[kind]])
                yield own[point], box
        if not self.rest.size:
            return
        if self._grid.attributes and known.all():
            yield from self._of_grid.pairs(points)
            if self._grid.outside.size:
                yield from self._of_outside.pairs(points)
        else:
            yield from self._of_rest.pairs(points)

    @cached_property
    def _grid(self) -> Grid:
        """Over the boxes of the rest."""
        return grid(self.axes, self.cells[self.rest])

    @cached_property
    def _of_grid(self) -> _Rooted:
        return _Rooted.below(self._grid, self.axes, self.cells[self.rest], self.rest)

    @cached_property
    def _of_outside(self) -> _Rooted:
        return _Rooted.alone(self.axes, self.cells, self.rest[self._grid.outside])

    @cached_property
    def _of_rest(self) -> _Rooted:
        return _Rooted.alone(self.axes, self.cells, self.rest)

    @cached_property
    def _of_all(self) -> _Rooted:
        return _Rooted.alone(self.axes, self.cells, np.arange(self.cells.shape[0]))


@dataclass(frozen=True)
class _Rooted:
    """Trees for some boxes: one under each place of a grid, for the attributes that the grid leaves; or just one."""

    grid: Grid
    left: list[int]
    descent: Descent
    own: Ints  # boxes

    @classmethod
    def below(cls, grid: Grid, axes: list[Axis], cells: Codes, own: Ints) -> _Rooted:
        """A tree under each place."""
        left = [a for a in range(len(axes)) if a not in grid.attributes]
        some = [axes[a] for a in left]
        shapes = boxes(some, cells[grid.held][:, left])
        tree = grow_tree(some, shapes, grid.spots, grid.entries(axes, cells))
        return cls(grid, left, Descent(some, shapes, tree), own[grid.held])

    @classmethod
    def alone(cls, axes: list[Axis], cells: Codes, own: Ints) -> _Rooted:
        """One tree for everybody."""
        nothing = Grid((), (), np.arange(own.size), np.empty(0, dtype=np.int64))
        return cls.below(nothing, axes, cells[own], own)

    def pairs(self, points: Codes) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of point and box."""
        for point, box in self.descent.pairs(points[:, self.left], self.grid.spot(points)):
            yield point, self.own[box]
