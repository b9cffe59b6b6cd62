"""Mondrian as the textbook has it, cut by cut (LeFevre, DeWitt, Ramakrishnan, ICDE 2006).

The package's own Mondrian tries both cuts around a median and so makes smaller groups; published experiments used
implementations like this one. A column with a hierarchy is cut into the children of its node, any other at the median
of its codes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from showthrough.anonymizers.quasi_columns import QuasiColumn, row_count
from showthrough.anonymizers.requirement import Requirement
from showthrough.table.arrays import Codes, Ints


def textbook_mondrian(columns: Sequence[QuasiColumn], requirement: Requirement, *, relaxed: bool = False) -> Ints:
    """The group of each row; ``relaxed`` halves every part in the order of the rows and knows no hierarchies."""
    paths = [None if relaxed or not column.levels else _path(column) for column in columns]
    group = np.full(row_count(columns), -1, dtype=np.int64)
    waiting, done = [np.arange(group.size)], 0
    while waiting:
        part = waiting.pop()
        parts = _allowed_cut(part, columns, paths, requirement, relaxed=relaxed)
        if parts:
            waiting += parts
        else:
            group[part], done = done, done + 1
    return group


def _path(column: QuasiColumn) -> Codes:
    """[rows, levels] the label of each row at every level, from the root to the leaf."""
    found: Codes = np.stack([*(level[column.codes] for level in column.levels[::-1]), column.codes], axis=1)
    return found


def _allowed_cut(
    part: Ints,
    columns: Sequence[QuasiColumn],
    paths: Sequence[Codes | None],
    requirement: Requirement,
    *,
    relaxed: bool,
) -> list[Ints]:
    """The cut of the widest column whose parts all satisfy the requirement; none if no column has one."""
    if part.size < 2 * requirement.k:
        return []
    width = [
        _width(column.codes[part], column.size, path is not None) for column, path in zip(columns, paths, strict=True)
    ]
    for at in sorted(range(len(columns)), key=lambda j: -width[j]):
        parts = _cut(part, columns[at].codes[part], paths[at], relaxed=relaxed)
        if len(parts) > 1 and _met(parts, requirement):
            return parts
    return []


def _width(codes: Codes, size: int, labelled: bool) -> float:
    """The share of a column's values that a part holds; of ordered ones, that lie between its ends."""
    return (np.unique(codes).size if labelled else int(codes.max()) - int(codes.min()) + 1) / size


def _cut(part: Ints, codes: Codes, path: Codes | None, *, relaxed: bool) -> list[Ints]:
    """A part in two at the median, or in as many as its node has children."""
    if relaxed:
        order = part[np.argsort(codes, kind="stable")]
        return [order[: part.size // 2], order[part.size // 2 :]] if codes.max() > codes.min() else [part]
    if path is None:
        low = codes <= np.sort(codes)[(codes.size - 1) // 2]
        return [part] if low.all() else [part[low], part[~low]]
    for labels in path[part].T:
        if (labels != labels[0]).any():
            return [part[labels == label] for label in np.unique(labels)]
    return [part]


def _met(parts: Sequence[Ints], requirement: Requirement) -> bool:
    if min(part.size for part in parts) < requirement.k:
        return False
    if requirement.sensitive is None:
        return True
    rows = np.concatenate(parts)
    group = np.repeat(np.arange(len(parts)), [part.size for part in parts])
    return bool(requirement.judge(group, requirement.sensitive[rows], len(parts)).all())
