"""The generalization lattice of some columns: levels, what they lose, and the nodes in order of loss.

A node is one level per column (Samarati, TKDE 2001). A column without hierarchy gets levels that halve its
ranks again and again, so that near numbers and equally frequent values come together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.group_loss import label_losses, leaf_losses
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.table.arrays import Codes, Reals

NODES = 8_192
"""Nodes of a lattice that are visited; a larger lattice is seen along random chains from its bottom to its top."""
LEAST = 256
MIXED = 0.7
"""What the values really mixed count beside the labels, where they count."""
WORK = (6_000_000_000, 500_000_000)
"""Cells in one visit of all nodes, as far as the least number of nodes allows: for k alone, and with a criterion on
values, where a node costs more."""


class Lattice:
    """Levels of each column and the nodes that a sweep visits, cheapest first: by labels, or also by values mixed."""

    def __init__(self, columns: Sequence[QuasiColumn], seed: int = 0, *, plain: bool = True) -> None:
        self.columns = columns
        generator = np.random.default_rng([seed, 0x5EED])
        self.levels = [column_levels(column) for column in columns]
        # classes are told apart by sums of random numbers: no product of sizes can overflow, and two classes that
        # fell together would make one larger group, never a false one
        span = np.iinfo(np.int64)
        self.marks = [
            [generator.integers(span.min, span.max, int(level.max(initial=0)) + 1)[level] for level in levels]
            for levels in self.levels
        ]
        both = [_mean_losses(column, levels) for column, levels in zip(columns, self.levels, strict=True)]
        rows = len(columns[0].codes)
        number = int(np.clip(WORK[0 if plain else 1] // max(1, rows * len(columns)), LEAST, NODES))
        by_labels, by_values = [[pair[which] for pair in both] for which in (0, 1)]
        nodes = _nodes(by_labels, number, generator)
        lost = _lost(nodes, by_labels)
        order = np.argsort(lost, kind="stable")
        self.nodes = nodes[order]
        least, most = float(lost.min()), float(lost.max())
        self.lost: Reals = np.asarray((lost[order] - least) / (most - least if most > least else 1.0))
        self.by_values = nodes[np.argsort(_lost(nodes, by_values), kind="stable")]


def column_levels(column: QuasiColumn) -> list[Codes]:
    """For each level the label of each leaf, from the leaves themselves to one label for all."""
    levels: list[Codes] = [np.arange(column.size, dtype=np.int32)]
    if column.levels:
        return [*levels, *column.levels]
    step = 1
    while (column.size - 1) >> step > 0:
        levels.append(column.rank >> step)
        step += 1
    return levels if column.size < 2 else [*levels, np.zeros(column.size, dtype=np.int32)]


def level_losses(column: QuasiColumn, levels: Sequence[Codes]) -> list[Reals]:
    """For each level the loss of each leaf under its label."""
    if column.levels:
        return [leaf_losses(column), *label_losses(column)]
    inner = tuple(levels[1:])
    names = tuple(tuple(map(str, range(int(level.max()) + 1))) for level in inner)
    if not inner:
        return [leaf_losses(column)]
    values = column.values if column.shown == "range" else None
    stand_in = QuasiColumn(
        column.name, column.codes, column.labels, values, inner, names, "label", often=column.often, bit=column.bit
    )
    return [leaf_losses(column), *label_losses(stand_in)]


def _mean_losses(column: QuasiColumn, levels: Sequence[Codes]) -> tuple[Reals, Reals]:
    """Mean loss of the records at each level by labels, and with a part for the values that they really mix.

    Values count by e^H, the number of equally frequent ones that mix as much: a label over one frequent value and
    many rare ones mixes less than its leaves say.
    """
    often = np.bincount(column.codes, minlength=column.size) / max(1, len(column.codes))
    by_labels, by_values = [], []
    for level, loss in zip(levels, level_losses(column, levels), strict=True):
        whole = np.bincount(level, weights=often)[level]
        share = np.divide(often, whole, out=np.zeros(column.size), where=whole > 0)
        entropy = np.bincount(level, weights=-share * np.log(np.where(share > 0, share, 1.0)))
        mixed = np.where(entropy > 1e-9, np.exp(entropy), 0.0)[level] / column.size
        by_labels.append(column.weight * float(often @ loss))
        by_values.append(column.weight * float(often @ (loss + MIXED * mixed)))
    return np.array(by_labels), np.array(by_values)


def _lost(nodes: npt.NDArray[np.int64], mean: Sequence[Reals]) -> Reals:
    """Mean loss of each node."""
    return np.asarray(np.sum([one[nodes[:, j]] for j, one in enumerate(mean)], axis=0))


def _nodes(mean: Sequence[Reals], most: int, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """Nodes [nodes, columns]: all, or those of as many chains as ``most`` allows."""
    lengths = [len(one) for one in mean]
    if float(np.prod([float(length) for length in lengths])) <= most:
        return np.asarray(np.indices(lengths).reshape(len(lengths), -1).T)
    return _chains(mean, most, generator)


def _chains(mean: Sequence[Reals], most: int, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """Distinct nodes on chains that raise one column at a time, cheap steps earlier more often than late."""
    column = np.repeat(np.arange(len(mean)), [len(one) - 1 for one in mean])
    step = np.concatenate([np.diff(one) for one in mean])
    found = [np.zeros((1, len(mean)), dtype=np.int64)]
    for _ in range(max(1, most // max(1, len(column)))):
        # a column's own steps keep their order: its k-th place in the chain raises it to level k
        order = np.argsort(step * generator.exponential(size=len(step)), kind="stable")
        raised = column[order][:, None] == np.arange(len(mean))
        found.append(np.cumsum(raised, axis=0))
    return np.unique(np.concatenate(found), axis=0)
