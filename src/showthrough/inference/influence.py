"""What small changes of the newest release would do to probabilities, all of them at once.

At the answer every row meets its count: E(mu) = c. A sum φ = Σ a·x of probabilities changes with the counts by
y = H⁻¹ ∂φ/∂mu, one linear system whatever the number of changes that are weighed up (the adjoint of the answer). An
unnamed member more, who has a value, adds one to its row and a share of itself to the rows of the group; a person who
leaves takes its share out of them, and without what the release said of it has other values elsewhere.

Legend: x probabilities [terms], mu multipliers [rows], y the influence of rows, a what is summed up [variables].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from showthrough.inference.clock import Clock
from showthrough.inference.gradients import System
from showthrough.inference.kernel import Kernel
from showthrough.inference.posterior import Posterior
from showthrough.inference.reduce import reduce
from showthrough.inference.solved import Solved
from showthrough.table.arrays import Flags, Ints, Reals, sum_by

_DAMPED = 1e-6  # of the diagonal: forced zeros have directions without curvature
_EXACT = 1e-2  # relative error of the system
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Influence:
    """What changes of the newest release would do to φ: its published rows one by one, and its persons."""

    group: Ints  # [rows of it] place among its labels
    value: Ints  # [rows of it] place among the values of the posterior
    count: Reals  # [rows of it] one more in the count, and nobody who has it
    joining: Reals  # [rows of it] an unnamed member more, who has the value
    leaving: Reals  # [persons] not being in it any more; the record that is left over counts for itself
    labels: pl.Series  # what its groups are called


def influence(post: Posterior, concerned: Flags, limit: float, near: float, clock: Clock | None = None) -> Influence:
    """The influence on the probabilities of some persons that are over a limit or near it, as a sum.

    A probability counts the more the nearer it is, wholly from ``near`` above the limit on, not from ``near`` below.
    """
    solved = post._solved
    problem, named = solved.problem, solved.history.named
    who = np.bincount(solved.of_person[:named][concerned], minlength=problem.signatures)
    ramp = np.clip((solved.x[: problem.variables] - (limit - near)) / (2 * near), 0.0, 1.0)
    part = who / np.maximum(problem.weight, 1)
    rows = np.flatnonzero(problem.row_release == problem.places.releases - 1)
    group = (problem.row_group[rows] - solved.history.first_group[-2]).astype(np.int64)
    share, bend = _unnamed(solved.mu[rows], group), np.zeros(problem.rows.size)
    bend[rows] = share * (1 - share)
    y = of_counts(solved, ramp * part[problem.signature], bend, clock)
    others, own = _leaving(solved, y, ramp)
    leaving = others[solved.of_person[:named]] + np.where(concerned, own[solved.of_person[:named]], 0.0)
    value = problem.row_value[rows].astype(np.int64)
    joining = y[rows] - sum_by(group, share * y[rows], int(group.max(initial=-1)) + 1)[group]
    return Influence(group, value, y[rows], joining, leaving, solved.history.labels[-1])


def of_counts(solved: Solved, a: Reals, bend: Reals | None = None, clock: Clock | None = None) -> Reals:
    """[rows] how much Σ a·x, over all persons, grows with each count.

    ``bend`` is the curvature of what would give way itself: an unnamed member more takes what others cannot. Without
    it, rows that earlier releases determine would seem to have a say.
    """
    problem, face = solved.problem, solved.face
    reduced = reduce(problem, face.alive, face.rows)
    full = np.zeros(problem.rows.size)
    if not reduced.components:
        return full
    kernel = Kernel(reduced)
    x, _ = kernel.softmax(solved.mu[reduced.row_of])
    own, variables = a[reduced.variable_of], reduced.rows.variables
    mean = sum_by(reduced.signature, x[:variables] * own, reduced.weight.size)
    moved = x.copy()
    moved[:variables] *= own - mean[reduced.signature]
    pull = kernel.gather(kernel.mass(moved))
    damping, goal = (np.full(reduced.components, figure) for figure in (_DAMPED, _EXACT))
    system = System(kernel, x, kernel.diagonal(x), damping, None if bend is None else bend[reduced.row_of])
    full[reduced.row_of] = system.solve(pull, relative=goal, clock=clock)
    return full


def _unnamed(mu: Reals, group: Ints) -> Reals:
    """[rows] the probabilities of an unnamed member of each group: those that the multipliers of its values make."""
    groups = int(group.max(initial=-1)) + 1
    top = np.full(groups, -np.inf)
    np.maximum.at(top, group, mu)
    share = np.exp(mu - top[group])
    found: Reals = share / np.maximum(sum_by(group, share, groups), _LEAST)[group]
    return found


def _leaving(solved: Solved, y: Reals, a: Reals) -> tuple[Reals, Reals]:
    """[m] the effect of one person less in the newest release on all others, and on itself."""
    problem, last = solved.problem, solved.problem.places.releases - 1
    variables = problem.variables
    x, there, here, factor = solved.x[:variables], np.zeros(variables), np.zeros(variables), np.zeros(variables)
    extended, multiplier = np.append(y, 0.0), np.append(solved.mu, 0.0)
    for release, row in zip(problem.rows.sure_release, problem.rows.sure, strict=True):
        if release == last:
            here, factor = extended[row], multiplier[row]
        else:
            there += extended[row]
    for own in problem.rows.seats:
        share = solved.x[problem.rows.places(own)] / np.maximum(x, _LEAST)[own.owner]
        mean = sum_by(own.owner, share * extended[own.row], variables)
        if own.release == last:
            possible = problem.rows.open(own, solved.face.alive)
            here, factor = mean, _log_sum(own.owner, multiplier[own.row], possible, variables)
        else:
            there += mean
    scores = np.where(x > 0, np.log(np.maximum(x, _LEAST)) - factor, -np.inf)
    top = np.maximum.reduceat(scores, problem.start[:-1])
    free = np.exp(scores - np.where(np.isfinite(top), top, 0.0)[problem.signature])
    free /= np.maximum(np.add.reduceat(free, problem.start[:-1]), _LEAST)[problem.signature]
    others = np.add.reduceat(x * here - (free - x) * there, problem.start[:-1])
    return others, np.add.reduceat((free - x) * a, problem.start[:-1])


def _log_sum(owner: Ints, mu: Reals, possible: Flags, size: int) -> Reals:
    """[size] log Σ exp mu over the possible entries of each owner; 0 where there are none."""
    mu = np.where(possible, mu, -np.inf)
    top = np.full(size, -np.inf)
    np.maximum.at(top, owner, mu)
    top = np.where(np.isfinite(top), top, 0.0)
    total = sum_by(owner, np.exp(mu - top[owner]), size)
    return np.where(total > 0, top + np.log(np.maximum(total, _LEAST)), 0.0)
