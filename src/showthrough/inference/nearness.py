"""How much probability lies near a value, where values are numbers."""

from __future__ import annotations

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.inference.pairs import Pairs
from showthrough.table.arrays import Reals
from showthrough.table.ragged import running


def mass_within(pairs: Pairs, values: pl.Series, epsilon: float) -> Reals:
    """[pairs] the probability that the person's value lies within ε of the pair's."""
    numbers = values.cast(pl.Float64, strict=False)
    if numbers.null_count() or not numbers.is_finite().all():
        raise InputError("A limit on proximity needs numbers as values.")
    points, rank = np.unique(numbers.to_numpy(), return_inverse=True)
    room = epsilon + 1e-9 * max(1.0, epsilon)
    first = np.searchsorted(points, points - room)[rank[pairs.value]]
    last = np.searchsorted(points, points + room, side="right")[rank[pairs.value]]
    # whole numbers as keys: a distance never drowns in the number of a signature
    key = pairs.signature * (points.size + 1) + rank[pairs.value]
    order = np.argsort(key, kind="stable")
    key, base = key[order], pairs.signature * (points.size + 1)
    total = running(pairs.p[order])
    mass: Reals = total[np.searchsorted(key, base + last)] - total[np.searchsorted(key, base + first)]
    return mass
