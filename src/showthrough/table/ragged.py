"""Lists of different lengths in flat arrays: a pair (``start``, ``items``).

List i is ``items[start[i]:start[i + 1]]``; the lists together have ``start[-1]`` items. Everything here
costs time by the number of items, never by the length of the longest list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from showthrough.table.arrays import Flags, Ints

AnyInts = npt.NDArray[np.integer]


def starts(sizes: AnyInts | Flags) -> Ints:
    """Where each list starts, and where the last one ends.

    >>> starts(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    start = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=start[1:])
    return start


def running(weights: Any) -> Any:
    """Σ of the weights before each item, and of all of them: a stretch weighs ``running[stop] - running[first]``.

    >>> running(np.array([0.5, 2.0, 1.0])).tolist()
    [0.0, 0.5, 2.5, 3.5]
    """
    total = np.zeros(weights.size + 1, dtype=np.result_type(weights.dtype, np.int64))
    np.cumsum(weights, out=total[1:])
    return total


def owners(start: AnyInts) -> Ints:
    """The list that each item belongs to.

    >>> owners(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return np.repeat(np.arange(start.size - 1), np.diff(start))


def offsets(sizes: AnyInts) -> Ints:
    """The place of each item within its list, from 0.

    >>> offsets(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    start = starts(sizes)
    return np.arange(int(start[-1])) - np.repeat(start[:-1], sizes)


def ranges(first: AnyInts, sizes: AnyInts) -> Ints:
    """The whole numbers from ``first`` on, as many as ``sizes`` says, one list after the other.

    >>> ranges(np.array([7, 0, 3]), np.array([2, 0, 3])).tolist()
    [7, 8, 3, 4, 5]
    """
    start = starts(sizes)
    return np.repeat(first - start[:-1], sizes) + np.arange(int(start[-1]))


def items_of(start: AnyInts, chosen: AnyInts) -> tuple[Ints, Ints]:
    """Where all items of the ``chosen`` lists stand, one list after the other, and the size of each.

    >>> at, sizes = items_of(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> at.tolist(), sizes.tolist()
    ([2, 3, 4, 0, 1], [3, 2])
    """
    first = start[chosen]
    sizes = start[chosen + 1] - first
    return ranges(first, sizes), sizes


def ranks(marked: Flags) -> Ints:
    """The number of each marked entry among the marked ones, −1 for the others.

    >>> ranks(np.array([True, False, True])).tolist()
    [0, -1, 1]
    """
    return np.where(marked, np.cumsum(marked) - 1, -1)


def alike(start: Ints, items: AnyInts) -> tuple[Ints, Ints]:
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
    sizes = np.diff(start)
    same = bool((sizes == sizes[first[which]]).all())
    if same and (items == items[ranges(start[first[which]], sizes)]).all():
        return first, which
    return _alike_slowly(start, items)


def _alike_slowly(start: Ints, items: AnyInts) -> tuple[Ints, Ints]:
    """For the day that two sums are equal by accident."""
    number: dict[bytes, int] = {}
    first: list[int] = []
    which = np.empty(start.size - 1, dtype=np.int64)
    for k in range(start.size - 1):
        which[k] = number.setdefault(items[start[k] : start[k + 1]].tobytes(), len(number))
        if which[k] == len(first):
            first.append(k)
    return np.array(first, dtype=np.int64), which


def _scrambled(numbers: AnyInts) -> npt.NDArray[np.uint64]:
    """The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    z = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    scrambled: npt.NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return scrambled
