"""Mondrian by an objective: what is cut first is changed column by column, and what costs less stays.

A single cut tells little of what comes after it, so cuts that win most at once end badly. The order in which columns
are cut is what Mondrian leaves open: factors on the widths change it, the best ones are found by climbing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Reals

STEPS = (4.0, 0.25)
"""By how much a factor is changed."""
ROUNDS = 3
"""Times that every column is tried."""
TRIES = 64
"""Cuts of the whole table in all."""
PAYS = 0.001
"""The part of the cost that a round must have won."""


def aimed_cuts(
    first: Codes, cut: Callable[[Reals], Codes], cost: Callable[[Codes], float], columns: int
) -> tuple[Codes, float]:
    """The groups of ``cut`` by the best factors found, never worse than the first ones; and their cost."""
    best, least, factors = first, cost(first), np.ones(columns)
    tried = 0
    for _ in range(ROUNDS):
        before = least
        for j in range(columns):
            for step in STEPS:
                if tried == TRIES:
                    return best, least
                other = factors.copy()
                other[j] *= step
                tried += 1
                try:
                    group = cut(other)
                except InputError:  # by these cuts too many rows would be suppressed
                    continue
                if (lost := cost(group)) < least:
                    best, least, factors = group, lost, other
                    break
        if not least < before * (1 - PAYS):
            break
    return best, least
