"""The log of the face read backwards: the weighings that a fact leans on, each after those it needs."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from showthrough.errors import InternalError, LongProofError
from showthrough.inference import flow, graphs
from showthrough.inference.closing import linked_pairs
from showthrough.inference.face import Face, FlowStep, WeighingStep
from showthrough.inference.problem import Problem
from showthrough.inference.weighing import weigh
from showthrough.table.arrays import Flags, Ints

Weighing = tuple[int, Ints]  # the step of the log before which it holds, and the weight of each row


def excluding(face: Face, targets: list[int], most_steps: int | None = None) -> list[Weighing]:
    """Weighings that exclude all the terms in ``targets``, premises first."""
    chain = _Chain(face, most_steps)
    for term in targets:
        chain.exclude(term)
    return chain.weighings


def leaving_one(face: Face, own: int, removed: list[int], most_steps: int | None = None) -> list[Weighing]:
    """Why one value is left: straight by the counts of that value if they tell, else value by value."""
    straight = _weighing_for_certain(face, own, removed)
    if straight is None:
        return excluding(face, removed, most_steps)
    step, weights = straight
    chain = _Chain(face, None if most_steps is None else most_steps - 1)
    chain.lean_on(weights, step)
    short = [*chain.weighings, straight]
    with suppress(LongProofError):
        short = excluding(face, removed, len(short) - 1)
    return short


def leading_to(face: Face, weights: Ints) -> list[Weighing]:
    """A weighing of what is possible now, after all that it takes for granted."""
    chain = _Chain(face)
    chain.lean_on(weights, len(face.steps))
    return [*chain.weighings, (len(face.steps), weights)]


class _Chain:
    """Collects weighings so that each comes after those it leans on."""

    def __init__(self, face: Face, most_steps: int | None = None) -> None:
        self.face = face
        self.most_steps = most_steps
        self.weighings: list[Weighing] = []
        self._excluded: set[int] = set()  # terms, and behind them rows that are tight

    def exclude(self, target: int) -> None:
        """Add what excludes a term (or makes a row tight), after all it leans on (a stack: chains can be long)."""
        face = self.face
        pending: list[tuple[int, Weighing | None]] = [(target, None)]
        while pending:
            target, ready = pending.pop()
            if target in self._excluded:
                continue
            step = self._step(target)
            if self.most_steps is not None and len(self.weighings) + len(pending) // 2 >= self.most_steps:
                raise LongProofError(f"The proof takes more than {self.most_steps} steps.")
            if ready is None:
                weights, others = self._weighing_with(step, target)
                pending.append((target, (step, weights)))
                first = [*self._premises(weights, step, target), *others]
                pending += [(v, None) for v in first[::-1] if v not in self._excluded]
                continue
            weighed = weigh(face.problem, self._open(step), ready[1], face.rows_before(step))
            zeros = weighed.zeros() if weighed.proven else None
            if weighed.overfull:  # the releases contradict each other, and from here on nothing is possible
                self._excluded.add(target)
                self.weighings.append(ready)
                continue
            if zeros is None or not (target >= zeros.size or zeros[target]):
                raise InternalError("A logged step does not prove what it excluded.")
            self._excluded.update(int(v) for v in np.flatnonzero(zeros))
            if not face.problem.rows.exact:
                self._excluded.update((zeros.size + np.flatnonzero(ready[1])).tolist())
            self.weighings.append(ready)

    def _open(self, step: int) -> Flags:
        """What is possible for somebody who knows the weighings so far, and of later steps nothing."""
        face = self.face
        alive = np.ones(face.problem.terms, dtype=bool)
        gone = np.array([v for v in self._excluded if v < alive.size], dtype=np.int64)
        last = step if face.problem.rows.seats else step - 1  # of several candidates the last needs the others
        alive[gone[face.removed_at[gone] <= last]] = False
        return alive

    def lean_on(self, weights: Ints, step: int) -> None:
        """Exclude first what the weighing takes for granted."""
        for term in self._premises(weights, step):
            self.exclude(term)

    def _step(self, target: int) -> int:
        terms = self.face.problem.terms
        if target < terms:
            return int(self.face.removed_at[target])
        assert self.face.tight_at is not None
        return int(self.face.tight_at[target - terms])

    def _weighing_with(self, step: int, target: int) -> tuple[Ints, list[int]]:
        """A weighing that excludes the target, and terms of the same step that must be excluded before.

        A variable may fall because its last candidates in a release do: then the weighing of one of them shows
        it, once the others are out.
        """
        face, rows = self.face, self.face.problem.rows
        weights = _weighing_for(face, step, target)
        if weights is not None:
            return weights, []
        for own in rows.seats if target < rows.variables else ():
            mine = rows.variables + own.offset + np.arange(int(own.start[target]), int(own.start[target + 1]))
            now = mine[face.removed_at[mine] == step]
            if now.size and (face.removed_at[mine] <= step).all():
                for last in now.tolist():
                    weights = _weighing_for(face, step, last)
                    if weights is not None:
                        return weights, [int(v) for v in mine if v != last]
        raise InternalError("A logged step does not exclude what it excluded.")

    def _premises(self, weights: Ints, step: int, target: int | None = None) -> list[int]:
        """What was excluded earlier and would score too high if it were open, and ranges that must be tight."""
        face = self.face
        found = _too_high(face, weights, step, target)
        if face.tight_at is not None:
            used = np.flatnonzero((weights != 0) & (face.tight_at < step))
            found += (face.problem.terms + used).tolist()
        return [v for v in found if v not in self._excluded]


def _too_high(face: Face, weights: Ints, step: int, target: int | None) -> list[int]:
    """Terms that were excluded before a step and would spoil its weighing if they were open."""
    problem, rows = face.problem, face.problem.rows
    alive = face.alive_before(step)
    weighed = face.weigh(weights, before=step)
    best = weighed.best[problem.signature]
    if not rows.seats:
        return np.flatnonzero(~alive & (weighed.score > best)).tolist()
    everything = rows.scores(weights, np.ones(rows.terms, dtype=bool))
    over = everything > best
    if target is not None and target < rows.variables:
        over[target] = everything[target] >= best[target]
    found = np.flatnonzero(over & ~alive[: rows.variables]).tolist()  # values that were excluded as a whole
    extended = np.append(weights, 0)
    for own in rows.seats:
        possible, figure = rows.open(own, alive), extended[own.row]
        lifts = ~possible & (over & alive[: rows.variables])[own.owner]
        lifts &= figure > own.most(figure, possible)[own.owner]
        found += (rows.variables + own.offset + np.flatnonzero(lifts)).tolist()
    return found


def _weighing_for(face: Face, step: int, target: int) -> Ints | None:
    """A weighing that excludes the term (or makes the row tight) by itself, as small as we can find."""
    how = face.steps[step]
    problem = face.problem
    if isinstance(how, WeighingStep):
        return _cluster_around(face, step, how, target)
    if target >= problem.terms:
        return _tightening(face, step, how, target - problem.terms)
    variable = int(problem.rows.owner[target]) if problem.rows.seats else target
    alive = face.alive_before(step)
    own = slice(problem.start[problem.signature[variable]], problem.start[problem.signature[variable] + 1])
    siblings = [v for v in range(own.start, own.stop) if v != variable and alive[v]]
    seats = _candidates_of(problem, [variable, *siblings], alive)
    for candidate in dict.fromkeys([target, variable, *siblings, *seats]):
        value = int(problem.value[problem.rows.owner[candidate] if problem.rows.seats else candidate])
        pair = face.flow_of_value(step, how.first, how.second, value)
        for weights in _cuts(problem, pair, int(pair.edge[candidate])):
            weighed = face.weigh(weights, before=step)
            if weighed.proven and weighed.zeros()[target]:
                return weights
    return None


def _tightening(face: Face, step: int, how: FlowStep, row: int) -> Ints | None:
    """A cut that makes the range of a row one number."""
    pair = face.flow_of_value(step, how.first, how.second, int(face.problem.row_value[row]))
    for weights in _cuts(face.problem, pair, pair.range_of(row)):
        if weights[row] and face.weigh(weights, before=step).proven:
            return weights
    return None


def _candidates_of(problem: Problem, variables: list[int], alive: Flags) -> list[int]:
    """The open candidates of some variables."""
    rows, found = problem.rows, []
    for own in rows.seats:
        for variable in variables:
            places = rows.variables + own.offset + np.arange(int(own.start[variable]), int(own.start[variable + 1]))
            found += places[alive[places]].tolist()
    return found


def _cluster_around(face: Face, step: int, how: WeighingStep, target: int) -> Ints | None:
    """The weights of one cluster that excludes the term; of several together where it takes them."""
    problem = face.problem
    if target >= problem.terms:
        near = how.cluster[how.rows == target - problem.terms]
    else:
        signature = problem.signature[problem.rows.owner[target] if problem.rows.seats else target]
        own = problem.rows.of(np.arange(problem.start[signature], problem.start[signature + 1]))
        near = how.cluster[np.isin(how.rows, own)]
    clusters = np.unique(near)
    for chosen in (*clusters[:, None], clusters):
        weights = np.zeros(problem.rows.size, dtype=np.int64)
        mine = np.isin(how.cluster, chosen)
        weights[how.rows[mine]] = how.weights[mine]
        weighed = face.weigh(weights, before=step)
        if weighed.proven and (target >= problem.terms or weighed.zeros()[target]):
            return weights
    return None


def _weighing_for_certain(face: Face, own: int, removed: list[int]) -> Weighing | None:
    """A cut of the certain value alone that excludes all others, as early as the log allows."""
    problem = face.problem
    step = min(int(face.removed_at[v]) for v in removed)
    value = int(problem.value[own])
    releases = {int(problem.row_release[r]) for r in problem.rows.of(np.array([own]))}
    for first, second in linked_pairs(problem):
        if first in releases or second in releases:
            pair = face.flow_of_value(step, first, second, value)
            for weights in _cuts(problem, pair, int(pair.edge[own])):
                weighed = face.weigh(weights, before=step)
                if weighed.proven and weighed.zeros()[removed].all():
                    return step, weights
    return None


def _cuts(problem: Problem, pair: flow.PairFlow, edge: int) -> list[Ints]:
    """The closed sets of nodes that fix an edge, smallest first; −1 is no edge."""
    if edge < 0 or not pair.feasible:
        return []
    tail, head, used = int(pair.tail[edge]), int(pair.head[edge]), pair.flow[edge] > 0
    inner, outer = (tail, head) if used else (head, tail)
    nodes = pair.nodes
    tails, heads = pair.residual()
    forward = graphs.reachable(nodes, tails, heads, inner)
    backward = ~graphs.reachable(nodes, heads, tails, outer)
    cuts = []
    for inside in (forward, backward):
        if inside[outer] or not inside[inner]:
            continue
        for part in (_connected_part(pair, inside, inner, nodes), inside):
            cuts.append(flow.cut_weights(problem, pair, part))
        around = _connected_part(pair, ~inside, outer, nodes)
        cuts.append(flow.cut_weights(problem, pair, ~around))
    return sorted(cuts, key=np.count_nonzero)


def _connected_part(pair: flow.PairFlow, inside: Flags, start: int, nodes: int) -> Flags:
    """The part of a set that hangs together around a node: it is closed on its own."""
    both = inside[pair.tail] & inside[pair.head]
    tail, head = pair.tail[both], pair.head[both]
    return graphs.reachable(nodes, np.concatenate([tail, head]), np.concatenate([head, tail]), start)
