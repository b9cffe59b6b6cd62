"""How much probability lies near a value, where values are numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.inference.pairs import Pairs
from showthrough.table.arrays import Ints, Reals
from showthrough.table.ragged import running


@dataclass(frozen=True)
class Windows:
    """For each pair, which pairs of the same person have a value that is near to its own."""

    order: Ints  # pairs by signature and value
    first: Ints  # [pairs] where those near to it begin and end in that order
    last: Ints
    pairs: Pairs

    def sums(self, figure: Reals) -> Reals:
        """[pairs] Σ of a figure over the pairs that are near."""
        total = running(figure[self.order])
        found: Reals = total[self.last] - total[self.first]
        return found

    def totals(self, figure: Reals) -> Reals:
        """[pairs] Σ of a figure over all pairs of the same person."""
        found: Reals = np.add.reduceat(figure, self.pairs.start[:-1])[self.pairs.signature]
        return found


def windows(pairs: Pairs, values: pl.Series, epsilon: float) -> Windows:
    """The values within ε of each."""
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
    return Windows(order, np.searchsorted(key, base + first), np.searchsorted(key, base + last), pairs)


def mass_within(pairs: Pairs, values: pl.Series, epsilon: float) -> Reals:
    """[pairs] the probability that the person's value lies within ε of the pair's."""
    return windows(pairs, values, epsilon).sums(pairs.p)
