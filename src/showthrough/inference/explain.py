"""From the log of the face to a proof: only the steps that a fact leans on, in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import ContradictionError, InternalError, LongProofError, NotProvenError
from showthrough.inference import flow, graphs
from showthrough.inference.closing import linked_pairs
from showthrough.inference.face import NEVER, Contradicted, Face, WeighingStep
from showthrough.inference.history import History
from showthrough.inference.narrate import Narrator
from showthrough.inference.problem import STATEMENT, Problem
from showthrough.inference.proof import Argument, Contradiction, Proof, WeighedRow, WeighedStatement
from showthrough.inference.solved import Solved
from showthrough.inference.splitting import ADVICE, parts_of
from showthrough.inference.weighing import weigh
from showthrough.table.arrays import Flags, Ints
from showthrough.table.codes import positions
from showthrough.table.frozen import Frozen


def explain(post: Solved, id: Any, value: Any, release: str | None, most_steps: int | None = None) -> Proof:
    """The proof that a value is certain or impossible for a person; LongProof if it takes too many steps."""
    part, signature = post.locate(id, release)
    code = post.value_code(value)
    span = post.span(signature)
    own = next((v for v in span if post.problem.value[v] == code), None)
    removed = [v for v in span if post.face.removed_at[v] != NEVER]
    other = [v for v in span if post.problem.value[v] != code]

    def proof(fact: str, by: str, steps: tuple[Argument, ...], reason: str) -> Proof:
        word = post.history.values[code]
        h = post.history
        choice, parts = h.changed.otherwise, _parts(h, steps, post.published_id(id))
        leeway = h.reader.leeway
        return Proof(post.published_id(id), word, fact, by, steps, reason, h.names, choice, part, parts, leeway)

    narrator = post.narrator
    if own is None:
        return proof("impossible", "sets", (), narrator.missing_in(signature, code))
    if own in removed:
        return proof("impossible", "counts", arguments(post.face, narrator, [own], most_steps), "")
    if not set(other) <= set(removed):
        raise NotProvenError(
            f"{value} is neither certain nor impossible for {id}: P = {post.x[own]:.6g}.",
            shareable="The value is neither certain nor impossible for this person.",
        )
    if not other:
        return proof("certain", "sets", (), narrator.only_common(signature))
    if post.problem.unsure[signature]:
        steps = arguments(post.face, narrator, other, most_steps)
        return proof("certain", "counts", steps, narrator.others_excluded(signature, other))
    steps = arguments_for_certain(post.face, narrator, own, removed, most_steps)
    straight = {row.value for row in steps[-1].counts} == {post.history.values[code]}
    reason = "" if straight else narrator.others_excluded(signature, removed)
    return proof("certain", "counts", steps, reason)


def arguments(
    face: Face, narrator: Narrator, targets: list[int], most_steps: int | None = None
) -> tuple[Argument, ...]:
    """Arguments that exclude all the terms in ``targets``, premises first."""
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
    steps, leeway = tuple(_argument(face, narrator, w, step) for step, w in weighings), history.reader.leeway
    found = Contradiction(steps, history.names, history.changed.otherwise, _parts(history, steps), leeway)
    reason = "" if clash.emptied is None else f"\n{narrator.nothing_left(int(signature))}"
    rows = np.flatnonzero(np.any([w != 0 for _, w in weighings], axis=0))
    published = rows[face.problem.row_release[rows] != STATEMENT]
    groups = [int(g) for g in dict.fromkeys(face.problem.row_group[published])]
    values = dict.fromkeys(str(history.values[int(v)]) for v in face.problem.row_value[published])
    where = "; ".join(narrator.groups([g]) for g in groups[:8]) or "what is stated"
    lead = "The releases contradict each other: no assignment of values to persons fits all counts."
    return ContradictionError(
        f"{lead}\n{found}{reason}\n{ADVICE}",
        shareable=f"{lead} The clash is about {', '.join(list(values)[:8])} in {where}. {ADVICE}",
        parameters=("changed",),
        contradiction=found,
    )


def _parts(history: History, steps: tuple[Argument, ...], *asked: Any) -> Frozen[Any, tuple[int, ...]]:
    """The ids among those whom the steps speak of that stand for several persons."""
    every = parts_of(history)
    if not every:
        return Frozen()
    rows = dict.fromkeys(groups for step in steps for groups in step.groups)
    groups = [int(positions(pl.Series([g]).cast(history.labels[r].dtype), history.labels[r])[0]) for r, g in rows]
    people = [history.who_fits(g + int(history.first_group[r])) for (r, _), g in zip(rows, groups, strict=True)]
    near = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *people]))
    ids = dict.fromkeys([*asked, *history.ids.gather(near[near < history.named]).to_list()])
    return Frozen({i: every[i] for i in ids if i in every})


class _Chain:
    """Collects weighings so that each comes after those it leans on."""

    def __init__(self, face: Face, most_steps: int | None = None) -> None:
        self.face = face
        self.most_steps = most_steps
        self.weighings: list[tuple[int, Ints]] = []
        self._excluded: set[int] = set()  # terms, and behind them rows that are tight

    def exclude(self, target: int) -> None:
        """Add what excludes a term (or makes a row tight), after all it leans on (a stack: chains can be long)."""
        face = self.face
        pending: list[tuple[int, tuple[int, Ints] | None]] = [(target, None)]
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
    variable = int(problem.rows.owner[target]) if problem.rows.seats else target
    alive = face.alive_before(step)
    own = slice(problem.start[problem.signature[variable]], problem.start[problem.signature[variable] + 1])
    siblings = [v for v in range(own.start, own.stop) if v != variable and alive[v]]
    seats = _candidates_of(problem, [variable, *siblings], alive)
    for candidate in dict.fromkeys([target, variable, *siblings, *seats]):
        value = int(problem.value[problem.rows.owner[candidate] if problem.rows.seats else candidate])
        pair = face.flow_of_value(step, how.first, how.second, value)
        for weights in _cuts(problem, pair, candidate):
            weighed = face.weigh(weights, before=step)
            if weighed.proven and weighed.zeros()[target]:
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


def _weighing_for_certain(face: Face, own: int, removed: list[int]) -> tuple[int, Ints] | None:
    """A cut of the certain value alone that excludes all others, as early as the log allows."""
    problem = face.problem
    step = min(int(face.removed_at[v]) for v in removed)
    value = int(problem.value[own])
    releases = {int(problem.row_release[r]) for r in problem.rows.of(np.array([own]))}
    for first, second in linked_pairs(problem):
        if first in releases or second in releases:
            pair = face.flow_of_value(step, first, second, value)
            for weights in _cuts(problem, pair, own):
                weighed = face.weigh(weights, before=step)
                if weighed.proven and weighed.zeros()[removed].all():
                    return step, weights
    return None


def _cuts(problem: Problem, pair: flow.PairFlow, term: int) -> list[Ints]:
    """The closed sets of nodes that fix the edge of a term, smallest first."""
    edge = pair.edge[term]
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


def _argument(face: Face, narrator: Narrator, weights: Ints, step: int) -> Argument:
    problem, history = face.problem, narrator.history
    rows = tuple(
        WeighedStatement(problem.statement(r), int(weights[r]))
        if problem.row_release[r] == STATEMENT
        else WeighedRow(
            int(problem.row_release[r]),
            history.group_label(int(problem.row_group[r])),
            history.values[int(problem.row_value[r])],
            int(weights[r]),
        )
        for r in np.flatnonzero(weights).tolist()
    )
    return Argument(rows, narrator.tell(face.weigh(weights, before=step)))
