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

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from showthrough.inference import boxed
from showthrough.inference.clock import Clock
from showthrough.inference.gradients import System
from showthrough.inference.kernel import NONE, Kernel, Point, Softness
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Flags, Reals

RESIDUAL = 2e-6  # persons, before the final correction, whose error is the square of it
NATS = 1e-10
_FINE, _FINE_NATS = 1e-9, 1e-16
_LARGE = 2000  # rows of a component
_ON_THE_WAY = 1e-3  # nats
_SCALING_PASSES = 6
_REACH = 3.0
_FLOOR = 1e-300
DAMPED = 1e-2  # of the diagonal: how much to damp at first where many zeros may be forced
_LEAST_DAMPED = 1e-7  # the least damping that makes a difference
_MOST_DAMPED = 10.0
_DEAR = 100  # passes of a step that is worth a few more to go further
_STEEP = 0.2  # of the slope at the start, after a whole step: quadratic convergence leaves next to nothing
_LEVEL = 0.5  # of the slope at the start: as steep the other way is as high, where the slope changes evenly
_LENGTHS = (2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)


@dataclass
class Solution:
    """Where the method stopped; ``converged`` per component, ``step`` the last move of mu.

    ``near`` are components that meet their counts; only rows of which next to nothing is left may keep
    them from having converged.
    """

    mu: Reals
    step: Reals
    converged: Flags
    near: Flags
    newton_steps: int
    passes: int
    damping: Reals  # [rows] that of their component
    factoring: bool | None = None  # whether a factorisation helped the last time that one was tried; None: not tried


@dataclass(frozen=True)
class Effort:
    """Newton steps, passes after which no further step is begun, and whether a factorisation is known to help."""

    steps: int = 60
    passes: float = math.inf
    factoring: bool | None = None


@dataclass(frozen=True)
class Beginning:
    """Where the method begins: multipliers, damping [rows], and passes that were made to find them."""

    mu: Reals
    damping: Reals
    passes: int = 0


def solve(
    problem: Reduced,
    *,
    start: Reals | None = None,
    damping: Reals | None = None,
    most: Effort = Effort(),  # noqa: B008 - frozen
    softness: Softness = NONE,
    clock: Clock | None = None,
    tell: Callable[[Flags], None] = lambda _converged: None,
) -> Solution:
    """Minimise F in every component, with as much effort as is allowed at most.

    ``start`` and ``damping`` [rows] are where an earlier solution stopped; ``tell`` hears who has converged. With
    ``softness`` counts give way.
    """
    if not problem.components:
        step, converged = np.zeros(problem.rows.size), np.zeros(0, dtype=bool)
        return Solution(step.copy(), step, converged, converged, 0, 0, step.copy())
    damped = np.zeros(problem.rows.size) if damping is None else damping
    begin = scaled(Kernel(problem), damped) if start is None else Beginning(start, damped)
    return descend(
        lambda part: Kernel(part, softness=softness), problem, begin, most=most, clock=clock or Clock(), tell=tell
    )


def descend(
    kernel_of: Callable[[Reduced], Kernel],
    problem: Reduced,
    begin: Beginning,
    *,
    most: Effort,
    clock: Clock,
    tell: Callable[[Flags], None] = lambda _converged: None,
) -> Solution:
    """The method itself, over passes that ``kernel_of`` some components makes, here or elsewhere."""
    mu, damped, passes = begin.mu.copy(), begin.damping.copy(), begin.passes
    step, converged = np.zeros(problem.rows.size), np.zeros(problem.components, dtype=bool)
    near = converged.copy()
    active, part, rows, steps = np.arange(problem.components), problem, np.arange(problem.rows.size), 0
    kernel = kernel_of(part)
    kernel.factoring = most.factoring
    here = kernel.at(mu)
    while True:
        diagonal = kernel.diagonal(here.x)
        met, done = _near_enough(kernel, here, diagonal) if kernel.barrier is None else _follows(kernel, here, diagonal)
        near[active], converged[active[done]] = met, True
        tell(converged)
        spent = steps > 0 and passes + kernel.passes > most.passes
        if done.all() or steps == most.steps or spent or clock.over:
            break
        if done.any():
            keep = ~done
            own = keep[part.row_component]
            rows, active, diagonal, here = rows[own], active[keep], diagonal[own], here.restricted(part, keep)
            part, passes, factoring = part.restrict(keep), passes + kernel.passes, kernel.factoring
            kernel = kernel_of(part)
            kernel.factoring = factoring
        move = _newton_step(kernel, mu[rows], here, (diagonal, damped[rows][kernel.component_start]), clock)
        step[rows], here, damped[rows] = move.once, move.there, kernel.on_rows(move.damping)
        mu[rows] += move.step
        steps += 1
    return Solution(mu, step, converged, near, steps, passes + kernel.passes, damped, kernel.factoring)


def scaled(kernel: Kernel, damping: Reals) -> Beginning:
    """A few sweeps of iterative scaling give Newton a good start."""
    problem, mu = kernel.problem, np.zeros(kernel.problem.rows.size)
    layers = problem.rows.sure.shape[0] + len(problem.rows.seats)
    for _ in range(max(1, _SCALING_PASSES // max(1, layers))):
        for release in range(layers):
            expected = kernel.expected_in(release, mu)
            known = (
                (expected > 0) & (kernel.count > 0)
                if kernel.upper is None
                else ((expected > 0) & (kernel.count > 0) & (kernel.count == kernel.upper))
            )
            ratio = np.divide(kernel.count, np.maximum(expected, _FLOOR), out=np.ones_like(mu), where=known)
            mu += np.log(ratio, out=ratio)
    return Beginning(mu, damping, kernel.passes)


def _near_enough(kernel: Kernel, here: Point, diagonal: Reals) -> tuple[Flags, Flags]:
    """Which components the linear correction can finish: what is missing is small in persons, and in nats too.

    In a large component with ranges one step more saves most of a correction that is dearer.
    """
    g, curvature = here.g, diagonal if here.bend is None else diagonal + here.bend
    with np.errstate(over="ignore"):  # a row that next to nothing moves: infinitely far is far
        nats = kernel.per_component(g**2 / np.maximum(curvature, _FLOOR))
    scale = np.maximum(1.0, 1e-6 * np.maximum.reduceat(kernel.count, kernel.component_start))
    missed = kernel.largest(g)
    near = missed <= RESIDUAL * scale
    done = near & (nats <= NATS * scale)
    if kernel.upper is not None:
        fine = (missed <= _FINE * scale) & (nats <= _FINE_NATS * scale)
        done &= fine | (kernel.component_rows <= _LARGE)
    return near, np.asarray(done)


def _follows(kernel: Kernel, here: Point, diagonal: Reals) -> tuple[Flags, Flags]:
    """Which components are near enough to the way to a problem whose ranges have no walls."""
    curvature = diagonal if here.bend is None else diagonal + here.bend
    with np.errstate(over="ignore"):
        nats = kernel.per_component(here.g**2 / np.maximum(curvature, _FLOOR))
    near = np.asarray(nats <= _ON_THE_WAY)
    return near, near


@dataclass(frozen=True)
class _Move:
    """A step, the point it leads to, and the damping for the next, per component; ``once`` is the step of length 1."""

    step: Reals
    there: Point
    damping: Reals
    once: Reals


def _newton_step(kernel: Kernel, mu: Reals, here: Point, metric: tuple[Reals, Reals], clock: Clock) -> _Move:
    """One damped Newton step per component (Levenberg-Marquardt): ``metric`` is the diagonal and the damping.

    Where the last step was cut short or gained less than the quadratic model said, the next one is damped more:
    directions without curvature would saturate the softmax, and what saturates is slow to come back.
    """
    (diagonal, damping), passes = metric, kernel.passes
    size = np.sqrt(kernel.per_component(here.g**2))
    typical = size / np.sqrt(kernel.component_rows)
    moving, enough = here.without_resting(diagonal), np.clip(np.sqrt(typical), 1e-2, 0.1)
    d = System(kernel, here.x, moving, damping, here.bend).solve(-here.g, relative=enough, clock=clock)
    if kernel.noise is not None and kernel.kinked:
        d = boxed.direction(kernel, mu, here, d, (moving, damping, enough), clock)
    slope = kernel.per_component(here.g * d)
    promised = -(slope + 0.5 * kernel.inner(d, kernel.curved(here, d)))
    length = np.where(slope >= 0, 0.0, 1.0)
    pending = length > 0
    rounding, told = 1e-13 * (1 + np.abs(here.F)), 1e3 if kernel.noise is None else 10.0
    cut = np.zeros(length.size, dtype=bool)
    for attempt in range(40):
        step = kernel.projected(mu, kernel.on_rows(length) * d, here.g)
        there = kernel.at(mu + step)
        gain = kernel.per_component(here.g * step) if kernel.kinked else length * slope
        lower = here.F + 1e-4 * gain + rounding >= there.F
        calmer = np.sqrt(kernel.per_component(there.g**2)) < size
        if kernel.noise is not None:  # it may pull just as much along a stair: what counts is the slope in the end
            calmer = kernel.per_component(there.g * step) <= -_LEVEL * gain
        # near the optimum F no longer tells points apart, but its gradient does
        pending &= ~np.where(-gain > told * rounding, lower, calmer)
        if not pending.any() or clock.over:
            break
        cut |= pending
        length[pending] *= 0.4
        if attempt == 0 and kernel.upper is not None:  # to where the first multiplier changes its sign
            length = np.where(pending, np.minimum(2 * length, kernel.first_crossing(mu, d)), length)
        elif attempt == 0:  # a direction that saturates the softmax is cut down at once; a damped one is shorter
            reach = np.where(damping > 0, 1.0, _within_reach(kernel, here.x, d))
            length = np.where(pending, np.minimum(length, reach), length)
    if pending.any():
        length[pending] = 0.0
        step = kernel.projected(mu, kernel.on_rows(length) * d, here.g)
        there = kernel.at(mu + step)
    telling = promised > told * rounding
    gained = np.divide(here.F - there.F, promised, out=np.ones_like(promised), where=telling)
    once, whole = step, (length == 1) & ~cut
    if not kernel.kinked and kernel.passes - passes > _DEAR and not clock.over:
        step, there = _longer(kernel, mu, d, _Stride(whole, slope, step, there), here.F)
    return _Move(step, there, _damped(damping, cut, gained), once)


@dataclass(frozen=True)
class _Stride:
    """A step that is made, its point and slope; ``free`` are components that went the whole length."""

    free: Flags
    slope: Reals
    step: Reals
    there: Point


def _longer(kernel: Kernel, mu: Reals, d: Reals, made: _Stride, before: Reals) -> tuple[Reals, Point]:
    """Go on along a dear direction for as long as counts are met better and F stays below what it was before.

    A probability that is next to nothing falls by the factor e with each Newton step: a longer step saves many. What
    it does to the rest the next step undoes.
    """
    step, there = made.step, made.there
    going = made.free & (kernel.per_component(there.g * d) < _STEEP * made.slope)
    missed = kernel.largest(there.g)
    for length in _LENGTHS:
        if not going.any():
            break
        tried = np.where(kernel.on_rows(going), length * d, step)
        point = kernel.at(mu + tried)
        now = kernel.largest(point.g)
        going &= (now < missed) & (before >= point.F)
        if going.any():
            step, missed = np.where(kernel.on_rows(going), tried, step), np.where(going, now, missed)
            there = point if going.all() else kernel.at(mu + step)
    return step, there


def _damped(damping: Reals, cut: Flags, gained: Reals) -> Reals:
    """How much to damp the next step, from how good this one was: gained, of what was promised."""
    more = np.minimum(10 * np.maximum(damping, _LEAST_DAMPED), _MOST_DAMPED)
    less = np.where(damping / 3 < 1e-3 * _LEAST_DAMPED, 0.0, damping / 3)
    return np.where(cut | (gained < 0.25), more, np.where(gained > 0.7, less, damping))


def _within_reach(kernel: Kernel, x: Any, d: Reals) -> Reals:
    """[k] a step length that changes no logarithm of x by more than a few: beyond, the softmax saturates."""
    return np.minimum(1.0, _REACH / np.maximum(kernel.farthest(x, d), _FLOOR))
