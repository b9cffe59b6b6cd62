"""Maximum entropy by Newton's method on the softmax dual, all components at once.

With the One constraints eliminated the dual is a weighted multinomial logit, smooth and convex:

    F(mu) = Σ_σ w[σ] · log Σ_s exp( Σ_r mu[row_r(σ, s)] ) − Σ_rows c · mu
    x[σ, s] = softmax over s;  gradient = expected counts − c

Where persons fit several groups, the term of a release is log Z_r = log Σ exp mu over the candidates that
publish s (1 for being outside), and q_r = exp mu / Z_r is the probability of a candidate given s; statements
add whole multiples of their multipliers, a prior its logarithm. A row whose count is a range has a multiplier
with a sign: above 0 at its lower count, below 0 at its upper, 0 between; the method is projected onto these signs
(Bertsekas 1982).

Components are independent, so every scalar of the method (step length, conjugate-gradient
coefficients, stopping) is a vector with one entry per component; a component that has converged
leaves the batch. Legend: mu multipliers [rows], x probabilities (of variables, then of candidates given
their variable) [terms], g gradient, H Hessian, d Newton direction, w weights, c counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from showthrough.inference.passes import Stretch, Sweeps, stretches
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Flags, Reals, sum_by
from showthrough.table.ragged import starts

RESIDUAL = 2e-6  # persons, before the final correction, whose error is the square of it
NATS = 1e-10
_MET = 2e-12  # persons; below this a count is met, with room to what the checker asks
_FAR = 4e-5  # relative move; the error of the final step is half its square
_SCALING_PASSES = 6
_CLEARLY = 1e5  # a forced zero can hide above this multiple of the residual only behind huge weights
_CG_LIMIT = 2000
_RUNAWAY = 1e6
_REACH = 3.0
_RIDGE = 1e-9  # of the diagonal
_DENSE = 100  # rows of a component that is worth a dense solve
_FLOOR = 1e-300


@dataclass
class Solution:
    """Where the method stopped; ``converged`` per component, ``step`` the last move of mu."""

    mu: Reals
    step: Reals
    converged: Flags
    newton_steps: int
    passes: int


@dataclass(frozen=True)
class Corrected:
    """A feasible answer, how far it misses the counts, and the variables it pushes down to nothing."""

    x: Reals
    mu: Reals
    residual: float
    doubtful: Flags
    far: bool  # some variable that is not doubtful moved too far for a linear step
    direction: Reals
    passes: int


@dataclass(frozen=True)
class Point:
    """F per component, the probabilities and the gradient at one mu."""

    F: Reals
    x: Reals
    g: Reals
    resting: Flags | None = None  # rows strictly between their counts, whose multiplier is 0; None: no ranges

    def restricted(self, problem: Reduced, keep: Flags) -> Point:
        """The same point in some components."""
        rows = keep[problem.row_component]
        resting = None if self.resting is None else self.resting[rows]
        return Point(self.F[keep], self.x[problem.terms_in(keep)], self.g[rows], resting)


class Kernel:
    """The passes over the variables that everything is made of, counted, and sums over components."""

    def __init__(self, problem: Reduced, sweeps: Sweeps | None = None) -> None:
        self.problem = problem
        self.sweeps = problem.sweeps if sweeps is None else sweeps
        self.count = problem.rows.lower.astype(np.float64)
        self.upper = None if problem.rows.exact else problem.rows.upper.astype(np.float64)
        self.component_rows = np.bincount(problem.row_component, minlength=problem.components)
        self.component_start = starts(self.component_rows)[:-1]
        self.spread, self.gather, self.mass = self.sweeps.spread, self.sweeps.gather, self.sweeps.mass
        self.tangent, self.diagonal = self.sweeps.tangent, self.sweeps.diagonal
        self.stretches = stretches(problem.row_component, self.component_start)
        self.passes = 0

    def per_component(self, rows: Reals) -> Reals:
        """[k] sum over the rows of each component."""
        return np.add.reduceat(rows, self.component_start)

    def inner(self, a: Reals, b: Reals) -> Reals:
        """[k] the inner product of two row vectors in each component."""
        return self.sum_up(lambda stretch: stretch.inner(a, b))

    def sum_up(self, work: Callable[[Stretch], Reals]) -> Reals:
        """[k] what ``work`` finds for the components of each stretch of rows, added in their order."""
        parts: list[Reals] = [np.empty(0)] * len(self.stretches)

        def one(index: int) -> None:
            parts[index] = work(self.stretches[index])

        self.sweeps.share(one, range(len(parts)))
        if len(parts) == 1:
            return parts[0]
        total = np.zeros(self.problem.components)
        for stretch, part in zip(self.stretches, parts, strict=True):
            total[stretch.components] += part
        return total

    def on_rows(self, components: Reals) -> Reals:
        """[rows] a figure of each component, on all its rows."""
        return np.repeat(components, self.component_rows)

    def softmax(self, mu: Reals) -> tuple[Reals, Reals]:
        """Probabilities, and log Σ exp per signature."""
        self.passes += 1
        return self.sweeps.softmax(mu)

    def at(self, mu: Reals) -> Point:
        """Everything Newton needs to know of a point."""
        x, log_sum = self.softmax(mu)
        p = self.problem
        F = sum_by(p.signature_component, p.weight * log_sum, p.components)
        expected, count, resting = self.gather(self.mass(x)), self.count, None
        if self.upper is not None:
            within = np.clip(expected, count, self.upper)
            resting = (mu == 0) & (within == expected) & (count < self.upper)
            count = np.where(mu > 0, count, np.where(mu < 0, self.upper, within))
        F -= self.per_component(count * mu)
        return Point(F, x, expected - count, resting)

    def missed(self, here: Point, expected: Reals, mu: Reals) -> Reals:
        """[rows] what expected counts miss, where rows that rest may move between their counts."""
        if self.upper is None or here.resting is None:
            return expected - self.count
        target = np.where(mu > 0, self.count, np.where(mu < 0, self.upper, np.clip(expected, self.count, self.upper)))
        return expected - target

    def first_crossing(self, mu: Reals, d: Reals) -> Reals:
        """[k] the step length at which the first multiplier of a range becomes 0."""
        assert self.upper is not None
        towards = (self.count < self.upper) & (mu * d < 0)
        length = np.divide(-mu, d, out=np.full(mu.size, np.inf), where=towards)
        return np.minimum.reduceat(length, self.component_start)

    def projected(self, mu: Reals, step: Reals, g: Reals) -> Reals:
        """The step, stopped where a multiplier of a range would change its sign."""
        if self.upper is None:
            return step
        wanted = np.where(mu == 0, -g, mu)  # from 0 a multiplier may only go where its count is missed
        crossing = (self.count < self.upper) & (wanted * (mu + step) <= 0)
        return np.where(crossing, -mu, step)

    def hessian(self, x: Reals, d: Reals) -> Reals:
        """H·d without H."""
        self.passes += 1
        return self.sweeps.hessian(x, d)


def solve(problem: Reduced, *, start: Reals | None = None, max_steps: int = 60) -> Solution:
    """Minimise F in every component, in at most ``max_steps`` Newton steps."""
    step, converged = np.zeros(problem.rows.size), np.zeros(problem.components, dtype=bool)
    if not problem.components:
        return Solution(step.copy(), step, converged, 0, 0)
    mu, passes = _scaled(problem) if start is None else (start.copy(), 0)
    active, part, rows, steps = np.arange(problem.components), problem, np.arange(problem.rows.size), 0
    kernel = Kernel(part)
    here = kernel.at(mu)
    while True:
        diagonal = kernel.diagonal(here.x)
        done = _near_enough(kernel, here.g, diagonal)
        converged[active[done]] = True
        if done.all() or steps == max_steps:
            break
        if done.any():
            keep = ~done
            own = keep[part.row_component]
            rows, active, diagonal, here = rows[own], active[keep], diagonal[own], here.restricted(part, keep)
            part, passes = part.restrict(keep), passes + kernel.passes
            kernel = Kernel(part)
        step[rows], here = _newton_step(kernel, mu[rows], here, diagonal)
        mu[rows] += step[rows]
        steps += 1
    return Solution(mu, step, converged, steps, passes + kernel.passes)


def correct(problem: Reduced, mu: Reals, *, sweeps: int = 6) -> Corrected:
    """Finish: a last full Newton step in mu, and a primal point that meets the Relation rows.

    The primal point is mass·(1 + tangent), repeated on what is left; the One rows stay exact. It brings
    a variable that is forced to zero down to nothing: such variables, and all that are not clearly
    above what is left of the residual, are doubtful. It errs by the square of the tangent, so it is
    good only if no other variable moves far.
    """
    if not problem.components:
        return Corrected(np.empty(0), mu, 0.0, np.empty(0, dtype=bool), False, np.zeros(0), 0)
    kernel = Kernel(problem)
    point = kernel.at(mu)
    mass = kernel.mass(point.x)
    x, g, direction = mass, point.g, np.zeros(problem.rows.size)
    diagonal = kernel.diagonal(point.x)
    floor = 1e-15 * max(1.0, float(problem.count.max(initial=1.0)))
    for _ in range(sweeps):
        residual = float(np.abs(g).max(initial=0.0))
        doubtful = x <= _CLEARLY * max(residual, floor)
        if residual <= floor or (residual <= _MET and not doubtful.any()):
            break
        enough = np.full(problem.components, np.clip(0.2 * _MET / residual, 1e-8, 1e-2))
        d = _conjugate_gradient(kernel, point.x, -g, _without(diagonal, point.resting), relative=enough)
        moved = x + mass * kernel.tangent(point.x, d)
        left = kernel.missed(point, kernel.gather(moved), mu)
        if np.abs(left).max() >= residual:
            break
        x, g, direction = moved, left, direction + d
    residual = float(np.abs(g).max(initial=0.0))
    doubtful = x <= _CLEARLY * max(residual, floor)
    far = np.abs(x - mass) > _FAR * mass
    mu = mu + kernel.projected(mu, direction, point.g)
    return Corrected(x, mu, residual, doubtful, bool((far & ~doubtful).any()), direction, kernel.passes)


def _scaled(problem: Reduced) -> tuple[Reals, int]:
    """A few sweeps of iterative scaling give Newton a good start."""
    kernel, mu = Kernel(problem), np.zeros(problem.rows.size)
    layers = problem.rows.sure.shape[0] + len(problem.rows.seats)
    for _ in range(max(1, _SCALING_PASSES // max(1, layers))):
        for release in range(layers):
            x, _ = kernel.softmax(mu)
            expected = kernel.sweeps.gather_release(release, kernel.mass(x))
            known = (
                (expected > 0) & (kernel.count > 0)
                if kernel.upper is None
                else ((expected > 0) & (kernel.count > 0) & (kernel.count == kernel.upper))
            )
            ratio = np.divide(kernel.count, np.maximum(expected, _FLOOR), out=np.ones_like(mu), where=known)
            mu += np.log(ratio, out=ratio)
    return mu, kernel.passes


def _without(diagonal: Reals, resting: Flags | None) -> Reals:
    """The diagonal with nothing to move where rows rest."""
    return diagonal if resting is None else np.where(resting, 0.0, diagonal)


def _near_enough(kernel: Kernel, g: Reals, diagonal: Reals) -> Flags:
    """Which components the linear correction can finish: what is missing is small in persons and in nats."""
    nats = kernel.per_component(g**2 / np.maximum(diagonal, _FLOOR))
    scale = np.maximum(1.0, 1e-6 * np.maximum.reduceat(kernel.count, kernel.component_start))
    persons = np.maximum.reduceat(np.abs(g), kernel.component_start)
    return np.asarray((persons <= RESIDUAL * scale) & (nats <= NATS * scale))


def _newton_step(kernel: Kernel, mu: Reals, here: Point, diagonal: Reals) -> tuple[Reals, Point]:
    """One damped Newton step per component, and the point it leads to."""
    size = np.sqrt(kernel.per_component(here.g**2))
    typical = size / np.sqrt(kernel.component_rows)
    moving, enough = _without(diagonal, here.resting), np.minimum(0.1, np.sqrt(typical))
    d = _conjugate_gradient(kernel, here.x, -here.g, moving, relative=enough)
    slope = kernel.per_component(here.g * d)
    length = np.where(slope >= 0, 0.0, 1.0)
    pending = length > 0
    rounding = 1e-13 * (1 + np.abs(here.F))
    for attempt in range(40):
        step = kernel.projected(mu, kernel.on_rows(length) * d, here.g)
        there = kernel.at(mu + step)
        gain = length * slope if kernel.upper is None else kernel.per_component(here.g * step)
        lower = here.F + 1e-4 * gain + rounding >= there.F
        calmer = np.sqrt(kernel.per_component(there.g**2)) < size
        # near the optimum F no longer tells points apart, but its gradient does
        pending &= ~np.where(-gain > 1e3 * rounding, lower, calmer)
        if not pending.any():
            return step, there
        length[pending] *= 0.5
        if attempt == 0 and kernel.upper is not None:  # to where the first multiplier changes its sign
            length = np.where(pending, np.minimum(2 * length, kernel.first_crossing(mu, d)), length)
        elif attempt == 0:  # a direction that saturates the softmax is cut down at once
            length = np.where(pending, np.minimum(length, _within_reach(kernel, here.x, d)), length)
    length[pending] = 0.0
    step = kernel.projected(mu, kernel.on_rows(length) * d, here.g)
    return step, kernel.at(mu + step)


def _within_reach(kernel: Kernel, x: Reals, d: Reals) -> Reals:
    """[k] a step length that changes no logarithm of x by more than a few: beyond, the softmax saturates."""
    moved = np.abs(kernel.tangent(x, d))
    if kernel.problem.rows.seats:
        largest = np.zeros(kernel.problem.components)
        np.maximum.at(largest, kernel.problem.term_component, moved)
    else:
        signature = np.maximum.reduceat(moved, kernel.problem.start[:-1])
        size = np.bincount(kernel.problem.signature_component, minlength=kernel.problem.components)
        largest = np.maximum.reduceat(signature, starts(size)[:-1])
    return np.minimum(1.0, _REACH / np.maximum(largest, _FLOOR))


def _conjugate_gradient(kernel: Kernel, x: Reals, right: Reals, diagonal: Reals, *, relative: Reals) -> Reals:
    """Solve H·d = right in every component, or come as near as double precision allows.

    H is singular but consistent with a gradient up to rounding; pushed below that, the method runs
    away, so the best point of each component is kept.
    """
    inverse = np.divide(1.0, diagonal, out=np.zeros_like(right), where=diagonal > 0)
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

    for _ in range(min(2 * int(kernel.component_rows.max()) + 20, _CG_LIMIT)):
        if not active.any():
            break
        Hd = kernel.hessian(x, direction)
        if kernel.upper is not None:  # directions that move no x still lower F where a range is at its wrong end
            Hd += _RIDGE * diagonal * direction
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
    short = np.flatnonzero((least > goal) & (kernel.component_rows <= _DENSE))
    for component in short[:_DENSE]:
        _solve_densely(kernel, x, right, best, inverse, int(component))
    return best


def _solve_densely(kernel: Kernel, x: Reals, right: Reals, best: Reals, inverse: Reals, component: int) -> None:
    """The direction of a small component whose conjugate gradients ran out of precision."""
    p = kernel.problem
    keep = np.arange(p.components) == component
    alone = p.restrict(keep)
    inner = Kernel(alone)
    own = x[p.terms_in(keep)]
    H = np.column_stack([inner.hessian(own, unit) for unit in np.eye(alone.rows.size)])
    rows = slice(*(int(kernel.component_start[component]) + np.array([0, alone.rows.size])))
    moving = inverse[rows] > 0  # the others rest between their counts
    scale = np.where(moving, 1.0 / np.sqrt(np.maximum(np.diag(H), _FLOOR)), 0.0)
    d = scale * np.linalg.lstsq(H * scale * scale[:, None], right[rows] * scale, rcond=1e-14)[0]
    if np.isfinite(d).all() and d @ right[rows] > 0:
        best[rows] = d
