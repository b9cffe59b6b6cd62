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
from showthrough.inference.noise_terms import NoiseTerms, noise_terms
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Reals

_STEPS = 200  # of Newton


@dataclass(frozen=True)
class ExpectedAnswer:
    """The answer, and by how many persons each component misses a count of the other releases."""

    x: Reals  # [v]
    missed: Reals  # [k]


def solve(reduced: Reduced, noise: NoisyProblem, start: Reals, clock: Clock) -> ExpectedAnswer:
    """Maximise entropy less misfit over the components of a reduced problem, from some multipliers, in time."""
    problem, terms = prepared(reduced, noise)
    found = newton.solve(
        problem, start=start, damping=np.full(start.size, newton.DAMPED), most=newton.Effort(_STEPS),
        softness=Softness(noise=terms), clock=clock,
    )  # fmt: skip
    kernel = Kernel(problem, softness=Softness(noise=terms))
    here = kernel.at(found.mu)
    return ExpectedAnswer(here.x[: problem.rows.variables], kernel.largest(here.g))


def prepared(reduced: Reduced, noise: NoisyProblem) -> tuple[Reduced, NoiseTerms]:
    """The problem in which noisy rows have one count, and what they ask for instead."""
    rows, noisy = reduced.rows, noise.of(reduced)
    lower, upper = rows.lower.copy(), rows.upper.copy()
    lower[noisy] = upper[noisy]
    most = upper[noisy].astype(np.float64)
    told = noise.entries(reduced, noisy)
    terms = noise_terms(reduced.row_of, (noisy, most), told, noise.laws, noise.problem.rows.size)
    own = replace(rows, lower=lower, upper=lower if (lower == upper).all() else upper)
    return replace(reduced, rows=own), terms
