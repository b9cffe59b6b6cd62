"""The linear systems of Newton's method by a sparse factorisation, where conjugate gradients alone take long.

While zeros that are forced by many rows together are not proven yet, their masses fall towards nothing and the systems
become ill-conditioned: conjugate gradients then take thousands of passes a step. Where persons fit groups that lie
near each other the matrix H is sparse and stays sparse when it is factored, and a factorisation costs as much
as some hundred passes; where groups are thrown together at random it fills up. Which it is shows in the attempt: the
factor may take `_FILL` times the room of H (SuperLU's incomplete factorisation, Li and Shao 2011, which drops
nothing while there is room), and whether it is one tells a first solution. What it solves is refined by passes over the
variables, so it is as exact as what conjugate gradients find.

H = Σ over signatures of w · Cov(rows that the value and its candidates hit):
    Σ w·x·t tᵀ − Σ w·x̄ x̄ᵀ + Σ over releases with candidates of Σ w·x·(diag(q) − q qᵀ)
with t the expected rows of a variable, x̄ those of a signature. Legend as in `newton`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spilu

from showthrough.inference.clock import Clock
from showthrough.inference.kernel import Kernel
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Ints, Reals

_MOST = 40_000_000  # entries of H, counted before those of the same place are added up
_FILL = 6.0  # times the entries of H that a factor may have
_LIFT = 1e-12  # of the diagonal: H is singular, as constants can be added to the rows of a release
_EXACT = 1e-14  # entries of a factor below this, of the diagonal, may be dropped
_REFINED = 8  # corrections of a solution by the same factor
_GAIN = 0.25  # of what was missed: a correction that leaves more is the last
_RIGHT = 1e-3  # of the right side, that a solution by a true factor misses at most


class Factor:
    """A factorisation of H + ridge, scaled by its diagonal."""

    def __init__(self, factor: Any, scale: Reals) -> None:
        self._factor, self._scale = factor, scale

    def solve(self, right: Reals) -> Reals:
        """The direction whose image is ``right``, as exact as the factorisation is."""
        return np.asarray(self._scale * self._factor.solve(self._scale * right))


def entries(problem: Reduced) -> int:
    """At most how many entries H has."""
    signature = problem.signature
    width = np.bincount(signature, minlength=problem.weight.size) * problem.rows.sure.shape[0]
    for own in problem.rows.seats:
        width += np.bincount(signature[own.owner], minlength=width.size)
    width += np.bincount(signature[problem.rows.stated.variable], minlength=width.size)
    return int((width.astype(np.float64) ** 2).sum())


def factored(problem: Reduced, x: Reals, diagonal: Reals, ridge: Reals | None, clock: Clock) -> Factor | None:
    """A factorisation that solves the system of these components; None where it would fill up, or time is over.

    ``diagonal`` is that of H, 0 for rows that do not take part.
    """
    if entries(problem) > _MOST:
        return None
    total = diagonal if ridge is None else diagonal + ridge
    scale = np.divide(1.0, np.sqrt(total), out=np.zeros_like(total), where=total > 0)
    H = hessian(problem, x)
    H.setdiag(diagonal if ridge is None else diagonal + ridge)
    scaled = sp.diags_array(scale) @ H @ sp.diags_array(scale)
    system = sp.csc_array(scaled + sp.diags_array(np.where(total > 0, _LIFT, 1.0)))
    try:
        found = clock.awaited(
            lambda: spilu(
                system,
                drop_tol=_EXACT,
                fill_factor=_FILL,
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        )
    except (RuntimeError, MemoryError):  # a pivot that is nothing, or no room
        return None
    if found is None:
        return None
    wanted = system @ np.cos(np.arange(scale.size))
    missed = system @ found.solve(wanted) - wanted
    if not np.linalg.norm(missed) <= _RIGHT * np.linalg.norm(wanted):  # not a number is no factor either
        return None
    return Factor(found, scale)


def refined(
    kernel: Kernel,
    times: Callable[[Reals], Reals],
    factor: Factor,
    inverse: Reals,
    start: tuple[Reals, Reals, Reals],
    clock: Clock,
) -> tuple[Reals, Reals]:
    """A direction corrected by the factor for as long as that brings it nearer, and what it misses.

    ``start`` is the right side, a direction to begin with, and how little is to be missed in each component; what is
    missed is weighed by ``inverse``. Conjugate gradients would not do: a constant on the rows of a release moves
    nothing, may be anything in a solution, and inner products with it lose their digits.
    """
    right, best, goal = start
    r = right - times(best)
    least = kernel.inner(r, inverse * r)
    active = least > goal
    for _ in range(_REFINED):
        if not active.any() or clock.over:
            break
        d = best + kernel.on_rows(active) * factor.solve(r)
        left = right - times(d)
        missed = kernel.inner(left, inverse * left)
        better = active & (missed < least)
        active = better & (missed > goal) & (missed < _GAIN * least)
        own = kernel.on_rows(better)
        best, r, least = np.where(own, d, best), np.where(own, left, r), np.where(better, missed, least)
    return best, least


def hessian(problem: Reduced, x: Reals) -> sp.csc_array:
    """H itself; its diagonal is that of the formula above, which rounding may spoil."""
    rows, signature, variables = problem.rows, problem.signature, problem.rows.variables
    own, every = x[:variables], np.arange(variables)
    mass = problem.weight[signature] * own
    expected = [_matrix(every, row, np.ones(variables), rows.size) for row in rows.sure]
    stated = rows.stated
    if stated.row.size:
        expected.append(_matrix(stated.variable, stated.row, stated.coefficient, rows.size, variables))
    within: sp.csr_array | None = None
    for seats in rows.seats:
        share = _matrix(seats.owner, seats.row, x[rows.places(seats)], rows.size, variables)
        expected.append(share)
        less = share.T @ sp.diags_array(mass) @ share
        less = sp.diags_array(share.T @ mass) - less
        within = less if within is None else within + less
    hit = expected[0]
    for more in expected[1:]:
        hit = hit + more
    members = _matrix(signature, every, own, variables, problem.weight.size)
    mean = members @ hit
    H = hit.T @ sp.diags_array(mass) @ hit - mean.T @ sp.diags_array(problem.weight) @ mean
    return sp.csc_array(H if within is None else H + within)


def _matrix(tail: Ints, head: Any, figure: Any, columns: int, height: int | None = None) -> sp.csr_array:
    """A sparse matrix; heads beyond the last column stand in no row."""
    on = head < columns
    shape = (tail.size if height is None else height, columns)
    return sp.csr_array((np.asarray(figure, dtype=np.float64)[on], (tail[on], head[on])), shape=shape)
