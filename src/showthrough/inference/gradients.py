"""The linear systems of Newton's method: conjugate gradients in all components at once.

Where they take long a factorisation helps them (`factorisation`), and small components that fail are solved densely.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from showthrough.inference.factorisation import Factor

from showthrough.inference.clock import Clock
from showthrough.inference.kernel import Kernel, Softness
from showthrough.inference.passes import Stretch
from showthrough.table.arrays import Flags, Reals

_SOON, _OFTEN = 200, 50  # steps before a factorisation is thought of, and between two thoughts
_PATIENCE = 2.0  # times what a factorisation takes, after one that failed
_PER_ENTRY = 10.0  # terms that are passed over in the time that a factorisation takes for an entry of the matrix
_AFTER = 400  # steps after a factorisation that did not solve the system: what it left they hardly ever do
_CG_LIMIT = 8000  # steps; begun again after fewer, the method would learn its slow directions anew each time
_RUNAWAY = 1e6
_RIDGE = 1e-9  # of the diagonal
_VANISHED = 1e-13  # persons; rows of which less is left take part as if it were this much
_NOTHING = 1e-200  # what is damped alone, where nobody is left at all
_DENSE = 100  # rows of a component that is worth a dense solve
_FLOOR = 1e-300


class System:
    """(H + damping · diagonal + bend) · d = right in every component, at one point x; the diagonal is that of H."""

    def __init__(
        self,
        kernel: Kernel,
        x: Any,
        diagonal: Reals,
        damping: Reals | None = None,
        bend: Reals | None = None,
    ) -> None:
        self.kernel, self.x = kernel, x
        self.diagonal = np.where(diagonal > 0, np.maximum(diagonal, _VANISHED), 0.0)
        self.damping = np.zeros(kernel.component_rows.size) if damping is None else damping
        self.ridge = kernel.on_rows(self.damping) * self.diagonal if self.damping.any() else None
        if kernel.kinked:  # directions that move no x still lower F where a range is at its wrong end
            self.ridge = _RIDGE * self.diagonal + (0.0 if self.ridge is None else self.ridge)
        if bend is not None:
            self.ridge = bend + (0.0 if self.ridge is None else self.ridge)
        total = self.diagonal if self.ridge is None else self.diagonal + self.ridge
        self.inverse = np.divide(1.0, total, out=np.zeros_like(total), where=total > _NOTHING)
        self.factor: tuple[Flags, Factor] | None = None  # and the components that it is of
        self.unfactored = False  # whether a factorisation failed here

    def times(self, direction: Reals) -> Reals:
        """The left side."""
        return _times(self.kernel, self.x, self.ridge, direction)

    def solve(self, right: Reals, *, relative: Reals, clock: Clock | None = None) -> Reals:
        """Conjugate gradients, or as near as double precision allows.

        H is singular but consistent with a gradient up to rounding; pushed below that, the method runs
        away, so the best point of each component is kept.
        """
        kernel, inverse = self.kernel, self.inverse
        d, best, r, z = np.zeros_like(right), np.zeros_like(right), right.copy(), inverse * right
        direction, rz = z.copy(), kernel.inner(r, z)
        # below this the residual is rounding
        noise = kernel.inner(inverse, (1e-16 * kernel.count) ** 2)
        goal = np.maximum(relative**2 * rz, noise)
        active = rz > goal
        least = np.where(active, np.inf, rz)  # a first step always descends, however the residual behaves
        alpha, beta, better, Hd = rz, rz, active, r

        def advance(stretch: Stretch) -> Reals:
            own, length = stretch.rows, stretch.on_rows(alpha)
            d[own] += length * direction[own]
            r[own] -= length * Hd[own]
            np.multiply(inverse[own], r[own], out=z[own])
            return stretch.inner(r, z)

        def turn(stretch: Stretch) -> None:
            own = stretch.rows
            np.copyto(best[own], d[own], where=stretch.on_rows(better))
            direction[own] *= stretch.on_rows(beta)
            direction[own] += z[own]

        most = min(2 * int(kernel.component_rows.max()) + 20, _CG_LIMIT)
        for count in range(most):
            if not active.any() or count == most or (clock is not None and clock.over):
                break
            if self._worth_factoring(count):
                if self._finish(right, best, (least, goal, active), clock):
                    break
                most = most if self.factor is None else min(most, count + _AFTER)
            Hd = self.times(direction)
            curvature = kernel.inner(direction, Hd)
            active &= curvature > 0
            alpha = np.divide(rz, curvature, out=np.zeros(rz.size), where=active)
            new = kernel.sum_up(advance)
            better = active & (new < least)
            np.copyto(least, new, where=better)
            active &= (new > goal) & (new < _RUNAWAY * least)
            beta = np.divide(new, rz, out=np.zeros(rz.size), where=active)
            kernel.sweeps.share(turn, kernel.stretches)
            rz = new
        short = np.flatnonzero((least > goal) & (kernel.component_rows <= _DENSE) & (self.damping == 0))
        for component in short[:_DENSE]:
            _solve_densely(kernel, self.x, right, best, inverse, int(component))
        return best

    def _worth_factoring(self, count: int) -> bool:
        """Whether conjugate gradients took as long as a factorisation would; at once where one was worth it before.

        That is counted, not timed: the way to an answer, and whether there is one, do not depend on the machine.
        Where persons fit several groups these lie near each other, and a factorisation does not fill up. One that
        failed may have met a point that is hardly solvable at all, so elsewhere another is tried, after more patience.
        """
        kernel = self.kernel
        if kernel.factoring:
            return count == 0
        if (
            self.unfactored
            or count < _SOON
            or count % _OFTEN
            or not kernel.problem.rows.seats
            or not isinstance(self.x, np.ndarray)
        ):
            return False
        from showthrough.inference.factorisation import entries  # loads the library of sparse matrices

        patience = 1.0 if kernel.factoring is None else _PATIENCE
        return count * kernel.problem.rows.terms >= patience * _PER_ENTRY * entries(kernel.problem)

    def _finish(self, right: Reals, best: Reals, state: tuple[Reals, Reals, Flags], clock: Clock | None) -> bool:
        """Solve the components that are at work by a factorisation; says whether that is all."""
        from showthrough.inference.factorisation import factored, refined

        (least, goal, active), kernel, clock = state, self.kernel, clock or Clock()
        keep = active.copy()
        rows, part = kernel.on_rows(keep), kernel.problem.restrict(keep)
        x, ridge = self.x[kernel.problem.terms_in(keep)], None if self.ridge is None else self.ridge[rows]
        if self.factor is None or not np.array_equal(self.factor[0], keep):
            made = factored(part, x, self.diagonal[rows], ridge, clock)
            kernel.factoring = made is not None or clock.over
            self.factor, self.unfactored = None if made is None else (keep, made), made is None
        if self.factor is None:
            return False
        inner = Kernel(part, softness=Softness(ease=kernel.ease))
        times = partial(_times, inner, x, ridge)
        start = right[rows], best[rows], goal[keep]
        best[rows], least[keep] = refined(inner, times, self.factor[1], self.inverse[rows], start, clock)
        kernel.passes += inner.passes
        return not (least[keep] > goal[keep]).any()


def _times(kernel: Kernel, x: Any, ridge: Reals | None, direction: Reals) -> Reals:
    found = kernel.hessian(x, direction)
    return found if ridge is None else found + ridge * direction


def _solve_densely(kernel: Kernel, x: Any, right: Reals, best: Reals, inverse: Reals, component: int) -> None:
    """The direction of a small component whose conjugate gradients ran out of precision."""
    inner, own = kernel.alone(x, component)
    size = inner.problem.rows.size
    H = np.column_stack([inner.hessian(own, unit) for unit in np.eye(size)])
    rows = slice(*(int(kernel.component_start[component]) + np.array([0, size])))
    moving = inverse[rows] > 0  # the others rest between their counts
    scale = np.where(moving, 1.0 / np.sqrt(np.maximum(np.diag(H), _FLOOR)), 0.0)
    d = scale * np.linalg.lstsq(H * scale * scale[:, None], right[rows] * scale, rcond=1e-14)[0]
    if np.isfinite(d).all() and d @ right[rows] > 0:
        best[rows] = d
