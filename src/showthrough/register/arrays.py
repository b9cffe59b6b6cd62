"""The array types of the register room, and moves on lists of lists.

A list of lists is a pair (``start``, ``items``): list i is ``items[start[i]:start[i + 1]]``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from showthrough.table.arrays import Codes as Codes
from showthrough.table.arrays import Flags as Flags
from showthrough.table.arrays import Ints as Ints
from showthrough.table.arrays import Reals as Reals

ROOM = 2**62  # keys of several columns stay below this


def starts(counts: npt.NDArray[np.integer]) -> Ints:
    """Where each list starts, and where the last one ends.

    >>> starts(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    start = np.zeros(counts.size + 1, dtype=np.int64)
    np.cumsum(counts, out=start[1:])
    return start


def positions(start: Ints, chosen: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Positions of all items of the ``chosen`` lists, one list after the other, and the size of each.

    >>> positions(np.array([0, 2, 2, 5]), np.array([2, 0]))[0].tolist()
    [2, 3, 4, 0, 1]
    """
    first = start[chosen]
    sizes = start[chosen + 1] - first
    new = starts(sizes)
    return np.repeat(first - new[:-1], sizes) + np.arange(int(new[-1])), sizes


def distinct(columns: Sequence[npt.NDArray[np.integer]]) -> tuple[Ints, Ints]:
    """One index for each distinct row of the columns (codes from −1), and the distinct row of each index.

    >>> distinct([np.array([3, -1, 3, 3]), np.array([0, 0, 0, 1])])[1].tolist()
    [1, 0, 1, 2]
    """
    key = np.zeros(columns[0].size, dtype=np.int64)
    space = 1
    for column in columns:
        size = int(column.max(initial=-1)) + 2
        if space * size > ROOM:
            first, key = _ranked(key)
            space = first.size
        key *= size
        key += column
        key += 1
        space *= size
    return _ranked(key)


def _ranked(key: Ints) -> tuple[Ints, Ints]:
    order = np.argsort(key)
    ordered = key[order]
    new = np.ones(key.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    rank = np.empty(key.size, dtype=np.int64)
    rank[order] = np.cumsum(new) - 1
    return order[new], rank


def alike(start: Ints, items: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
    """One index for each distinct list, the first that has it, and the distinct list of each index.

    Lists are told apart by a sum of one scrambled number per item; each is then compared with the first
    like it, item by item. Equal lists must have their items in the same order.

    >>> alike(np.array([0, 2, 3, 5]), np.array([4, 7, 4, 4, 7]))[0].tolist()
    [0, 1]
    """
    total = np.zeros(items.size + 1, dtype=np.uint64)
    np.cumsum(_scrambled(items), out=total[1:])
    mark = total[start[1:]] - total[start[:-1]]  # wraps around, as meant
    _, first, which = np.unique(mark, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    first, which = np.sort(first), rank[which]
    like = start[first[which]]
    sizes = np.diff(start)
    same = bool((sizes == sizes[first[which]]).all())
    if same and (items == items[np.repeat(like - start[:-1], sizes) + np.arange(items.size)]).all():
        return first, which
    return _alike_slowly(start, items)


def _alike_slowly(start: Ints, items: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
    """For the day that two sums are equal by accident."""
    number: dict[bytes, int] = {}
    first: list[int] = []
    which = np.empty(start.size - 1, dtype=np.int64)
    for k in range(start.size - 1):
        which[k] = number.setdefault(items[start[k] : start[k + 1]].tobytes(), len(number))
        if which[k] == len(first):
            first.append(k)
    return np.array(first, dtype=np.int64), which


def _scrambled(numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.uint64]:
    """The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    z = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    scrambled: npt.NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return scrambled
