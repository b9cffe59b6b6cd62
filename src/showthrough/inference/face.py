"""The face: which variables are zero in *every* assignment that fits, found and proven.

On such a variable the multipliers of the maximum-entropy solution run to infinity, so they are
removed before the solve (facial reduction; Fienberg and Rinaldo, *Annals of Statistics* 2012). Where
persons fit several groups the face is a product: each variable, and each candidate of a variable in each
release, is possible or not. Each removal is logged with the step that proves it, so that `explain` can
tell the reason later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from showthrough.inference import flow, weighing
from showthrough.inference.problem import Problem
from showthrough.inference.remaining import Remaining, choices_of
from showthrough.inference.rows import Rows
from showthrough.table.arrays import Flags, Ints, Reals

NEVER = np.iinfo(np.int32).max
_KEPT_FLOWS = 16


@dataclass(frozen=True)
class FlowStep:
    """Zeros proven by the flow between two releases, and ranges that it makes one number.

    The weights of the rows are the weighing that proves all of it at once: how high a row stands above the others in
    what the flow leaves open. They have the sign of the end where a range is tight.
    """

    first: int
    second: int
    rows: Ints
    weights: Ints
    cluster: Ints
    tight: Ints  # rows

    def within(self, rows: Ints) -> FlowStep:
        """The same said of a problem of which this one has some rows."""
        return replace(self, rows=rows[self.rows], tight=rows[self.tight])


@dataclass(frozen=True)
class WeighingStep:
    """Zeros proven by weighings of rows; each cluster is an argument of its own."""

    rows: Ints
    weights: Ints
    cluster: Ints

    def within(self, rows: Ints) -> WeighingStep:
        """The same said of a problem of which this one has some rows."""
        return replace(self, rows=rows[self.rows])


Step = FlowStep | WeighingStep


class Contradicted(Exception):  # noqa: N818 - a finding on its way up, not an error for users
    """A weighing that no assignment can satisfy, or a variable whose signature has no value left."""

    def __init__(self, weights: Ints | None = None, *, emptied: int | None = None, also: Sequence[int] = ()) -> None:
        super().__init__("contradiction")
        self.weights = weights
        self.emptied = emptied
        self.also = tuple(also)  # further rows that contradict the others, each by itself
        self.believed = False  # whether it takes what a prior excludes

    def within(self, rows: Ints, variables: Ints, size: int) -> Contradicted:
        """The same said of a problem with ``size`` rows, of which this one has some rows and variables."""
        if self.weights is None:
            return Contradicted(emptied=int(variables[self.emptied or 0])).by(self.believed)
        weights = np.zeros(size, dtype=np.int64)
        weights[rows] = self.weights
        return Contradicted(weights, also=rows[list(self.also)].tolist() if self.also else ()).by(self.believed)

    def by(self, believed: bool) -> Contradicted:
        """The same, as a contradiction of belief or not."""
        self.believed = believed
        return self


@dataclass
class Face:
    """What is still possible, and the log of how the rest was excluded. Arrays are over terms."""

    problem: Problem
    alive: Flags
    removed_at: npt.NDArray[np.int32]  # the step that excluded the term, or NEVER
    suspects: Flags  # zeros that are likely but not proven; they stay in the problem
    steps: list[Step] = field(default_factory=list)
    tight_at: npt.NDArray[np.int32] | None = None  # [rows] the step that made a range one number, or NEVER
    stated_from: int | None = None  # steps before this one lean on no statement; None: there are none
    rows: Rows = field(init=False)  # the problem's rows, tight ranges as exact counts
    choices: Ints = field(init=False)  # [m] how many variables are left for each signature
    _flows: dict[tuple[int, int, int, int], flow.PairFlow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = self.problem.rows
        self.recount()

    @classmethod
    def whole(cls, problem: Problem) -> Face:
        """Nothing excluded yet."""
        return cls(
            problem,
            np.ones(problem.terms, dtype=bool),
            np.full(problem.terms, NEVER, dtype=np.int32),
            np.zeros(problem.terms, dtype=bool),
        )

    @property
    def possible(self) -> Flags:
        """[v] the variables that are alive."""
        return self.alive[: self.problem.variables]

    def exclude(self, zeros: Ints, step: Step) -> None:
        """Log a proven step that excludes some terms, each for the first time."""
        zeros = self._with_followers(zeros)
        self.alive[zeros] = False
        self.removed_at[zeros] = len(self.steps)
        self.steps.append(step)
        self._tighten(step)
        gone = zeros[zeros < self.problem.variables]
        self.choices -= np.bincount(self.problem.signature[gone], minlength=self.choices.size)
        if not self.choices.all():
            raise Contradicted(emptied=int(self.problem.start[np.argmin(self.choices)]))

    def _with_followers(self, zeros: Ints) -> Ints:
        """A variable without a candidate in some release falls too, and so do the candidates of what falls."""
        rows = self.problem.rows
        if not rows.seats:
            return zeros
        left = self.alive.copy()
        left[zeros] = False
        for own in rows.seats:
            kept = np.bincount(own.owner[rows.open(own, left)], minlength=rows.variables)
            left[: rows.variables] &= kept > 0
        left[rows.variables :] &= left[rows.owner[rows.variables :]]
        return np.flatnonzero(self.alive & ~left)

    def _tighten(self, step: Step) -> None:
        """Ranges that a proof has weighed, or that a flow has shown to be, are tight from now on."""
        if self.rows.exact:
            return
        wide = self.rows.ranged[step.rows]
        if isinstance(step, FlowStep):
            wide &= np.isin(step.rows, step.tight)
        rows, weights = step.rows[wide], step.weights[wide]
        if rows.size:
            lower, upper = self.rows.lower.copy(), self.rows.upper.copy()
            lower[rows[weights < 0]] = upper[rows[weights < 0]]
            upper[rows[weights > 0]] = lower[rows[weights > 0]]
            if self.tight_at is None:
                self.tight_at = np.full(self.rows.size, NEVER, dtype=np.int32)
            self.tight_at[rows] = len(self.steps) - 1
            self.rows = replace(self.rows, lower=lower, upper=upper)

    def signed(self, mu: Reals) -> Reals:
        """The same multipliers with a sign that fits each range: above 0 at its lower count, below 0 at its upper.

        Where a proof made a range tight, its weighing can be added to the multipliers without changing the answer:
        whoever is left scores alike in it. Later steps go first, as they may lean on ranges that were tight before.
        """
        if self.tight_at is None:
            return mu
        mu = mu.copy()
        for number in np.unique(self.tight_at[self.tight_at != NEVER])[::-1].tolist():
            step = self.steps[number]
            wrong = np.where(self.tight_at[step.rows] == number, -mu[step.rows] * np.sign(step.weights), 0.0)
            need = np.zeros(int(step.cluster.max()) + 1)
            np.maximum.at(need, step.cluster, wrong / np.abs(step.weights))
            mu[step.rows] += need[step.cluster] * step.weights
        return mu

    def rows_before(self, step: int) -> Rows:
        """The rows as they were when a step was taken."""
        if self.tight_at is None or (self.tight_at < step).sum() == (self.tight_at != NEVER).sum():
            return self.rows
        later = (self.tight_at >= step) & (self.tight_at != NEVER)
        lower = np.where(later, self.problem.rows.lower, self.rows.lower)
        return replace(self.rows, lower=lower, upper=np.where(later, self.problem.rows.upper, self.rows.upper))

    def alive_before(self, step: int) -> Flags:
        """What was possible when a step was taken."""
        return self.removed_at >= step

    def weigh(self, weights: Ints, before: int | None = None) -> weighing.Weighed:
        """Weigh what is possible now, or was before a step."""
        if before is None:
            return weighing.weigh(self.problem, self.alive, weights, self.rows)
        return weighing.weigh(self.problem, self.alive_before(before), weights, self.rows_before(before))

    def flow_of_value(self, step: int, first: int, second: int, value: int) -> flow.PairFlow:
        """The flow of one value when a step was taken; the last few are kept, since proofs come in bunches."""
        key = (step, first, second, value)
        if key not in self._flows:
            while len(self._flows) >= _KEPT_FLOWS:
                del self._flows[next(iter(self._flows))]
            alive = self.alive_before(step)
            free = Remaining.of(self.problem, alive, choices_of(self.problem, alive))
            free = free.only(self.problem.value[free.variable] == value).tightened(self.rows_before(step))
            self._flows[key] = flow.pair_flow(free, first, second)
        return self._flows[key]

    def copy(self) -> Face:
        """The same, to go on with apart."""
        tight = None if self.tight_at is None else self.tight_at.copy()
        found = Face(
            self.problem,
            self.alive.copy(),
            self.removed_at.copy(),
            self.suspects.copy(),
            list(self.steps),
            tight,
            self.stated_from,
        )
        found.rows = self.rows
        return found

    def of(self, problem: Problem) -> Face:
        """The same exclusions in a problem with these terms, which has all or the first of these rows."""
        size = problem.rows.size
        tight = None if self.tight_at is None else self.tight_at[:size].copy()
        found = Face(problem, self.alive.copy(), self.removed_at.copy(), self.suspects.copy(), list(self.steps), tight)
        if tight is not None:
            found.rows = replace(problem.rows, lower=self.rows.lower[:size], upper=self.rows.upper[:size])
        return found

    def leans_on_statements(self, terms: Ints) -> Flags:
        """Whether terms were excluded only when statements were looked at."""
        if self.stated_from is None:
            return np.zeros(terms.size, dtype=bool)
        at = self.removed_at[terms]
        return np.asarray((at >= self.stated_from) & (at != NEVER))

    def recount(self) -> None:
        """Count what is left after ``alive`` was changed by hand."""
        self.choices = choices_of(self.problem, self.alive)


def inherited(face: Face, problem: Problem, source: Ints) -> Face:
    """A face for ``problem`` with the exclusions of another, whose terms are ``source`` (−1: new)."""
    removed_at = np.where(source >= 0, face.removed_at[source], NEVER).astype(np.int32)
    suspects = np.where(source >= 0, face.suspects[source], False)
    return Face(problem, removed_at == NEVER, removed_at, suspects, list(face.steps))


def take_over(face: Face, part: Face, terms: Ints, rows: Ints) -> None:
    """Log in the whole face what was excluded in a part of it."""
    for step in part.steps[len(face.steps) :]:
        face.steps.append(step.within(rows))
    face.removed_at[terms] = part.removed_at
    face.suspects[terms] = part.suspects
    face.alive[terms] = part.alive
    if part.tight_at is not None:
        if face.tight_at is None:
            face.tight_at = np.full(face.rows.size, NEVER, dtype=np.int32)
        face.tight_at[rows] = part.tight_at
        lower, upper = face.rows.lower.copy(), face.rows.upper.copy()
        lower[rows], upper[rows] = part.rows.lower, part.rows.upper
        face.rows = replace(face.rows, lower=lower, upper=upper)
    face.recount()
