"""The members of one group, each with a prior of its own: what every member has, over all assignments of its values.

A world gives the published values of the group to its members; it weighs the product of their priors. Members
are placed one after the other, and what is left of the counts is the state: worlds are added up forwards and backwards,
so that nothing but the size of the group limits it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from showthrough.table.arrays import Reals

MOST = 2_000_000
"""States times members that are looked at for one group."""


def states(counts: Sequence[int], members: int) -> int:
    """How much there is to look at."""
    return prod(count + 1 for count in counts) * members


def weighed(counts: Sequence[int], weights: Reals) -> Reals | None:
    """P(value | member) of a group that publishes each value so often; None if no world has any weight.

    ``weights`` has a row per member, as many as the counts add up to, and a column per value.

    >>> don = weighed([1, 1], np.array([[0.4, 0.56], [1 / 3, 1 / 3]]))
    >>> don.round(6).tolist()
    [[0.416667, 0.583333], [0.583333, 0.416667]]
    """
    shape = tuple(count + 1 for count in counts)
    members, values = weights.shape
    first, last = np.zeros(shape), np.zeros(shape)
    first[(0,) * values] = 1.0
    last[tuple(counts)] = 1.0
    before = [first]
    for row in weights[:-1]:
        before.append(_scaled(_placed(before[-1], row, forwards=True)))
    found = np.zeros(weights.shape)
    after = last
    for member in range(members - 1, -1, -1):
        for value in range(values):
            lower, upper = _shifted(values, value)
            found[member, value] = weights[member, value] * float((before[member][lower] * after[upper]).sum())
        after = _scaled(_placed(after, weights[member], forwards=False))
    total = found.sum(axis=1, keepdims=True)
    if not (total > 0).all():
        return None
    answer: Reals = found / total
    return answer


def _placed(ways: Reals, row: Reals, *, forwards: bool) -> Reals:
    """One more member: the ways to each state, or from it."""
    found = np.zeros_like(ways)
    for value, weight in enumerate(row.tolist()):
        lower, upper = _shifted(row.size, value)
        if weight:
            source, target = (lower, upper) if forwards else (upper, lower)
            found[target] += weight * ways[source]
    return found


def _shifted(values: int, value: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """States with room for one more of a value, and the same states with it."""
    lower, upper = [slice(None)] * values, [slice(None)] * values
    lower[value], upper[value] = slice(None, -1), slice(1, None)
    return tuple(lower), tuple(upper)


def _scaled(ways: Reals) -> Reals:
    """Away from underflow: only ratios count."""
    top = ways.max()
    scaled: Reals = ways / top if top > 0 else ways
    return scaled
