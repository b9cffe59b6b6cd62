"""Maximum entropy person by person: dense primal Newton on the support that linear programs leave."""

from __future__ import annotations

import numpy as np

from tests.oracles import History
from tests.oracles.dense import most_even
from tests.oracles.linear import Pair, bounds, system


def maximum_entropy(history: History) -> dict[Pair, float]:
    """P(value | person) to about 1e-12 (dense Newton)."""
    pairs, A, b = system(history)
    limits = bounds(history)
    free = np.array([limits[pair][1] > 1e-7 for pair in pairs])
    x = most_even(A[:, free], b)
    found = dict.fromkeys(pairs, 0.0)
    for pair, p in zip([q for q, f in zip(pairs, free, strict=True) if f], x, strict=True):
        found[pair] = float(p)
    return found
