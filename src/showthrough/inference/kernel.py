"""The passes that Newton's method is made of, counted, with sums over components.

Legend as in `newton`: mu multipliers [rows], x probabilities [terms], g gradient, d a direction [rows].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from showthrough.inference.barrier import Barrier
from showthrough.inference.noise_terms import NoiseTerms
from showthrough.inference.passes import Array, Stretch, Sweeps, stretches
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Flags, Reals, sum_by
from showthrough.table.ragged import starts

_FLAT = 1e-13  # persons; the curvature of noisy rows that nobody moves in


@dataclass(frozen=True)
class Point:
    """F per component, the probabilities and the gradient at one mu."""

    F: Reals
    x: Any  # [terms], or the name of probabilities that are elsewhere
    g: Reals
    resting: Flags | None = None  # rows strictly between their counts, whose multiplier is 0; None: no ranges
    bend: Reals | None = None  # [rows] curvature of the walls inside ranges, and of noise; None: there are none

    def without_resting(self, diagonal: Reals) -> Reals:
        """The diagonal with nothing to move where rows rest."""
        return diagonal if self.resting is None else np.where(self.resting, 0.0, diagonal)

    def restricted(self, problem: Reduced, keep: Flags) -> Point:
        """The same point in some components."""
        rows = keep[problem.row_component]
        resting = None if self.resting is None else self.resting[rows]
        bend = None if self.bend is None else self.bend[rows]
        return Point(self.F[keep], self.x[problem.terms_in(keep)], self.g[rows], resting, bend)


@dataclass(frozen=True)
class Softness:
    """How rows may miss their counts while the method is on its way.

    With ``ease`` F has ease·mu²/2 more in every row: at its minimum counts are missed by −ease·mu. With ``tau`` ranges
    have walls inside their ends (`barrier`), and multipliers any sign. With ``noise`` some rows are noisy counts, which
    may be missed for good, at a price.
    """

    ease: float = 0.0
    tau: float = 0.0
    noise: NoiseTerms | None = None


NONE = Softness()


class Kernel:
    """The passes over the variables that everything is made of, counted, and sums over components."""

    def __init__(self, problem: Reduced, sweeps: Sweeps | None = None, *, softness: Softness = NONE) -> None:
        self.problem = problem
        self.sweeps = problem.sweeps if sweeps is None else sweeps
        self.count = problem.rows.lower.astype(np.float64)
        self.barrier = Barrier(problem.rows, softness.tau) if softness.tau and not problem.rows.exact else None
        hard = self.barrier is None and not problem.rows.exact
        self.upper = problem.rows.upper.astype(np.float64) if hard else None
        self.component_rows = np.bincount(problem.row_component, minlength=problem.components)
        self.component_start = starts(self.component_rows)[:-1]
        self.spread, self.gather, self.mass = self.sweeps.spread, self.sweeps.gather, self.sweeps.mass
        self.tangent, self.ease = self.sweeps.tangent, softness.ease
        self.noise = None if softness.noise is None else softness.noise.within(problem.row_of)
        self.kinked = self.upper is not None or (self.noise is not None and self.noise.kinked)
        self.stretches = stretches(problem.row_component, self.component_start)
        self.passes = 0
        self.factoring: bool | None = None  # whether a factorisation helps with its systems; None: not tried

    def per_component(self, rows: Reals) -> Reals:
        """[k] sum over the rows of each component."""
        return np.add.reduceat(rows, self.component_start)

    def largest(self, rows: Reals) -> Reals:
        """[k] the largest entry of each component, whatever its sign."""
        return np.maximum.reduceat(np.abs(rows), self.component_start)

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

    def on_rows(self, components: Array) -> Array:
        """[rows] a figure or flag of each component, on all its rows."""
        return np.repeat(components, self.component_rows)

    def softmax(self, mu: Reals) -> tuple[Reals, Reals]:
        """Probabilities, and log Σ exp per signature."""
        self.passes += 1
        return self.sweeps.softmax(mu)

    def evaluated(self, mu: Reals) -> tuple[Any, Reals, Reals]:
        """The probabilities, the part of F that they make in each component, and the persons in each row."""
        x, log_sum = self.softmax(mu)
        p = self.problem
        F = sum_by(p.signature_component, p.weight * log_sum, p.components)
        return x, F, self.gather(self.mass(x))

    def expected_in(self, release: int, mu: Reals) -> Reals:
        """[rows] the persons in each row of one release (in the order of the rows' layers); 0 in the others."""
        x, _ = self.softmax(mu)
        return self.sweeps.gather_release(release, self.mass(x))

    def farthest(self, x: Any, d: Reals) -> Reals:
        """[k] the most that d changes the logarithm of a mass."""
        moved = np.abs(self.tangent(x, d))
        if self.problem.rows.seats:
            largest = np.zeros(self.problem.components)
            np.maximum.at(largest, self.problem.term_component, moved)
            return largest
        signature = np.maximum.reduceat(moved, self.problem.start[:-1])
        size = np.bincount(self.problem.signature_component, minlength=self.problem.components)
        return np.asarray(np.maximum.reduceat(signature, starts(size)[:-1]))

    def alone(self, x: Any, component: int) -> tuple[Kernel, Any]:
        """The passes over one component, and its probabilities."""
        keep = np.arange(self.problem.components) == component
        return Kernel(self.problem.restrict(keep)), x[self.problem.terms_in(keep)]

    def at(self, mu: Reals) -> Point:
        """Everything Newton needs to know of a point."""
        x, F, expected = self.evaluated(mu)
        count, resting, bend = self.count, None, None
        if self.upper is not None:
            within = np.clip(expected, count, self.upper)
            resting = (mu == 0) & (within == expected) & (count < self.upper)
            count = np.where(mu > 0, count, np.where(mu < 0, self.upper, within))
        gain = count * mu
        if self.noise is not None:
            told, own, bend = self.noise.at(mu, expected), self.noise.row, np.zeros(mu.size)
            count, resting = count.copy(), np.zeros(mu.size, dtype=bool) if resting is None else resting
            count[own], gain[own], resting[own], bend[own] = told.asked, told.gain, told.resting, told.bend
        F -= self.per_component(gain)
        if self.barrier is not None:
            walled = self.barrier.at(mu)
            F -= self.per_component(walled.gain)
            count, bend = count + walled.asked, walled.bend
        if self.ease:
            F += 0.5 * self.ease * self.per_component(mu**2)
            count = count - self.ease * mu
        return Point(F, x, expected - count, resting, bend)

    def curved(self, here: Point, d: Reals) -> Reals:
        """H·d with the walls of ranges and the price of noise."""
        found = self.hessian(here.x, d)
        return found if here.bend is None else found + here.bend * d

    def diagonal(self, x: Any) -> Reals:
        """The diagonal of H."""
        found = self.sweeps.diagonal(x) + self.ease if self.ease else self.sweeps.diagonal(x)
        if self.noise is not None:  # where nobody can move any more F still falls along a stair
            found[self.noise.row] = np.maximum(found[self.noise.row], _FLAT)
        return found

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
        """The step, stopped where a multiplier of a range would change its sign, or noise asks for another count."""
        if self.upper is not None:
            wanted = np.where(mu == 0, -g, mu)  # from 0 a multiplier may only go where its count is missed
            crossing = (self.count < self.upper) & (np.sign(wanted) * (mu + step) <= 0)  # multipliers may run off
            step = np.where(crossing, -mu, step)
        if self.noise is not None and self.noise.kinked:
            own, step = self.noise.row, step.copy()
            step[own] = np.clip(step[own], *self.noise.room(mu[own], g[own]))
        return step

    def room(self, mu: Reals, g: Reals) -> tuple[Reals, Reals]:
        """[rows] how far multipliers can go down and up before a row stops."""
        low, high = np.full(mu.size, -np.inf), np.full(mu.size, np.inf)
        if self.upper is not None:
            wanted, wide = np.where(mu == 0, -g, mu), self.count < self.upper
            low, high = np.where(wide & (wanted >= 0), -mu, low), np.where(wide & (wanted <= 0), -mu, high)
        if self.noise is not None:
            low[self.noise.row], high[self.noise.row] = self.noise.room(mu[self.noise.row], g[self.noise.row])
        return low, high

    def hessian(self, x: Any, d: Reals) -> Reals:
        """H·d without H."""
        self.passes += 1
        found = self.sweeps.hessian(x, d)
        return found + self.ease * d if self.ease else found
