"""From the log of the face to a proof: only the steps that a fact leans on, in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from showthrough.errors import ContradictionError, InternalError, LongProofError, NotProvenError
from showthrough.inference import flow, graphs, weighing
from showthrough.inference.face import NEVER, Contradicted, Face, WeighingStep, linked_pairs
from showthrough.inference.history import History
from showthrough.inference.narrate import Narrator
from showthrough.inference.problem import Problem
from showthrough.inference.proof import Argument, Contradiction, Proof, WeighedRow
from showthrough.inference.solved import Solved
from showthrough.table.arrays import Flags, Ints


def explain(post: Solved, id: Any, value: Any, release: str | None, most_steps: int | None = None) -> Proof:
    """The proof that a value is certain or impossible for a person; LongProof if it takes too many steps."""
    part, signature = post.locate(id, release)
    code = post.value_code(value)
    span = post.span(signature)
    own = [v for v in span if post.problem.value[v] == code]
    removed = [v for v in span if post.face.removed_at[v] != NEVER]
    other = [v for v in span if post.problem.value[v] != code]

    def proof(fact: str, by: str, steps: tuple[Argument, ...], reason: str) -> Proof:
        word = post.history.values[code]
        return Proof(
            post.published_id(id), word, fact, by, steps, reason, post.history.names, post.history.changed, part
        )

    narrator = post.narrator
    if not own:
        return proof("impossible", "sets", (), narrator.missing_in(signature, code))
    if set(own) <= set(removed):
        return proof("impossible", "counts", arguments(post.face, narrator, own, most_steps), "")
    if not set(other) <= set(removed):
        raise NotProvenError(
            f"{value} is neither certain nor impossible for {id}: P = {post.x[own].sum():.6g}.",
            shareable="The value is neither certain nor impossible for this person.",
        )
    if not other:
        return proof("certain", "sets", (), narrator.only_common(signature))
    if post.problem.unsure[signature]:
        steps = arguments(post.face, narrator, other, most_steps)
        return proof("certain", "counts", steps, narrator.others_excluded(signature, other))
    steps = arguments_for_certain(post.face, narrator, own[0], removed, most_steps)
    straight = {row.value for row in steps[-1].rows} == {post.history.values[code]}
    reason = "" if straight else narrator.others_excluded(signature, removed)
    return proof("certain", "counts", steps, reason)


def arguments(
    face: Face, narrator: Narrator, targets: list[int], most_steps: int | None = None
) -> tuple[Argument, ...]:
    """Arguments that exclude all the variables in ``targets``, premises first."""
    chain = _Chain(face, most_steps)
    for variable in targets:
        chain.exclude(variable)
    return tuple(_argument(face, narrator, weights, step) for step, weights in chain.weighings)


def arguments_for_certain(
    face: Face, narrator: Narrator, own: int, removed: list[int], most_steps: int | None = None
) -> tuple[Argument, ...]:
    """Why one value is left: straight by the counts of that value if they tell, else value by value."""
    straight = _weighing_for_certain(face, own, removed)
    if straight is None:
        return arguments(face, narrator, removed, most_steps)
    step, weights = straight
    chain = _Chain(face, most_steps)
    chain.lean_on(weights, step)
    short = [*chain.weighings, straight]
    try:
        other = _Chain(face, len(short) - 1)
        for variable in removed:
            other.exclude(variable)
        short = other.weighings
    except LongProofError:
        pass
    return tuple(_argument(face, narrator, w, k) for k, w in short)


def contradiction_error(history: History, face: Face, of_person: Ints, clash: Contradicted) -> ContradictionError:
    """The weighings that lead to the clash, as an error that names it."""
    narrator = Narrator(history, face.problem, of_person)
    chain = _Chain(face)
    weighings = chain.weighings
    if clash.weights is not None:
        chain.lean_on(clash.weights, len(face.steps))
        weighings = [*weighings, (len(face.steps), clash.weights)]
    elif clash.emptied is not None:
        signature = face.problem.signature[clash.emptied]
        for variable in range(int(face.problem.start[signature]), int(face.problem.start[signature + 1])):
            chain.exclude(variable)
    found = Contradiction(
        tuple(_argument(face, narrator, w, step) for step, w in weighings), history.names, history.changed
    )
    reason = "" if clash.emptied is None else f"\n{narrator.nothing_left(int(signature))}"
    rows = np.flatnonzero(np.any([w != 0 for _, w in weighings], axis=0))
    groups = [int(g) for g in dict.fromkeys(face.problem.row_group[rows])]
    values = dict.fromkeys(str(history.values[int(v)]) for v in face.problem.row_value[rows])
    where = "; ".join(narrator.groups([g]) for g in groups[:8])
    lead = "The releases contradict each other: no assignment of values to persons fits all counts."
    return ContradictionError(
        f"{lead}\n{found}{reason}",
        shareable=f"{lead} The clash is about {', '.join(list(values)[:8])} in {where}.",
        contradiction=found,
    )


class _Chain:
    """Collects weighings so that each comes after those it leans on."""

    def __init__(self, face: Face, most_steps: int | None = None) -> None:
        self.face = face
        self.most_steps = most_steps
        self.weighings: list[tuple[int, Ints]] = []
        self._excluded: set[int] = set()

    def exclude(self, variable: int) -> None:
        """Add what excludes a variable, after all it leans on (a stack: chains can be long)."""
        pending: list[tuple[int, tuple[int, Ints] | None]] = [(variable, None)]
        while pending:
            variable, ready = pending.pop()
            if variable in self._excluded:
                continue
            step = int(self.face.removed_at[variable])
            if self.most_steps is not None and len(self.weighings) + len(pending) // 2 >= self.most_steps:
                raise LongProofError(f"The proof takes more than {self.most_steps} steps.")
            if ready is None:
                weights = _weighing_for(self.face, step, variable)
                pending.append((variable, (step, weights)))
                pending += [(v, None) for v in self._premises(weights, step)[::-1]]
                continue
            proven = weighing.proven_zeros(self.face.problem, self.face.alive_before(step), ready[1])
            if proven is None or not proven[variable]:
                raise InternalError("A logged step does not prove what it excluded.")
            self._excluded.update(int(v) for v in np.flatnonzero(proven))
            self.weighings.append(ready)

    def lean_on(self, weights: Ints, step: int) -> None:
        """Exclude first what the weighing takes for granted."""
        for variable in self._premises(weights, step):
            self.exclude(variable)

    def _premises(self, weights: Ints, step: int) -> list[int]:
        """Values excluded earlier that would score too high if they were open."""
        problem = self.face.problem
        score = weighing.scores(problem, weights)
        best = weighing.best_scores(problem, self.face.alive_before(step), score)
        earlier = (self.face.removed_at < step) & (score > best[problem.signature])
        return [int(v) for v in np.flatnonzero(earlier) if int(v) not in self._excluded]


def _weighing_for(face: Face, step: int, variable: int) -> Ints:
    """A weighing that excludes the variable, as small as we can find."""
    how = face.steps[step]
    problem, alive = face.problem, face.alive_before(step)
    if isinstance(how, WeighingStep):
        return _cluster_around(problem, alive, how, variable)
    own = slice(problem.start[problem.signature[variable]], problem.start[problem.signature[variable] + 1])
    siblings = [v for v in range(own.start, own.stop) if v != variable and alive[v]]
    for candidate in [variable, *siblings]:
        pair = face.flow_of_value(step, how.first, how.second, int(problem.value[candidate]))
        for weights in _cuts(problem, pair, candidate):
            proven = weighing.proven_zeros(problem, alive, weights)
            if proven is not None and proven[variable]:
                return weights
    raise InternalError("A logged flow does not exclude what it excluded.")


def _cluster_around(problem: Problem, alive: Flags, how: WeighingStep, variable: int) -> Ints:
    """The weights of one cluster that excludes the variable."""
    signature = problem.signature[variable]
    own = problem.row[:, problem.start[signature] : problem.start[signature + 1]]
    clusters = np.unique(how.cluster[np.isin(how.rows, own)])
    for chosen in (*clusters[:, None], clusters):
        weights = np.zeros(problem.rows, dtype=np.int64)
        mine = np.isin(how.cluster, chosen)
        weights[how.rows[mine]] = how.weights[mine]
        proven = weighing.proven_zeros(problem, alive, weights)
        if proven is not None and proven[variable]:
            break
    return weights


def _weighing_for_certain(face: Face, own: int, removed: list[int]) -> tuple[int, Ints] | None:
    """A cut of the certain value alone that excludes all others, as early as the log allows."""
    problem = face.problem
    step = min(int(face.removed_at[v]) for v in removed)
    alive, value = face.alive_before(step), int(problem.value[own])
    releases = np.flatnonzero(problem.row[:, own] != problem.rows)
    for first, second in linked_pairs(problem):
        if first in releases or second in releases:
            pair = face.flow_of_value(step, first, second, value)
            for weights in _cuts(problem, pair, own):
                proven = weighing.proven_zeros(problem, alive, weights)
                if proven is not None and proven[removed].all():
                    return step, weights
    return None


def _cuts(problem: Problem, pair: flow.PairFlow, variable: int) -> list[Ints]:
    """The closed sets of nodes that fix the edge of a variable, smallest first."""
    edge = pair.edge[variable]
    if edge < 0 or not pair.feasible:
        return []
    tail, head, used = int(pair.tail[edge]), int(pair.head[edge]), pair.flow[edge] > 0
    inner, outer = (tail, head) if used else (head, tail)
    nodes = flow.node_count(problem)
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


def _argument(face: Face, narrator: Narrator, weights: Ints, step: int) -> Argument:
    problem, history = face.problem, narrator.history
    rows = tuple(
        WeighedRow(
            int(problem.row_release[r]),
            history.group_label(int(problem.row_group[r])),
            history.values[int(problem.row_value[r])],
            int(weights[r]),
        )
        for r in np.flatnonzero(weights)
    )
    return Argument(rows, narrator.tell(weights, face.alive_before(step)))
