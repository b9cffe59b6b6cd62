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
    answer = weighed_alike(counts, weights[None])[0]
    return None if np.isnan(answer).any() else answer


def weighed_alike(counts: Sequence[int], weights: Reals) -> Reals:
    """The same for several groups with the same counts, [groups, members, values]; NaN where no world has weight."""
    shape = (weights.shape[0], *(count + 1 for count in counts))
    _, members, values = weights.shape
    first, last = np.zeros(shape), np.zeros(shape)
    first.reshape(shape[0], -1)[:, 0] = 1.0
    last.reshape(shape[0], -1)[:, -1] = 1.0
    before = [first]
    for member in range(members - 1):
        before.append(_scaled(_placed(before[-1], weights[:, member], forwards=True)))
    found = np.zeros(weights.shape)
    after, axes = last, tuple(range(1, values + 1))
    for member in range(members - 1, -1, -1):
        for value in range(values):
            lower, upper = _shifted(values, value)
            ways = (before[member][lower] * after[upper]).sum(axis=axes)
            found[:, member, value] = weights[:, member, value] * ways
        after = _scaled(_placed(after, weights[:, member], forwards=False))
    total = found.sum(axis=2, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        answer: Reals = np.where(total > 0, found / total, np.nan)
    return answer


def _placed(ways: Reals, rows: Reals, *, forwards: bool) -> Reals:
    """One more member: the ways to each state, or from it."""
    found = np.zeros_like(ways)
    for value in range(rows.shape[1]):
        lower, upper = _shifted(rows.shape[1], value)
        source, target = (lower, upper) if forwards else (upper, lower)
        found[target] += rows[:, value].reshape(-1, *(1,) * rows.shape[1]) * ways[source]
    return found


def _shifted(values: int, value: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """States with room for one more of a value, and the same states with it."""
    lower, upper = [slice(None)] * (values + 1), [slice(None)] * (values + 1)
    lower[value + 1], upper[value + 1] = slice(None, -1), slice(1, None)
    return tuple(lower), tuple(upper)


def _scaled(ways: Reals) -> Reals:
    """Away from underflow: only ratios count."""
    top = ways.max(axis=tuple(range(1, ways.ndim)), keepdims=True)
    scaled: Reals = ways / np.where(top > 0, top, 1.0)
    return scaled
