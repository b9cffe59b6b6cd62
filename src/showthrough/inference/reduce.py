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


def reduce(problem: Problem, alive: Flags, even: Flags | None = None) -> Reduced:
    """Apply the chain; ``even`` are signatures that need no solver."""
    count, signatures = _fix_certain(problem, alive)
    signatures &= ~unweighed(problem, alive)
    if even is not None:
        signatures &= ~even
    variable_of = np.flatnonzero(alive & signatures[problem.signature])
    row_of = _served_rows(problem, variable_of)
    component, row_component, components = _components(problem, variable_of, row_of)

    own = problem.signature[variable_of]
    order = np.argsort(component[own], kind="stable")
    variable_of, own = variable_of[order], own[order]
    first = np.flatnonzero(np.append(True, own[1:] != own[:-1])) if own.size else np.empty(0, dtype=np.int64)
    row_order = np.argsort(row_component, kind="stable")
    row_of, row_component = row_of[row_order], row_component[row_order]
    place = np.full(problem.rows + 1, row_of.size, dtype=np.int32)
    place[row_of] = np.arange(row_of.size)
    return Reduced(
        weight=problem.weight[own[first]].astype(np.float64),
        start=np.append(first, own.size).astype(np.int64),
        row=place[problem.row[:, variable_of]],
        count=count[row_of].astype(np.float64),
        signature_component=component[own[first]],
        row_component=row_component,
        row_block=problem.block[problem.row_group[row_of]],
        components=components,
        variable_of=variable_of,
        row_of=row_of,
    )


def shares(problem: Problem, alive: Flags) -> Reals:
    """[v] an even share of what is left for each signature."""
    choices = np.add.reduceat(alive.astype(np.int64), problem.start[:-1])
    return np.where(alive, (1.0 / np.maximum(choices, 1))[problem.signature], 0.0)


def unweighed(problem: Problem, alive: Flags) -> Flags:
    """[m] signatures with several choices none of which is in any row."""
    if problem.plain:
        return np.zeros(problem.signatures, dtype=bool)
    weighed = alive & (problem.row != problem.rows).any(axis=0)
    choices = np.add.reduceat(alive.astype(np.int64), problem.start[:-1])
    return ~np.logical_or.reduceat(weighed, problem.start[:-1]) & (choices > 1)


def _fix_certain(problem: Problem, alive: Flags) -> tuple[Ints, Flags]:
    """Counts without the persons who have one value left, and the signatures with a choice."""
    choices = np.add.reduceat(alive.astype(np.int64), problem.start[:-1])
    certain = alive & (choices == 1)[problem.signature]
    weight = problem.weight[problem.signature[certain]]
    count = np.append(problem.count, 0)
    for row in problem.row:
        np.subtract.at(count, row[certain], weight)
    return count[:-1], choices > 1


def _served_rows(problem: Problem, variables: Ints) -> Ints:
    served = np.zeros(problem.rows + 1, dtype=bool)
    for row in problem.row:
        served[row[variables]] = True
    return np.flatnonzero(served[:-1])


def _components(problem: Problem, variables: Ints, rows: Ints) -> tuple[Ints, Ints, int]:
    """Components of the graph of signatures and rows, numbered from 0 over those that remain."""
    own = problem.signature[variables]
    nodes, releases = problem.signatures + problem.rows, problem.row.shape[0]
    # an absent row becomes a loop, so that the edges stay sorted by signature
    heads = np.where(problem.row[:, variables] == problem.rows, own, problem.signatures + problem.row[:, variables])
    _, label = graphs.components(nodes, np.repeat(own, releases), heads.T.ravel())
    used = np.unique(label[problem.signatures + rows])
    number = np.full(nodes, -1, dtype=np.int64)
    number[used] = np.arange(used.size)
    return number[label[: problem.signatures]], number[label[problem.signatures + rows]], used.size
