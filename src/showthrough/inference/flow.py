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
    return problem.rows + _values(problem)


def outside(problem: Problem, values: Codes) -> Ints:
    """The outside node of each value."""
    return problem.rows + values.astype(np.int64)


def pair_flow(
    problem: Problem,
    alive: Flags,
    first: int,
    second: int,
    *,
    only: Flags | None = None,
    earlier: PairFlow | None = None,
) -> PairFlow:
    """Find a flow that meets the counts of two releases.

    ``only`` restricts it to some variables; ``earlier`` is a flow of the same pair to start from, made
    when more variables were alive.
    """
    choices = np.add.reduceat(alive.astype(np.int64), problem.start[:-1])
    joined = (problem.row[first] != problem.rows) | (problem.row[second] != problem.rows)
    part = np.flatnonzero(alive & joined if only is None else alive & joined & only)
    free = choices[problem.signature[part]] > 1
    tail, head = _ends(problem, part, first, second)
    weight = problem.weight[problem.signature[part]]
    demand = _demands(problem, tail, head)
    np.subtract.at(demand, tail[~free], weight[~free])
    np.add.at(demand, head[~free], weight[~free])

    edge = np.full(problem.variables, -1, dtype=np.int64)
    if earlier is None:
        nodes = node_count(problem)
        pairs, edge[part[free]] = np.unique(tail[free] * nodes + head[free], return_inverse=True)
        edge_tail, edge_head, guess = pairs // nodes, pairs % nodes, None
    else:
        edge[part[free]] = earlier.edge[part[free]]
        edge_tail, edge_head, guess = earlier.tail, earlier.head, earlier.flow.copy()
        settled = earlier.edge[part[~free]]
        np.subtract.at(guess, settled[settled >= 0], weight[~free][settled >= 0])
    room = sum_by(edge[part[free]], weight[free].astype(np.float64), edge_tail.size).astype(np.int64)
    start = np.zeros_like(room) if guess is None else np.clip(guess, 0, room)
    flow, feasible, unmet = _route(problem, edge_tail, edge_head, room, demand, start)
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
    sign = np.zeros(node_count(problem), dtype=np.int64)
    sign[tail], sign[head] = 1, -1
    demand[: problem.rows] = sign[: problem.rows] * problem.count
    balance = sum_by(problem.row_value, demand[: problem.rows].astype(np.float64), _values(problem))
    demand[problem.rows :] = -balance.astype(np.int64)
    return demand


def _route(problem: Problem, tail: Ints, head: Ints, room: Ints, demand: Ints, start: Ints) -> tuple[Ints, bool, Ints]:
    """Complete a flow that keeps within its room: send what is missing through the residual graph."""
    nodes = node_count(problem)
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
