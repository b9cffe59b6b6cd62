"""Forced zeros and ones of one pair of releases, by flow and strongly connected components.

For one value, the groups of two releases are the two sides of a bipartite graph and the persons
are its edges; persons in only one of the two hang on an extra *outside* node of the value. The
published counts are the demands of a flow. Take any integral flow: an edge whose ends lie in
different strong components of the residual graph can never change its flow, so at 0 nobody on it
has the value and at capacity everybody has. All values are one graph here (rows are nodes); where it is large, they
are looked at one after the other.

Who fits several groups is no single edge but two nodes with an edge between them that carries at most
these persons: the candidates of the first release lead to the one, and from the other to those of the
second. Where the value is certain and only the group is not, the two nodes are a sink and a source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from showthrough.inference import graphs
from showthrough.inference.flow_spare import spare_edges
from showthrough.inference.problem import Problem
from showthrough.inference.remaining import Remaining
from showthrough.table.arrays import Codes, Flags, Ints, sum_by

_TOGETHER = 200_000  # edges of all values that are one graph


@dataclass(frozen=True)
class PairFlow:
    """A feasible integral flow between two releases, with its residual graph.

    Nodes are the rows of the problem, then one outside node per value, then two for each variable with
    several candidates; where counts are ranges, one more per value (`flow_spare`) before these. ``edge`` maps terms to
    edges (−1: the term takes no part, or has no choice left).
    """

    first: int
    second: int
    edge: Ints  # [terms]
    tail: Ints
    head: Ints
    room: Ints  # capacity of each edge beyond the persons already certain
    flow: Ints
    feasible: bool
    unmet: Ints  # nodes on the source side of the smallest cut, if not feasible
    node_value: Ints  # [nodes]
    spare: Ints  # the rows whose ranges are the edges from ``persons`` on
    persons: int  # edges of persons

    @property
    def nodes(self) -> int:
        return self.node_value.size

    def range_of(self, row: int) -> int:
        """The edge of a row's range; −1: it has none."""
        found = np.flatnonzero(self.spare == row)
        return self.persons + int(found[0]) if found.size else -1

    def residual(self) -> tuple[Ints, Ints]:
        """Edges (tails, heads) along which one more person could be moved."""
        return residual(self.tail, self.head, self.room, self.flow)


def residual(tail: Ints, head: Ints, room: Ints, flow: Ints) -> tuple[Ints, Ints]:
    """Edges (tails, heads) along which one more person could be moved."""
    up, down = flow < room, flow > 0
    return np.concatenate([tail[up], head[down]]), np.concatenate([head[up], tail[down]])


@dataclass(frozen=True)
class _Side:
    """How the variables that remain hang on one release: one entry per candidate."""

    owner: Ints  # position among the variables that remain
    node: Codes
    term: Codes | Ints  # −1: no candidate of its own

    @classmethod
    def of(cls, free: Remaining, release: int, outside: Ints, decided: Flags) -> _Side:
        rows = free.problem.rows
        if release in rows.sure_release:
            owner = np.flatnonzero(~decided)
            row = free.row[rows.sure_release.index(release)][owner]
            return cls(owner, np.where(row == rows.size, outside[owner], row), np.full(owner.size, -1, dtype=np.int32))
        own = next(own for own in free.seats if own.release == release)
        return cls(own.owner, np.where(own.row == rows.size, outside[own.owner], own.row), own.term)


def pair_flow(free: Remaining, first: int, second: int, *, earlier: PairFlow | None = None) -> PairFlow:
    """Find a flow that meets what is left of the counts of two releases.

    ``earlier`` is a flow of the same pair to start from, made when more variables were open; it is of no use
    where some were left out as even that are no longer known to be.
    """
    problem = free.problem
    rows = problem.rows.size
    node_value = _values_of_nodes(problem)
    if problem.rows.seats:
        return _seated_flow(free, first, second, node_value)
    nodes = node_value.size
    one, other = (free.row[problem.rows.sure_release.index(r)] for r in (first, second))
    at = np.flatnonzero((one != rows) | (other != rows)).astype(np.int32)
    variable, weight = free.variable[at], free.weight[at]
    outside = problem.value[variable] + np.int32(rows)
    tail, head = (np.where(row[at] == rows, outside, row[at]) for row in (one, other))
    del at, outside, one, other  # memory is dear here
    edge = np.full(problem.terms, -1, dtype=np.int64)
    if earlier is None or (earlier.edge[variable] < 0).any():
        pairs, edge[variable] = np.unique(tail * np.int64(nodes) + head, return_inverse=True)
        edge_tail, edge_head = np.divmod(pairs, nodes)
        del pairs
        guess, wide = None, _wide(problem, tail, head)
    else:
        edge[variable] = earlier.edge[variable]
        edge_tail, edge_head, guess = earlier.tail[: earlier.persons], earlier.head[: earlier.persons], earlier.flow
        wide = earlier.spare
    room = sum_by(edge[variable], weight, edge_tail.size).astype(np.int64)
    demand = _demands(free, tail, head, np.zeros(nodes, dtype=np.int64), node_value)
    persons = room.size
    del tail, head, variable, weight
    ends, room, demand = _with_spare(free, (edge_tail, edge_head), room, demand, (wide, first))
    start = np.zeros_like(room) if guess is None else np.clip(guess, 0, room)
    del guess, edge_tail, edge_head
    flow, feasible, unmet = _route_by_value(node_value, ends, room, demand, start)
    return PairFlow(first, second, edge, *ends, room, flow, feasible, unmet, node_value, wide, persons)


def _values_of_nodes(problem: Problem) -> Ints:
    """[nodes] the value of each row, of the outside of each value, and of where the ranges of each take from."""
    values = [np.maximum(problem.row_value, 0), np.arange(problem.values)]
    return np.concatenate(values if problem.rows.exact else [*values, values[1]]).astype(np.int64)


def _wide(problem: Problem, tail: Codes | Ints, head: Codes | Ints) -> Ints:
    """Rows among the ends of edges whose count is a range."""
    if problem.rows.exact:
        return np.empty(0, dtype=np.int64)
    used = np.zeros(problem.rows.size, dtype=bool)
    for ends in (tail, head):
        used[ends[ends < problem.rows.size]] = True
    return np.flatnonzero(used & problem.rows.ranged)


def _with_spare(
    free: Remaining, ends: tuple[Ints, Ints], room: Ints, demand: Ints, ranged: tuple[Ints, int]
) -> tuple[tuple[Ints, Ints], Ints, Ints]:
    """Ends, room and demands with the edges of ranges: those of some rows, where a release is the first."""
    rows, first = ranged
    if not rows.size:
        return ends, room, demand
    more = spare_edges(free, rows, first, demand.size, free.problem.rows.size + free.problem.values)
    tail, head = np.concatenate([ends[0], more.tail]), np.concatenate([ends[1], more.head])
    return (tail, head), np.concatenate([room, more.room]), demand + more.demand


def _seated_flow(free: Remaining, first: int, second: int, node_value: Ints) -> PairFlow:
    """The same where somebody fits several groups."""
    made = _seated_graph(free, first, second, node_value)
    node_value, persons = made.node_value, made.room.size
    wide = _wide(free.problem, made.tail, made.head)
    ends, room, demand = _with_spare(free, (made.tail, made.head), made.room, made.demand, (wide, first))
    flow, feasible, unmet = _route_by_value(node_value, ends, room, demand, np.zeros_like(room))
    return PairFlow(first, second, made.edge, *ends, room, flow, feasible, unmet, node_value, wide, persons)


@dataclass(frozen=True)
class _PairGraph:
    """The network of a pair of releases before anything flows; what is only needed to make it is gone by then."""

    edge: Ints
    tail: Ints
    head: Ints
    room: Ints
    demand: Ints
    node_value: Ints


def _seated_graph(free: Remaining, first: int, second: int, node_value: Ints) -> _PairGraph:
    problem, rows, size = free.problem, free.problem.rows.size, free.variable.size
    decided = np.zeros(size, dtype=bool) if free.decided is None else free.decided
    outside = problem.value[free.variable] + np.int32(rows)
    sides = [_Side.of(free, r, outside, decided) for r in (first, second)]
    number = [np.bincount(side.owner, minlength=size) for side in sides]
    present = np.zeros(size, dtype=bool)
    for side in sides:
        present[side.owner[side.node < rows]] = True
    simple = present & ~decided & (number[0] == 1) & (number[1] == 1)
    several = np.flatnonzero(present & ~simple)
    enter = np.full(size, -1, dtype=np.int64)
    enter[several] = node_value.size + np.arange(several.size)
    own = problem.value[free.variable[several]].astype(np.int64)
    node_value = np.concatenate([node_value, own, own])
    leave = enter + several.size

    nodes = node_value.size
    one = np.flatnonzero(simple)
    ends = [np.empty(size, dtype=np.int32) for _ in sides]
    for end, side in zip(ends, sides, strict=True):
        end[side.owner] = side.node
    edge = np.full(problem.terms, -1, dtype=np.int64)
    pairs, which = np.unique(ends[0][one] * np.int64(nodes) + ends[1][one], return_inverse=True)
    edge[free.variable[one]] = which
    tails, heads = [pairs // nodes], [pairs % nodes]
    rooms = [sum_by(which, free.weight[one], pairs.size)]
    del which
    loose = several[~decided[several]]
    edge[free.variable[loose]] = pairs.size + np.arange(loose.size)
    tails.append(enter[loose])
    heads.append(leave[loose])
    rooms.append(free.weight[loose])
    count = pairs.size + loose.size
    for k, side in enumerate(sides):
        mine = np.flatnonzero(enter[side.owner] >= 0)
        owner, node, term = side.owner[mine], side.node[mine], side.term[mine]
        tails.append(node if k == 0 else leave[owner])
        heads.append(enter[owner] if k == 0 else node)
        rooms.append(free.weight[owner])
        edge[term[term >= 0]] = (count + np.arange(mine.size))[term >= 0]
        count += mine.size
    supply = np.zeros(nodes, dtype=np.int64)
    sure = several[decided[several]]
    weight = free.weight[sure].astype(np.int64)
    supply[enter[sure]] = np.where(number[0][sure] > 0, -weight, 0)
    supply[leave[sure]] = np.where(number[1][sure] > 0, weight, 0)
    tail, head = np.concatenate(tails), np.concatenate(heads)
    room = np.concatenate(rooms).astype(np.int64)
    left = [side.node[present[side.owner]] for side in sides]
    demand = _demands(free, left[0], left[1], supply, node_value)
    return _PairGraph(edge, tail, head, room, demand, node_value)


@dataclass(frozen=True)
class Forced:
    """Terms that are zero and terms that are one in every feasible flow, and what makes ranges one number."""

    zero: Flags
    one: Flags
    tight: Ints  # rows that are at one end of their range in every flow
    rows: Ints  # those with a weight, if anything is forced
    weights: (
        Ints  # whoever is left scores 0 with them, who is forced more or less; above 0 at lower ends, below at upper
    )


def forced(alive: Flags, pair: PairFlow, free: Remaining) -> Forced:
    """Edges whose flow never changes, and what they mean for terms and ranges of what is ``free``."""
    problem = free.problem
    fixed = np.empty(pair.tail.size, dtype=bool)
    level = np.zeros(pair.nodes, dtype=np.int64)
    for own, nodes in _by_value(pair.node_value, pair.tail):
        number = _numbered(pair.nodes, nodes)
        tail, head = number[pair.tail[own]], number[pair.head[own]]
        ends = residual(tail, head, pair.room[own], pair.flow[own])
        strong = graphs.strong_components(nodes.size, *ends)
        fixed[own] = strong[tail] != strong[head]
        if pair.spare.size or fixed[own].any():
            level[nodes] = graphs.levels(strong, *ends)[strong]
    used = np.flatnonzero((pair.edge >= 0) & alive)
    zero, one = np.zeros(alive.size, dtype=bool), np.zeros(alive.size, dtype=bool)
    zero[used] = (fixed & (pair.flow == 0))[pair.edge[used]]
    one[used] = (fixed & (pair.flow > 0))[pair.edge[used]]
    ranges = slice(pair.persons, pair.persons + pair.spare.size)
    above = (pair.flow[ranges] == 0) & (free.left[pair.spare] < 0)  # certain persons are more than the lower count
    tight = pair.spare[fixed[ranges] & ~above]
    if not tight.size and not zero.any() and not one.any():
        return Forced(zero, one, tight, tight, tight)
    size = problem.rows.size
    height = level[:size] - level[size + pair.node_value[:size]]
    used = np.zeros(pair.nodes, dtype=bool)
    used[pair.tail] = used[pair.head] = True
    used[pair.spare[above]] = False
    height[~used[:size]] = 0  # nobody is left there
    side = np.select([problem.row_release == pair.first, problem.row_release == pair.second], [1, -1], 0)
    rows = np.flatnonzero(side * height)
    return Forced(zero, one, tight, rows, (side * height)[rows])


def cut_weights(problem: Problem, pair: PairFlow, inside: Flags) -> Ints:
    """The weighing of a closed set of nodes: +1 on its rows of one release, −1 on those of the other.

    ``inside`` marks nodes that no residual arc leaves. If it holds an outside node, its complement
    (which none enters) makes the same argument with the releases exchanged.
    """
    size = problem.rows.size
    span = np.zeros(pair.nodes, dtype=bool)
    span[pair.tail] = span[pair.head] = True
    sign = 1
    if inside[size : size + problem.values].any():
        inside, sign = span & ~inside, -1
    rows = np.flatnonzero(inside[:size])
    weights = np.zeros(size, dtype=np.int64)
    weights[rows] = np.where(problem.row_release[rows] == pair.first, sign, -sign)
    return weights


def _demands(free: Remaining, tail: Codes | Ints, head: Codes | Ints, supply: Ints, node_value: Ints) -> Ints:
    """What flows into each node from the source (above 0) or must leave it to the sink (below 0)."""
    rows, values = free.problem.rows.size, free.problem.values
    sign = np.zeros(supply.size, dtype=np.int64)
    sign[tail], sign[head] = 1, -1
    used = np.flatnonzero(sign[:rows])
    demand = supply.copy()
    demand[used] = sign[used] * np.maximum(free.left[used], 0)
    balance = sum_by(node_value, demand.astype(np.float64), values)
    demand[rows : rows + values] = -balance.astype(np.int64)
    return demand


def _by_value(node_value: Ints, tail: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Edges and nodes of one value after the other, where they are many; no edge joins two values."""
    if tail.size <= _TOGETHER:
        yield np.arange(tail.size), np.arange(node_value.size)
        return
    small = np.min_scalar_type(int(node_value.max()))  # sorts in linear time
    edge_value = node_value.astype(small)[tail]
    edges, nodes = np.argsort(edge_value, kind="stable"), np.argsort(node_value.astype(small), kind="stable")
    last_edge, last_node = (np.cumsum(np.bincount(own)) for own in (edge_value, node_value))
    for value, end in enumerate(last_edge.tolist()):
        first = int(last_edge[value - 1]) if value else 0
        if end > first:
            yield edges[first:end], nodes[int(last_node[value - 1]) if value else 0 : int(last_node[value])]


def _numbered(size: int, nodes: Ints) -> Ints:
    """[size] the number of each of the nodes among them."""
    number = np.zeros(size, dtype=np.int64)
    number[nodes] = np.arange(nodes.size)
    return number


def _route_by_value(
    node_value: Ints, ends: tuple[Ints, Ints], room: Ints, demand: Ints, start: Ints
) -> tuple[Ints, bool, Ints]:
    """`route`, one value after the other."""
    flow, feasible, unmet = start.copy(), True, [np.empty(0, dtype=np.int64)]
    for own, nodes in _by_value(node_value, ends[0]):
        number = _numbered(node_value.size, nodes)
        tail, head = (number[end[own]] for end in ends)
        flow[own], met, missed = route(tail, head, room[own], demand[nodes], start[own])
        feasible &= met
        unmet.append(nodes[missed])
    return flow, feasible, np.sort(np.concatenate(unmet))


def heights(nodes: int, edges: tuple[Ints, Ints], room: Ints, flow: Ints) -> Ints:
    """[nodes] figures that rise along what a flow leaves open, and are alike where persons could go round."""
    arcs = residual(*edges, room, flow)
    strong = graphs.strong_components(nodes, *arcs)
    return np.asarray(graphs.levels(strong, *arcs)[strong])


def route(tail: Ints, head: Ints, room: Ints, demand: Ints, start: Ints) -> tuple[Ints, bool, Ints]:
    """Complete a flow that keeps within its room: send what is missing through the residual graph."""
    nodes = demand.size
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
