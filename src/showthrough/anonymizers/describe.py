"""Groups as printed cells: ranges ``[18, 30]``, sets ``{a, b}``, labels of the hierarchy, ``*``.

Tight cells show the values really in the group, so the lowest and highest value of a range are real
values of real persons. Cells of a recursion (``mondrian.py``) do not, and they cover the whole space.
A group with one value prints that value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.group_loss import common_level, group_ends
from showthrough.anonymizers.quasi_columns import QuasiColumn, shortest
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Ints
from showthrough.table.ragged import starts

ANY = "*"


def tight_cells(columns: Sequence[QuasiColumn], group: npt.NDArray[np.integer]) -> list[list[str]]:
    """For each column one text per group 0, 1, …; rows with group -1 are left out."""
    order, start = _by_group(group)
    if not len(start):
        return [[] for _ in columns]
    cells = []
    for column in columns:
        if column.shown == "set":
            cells.append(_sets(column, group[order], order))
        elif column.shown == "range":
            low, high = group_ends(column.codes, order, start)
            cells.append([_range(column, a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)])
        else:
            cells.append(_labels(column, *group_ends(column.rank[column.codes], order, start)))
    return cells


def recursion_cells(columns: Sequence[QuasiColumn], low: Codes, high: Codes) -> list[list[str]]:
    """Texts of cells given as intervals of ranks [groups, columns]; together they leave no value of the domain out."""
    cells = []
    for j, column in enumerate(columns):
        first, last = low[:, j], high[:, j]
        if column.shown == "label":
            cells.append(_labels(column, first, last))
            continue
        leaf = np.argsort(column.rank)
        pairs = zip(first.tolist(), last.tolist(), strict=True)
        if column.shown == "range":
            cells.append([_covering_range(column, a, b) for a, b in pairs])
        else:
            cells.append([_set(column, np.sort(leaf[a : b + 1]).tolist()) for a, b in pairs])
    return cells


def level_cells(
    columns: Sequence[QuasiColumn], levels: Sequence[int], group: npt.NDArray[np.integer]
) -> list[list[str]]:
    """Texts of full-domain groups: the label of the chosen level, 0 for the value itself."""
    order, start = _by_group(group)
    cells = []
    for column, level in zip(columns, levels, strict=True):
        code = column.codes[order[start]]
        if level == 0:
            cells.append([column.labels[c] for c in code.tolist()])
        elif not column.levels:
            cells.append([ANY] * len(code))
        else:
            cells.append([column.level_labels[level - 1][c] for c in column.levels[level - 1][code].tolist()])
    return cells


def _by_group(group: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
    order = np.argsort(group, kind="stable")
    order = order[np.searchsorted(group[order], 0) :]
    size = np.bincount(group[order])
    if len(size) and int(size.min()) == 0:
        raise InputError("Groups must be numbered 0, 1, … without gaps.")
    return order, starts(size)[:-1]


def _range(column: QuasiColumn, low: int, high: int) -> str:
    open_low = column.open_low and low == 0 < high
    open_high = column.open_high and low < high == column.size - 1
    if open_low and high == column.size - 1:
        return ANY
    if open_low:
        return f"<{column.labels[high + 1].removeprefix('>=')}"
    if open_high:
        return f">={column.labels[low]}"
    return column.labels[low] if low == high else f"[{column.labels[low]}, {column.labels[high]}]"


def _covering_range(column: QuasiColumn, low: int, high: int) -> str:
    """A range that reaches to the next cell: for whole numbers up to the number before it."""
    values = column.values
    if column.open_low or column.open_high:
        return _range(column, low, high)
    if values is None or high + 1 >= len(values) or np.any(values != np.floor(values)):
        return _range(column, low, high)
    end = values[high + 1] - 1
    return column.labels[low] if end == values[low] else f"[{column.labels[low]}, {shortest(end)}]"


def _labels(column: QuasiColumn, low: npt.NDArray[np.integer], high: npt.NDArray[np.integer]) -> list[str]:
    leaf = np.argsort(column.rank)[low]
    names = [column.labels, *column.level_labels]
    codes = [np.arange(column.size, dtype=np.int32), *column.levels]
    level = common_level(column, low, high)
    return [names[at][int(codes[at][one])] for at, one in zip(level.tolist(), leaf.tolist(), strict=True)]


def _sets(column: QuasiColumn, group: npt.NDArray[np.integer], order: Ints) -> list[str]:
    key = np.unique(group.astype(np.int64) * column.size + column.codes[order])
    owner, code = key // column.size, key % column.size
    start = np.flatnonzero(np.diff(owner, prepend=-1))
    return [_set(column, part.tolist()) for part in np.split(code, start[1:])]


def _set(column: QuasiColumn, codes: list[int]) -> str:
    if len(codes) == 1:
        return column.labels[codes[0]]
    if len(codes) == column.size:
        return ANY
    texts = [column.labels[code] for code in codes]
    if any(mark in text for text in texts for mark in ",{}"):
        raise InputError(
            f"Column {column.name!r} has a value with a comma or a brace, which a set such as {{a, b}} cannot show: "
            f"give the column a hierarchy or rename the value."
        )
    return "{" + ", ".join(texts) + "}"
