"""What a history says, roughly and in a fraction of the time: for a search among histories that differ little.

Nearly all the time of a full answer goes into zeros that have to be proven before Newton's method converges. Here the
dual of `newton` is descended for a number of passes by a limited-memory quasi-Newton method (Liu and Nocedal 1989),
from the multipliers of an earlier answer, with what that answer excludes. Nothing is proven and nothing is certified:
most probabilities are right to three digits, and whoever acts on them asks for a full answer in the end.

Legend as in `newton`: mu multipliers [rows], g gradient, F the dual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from showthrough.inference.certificate import STATES, Certificate, Status
from showthrough.inference.closing import propagate
from showthrough.inference.face import Contradicted, Face, inherited
from showthrough.inference.history import History, encode
from showthrough.inference.kernel import Kernel
from showthrough.inference.log import Log
from showthrough.inference.problem import Problem
from showthrough.inference.reduce import Reduced, nothing_left, reduce
from showthrough.inference.run import Wanted
from showthrough.inference.solved import Solved
from showthrough.inference.strangers import placed
from showthrough.register.reader import Reader
from showthrough.release.release import Release
from showthrough.table.arrays import Ints, Reals, sum_by
from showthrough.table.codes import positions

_KEPT = 10  # steps that the method remembers; more cost more than they gain
_LEAST = 1e-12
_MET = 0.05  # a count that is met so nearly, in units of its root and divided by the passes, is met
_OVER, _TINY = 600.0, 1e-290  # beyond the one exponentials are too large, below the other sums count as nothing
_FARTHEST = 30.0  # a multiplier beyond it belongs to a zero; what is farther is slow to come back
BELIEVED = STATES.index(Status.BELIEVED)  # neither proof nor bound


@dataclass(frozen=True)
class KnownAnswers:
    """The answer of all releases but the last, a rough one of all of them with another last one, and the passes."""

    earlier: Solved
    near: Solved | None
    passes: int


def rough(
    reader: Reader, releases: Sequence[Release], known: KnownAnswers, wanted: Wanted, log: Log
) -> tuple[Solved, Certificate] | None:
    """An answer that proves nothing, from what is known; None where only a full one will do.

    That is where counts are ranges or noisy, where statements speak, or where persons may be split.
    """
    earlier = known.earlier
    with log.stage("reading groups"):
        history, problem, of_person = placed(encode(releases, changed=wanted.changed, reader=reader))
        if not _fits(history, problem, earlier):
            return None
        face = inherited(earlier.face, problem, _earlier_terms(earlier, history, problem, of_person))
    with log.stage("maximum entropy"):
        try:
            propagate(face)
        except Contradicted:
            return None
        x, mu = _descended(face, _beginning(known, history, problem), known.passes, log)
    state = np.full(problem.signatures, BELIEVED)
    solved = Solved(history, problem, of_person, face, x, mu, state)
    return solved, _said(solved, known.passes, log)


def _fits(history: History, problem: Problem, earlier: Solved) -> bool:
    """Whether rows and values of the earlier answer stand at the beginning of these, and all counts are exact."""
    plain = problem.rows.exact and not history.noise and history.statements is None and earlier.problem.rows.exact
    old = earlier.history
    return (
        plain
        and old.statements is None
        and not history.changed.splits
        and history.ids.dtype == old.ids.dtype
        and history.values.dtype == old.values.dtype
        and np.array_equal(history.row_group[: old.row_group.size], old.row_group)
    )


def _beginning(known: KnownAnswers, history: History, problem: Problem) -> Reals:
    """[rows] the multipliers of what is known: of earlier releases, and of groups of the last one by their numbers."""
    begin, near = np.zeros(problem.rows.size), known.near
    begin[: known.earlier.mu.size] = known.earlier.mu
    if near is not None and history.values.equals(near.history.values):
        begin[: known.earlier.mu.size] = near.mu[: known.earlier.mu.size]
        if history.labels[-1].equals(near.history.labels[-1]):
            span = history.values.len()
            mine, theirs = (h.row_group.astype(np.int64) * span + h.row_value for h in (history, near.history))
            at = _found(theirs, mine, np.ones(mine.size, dtype=bool))
            begin = np.where(at >= 0, near.mu[at], begin)
    return np.clip(begin, -_FARTHEST, _FARTHEST)


def _descended(face: Face, begin: Reals, passes: int, log: Log) -> tuple[Reals, Reals]:
    """The answer over terms, and the multipliers of all rows, after so many passes."""
    from scipy.optimize import minimize

    problem = face.problem
    reduced = reduce(problem, face.alive, face.rows)
    if not reduced.components:
        return nothing_left(problem, face.alive), np.zeros(problem.rows.size)
    kernel = Kernel(reduced)
    mu = _scaled(kernel, begin[reduced.row_of])
    unit = 1 / np.sqrt(np.maximum(kernel.count, _LEAST))  # rows of large counts are steep
    whole = _SparseDual(reduced)

    def dual(scaled: Reals) -> tuple[float, Reals]:
        log.progress.check()
        F, g = whole.at(scaled * unit)
        return F, g * unit

    limits = {"maxiter": passes, "maxfun": passes, "maxcor": _KEPT, "ftol": 0.0, "gtol": _MET / passes}
    found = minimize(dual, mu / unit, jac=True, method="L-BFGS-B", options=limits).x * unit
    x, _ = reduced.sweeps.softmax(found)
    x[reduced.rows.variables :] *= x[reduced.rows.owner[reduced.rows.variables :]]  # candidates as parts of variables
    return reduced.undo(x, problem, face.alive), reduced.undo_rows(found, problem)


class _SparseDual:
    """F and its gradient as sums over candidates, by sparse matrices: a quarter of the time that whole passes take.

    Multipliers stay so near 0 here that no largest one has to be taken out of a sum of exponentials first.
    """

    def __init__(self, reduced: Reduced) -> None:
        rows, first = reduced.rows, reduced.start[:-1]
        self.signature, self.first, self.prior = reduced.signature, first, reduced.log_prior
        self.count, self.weight = rows.lower.astype(np.float64), reduced.weight.astype(np.float64)
        self.sure = [row.astype(np.int64) for row in rows.sure]
        places = [(own.row, np.append(own.start[:-1], own.row.size)) for own in rows.seats]
        shape = rows.variables, rows.size + 1
        from scipy import sparse  # only where it is needed: an answer by itself starts without it

        self.seats = [sparse.csr_matrix((np.ones(row.size), row, start), shape=shape) for row, start in places]
        self.of_rows = [seats.T.tocsr() for seats in self.seats]

    def at(self, mu: Reals) -> tuple[float, Reals]:
        """Of all components together."""
        power, size = np.append(np.exp(np.clip(mu, -_OVER, _OVER)), 1.0), mu.size + 1
        within = [np.maximum(seats @ power, _TINY) for seats in self.seats]
        z = np.zeros(self.signature.size) if self.prior is None else self.prior.astype(np.float64)
        for total in within:
            z += np.log(total)
        extended = np.append(mu, 0.0)
        for row in self.sure:
            z += extended.take(row)
        top = np.maximum.reduceat(z, self.first)
        x = np.exp(z - top.take(self.signature))
        total = sum_by(self.signature, x, self.first.size)
        x *= (self.weight / total).take(self.signature)
        F = float(self.weight @ (np.log(total) + top) - self.count @ mu)
        expected = np.zeros(size)
        for row in self.sure:
            expected += sum_by(row, x, size)
        for total, of_rows in zip(within, self.of_rows, strict=True):
            expected += power * (of_rows @ (x / total))
        return F, expected[:-1] - self.count


def _scaled(kernel: Kernel, mu: Reals) -> Reals:
    """A sweep of iterative scaling, the newest release first: nothing is known of its multipliers."""
    layers = kernel.problem.rows.sure.shape[0] + len(kernel.problem.rows.seats)
    for layer in (*range(layers - 1, -1, -1), layers - 1):
        expected = kernel.expected_in(layer, mu)
        known = (expected > _LEAST) & (kernel.count > 0)
        mu = mu + np.log(np.divide(kernel.count, expected, out=np.ones_like(mu), where=known))
    return mu


def _earlier_terms(earlier: Solved, history: History, problem: Problem, of_person: Ints) -> Ints:
    """[terms] the term of the earlier problem for the same person, value and candidate, or −1."""
    old, span = earlier.problem, history.values.len() + 1
    code = positions(earlier.history.values, history.values).astype(np.int64)
    key = old.signature * span + np.append(code, span - 1)[old.value]
    at = positions(history.ids, earlier.history.ids).astype(np.int64)
    signature = np.full(problem.signatures, -1, dtype=np.int64)
    known = np.flatnonzero(at >= 0)
    signature[of_person[known]] = earlier.of_person[at[known]]
    variable = _found(key, signature[problem.signature] * span + problem.value, signature[problem.signature] >= 0)
    found, before = [variable], {own.release: own for own in old.rows.seats}
    for own in problem.rows.seats:
        theirs, mine = before.get(own.release), variable[own.owner]
        if theirs is None:
            found.append(np.full(own.row.size, -1, dtype=np.int64))
            continue
        width = old.rows.size + 1
        row = np.where(own.row == problem.rows.size, old.rows.size, own.row).astype(np.int64)
        place = _found(theirs.owner * width + theirs.row, mine * width + row, mine >= 0)
        found.append(np.where(place >= 0, old.variables + theirs.offset + place, -1))
    return np.concatenate(found)


def _found(keys: Ints, wanted: Ints, asked: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Ints:
    """The place of each key that is asked for, or −1."""
    order = np.argsort(keys, kind="stable")
    at = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), keys.size - 1)]
    return np.where(asked & (keys[at] == wanted), at, -1)


def _said(solved: Solved, passes: int, log: Log) -> Certificate:
    problem, named = solved.problem, solved.history.named
    return Certificate(
        status=Status.BELIEVED,
        gap=np.inf,
        residual=np.inf,
        persons=named,
        releases=len(solved.history.heads),
        signatures=problem.signatures,
        variables=problem.variables,
        rows=problem.rows.size,
        components=0,
        proven_zeros=0,
        proven_ones=0,
        suspected_zeros=0,
        newton_steps=0,
        passes=passes,
        seconds=log.seconds,
        persons_by_state={str(Status.BELIEVED): named},
    )
