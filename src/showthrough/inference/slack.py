"""Releases that contradict each other, answered all the same: the counts give way by as little as they can.

A program finds the least total by which the counts of an island must be missed. Where it would be too large, Newton's
method goes on instead: on its way off, what it misses of the counts tends to the least sum of squares. The rows that
give way become ranges, from what they publish to what is needed, and maximum entropy is asked again. It is an answer to
another question than the one that was asked: every figure of it is marked, and nothing of it counts as proven or safe.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from showthrough.inference import newton
from showthrough.inference.clock import Clock
from showthrough.inference.face import Contradicted, Face
from showthrough.inference.kernel import Kernel
from showthrough.inference.log import Log
from showthrough.inference.problem import Problem, select
from showthrough.inference.program import program
from showthrough.inference.reduce import Reduced, reduce
from showthrough.inference.remaining import Remaining, choices_of
from showthrough.inference.rows import Rows
from showthrough.inference.solving import solve
from showthrough.inference.support import least_slack
from showthrough.table.arrays import Flags, Ints, Reals

_ROUNDING = 1e-6  # persons
_PROGRAM = 100_000  # terms; HiGHS takes minutes for more, whatever its time limit is
_STEPS = 30


def relaxed(problem: Problem, signatures: Flags, log: Log) -> tuple[Face, Reals, Reals] | None:
    """A face with counts that give way on some islands, and the answer on them; None if time is short."""
    rows = _widened(problem, signatures, log.clock.at_most(log.clock.left() / 2))
    if rows is None:
        return None
    face = Face.whole(replace(problem, rows=rows))
    try:
        x, mu = solve(face, log, among=signatures)
    except Contradicted:
        return None
    return face, x, mu


def _widened(problem: Problem, signatures: Flags, clock: Clock) -> Rows | None:
    """The rows with ranges where counts must give way."""
    part = select(problem, signatures)
    everything = np.ones(part.problem.terms, dtype=bool)
    reduced = reduce(part.problem, everything)
    lower, upper = problem.rows.lower.copy(), problem.rows.upper.copy()
    left = Remaining.of(part.problem, everything, choices_of(part.problem, everything)).left
    decided = np.setdiff1d(np.arange(left.size), reduced.row_of)  # by persons of whom one value is left
    lower[part.rows[decided]] -= np.maximum(left[decided], 0)
    upper[part.rows[decided]] += np.maximum(-left[decided], 0)
    terms = np.bincount(reduced.term_component, minlength=reduced.components)
    large = terms > _PROGRAM
    if large.any():
        missed = _missed(reduced.restrict(large), clock)
        rows = part.rows[reduced.row_of[large[reduced.row_component]]]
        lower[rows] -= _whole(-missed)
        upper[rows] += _whole(missed)
    for component in np.flatnonzero(~large).tolist():
        lp = program(reduced, component)
        found = least_slack(lp, clock, relation_only=True)
        if found is None:
            return None
        rows, size = part.rows[lp.row_of], lp.row_of.size
        lacks, over = found.x[-2 * size : -size], found.x[-size:]
        lower[rows] -= _whole(lacks)
        upper[rows] += _whole(over)
    served = problem.rows.served()
    orphan = np.zeros(lower.size, dtype=bool)
    orphan[_rows_of(problem, signatures)] = True
    lower[orphan & ~served] = 0  # a value that nobody can have
    return replace(problem.rows, lower=lower, upper=upper)


def _missed(reduced: Reduced, clock: Clock) -> Reals:
    """[rows] by how much the counts are exceeded (above 0) or missed where Newton's method does not come nearer."""
    solution = newton.solve(
        reduced,
        damping=np.full(reduced.rows.size, newton.DAMPED),
        max_steps=_STEPS,
        clock=clock.at_most(clock.left() / 2),
    )
    missed: Reals = Kernel(reduced).at(solution.mu).g
    return missed


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
