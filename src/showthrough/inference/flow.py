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
from showthrough.inference.problem import Problem
from showthrough.inference.remaining import Remaining
from showthrough.table.arrays import Codes, Flags, Ints, sum_by


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
    return problem.rows + problem.values


def outside(problem: Problem, values: Codes) -> Ints:
    """The outside node of each value."""
    return problem.rows + values.astype(np.int64)


def pair_flow(free: Remaining, first: int, second: int, *, earlier: PairFlow | None = None) -> PairFlow:
    """Find a flow that meets what is left of the counts of two releases.

    ``earlier`` is a flow of the same pair to start from, made when more variables were open; it is of no use
    where some were left out as even that are no longer known to be.
    """
    problem, nodes = free.problem, node_count(free.problem)
    at = np.flatnonzero((free.row[first] != problem.rows) | (free.row[second] != problem.rows))
    variable, weight = free.variable[at], free.weight[at]
    beyond = outside(problem, problem.value[variable])
    tail, head = free.row[first][at].astype(np.int64), free.row[second][at].astype(np.int64)
    tail, head = np.where(tail == problem.rows, beyond, tail), np.where(head == problem.rows, beyond, head)
    edge = np.full(problem.variables, -1, dtype=np.int64)
    if earlier is None or (earlier.edge[variable] < 0).any():
        pairs, edge[variable] = np.unique(tail * nodes + head, return_inverse=True)
        edge_tail, edge_head, guess = pairs // nodes, pairs % nodes, None
    else:
        edge[variable] = earlier.edge[variable]
        edge_tail, edge_head, guess = earlier.tail, earlier.head, earlier.flow
    room = sum_by(edge[variable], weight, edge_tail.size).astype(np.int64)
    start = np.zeros_like(room) if guess is None else np.clip(guess, 0, room)
    flow, feasible, unmet = _route(problem, edge_tail, edge_head, room, _demands(free, tail, head), start)
    return PairFlow(first, second, edge, edge_tail, edge_head, room, flow, feasible, unmet)


def forced(problem: Problem, alive: Flags, pair: PairFlow) -> tuple[Flags, Flags]:
    """Variables that are zero, and variables that are one, in every feasible flow."""
    strong = graphs.strong_components(node_count(problem), *pair.residual())
    fixed = strong[pair.tail] != strong[pair.head]
    used = np.flatnonzero((pair.edge >= 0) & alive)
    zero = np.zeros(problem.variables, dtype=bool)
    one = np.zeros(problem.variables, dtype=bool)
    zero[used] = (fixed & (pair.flow == 0))[pair.edge[used]]
    one[used] = (fixed & (pair.flow > 0))[pair.edge[used]]
    return zero, one


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


def _demands(free: Remaining, tail: Ints, head: Ints) -> Ints:
    """What flows into each node from the source (above 0) or must leave it to the sink (below 0)."""
    problem = free.problem
    sign = np.zeros(node_count(problem), dtype=np.int64)
    sign[tail], sign[head] = 1, -1
    rows = np.flatnonzero(sign[: problem.rows])
    demand = np.zeros(node_count(problem), dtype=np.int64)
    demand[rows] = sign[rows] * free.left[rows]
    balance = sum_by(problem.row_value[rows], demand[rows].astype(np.float64), problem.values)
    demand[problem.rows :] = -balance.astype(np.int64)
    return demand


def _route(problem: Problem, tail: Ints, head: Ints, room: Ints, demand: Ints, start: Ints) -> tuple[Ints, bool, Ints]:
    """Complete a flow that keeps within its room: send what is missing through the residual graph."""
    nodes = node_count(problem)
    missing = demand
    if start.any():
        missing = demand - sum_by(tail, start.astype(np.float64), nodes).astype(np.int64)
        missing += sum_by(head, start.astype(np.float64), nodes).astype(np.int64)
    supply, need = np.flatnonzero(missing > 0), np.flatnonzero(missing < 0)
    nowhere = np.empty(0, dtype=np.int64)
    if not supply.size:
        return start, True, nowhere
    source, sink = nodes, nodes + 1
    up, down = np.flatnonzero(start < room), np.flatnonzero(start > 0)
    tails = np.concatenate([tail[up], head[down], np.full(supply.size, source), need])
    heads = np.concatenate([head[up], tail[down], supply, np.full(need.size, sink)])
    rooms = np.concatenate([(room - start)[up], start[down], missing[supply], -missing[need]])
    value, routed = graphs.maximum_flow(nodes + 2, tails, heads, rooms, source, sink)
    flow = start.copy()
    flow[up] += routed[: up.size]
    flow[down] -= routed[up.size : up.size + down.size]
    if value == int(missing[supply].sum()):
        return flow, True, nowhere
    more, less = routed < rooms, routed > 0
    ends = np.concatenate([tails[more], heads[less]]), np.concatenate([heads[more], tails[less]])
    return flow, False, np.flatnonzero(graphs.reachable(nodes + 2, *ends, source)[:nodes])
