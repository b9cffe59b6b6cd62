"""How unlikely it can be made that none of some (person, value) pairs of a group holds.

Persons and values of a group are put together at random. Of ``j`` pairs, those are worst that take the
most frequent values, fewer for each further person: with k₀ ≥ k₁ ≥ … values of persons 0, 1, …

    P(none holds) = Π_i (n − i − r₁ − … − r_{k_i}) / (n − i)

for a group of n persons with counts r₁ ≥ r₂ ≥ … (Martin, Kifer, Machanavajjhala, Gehrke, Halpern,
*Worst-Case Background Knowledge for Privacy-Preserving Data Publishing*, ICDE 2007, MINIMIZE1). Their
best split is found for i persons from the last to the first, by the most pairs that each may have.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from showthrough.table.arrays import Ints, Reals

Split = tuple[int, ...]
"""How many values of each person, the most first."""


def least(size: Ints, top: npt.NDArray[np.int64], most: int) -> Reals:
    """The smallest P(none holds) of 0 to ``most`` pairs, one column each, for many groups in floating point.

    ``top`` holds r₁ + … + r_t of each group in column t, from 0 to ``most``; each group has so many values.
    """
    one = np.ones(size.size)
    later: dict[tuple[int, int], Reals] = {}
    for i in reversed(range(most)):
        now: dict[tuple[int, int], Reals] = {}
        room = np.maximum(size - i, 1)
        for cap in range(1, most + 1):
            factor = np.where(size > i, np.maximum(size - i - top[:, cap], 0) / room, 1.0)
            for rest in range(1, most - i * cap + 1):
                known = now.get((cap - 1, rest), one)
                if cap <= rest:
                    known = np.minimum(known, factor * later.get((min(cap, rest - cap), rest - cap), one))
                now[cap, rest] = known
        later = now
    columns = [one, *(later[j, j] for j in range(1, most + 1))]
    return np.stack(columns, axis=1)


def exactly(counts: Sequence[int], most: int) -> list[tuple[Fraction, Split]]:
    """The same for one group as fractions, each with a split that reaches it; ``counts`` descend."""
    size, top = sum(counts), [0]
    for count in counts[:most]:
        top.append(top[-1] + count)

    @cache
    def best(i: int, cap: int, rest: int) -> tuple[Fraction, Split]:
        found: tuple[Fraction, Split] = (Fraction(1), ())
        if i >= size:
            return found
        for taken in range(1, min(cap, rest, len(top) - 1) + 1):
            factor = Fraction(max(size - i - top[taken], 0), size - i)
            if not factor:
                return Fraction(0), (taken,)
            p, split = best(i + 1, taken, rest - taken)
            if factor * p < found[0]:
                found = factor * p, (taken, *split)
        return found

    return [best(0, j, j) for j in range(most + 1)]
