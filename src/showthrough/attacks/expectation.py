"""Expectation and maximization in turn: beliefs that meet every group's counts, and the model that they teach.

Beliefs r and model θ both lower the same figure, Σ r ln(r / P(attributes | value; θ)) − ln prior(θ): the first as the
nearest to the model that meet the counts, the second as the smoothed counts of the first. What stays is a fixed
point, not the posterior, from which it can be far away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from showthrough.attacks.group_members import GroupMembers
from showthrough.attacks.naive_bayes import NaiveBayes
from showthrough.table.arrays import Reals

STEPS = 1000
CLOSE = 1e-7
"""Beliefs that move by less have arrived."""
_SWEEPS = 10  # of scaling in one step: the next goes on where it ended


@dataclass(frozen=True)
class Expected:
    """A fixed point, or how far it is."""

    p: Reals  # [entries]
    logs: Reals  # [entries] ln P(attributes | value)
    shares: Reals  # [rows, values] P(attribute | value)
    steps: int
    moved: float  # by the last step
    converged: bool


def learned(
    model: NaiveBayes, seats: GroupMembers, steps: int = STEPS, told: Callable[[int], bool] = lambda _: False
) -> Expected:
    """From random worlds onwards; ``told`` hears of every step and says whether that is enough."""
    p, scaling, moved = seats.even(), None, np.inf
    for step in range(1, steps + 1):
        shares = model.mean(model.counts(p))
        logs = model.logs(shares)
        fresh, scaling = seats.matched(logs, scaling, _SWEEPS)
        moved = float(np.abs(fresh - p).max(initial=0.0))
        p = fresh
        if moved < CLOSE or told(step):
            break
    return Expected(seats.matched(logs, scaling)[0], logs, shares, step, moved, moved < CLOSE)
