"""Hash join by pattern: the quick way where cells come in few families of disjoint cells.

A *family* is a set of cells of one attribute no two of which share a value, such as one level of a
hierarchy. The *pattern* of a group says to which family each of its cells belongs. For one pattern
every person has at most one cell per attribute, so a walk down a prefix tree, one attribute a step,
finds the groups. Global recoding has a single pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from showthrough.register.axis import Axis
from showthrough.register.grid import members
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.codes import distinct
from showthrough.table.ragged import items_of, owners, starts

FAMILIES = 8  # of one attribute; cells beyond belong to none
SPREAD = 2**16  # pairs of cell and atom that are looked at for families, or as many as full families have
DENSE = 2**24  # entries of a prefix table; above it a search
EVERYTHING = -1  # the family of cells that cover every value
NONE = -2  # of cells beyond the families


@dataclass(frozen=True)
class Families:
    """The family of each cell of one attribute, and for each family the cell that covers each atom."""

    of: Codes  # [cells]
    cell: Codes  # [families, atoms], -1 where no cell of the family covers the atom


def families(axis: Axis) -> Families:
    """Sort cells into families, most used cells first."""
    of = np.full(axis.low.size, NONE, dtype=np.int32)
    of[axis.everything] = EVERYTHING
    usage = np.bincount(axis.cell, minlength=axis.low.size)
    cells = np.flatnonzero((usage > 0) & ~axis.everything)
    cells = cells[np.argsort(usage[cells], kind="stable")]  # later ones win
    width = axis.high[cells].astype(np.int64) - axis.low[cells] + 1
    # rarely used cells are left out where cells are so many that families would be too
    some = np.cumsum(width[::-1])[::-1] <= max(SPREAD, FAMILIES * axis.size)
    cells = cells[some]
    start, atom = members(axis, cells)
    tables: list[Codes] = []
    left = np.arange(cells.size)
    while left.size and len(tables) < FAMILIES:
        chosen, table = _family(start, atom, left, axis.size)
        of[cells[chosen]] = len(tables)
        tables.append(np.where(table >= 0, cells[table], -1).astype(np.int32))
        left = np.setdiff1d(left, chosen, assume_unique=True)
    return Families(of, np.array(tables, dtype=np.int32).reshape(len(tables), axis.size))


def _family(start: Ints, atom: Ints, left: Ints, size: int) -> tuple[Ints, Codes]:
    """A largest set of disjoint cells among those left, and its cell of each atom.

    A cell that is the last of all those left on each of its atoms joins; what touches it waits for the
    next family; repeat.
    """
    table = np.full(size, -1, dtype=np.int32)
    chosen = []
    while left.size:
        at, sizes = items_of(start, left)
        owner = owners(starts(sizes))
        winner = np.full(size, -1, dtype=np.int64)
        np.maximum.at(winner, atom[at], owner)
        beaten = np.zeros(left.size, dtype=bool)
        beaten[owner[winner[atom[at]] != owner]] = True
        chosen.append(left[~beaten])
        mine = ~beaten[owner]
        table[atom[at[mine]]] = left[owner[mine]]
        taken = np.zeros(left.size, dtype=bool)
        taken[owner[table[atom[at]] >= 0]] = True
        left = left[beaten & ~taken]
    return np.concatenate(chosen), table


@dataclass(frozen=True)
class Pattern:
    """The boxes whose cells belong to one family per attribute."""

    family: tuple[int, ...]
    boxes: Ints


def patterns(families_of: Sequence[Families], cells: Codes) -> tuple[list[Pattern], Ints]:
    """Boxes by pattern, the largest pattern first, and the boxes that have none."""
    of = np.stack([f.of[cells[:, a]] for a, f in enumerate(families_of)])
    none = (of == NONE).any(axis=0)
    some = np.flatnonzero(~none)
    if not some.size:
        return [], np.flatnonzero(none)
    first, which = distinct([row[some] + 1 for row in of])
    order = np.argsort(which, kind="stable")
    start = starts(np.bincount(which))
    found = [
        Pattern(tuple(of[:, some[first[k]]].tolist()), some[order[start[k] : start[k + 1]]]) for k in range(first.size)
    ]
    return sorted(found, key=lambda p: -p.boxes.size), np.flatnonzero(none)


def join(
    pattern: Pattern, families_of: Sequence[Families], cells: Codes, points: Codes, *, known: Flags
) -> tuple[Ints, Ints]:
    """Pairs of point and box of one pattern; ``known`` says which attributes the points have (all the same)."""
    point = np.arange(points.shape[0])
    at = np.zeros(point.size, dtype=np.int64)
    prefix = np.zeros(pattern.boxes.size, dtype=np.int64)
    prefixes = 1
    for a, family in enumerate(pattern.family):
        if family == EVERYTHING or not known[a]:
            continue
        cell = cells[pattern.boxes, a]
        used, part = np.unique(cell, return_inverse=True)
        stride = used.size + 1
        local = np.full(families_of[a].of.size + 1, used.size, dtype=np.int64)  # the last entry is for -1
        local[used] = np.arange(used.size)
        step = local[families_of[a].cell[family]]  # [atoms]
        found, longer = np.unique(prefix * stride + part, return_inverse=True)
        at = _look_up(found, at * stride + step[points[point, a]], prefixes * stride)
        alive = np.flatnonzero(at >= 0)
        if alive.size < at.size:
            point, at = point[alive], at[alive]
        prefix, prefixes = longer, found.size
    order = np.argsort(prefix, kind="stable")
    start = starts(np.bincount(prefix, minlength=prefixes))
    if prefixes == pattern.boxes.size:
        return point, pattern.boxes[order[at]]
    entry, sizes = items_of(start, at)
    return np.repeat(point, sizes), pattern.boxes[order[entry]]


def _look_up(found: Ints, key: Ints, space: int) -> Ints:
    """The rank of each key among the sorted ``found``, or −1."""
    if space <= DENSE:
        table = np.full(space, -1, dtype=np.int64)
        table[found] = np.arange(found.size)
        return table[key]
    at = np.minimum(np.searchsorted(found, key), found.size - 1)
    return np.where(found[at] == key, at, -1)
