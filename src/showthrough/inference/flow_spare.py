"""Counts that are ranges, as edges of a flow: what a row holds beyond its lower count comes from a node of its value.

Rows of the first release take it from there, rows of the second give it back. The node is tied to the outside of the
value by one edge whose flow has a middle that stands for nothing, so that any amount can go either way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.inference.remaining import Remaining
from showthrough.table.arrays import Ints, sum_by


@dataclass(frozen=True)
class Spare:
    """The edges of ranges of one pair of releases."""

    row: Ints
    """The row of each of the first edges; one more edge for each value of theirs follows."""
    tail: Ints
    head: Ints
    room: Ints
    demand: Ints
    """[nodes] what the middle of the last edges asks of their ends."""

    @property
    def size(self) -> int:
        """How many edges there are."""
        return self.tail.size


def spare_edges(free: Remaining, rows: Ints, first: int, nodes: int, place: int) -> Spare:
    """The edges of some rows; nodes from ``place`` on are those that ranges take from, one for each value."""
    problem = free.problem
    value = problem.row_value[rows].astype(np.int64)
    room = np.maximum(free.most - np.maximum(free.left, 0), 0)[rows]
    taking = problem.row_release[rows] == first
    store = place + value
    held = np.unique(value)
    outside, middle = problem.rows.size + held, 1 + sum_by(value, room.astype(np.float64), problem.values)[held]
    middle = middle.astype(np.int64)  # more than all ranges of the value can take or give
    demand = np.zeros(nodes, dtype=np.int64)
    demand[outside], demand[place + held] = middle, -middle
    return Spare(
        row=rows,
        tail=np.concatenate([np.where(taking, store, rows), outside]),
        head=np.concatenate([np.where(taking, rows, store), place + held]),
        room=np.concatenate([room, 2 * middle]),
        demand=demand,
    )
