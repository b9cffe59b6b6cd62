"""Presolve as reversible steps: each returns a smaller problem and how to undo it.

The chain: drop the proven zeros, fix the persons who have one value left, drop rows that no
variable serves any more, and order everything by connected component.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from showthrough.inference import graphs
from showthrough.inference.passes import Sweeps, sweeps_over
from showthrough.inference.problem import Problem
from showthrough.inference.remaining import Remaining, choices_of
from showthrough.table.arrays import Codes, Flags, Ints, Reals


@dataclass(frozen=True)
class Reduced:
    """A problem in which every signature has a choice, sorted by component, with the way back.

    Legend: m signatures, v variables, k components; ``start`` etc. as in `Problem`.
    """

    weight: Reals  # [m]
    start: Ints  # [m + 1]
    row: Codes  # [R, v]; ``rows`` where absent
    count: Reals  # [rows] what is left of the published counts
    signature_component: Ints  # [m], ascending
    row_component: Ints  # [rows], ascending
    row_block: Ints  # [rows] groups that a constant can be added to without changing anything; −1: none
    components: int
    variable_of: Ints  # [v] the variable of the full problem
    row_of: Ints  # [rows] the row of the full problem

    @property
    def rows(self) -> int:
        return self.count.size

    @cached_property
    def sweeps(self) -> Sweeps:
        """How passes over the variables are made; prepared once."""
        return sweeps_over(self)

    def undo(self, x: Reals, problem: Problem, alive: Flags) -> Reals:
        """The full answer: zeros where excluded, x where there is a choice that some row weighs.

        What no row weighs (persons who are outside all releases if they are not what was excluded) is
        spread evenly; a single choice is certain.
        """
        full = shares(problem, alive)
        full[self.variable_of] = x
        return full

    def undo_rows(self, mu: Reals, problem: Problem) -> Reals:
        """The multipliers of all rows of the full problem (0 where the row dropped out)."""
        full = np.zeros(problem.rows)
        full[self.row_of] = mu
        return full


def reduce(problem: Problem, alive: Flags) -> Reduced:
    """Apply the chain to all that has a choice and is weighed by some row."""
    free = Remaining.of(problem, alive, choices_of(problem, alive))
    if not problem.plain:
        free = free.only(~unweighed(problem, alive)[free.signature])
    return reduced_to(free)


def reduced_to(free: Remaining) -> Reduced:
    """What remains as a problem of its own."""
    problem, variable_of, signature = free.problem, free.variable, free.signature
    row, row_of = _served_rows(free)
    first = np.flatnonzero(np.append(True, signature[1:] != signature[:-1])) if signature.size else variable_of
    own, start = signature[first], np.append(first, signature.size)
    component, row_component, components = _components(start, row, row_of.size)
    if (component[1:] < component[:-1]).any():
        order = np.argsort(component, kind="stable")
        own, component, length = own[order], component[order], np.diff(start)[order]
        begin, start = start[order], np.append(0, np.cumsum(length))
        at = np.arange(variable_of.size) + np.repeat(begin - start[:-1], length)
        variable_of, row = variable_of[at], row[:, at]
    if (row_component[1:] < row_component[:-1]).any():
        order = np.argsort(row_component, kind="stable")
        row_of, row_component = row_of[order], row_component[order]
        place = np.empty(order.size + 1, dtype=np.int32)
        place[order], place[-1] = np.arange(order.size), order.size
        row = place[row]
    return Reduced(
        weight=problem.weight[own].astype(np.float64),
        start=start.astype(np.int64, copy=False),
        row=np.ascontiguousarray(row),
        count=free.left[row_of].astype(np.float64),
        signature_component=component,
        row_component=row_component,
        row_block=problem.block[problem.row_group[row_of]],
        components=components,
        variable_of=variable_of,
        row_of=row_of,
    )


def shares(problem: Problem, alive: Flags) -> Reals:
    """[v] an even share of what is left for each signature."""
    share = 1.0 / np.maximum(choices_of(problem, alive), 1)
    return share.take(problem.signature) * alive


def unweighed(problem: Problem, alive: Flags) -> Flags:
    """[m] signatures with several choices none of which is in any row."""
    if problem.plain:
        return np.zeros(problem.signatures, dtype=bool)
    weighed = alive & (problem.row != problem.rows).any(axis=0)
    return np.asarray(~np.logical_or.reduceat(weighed, problem.start[:-1]) & (choices_of(problem, alive) > 1))


def _served_rows(free: Remaining) -> tuple[Codes, Ints]:
    """The rows of the variables numbered from 0 over those that occur, and the row of the problem of each."""
    rows = free.problem.rows
    served = np.zeros(rows + 1, dtype=bool)
    for own in free.row:
        served[own] = True
    row_of = np.flatnonzero(served[:-1])
    place = np.empty(rows + 1, dtype=np.int32)
    place[row_of], place[-1] = np.arange(row_of.size), row_of.size
    return place.take(free.row), row_of


def _components(start: Ints, row: Codes, rows: int) -> tuple[Ints, Ints, int]:
    """Components of the graph of signatures and rows."""
    signatures, releases = start.size - 1, row.shape[0]
    own = np.repeat(np.arange(signatures, dtype=np.int32), np.diff(start))
    # an absent row becomes a loop, so that the edges stay sorted by signature
    heads = np.where(row == rows, own, row + np.int32(signatures))
    components, label = graphs.components(signatures + rows, np.repeat(own, releases), heads.T.ravel())
    return label[:signatures], label[signatures:], components
