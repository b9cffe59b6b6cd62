"""One attribute made small: values that no cell tells apart become one *atom*, in an order that suits the cells.

Where every cell is an interval of codes already, the atoms are the pieces between the ends of
cells. Otherwise the values with the same cells are one atom; if the cells form a hierarchy, sorting
the atoms by membership, largest cells first, makes every cell an interval. A cell that is still none
keeps the smallest interval around it, and its atoms are looked up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.register.attribute import Attribute
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import alike, items_of, ranges, starts

LARGEST = 512  # cells that the order of the atoms looks at
TABLE = 2**27  # entries of the largest membership table


@dataclass(frozen=True)
class Axis:
    """Persons as atoms, cells as intervals of atoms; ``exact`` says that the interval is the cell."""

    person: Codes  # [n] atom, or -1
    cell: Codes  # [m] the cell of each group
    low: Codes  # [cells]
    high: Codes  # [cells], included
    exact: Flags  # [cells]
    everything: Flags  # [cells]
    inside: Ints  # sorted cell * size + atom of the cells that are not exact
    size: int  # number of atoms

    def covers(self, cell: Codes, atom: Codes) -> Flags:
        """Whether cells that are not exact cover atoms that lie within their intervals."""
        if not self.inside.size:
            return np.zeros(cell.size, dtype=bool)
        key = cell.astype(np.int64) * self.size + atom
        at = np.minimum(np.searchsorted(self.inside, key), self.inside.size - 1)
        found: Flags = self.inside[at] == key
        return found


def axis(attribute: Attribute) -> Axis:
    """Find the atoms of an attribute and the interval of each cell."""
    whole = attribute.everything
    used = np.zeros(attribute.cells, dtype=bool)
    used[attribute.group] = True
    part = np.flatnonzero(used & ~whole)
    at, counts = items_of(attribute.start, part)
    runs, own = (attribute.low[at], attribute.high[at]), np.repeat(part, counts)
    low, high = _ends(part, starts(counts), *runs, attribute.cells)
    length = np.bincount(own, weights=runs[1] - runs[0], minlength=attribute.cells).astype(np.int64)
    if (high - low == length).all():
        atom, size = pieces(low[length > 0], high[length > 0] - 1, attribute.values)
        inside = np.empty(0, dtype=np.int64)
        low[length > 0], high[length > 0] = atom[low[length > 0]], atom[high[length > 0] - 1]
        exact = whole | (length > 0)
    else:
        covered, cell = ranges(runs[0], runs[1] - runs[0]), np.repeat(own, runs[1] - runs[0])
        atom, size = _alike(cell, covered, attribute.values)
        usage = np.bincount(attribute.group, minlength=attribute.cells)
        cell, member = _by_atom(cell, atom[covered], size)
        rank = _ordered(cell, member, size, usage)
        atom = rank[atom]
        key = np.sort(cell * size + rank[member])
        cell, member = key // size, key % size
        sizes = np.bincount(cell, minlength=attribute.cells)[part]
        length[part] = sizes
        low, high = _ends(part, starts(sizes), member, member + 1, attribute.cells)
        exact = whole | ((length > 0) & (high - low == length))
        high = np.maximum(high - 1, 0)
        inside = key[~exact[cell]]
    low[whole], high[whole] = 0, size - 1
    person = np.append(atom, -1).astype(np.int32)[attribute.person]  # the last entry is for -1
    ends = low.astype(np.int32), high.astype(np.int32)
    return Axis(person, attribute.group.astype(np.int32), *ends, exact, whole, inside, size)


def _ends(part: Ints, start: Ints, first: Codes | Ints, after: Codes | Ints, cells: int) -> tuple[Ints, Ints]:
    """First code and code after the last of the cells in ``part``; 0 and 0 for a cell that covers nothing."""
    low, high = np.zeros(cells, dtype=np.int64), np.zeros(cells, dtype=np.int64)
    some = np.flatnonzero(np.diff(start) > 0)
    low[part[some]] = first[start[some]]
    high[part[some]] = after[start[some + 1] - 1]
    return low, high


def pieces(low: Ints, high: Ints, values: int) -> tuple[Ints, int]:
    """The atom of each value where every cell is an interval: a new one wherever a cell starts or has ended."""
    mark = np.zeros(values + 1, dtype=np.int64)
    mark[low] = 1
    mark[high + 1] = 1
    mark[0] = 0
    atom = np.cumsum(mark)[: max(values, 1)]
    return atom, int(atom[-1]) + 1


def _alike(cell: Ints, covered: Ints, values: int) -> tuple[Ints, int]:
    """The atom of each value: values with exactly the same cells share one."""
    order = np.argsort(covered, kind="stable")
    first, atom = alike(starts(np.bincount(covered, minlength=values)), cell[order])
    return atom, first.size


def _by_atom(cell: Ints, atom: Ints, size: int) -> tuple[Ints, Ints]:
    """Each pair of cell and atom once, sorted."""
    key = np.unique(cell * size + atom)
    return key // size, key % size


def _ordered(cell: Ints, atom: Ints, size: int, usage: Ints) -> Ints:
    """The rank of each atom in the better of two orders: as it is, or by membership in the largest cells."""
    natural = np.arange(size)
    length = np.bincount(cell, minlength=usage.size)
    most = min(LARGEST, max(8, TABLE // max(size, 1)))
    largest = np.argsort(-length, kind="stable")[:most]
    column = np.full(usage.size, -1, dtype=np.int64)
    column[largest] = np.arange(largest.size)
    table = np.zeros((size, -(-largest.size // 64) * 64), dtype=bool)
    shown = column[cell] >= 0
    table[atom[shown], column[cell[shown]]] = True
    words = np.packbits(table, axis=1).view(">u8")
    nested = np.empty(size, dtype=np.int64)
    nested[np.lexsort(words.T[::-1])] = natural
    return max((natural, nested), key=lambda rank: _intervals(cell, rank[atom], length, usage))


def _intervals(cell: Ints, rank: Ints, length: Ints, usage: Ints) -> int:
    """How many groups have a cell that is an interval in this order; ``cell`` ascends."""
    new = np.flatnonzero(np.diff(cell, prepend=-1))
    own = cell[new]
    width = np.maximum.reduceat(rank, new) - np.minimum.reduceat(rank, new) + 1
    return int(usage[own[width == length[own]]].sum())
