"""Releases that contradict each other, answered all the same: the counts give way by as little as they can.

A program finds the least total by which the counts of an island must be missed. The rows that give way become ranges,
from what they publish to what the program needs, and maximum entropy is asked again. Where the program would be too
large, every count gives way a little instead: what is missed costs its square, many times as much as entropy is worth,
and the point where Newton's method stops has maximum entropy for the counts that it meets. It is an answer to another
question than the one that was asked: every figure of it is marked, and nothing of it counts as proven or safe.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from showthrough.inference import newton
from showthrough.inference.clock import Clock
from showthrough.inference.face import Contradicted, Face
from showthrough.inference.kernel import Kernel, Softness
from showthrough.inference.log import Log
from showthrough.inference.problem import Part, Problem, select
from showthrough.inference.program import program
from showthrough.inference.reduce import Reduced, reduce
from showthrough.inference.remaining import Remaining, choices_of
from showthrough.inference.rows import Rows
from showthrough.inference.solving import solve
from showthrough.inference.support import least_slack
from showthrough.table.arrays import Flags, Ints, Reals

_ROUNDING = 1e-6  # persons
_PROGRAM = 100_000  # terms; HiGHS takes minutes for more, whatever its time limit is
_STEPS = 60
_EASE = 1e-4  # persons that a count is missed by for each unit of its multiplier


def relaxed(problem: Problem, signatures: Flags, log: Log) -> Relaxed | None:
    """The answer on some islands with counts that give way; None if time is short."""
    part = select(problem, signatures)
    everything = np.ones(part.problem.terms, dtype=bool)
    reduced = reduce(part.problem, everything)
    if np.bincount(reduced.term_component, minlength=1).max(initial=0) > _PROGRAM:
        x, mu = np.zeros(problem.terms), np.zeros(problem.rows.size)
        damping = np.full(reduced.rows.size, newton.DAMPED)
        most, softness = newton.Effort(_STEPS), Softness(ease=_EASE)
        solution = newton.solve(reduced, damping=damping, most=most, softness=softness, clock=log.clock)
        log.add(solution.newton_steps, solution.passes)
        x[part.terms] = reduced.undo(Kernel(reduced).softmax(solution.mu)[0], part.problem, everything)
        mu[part.rows] = reduced.undo_rows(solution.mu, part.problem)
        return Relaxed(Face.whole(problem), x, mu)
    rows = _widened(problem, part, reduced, log.clock.at_most(log.clock.left() / 2))
    if rows is None:
        return None
    orphan = np.zeros(rows.size, dtype=bool)
    orphan[_rows_of(problem, signatures)] = True
    rows.lower[orphan & ~problem.rows.served()] = 0  # a value that nobody can have
    face = Face.whole(replace(problem, rows=rows))
    try:
        x, mu = solve(face, log, among=signatures)
    except Contradicted:
        return None
    return Relaxed(face, x, mu, rows)


@dataclass(frozen=True)
class Relaxed:
    """A face, the answer on it with its multipliers, and the rows with ranges where counts gave way.

    Without rows the answer is that of the counts that it meets itself.
    """

    face: Face
    x: Reals
    mu: Reals
    rows: Rows | None = None


def _widened(problem: Problem, part: Part, reduced: Reduced, clock: Clock) -> Rows | None:
    """The rows with ranges where counts must give way."""
    everything = np.ones(part.problem.terms, dtype=bool)
    lower, upper = problem.rows.lower.copy(), problem.rows.upper.copy()
    left = Remaining.of(part.problem, everything, choices_of(part.problem, everything)).left
    decided = np.setdiff1d(np.arange(left.size), reduced.row_of)  # by persons of whom one value is left
    lower[part.rows[decided]] -= np.maximum(left[decided], 0)
    upper[part.rows[decided]] += np.maximum(-left[decided], 0)
    for component in range(reduced.components):
        lp = program(reduced, component)
        found = least_slack(lp, clock, prices=np.ones(lp.row_of.size))
        if found is None:
            return None
        rows, size = part.rows[lp.row_of], lp.row_of.size
        lacks, over = found.x[-2 * size : -size], found.x[-size:]
        lower[rows] -= _whole(lacks)
        upper[rows] += _whole(over)
    return replace(problem.rows, lower=lower, upper=upper)


def _rows_of(problem: Problem, signatures: Flags) -> Ints:
    """The rows of all groups that some signatures fit."""
    groups = np.zeros(problem.places.known, dtype=bool)
    own = np.flatnonzero(signatures)
    for r in range(problem.places.releases):
        fits = problem.places.fits(r, own)[1]
        groups[fits[fits >= 0]] = True
    mine = problem.row_group >= 0
    mine[mine] = groups[problem.row_group[mine]]
    return np.flatnonzero(mine)


def _whole(slack: Reals) -> Ints:
    return np.ceil(np.maximum(slack - _ROUNDING, 0.0)).astype(np.int64)
