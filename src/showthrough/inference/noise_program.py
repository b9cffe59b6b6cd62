"""Entropy less misfit of noise at its most, for components that are too large for their worlds to be counted.

Newton's method on the dual, as for exact counts (`newton`), where `noise_terms` says what noisy rows ask for. It begins
with the multipliers of the answer without noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from showthrough.inference import newton
from showthrough.inference.clock import Clock
from showthrough.inference.kernel import Kernel, Softness
from showthrough.inference.noise_rows import NoisyProblem
from showthrough.inference.noise_stairs import pieces_of
from showthrough.inference.noise_terms import NoiseTerms
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Reals

_STEPS = 200  # of Newton
_ON_THE_WAY, _PASSES = 25, 300  # steps of Newton and passes, before noise is sharpened
_GENTLE = 4.0  # nats that noise may pull with at once
_SHARPER = 4.0  # times as sharp
_FEW = 2  # kinks that are quickly passed
_TINY = 1e-300


@dataclass(frozen=True)
class ExpectedAnswer:
    """The answer, and by how many persons each component misses a count of the other releases."""

    x: Reals  # [v]
    missed: Reals  # [k]


def solve(reduced: Reduced, noise: NoisyProblem, start: Reals, clock: Clock) -> ExpectedAnswer:
    """Maximise entropy less misfit over the components of a reduced problem, from some multipliers, in time."""
    problem, terms, near = prepared(reduced, noise)
    kernel = Kernel(problem, softness=Softness(noise=terms))
    mu = _minimised(problem, (near, terms), start, clock)
    here = kernel.at(mu)
    return ExpectedAnswer(here.x[: problem.rows.variables], kernel.largest(here.g))


def _minimised(problem: Reduced, noise: tuple[NoiseTerms, NoiseTerms], start: Reals, clock: Clock) -> Reals:
    """The multipliers: first with ramps for stairs (the first of ``noise``), then as it is.

    Where noise is so narrow, or so far, that it pulls with many nats, it is sharpened step by step.
    """
    near, terms = noise
    held = Kernel(problem).at(start).g + problem.rows.lower
    times = min(1.0, _GENTLE / max(terms.steepest(held[terms.row]), _TINY))
    mu, damping = start, np.full(start.size, newton.DAMPED)
    while times < 1 or near is not terms:
        softness = Softness(noise=near.sharpened(times))
        found = newton.solve(
            problem, start=mu, damping=damping, most=newton.Effort(_ON_THE_WAY, _PASSES), softness=softness, clock=clock
        )
        mu = found.mu
        if times == 1:
            break
        more = min(1.0, _SHARPER * times)
        mu, times = _least(problem, near.sharpened(more), (mu, mu * (more / times))), more
    softness, most = Softness(noise=terms), newton.Effort(_STEPS)
    return newton.solve(problem, start=mu, damping=damping, most=most, softness=softness, clock=clock).mu


def _least(problem: Reduced, terms: NoiseTerms, starts: tuple[Reals, ...]) -> Reals:
    """The multipliers where F is least, of several: in each component those of its own."""
    kernel = Kernel(problem, softness=Softness(noise=terms))
    value = np.array([kernel.at(mu).F for mu in starts])
    chosen = kernel.on_rows(value.argmin(axis=0).astype(np.float64)) > 0
    return np.where(chosen, starts[1], starts[0])


def prepared(reduced: Reduced, noise: NoisyProblem) -> tuple[Reduced, NoiseTerms, NoiseTerms]:
    """The problem in which noisy rows have one count, what they ask for instead, and the same with ramps for stairs."""
    rows, noisy = reduced.rows, noise.of(reduced)
    lower, upper = rows.lower.copy(), rows.upper.copy()
    lower[noisy] = upper[noisy]
    most, told = upper[noisy].astype(np.float64), noise.entries(reduced, noisy)
    place = np.full(noise.problem.rows.size, -1, dtype=np.int64)
    place[reduced.row_of[noisy]] = np.arange(noisy.size)
    terms = near = NoiseTerms(place, noisy, pieces_of(told, noise.laws, most))
    if (terms.falls.sum(axis=1) > _FEW).any():
        near = NoiseTerms(place, noisy, pieces_of(told, noise.laws, most, ramped=True))
    own = replace(rows, lower=lower, upper=lower if (lower == upper).all() else upper)
    return replace(reduced, rows=own), terms, near
