"""Forced zeros and ones of one pair of releases, by flow and strongly connected components.

For one value, the groups of two releases are the two sides of a bipartite graph and the persons
are its edges; persons in only one of the two hang on an extra *outside* node of the value. The
published counts are the demands of a flow. Take any integral flow: an edge whose ends lie in
different strong components of the residual graph can never change its flow, so at 0 nobody on it
has the value and at capacity everybody has. All values are one graph here (rows are nodes).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.inference import graphs
from showthrough.inference.arrays import Codes, Flags, Ints
from showthrough.inference.problem import Problem


@dataclass(frozen=True)
class PairFlow:
    """A feasible integral flow between two releases, with its residual graph.

    Nodes are the rows of the problem, then one outside node per value. ``edge`` maps variables to
    edges (−1: the variable takes no part, or its signature has no choice left).
    """

    first: int
    second: int
    edge: Ints  # [v]
    tail: Ints
    head: Ints
    room: Ints  # capacity of each edge beyond the persons already certain
    flow: Ints
    feasible: bool
    unmet: Ints  # nodes on the source side of the smallest cut, if not feasible

    def residual(self) -> tuple[Ints, Ints]:
        """Edges (tails, heads) along which one more person could be moved."""
        up, down = self.flow < self.room, self.flow > 0
        tails = np.concatenate([self.tail[up], self.head[down]])
        return tails, np.concatenate([self.head[up], self.tail[down]])


def node_count(problem: Problem) -> int:
    """Rows and outside nodes."""
    return problem.rows + _values(problem)


def outside(problem: Problem, values: Codes) -> Ints:
    """The outside node of each value."""
    return problem.rows + values.astype(np.int64)


def pair_flow(problem: Problem, alive: Flags, first: int, second: int, only: Flags | None = None) -> PairFlow:
    """Find a flow that meets the counts of two releases; ``only`` restricts it to some variables."""
    nodes = node_count(problem)
    choices = np.add.reduceat(alive.astype(np.int64), problem.start[:-1])
    joined = (problem.row[first] != problem.rows) | (problem.row[second] != problem.rows)
    part = np.flatnonzero(alive & joined if only is None else alive & joined & only)
    free = choices[problem.signature[part]] > 1
    tail, head = _ends(problem, part, first, second)
    weight = problem.weight[problem.signature[part]]

    demand = _demands(problem, tail, head)
    np.subtract.at(demand, tail[~free], weight[~free])
    np.add.at(demand, head[~free], weight[~free])
    key = tail[free] * nodes + head[free]
    pairs, edge_of = np.unique(key, return_inverse=True)
    room = np.bincount(edge_of, weights=weight[free], minlength=pairs.size).astype(np.int64)
    edge = np.full(problem.variables, -1, dtype=np.int64)
    edge[part[free]] = edge_of
    edge_tail, edge_head = pairs // nodes, pairs % nodes
    flow, feasible, unmet = _route(nodes, edge_tail, edge_head, room, demand)
    return PairFlow(first, second, edge, edge_tail, edge_head, room, flow, feasible, unmet)


def forced(problem: Problem, alive: Flags, pair: PairFlow) -> tuple[Flags, Flags]:
    """Variables that are zero, and variables that are one, in every feasible flow."""
    strong = graphs.strong_components(node_count(problem), *pair.residual())
    fixed = strong[pair.tail] != strong[pair.head]
    used = pair.edge >= 0
    zero = np.zeros(problem.variables, dtype=bool)
    one = np.zeros(problem.variables, dtype=bool)
    zero[used] = (fixed & (pair.flow == 0))[pair.edge[used]]
    one[used] = (fixed & (pair.flow > 0))[pair.edge[used]]
    return zero & alive, one & alive


def cut_weights(problem: Problem, pair: PairFlow, inside: Flags) -> Ints:
    """The weighing of a closed set of nodes: +1 on its rows of one release, −1 on those of the other.

    ``inside`` marks nodes that no residual arc leaves. If it holds an outside node, its complement
    (which none enters) makes the same argument with the releases exchanged.
    """
    span = np.zeros(node_count(problem), dtype=bool)
    span[pair.tail] = span[pair.head] = True
    sign = 1
    if inside[problem.rows :].any():
        inside, sign = span & ~inside, -1
    rows = np.flatnonzero(inside[: problem.rows])
    weights = np.zeros(problem.rows, dtype=np.int64)
    weights[rows] = np.where(problem.row_release[rows] == pair.first, sign, -sign)
    return weights


def _values(problem: Problem) -> int:
    return int(problem.row_value.max()) + 1


def _ends(problem: Problem, part: Ints, first: int, second: int) -> tuple[Ints, Ints]:
    beyond = outside(problem, problem.value[part])
    tail, head = problem.row[first][part].astype(np.int64), problem.row[second][part].astype(np.int64)
    return np.where(tail == problem.rows, beyond, tail), np.where(head == problem.rows, beyond, head)


def _demands(problem: Problem, tail: Ints, head: Ints) -> Ints:
    """What flows into each node from the source (above 0) or must leave it to the sink (below 0)."""
    demand = np.zeros(node_count(problem), dtype=np.int64)
    tails, heads = np.unique(tail[tail < problem.rows]), np.unique(head[head < problem.rows])
    demand[tails] = problem.count[tails]
    demand[heads] = -problem.count[heads]
    balance = np.bincount(
        problem.row_value[np.concatenate([tails, heads])],
        weights=demand[np.concatenate([tails, heads])],
        minlength=_values(problem),
    )
    demand[problem.rows :] = -balance.astype(np.int64)
    return demand


def _route(nodes: int, tail: Ints, head: Ints, room: Ints, demand: Ints) -> tuple[Ints, bool, Ints]:
    """Maximum flow from the nodes with supply to those with need."""
    source, sink = nodes, nodes + 1
    supply, need = np.flatnonzero(demand > 0), np.flatnonzero(demand < 0)
    tails = np.concatenate([tail, np.full(supply.size, source), need])
    heads = np.concatenate([head, supply, np.full(need.size, sink)])
    rooms = np.concatenate([room, demand[supply], -demand[need]])
    value, routed = graphs.maximum_flow(nodes + 2, tails, heads, rooms, source, sink)
    feasible = value == int(demand[supply].sum())
    unmet = np.empty(0, dtype=np.int64)
    if not feasible:
        up, down = routed < rooms, routed > 0
        ends = np.concatenate([tails[up], heads[down]]), np.concatenate([heads[up], tails[down]])
        unmet = np.flatnonzero(graphs.reachable(nodes + 2, *ends, source)[:nodes])
    return routed[: tail.size], feasible, unmet
