"""The face: which variables are zero in *every* assignment that fits, found and proven.

On such a variable the multipliers of the maximum-entropy solution run to infinity, so they are
removed before the solve (facial reduction; Fienberg and Rinaldo, *Annals of Statistics* 2012).
Each removal is logged with the step that proves it, so that `explain` can tell the reason later.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from showthrough.errors import InternalError
from showthrough.inference import flow, weighing
from showthrough.inference.history import ABSENT
from showthrough.inference.problem import Problem
from showthrough.inference.remaining import Remaining, choices_of
from showthrough.table.arrays import Flags, Ints

NEVER = np.iinfo(np.int32).max
_NEXT_TO_NOTHING = 1000
_KEPT_FLOWS = 16


@dataclass(frozen=True)
class FlowStep:
    """Zeros proven by the flow between two releases."""

    first: int
    second: int


@dataclass(frozen=True)
class WeighingStep:
    """Zeros proven by weighings of rows; each cluster is an argument of its own."""

    rows: Ints
    weights: Ints
    cluster: Ints


Step = FlowStep | WeighingStep


class Contradicted(Exception):  # noqa: N818 - a finding on its way up, not an error for users
    """A weighing that no assignment can satisfy, or a variable whose signature has no value left."""

    def __init__(self, weights: Ints | None = None, *, emptied: int | None = None) -> None:
        super().__init__("contradiction")
        self.weights = weights
        self.emptied = emptied


@dataclass
class Face:
    """What is still possible, and the log of how the rest was excluded."""

    problem: Problem
    alive: Flags
    removed_at: npt.NDArray[np.int32]  # [v] the step that excluded the variable, or NEVER
    suspects: Flags  # [v] zeros that are likely but not proven; they stay in the problem
    steps: list[Step] = field(default_factory=list)
    choices: Ints = field(init=False)  # [m] how many variables are left for each signature
    _flows: dict[tuple[int, int, int, int], flow.PairFlow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.recount()

    @classmethod
    def whole(cls, problem: Problem) -> Face:
        """Nothing excluded yet."""
        return cls(
            problem,
            np.ones(problem.variables, dtype=bool),
            np.full(problem.variables, NEVER, dtype=np.int32),
            np.zeros(problem.variables, dtype=bool),
        )

    def exclude(self, zeros: Ints, step: Step) -> None:
        """Log a proven step that excludes some variables, each for the first time."""
        self.alive[zeros] = False
        self.removed_at[zeros] = len(self.steps)
        self.steps.append(step)
        self.choices -= np.bincount(self.problem.signature[zeros], minlength=self.choices.size)
        if not self.choices.all():
            raise Contradicted(emptied=int(self.problem.start[np.argmin(self.choices)]))

    def alive_before(self, step: int) -> Flags:
        """What was possible when a step was taken."""
        return self.removed_at >= step

    def flow_of_value(self, step: int, first: int, second: int, value: int) -> flow.PairFlow:
        """The flow of one value when a step was taken; the last few are kept, since proofs come in bunches."""
        key = (step, first, second, value)
        if key not in self._flows:
            while len(self._flows) >= _KEPT_FLOWS:
                del self._flows[next(iter(self._flows))]
            alive = self.alive_before(step)
            free = Remaining.of(self.problem, alive, choices_of(self.problem, alive))
            self._flows[key] = flow.pair_flow(free.only(self.problem.value[free.variable] == value), first, second)
        return self._flows[key]

    def recount(self) -> None:
        """Count what is left after ``alive`` was changed by hand."""
        self.choices = choices_of(self.problem, self.alive)


def inherited(face: Face, problem: Problem, source: Ints) -> Face:
    """A face for ``problem`` with the exclusions of another, whose variables are ``source`` (−1: new)."""
    removed_at = np.where(source >= 0, face.removed_at[source], NEVER).astype(np.int32)
    suspects = np.where(source >= 0, face.suspects[source], False)
    return Face(problem, removed_at == NEVER, removed_at, suspects, list(face.steps))


def take_over(face: Face, part: Face, variables: Ints, rows: Ints) -> None:
    """Log in the whole face what was excluded in a part of it."""
    for step in part.steps[len(face.steps) :]:
        face.steps.append(replace(step, rows=rows[step.rows]) if isinstance(step, WeighingStep) else step)
    face.removed_at[variables] = part.removed_at
    face.suspects[variables] = part.suspects
    face.alive[variables] = part.alive
    face.recount()


def close_by_flow(face: Face, free: Remaining | None = None) -> Remaining:
    """Run the flows of all pairs of releases that share persons, round after round; gives what is then open.

    ``free`` is what propagation left open, if that is known.

    It ends when a round changes nothing, or on large problems next to nothing: what is left is found
    from the Newton direction.
    """
    free = propagate(face) if free is None else free
    flows: dict[tuple[int, int], flow.PairFlow] = {}
    pairs = linked_pairs(face.problem) if free.variable.size else []
    seen = dict.fromkeys(pairs, -1)
    while True:
        before = int(face.alive.sum())
        for pair in pairs:
            if seen[pair] != len(face.steps):
                seen[pair] = len(face.steps)
                if _flow_step(face, free, pair, flows):
                    free = propagate(face)
        after = int(face.alive.sum())
        if before - after <= after // _NEXT_TO_NOTHING:
            return free


def linked_pairs(problem: Problem) -> list[tuple[int, int]]:
    """Pairs of releases with a common person, those with the most first."""
    here = problem.groups != ABSENT
    weight = problem.weight[problem.owner]
    shared = {(a, b): int(weight[here[a] & here[b]].sum()) for a, b in combinations(range(here.shape[0]), 2)}
    return sorted((pair for pair, n in shared.items() if n), key=lambda pair: -shared[pair])


def propagate(face: Face) -> Remaining:
    """Rows whose count is used up by certain persons take nobody else; rows that need everybody take all.

    Gives what is then still open, without what is even.
    """
    problem = face.problem
    free = Remaining.of(problem, face.alive, face.choices)
    while True:
        left = free.left
        spare = free.room() - left
        if min(left.min(), spare.min()) < 0:
            short = int(np.argmax((left < 0) | (spare < 0)))
            raise Contradicted(_one_row(problem, short, 1 if left[short] > 0 else -1))
        sign = np.zeros(problem.rows + 1, dtype=np.int8)  # +1: needs everybody, −1: takes nobody, 0: open or done
        np.subtract((spare == 0).view(np.int8), (left == 0).view(np.int8), out=sign[:-1])
        rows = np.flatnonzero(sign != 0)
        if not rows.size:
            break
        asked = sign.take(free.row)
        zero = asked.min(axis=0) < 0
        one = ~zero & (asked.max(axis=0) > 0)
        taken = np.bincount(free.signature.take(np.flatnonzero(one)), minlength=problem.signatures)
        if (taken > 1).any():  # two rows need the same persons for different values
            both = free.variable[one & (free.signature == int(np.argmax(taken > 1)))]
            raise Contradicted(_needs_everybody(problem, sign[:-1] > 0, both))
        zero |= ~one & (taken > 0).take(free.signature)
        zeros, weights = free.variable.take(np.flatnonzero(zero)), sign.take(rows).astype(np.int64)
        if not problem.plain:
            _refuse_used_up(face, zeros, rows[weights < 0])
        face.exclude(zeros, WeighingStep(rows, weights, np.arange(rows.size)))
        free = free.without(zero, ~zero & (face.choices == 1).take(free.signature))
    return free.only(~free.even())


def _refuse_used_up(face: Face, zeros: Ints, closed: Ints) -> None:
    """Somebody all of whose seats stand in one row that others have used up: the row alone is the contradiction.

    Where everybody has one seat this cannot be: values differ, so no row holds all of them.
    """
    problem = face.problem
    alive = face.alive.copy()
    alive[zeros] = False
    kept = np.add.reduceat(alive, problem.start[:-1], dtype=np.int64)
    for signature in np.flatnonzero(kept == 0):
        own = np.arange(problem.start[signature], problem.start[signature + 1])
        rows = problem.row[:, own[face.alive[own]]]
        for row in rows[(rows == rows[:, :1]).all(axis=1), 0]:
            if row in closed:
                raise Contradicted(_one_row(problem, int(row), -1))


def _needs_everybody(problem: Problem, full: Flags, variables: Ints) -> Ints:
    """+1 on a full row of each variable."""
    weights = np.zeros(problem.rows, dtype=np.int64)
    for variable in variables:
        own = [int(r) for r in problem.row[:, variable] if r < problem.rows and full[r]]
        weights[own[0]] = 1
    return weights


def _one_row(problem: Problem, row: int, weight: int) -> Ints:
    weights = np.zeros(problem.rows, dtype=np.int64)
    weights[row] = weight
    return weights


def _flow_step(
    face: Face, free: Remaining, releases: tuple[int, int], flows: dict[tuple[int, int], flow.PairFlow]
) -> bool:
    """Exclude what the flow of a pair forces; the flow is kept for the next time."""
    problem = face.problem
    pair = flow.pair_flow(free, *releases, earlier=flows.get(releases))
    flows[releases] = pair
    if not pair.feasible:
        inside = np.zeros(flow.node_count(problem), dtype=bool)
        inside[pair.unmet] = True
        raise Contradicted(_violated_cut(face, pair, inside))
    zero, one = flow.forced(problem, face.alive, pair)
    certain = np.zeros(problem.signatures, dtype=bool)
    certain[problem.signature[one]] = True
    zeros = zero | (face.alive & ~one & certain[problem.signature])
    if not zeros.any():
        return False
    face.exclude(np.flatnonzero(zeros), FlowStep(*releases))
    return True


def _violated_cut(face: Face, pair: flow.PairFlow, inside: Flags) -> Ints:
    """The overfull cut of one value: all values share the graph, so look at each alone."""
    problem = face.problem
    node_value = np.concatenate([problem.row_value, np.arange(flow.node_count(problem) - problem.rows)])
    for value in np.unique(node_value[inside]):
        weights = flow.cut_weights(problem, pair, inside & (node_value == value))
        weights[problem.row_value != value] = 0
        best = weighing.best_scores(problem, face.alive, weighing.scores(problem, weights))
        if weighing.surplus(problem, best, weights) < 0:
            return weights
    raise InternalError("An infeasible flow has no overfull cut.")
