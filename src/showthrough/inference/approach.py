"""From anywhere to multipliers that fit their ranges: Newton's method with walls that grow thinner."""

from __future__ import annotations

import numpy as np

from showthrough.inference import barrier, newton
from showthrough.inference.clock import Clock
from showthrough.inference.kernel import Softness
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Reals

_STEPS = 12  # of each tau at most: what is forced to zero never converges
_NEAR = 1e-4  # tau to begin with where multipliers were found before


def approach(problem: Reduced, start: Reals | None, damping: Reals, clock: Clock) -> newton.Solution:
    """Multipliers that are nearly right, those of ranges between their ends 0; ``start`` are some to begin with."""
    mu, passes, steps = start, 0, 0
    tau = barrier.FIRST if start is None else _NEAR
    while True:
        found = newton.solve(
            problem, start=mu, damping=damping, most=newton.Effort(_STEPS), softness=Softness(tau=tau), clock=clock
        )
        resting = barrier.Barrier(problem.rows, tau).resting(found.mu)
        mu = np.where(resting, found.mu / barrier.FALL, found.mu)
        damping, passes, steps = found.damping, passes + found.passes, steps + found.newton_steps
        tau /= barrier.FALL
        if tau < barrier.LAST or clock.over:
            mu = np.where(resting, 0.0, mu)
            return newton.Solution(mu, found.step, found.converged, found.near, steps, passes, damping)
