"""Counts made from noisy ones: consistent between tables, not negative, whole. None of it looks at the records.

Each step is made from the one before and stands beside the raw counts. *Consistent* are the counts that are nearest to
the noisy ones, by weighted least squares, of all that agree on every total that two tables share. Such tables fall
apart into effects of sets of columns (a total over the others, less what smaller sets explain), which are orthogonal:
the effect of a set is estimated by every table that has its columns, and the mean of the estimates, weighted by how
little noise each has, is the solution. *Not negative* counts keep the total of their table: what is below 0 becomes 0,
and all others give up the same for it. *Whole* counts keep the total, too: the largest remainders are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain, combinations

import numpy as np

from showthrough.table.arrays import Ints, Reals

Axes = tuple[str, ...]
_ALIKE = 1e-6  # persons by which totals that are meant to be the same may differ


def consistent(tables: Mapping[Axes, Reals], variance: Mapping[Axes, float]) -> dict[Axes, Reals]:
    """The tables that agree with each other and are nearest; each is an array with one axis for each name."""
    effects: dict[frozenset[str], Reals] = {}
    weights: dict[frozenset[str], float] = {}
    for axes, counts in tables.items():
        for kept in _subsets(axes):
            effect = _effect(counts, axes, kept)
            spread = variance[axes] * counts.size / max(1, effect.size)
            key = frozenset(kept)
            canonical = _in_order(effect, kept)
            effects[key] = effects.get(key, np.zeros_like(canonical)) + canonical / spread
            weights[key] = weights.get(key, 0.0) + 1 / spread
    return {axes: _rebuilt(counts, axes, effects, weights) for axes, counts in tables.items()}


def nonnegative(counts: Reals) -> Reals:
    """The nearest counts of the same total that are not negative; none at all where the total is below 0."""
    flat = counts.ravel().astype(np.float64)
    total = flat.sum()
    if total <= 0:
        return np.zeros_like(counts, dtype=np.float64)
    down = np.sort(flat)[::-1]
    over = (np.cumsum(down) - total) / np.arange(1, down.size + 1)
    last = int(np.flatnonzero(down > over)[-1])
    kept: Reals = np.maximum(flat - over[last], 0.0)
    return kept.reshape(counts.shape)


def whole(counts: Reals) -> Ints:
    """Whole counts of the same total, rounded: the largest remainders go up.

    Tables that agree on a total of a half more than a whole number agree on how it is rounded, whatever the last digit.
    """
    flat = counts.ravel().astype(np.float64)
    low = np.floor(flat)
    more = math.floor(float(flat.sum()) + 0.5 + _ALIKE) - int(low.sum())
    order = np.argsort(low - flat, kind="stable")
    low[order[: max(0, more)]] += 1
    return low.astype(np.int64).reshape(counts.shape)


def _subsets(axes: Axes) -> list[Axes]:
    return list(chain.from_iterable(combinations(axes, n) for n in range(len(axes) + 1)))


def _effect(counts: Reals, axes: Axes, kept: Sequence[str]) -> Reals:
    """The total over the other columns, less its mean along each column that is kept."""
    found = counts.sum(axis=tuple(k for k, name in enumerate(axes) if name not in kept))
    for k in range(len(kept)):
        found = found - found.mean(axis=k, keepdims=True)
    return np.asarray(found, dtype=np.float64)


def _in_order(effect: Reals, kept: Sequence[str]) -> Reals:
    """The axes in the order of their names, as tables may have them in any order."""
    return np.transpose(effect, np.argsort(kept)) if len(kept) > 1 else effect


def _rebuilt(
    counts: Reals, axes: Axes, effects: Mapping[frozenset[str], Reals], weights: Mapping[frozenset[str], float]
) -> Reals:
    total = np.zeros_like(counts, dtype=np.float64)
    for kept in _subsets(axes):
        key = frozenset(kept)
        mean = effects[key] / weights[key]
        back = np.transpose(mean, np.argsort(np.argsort(kept))) if len(kept) > 1 else mean
        spread = [counts.shape[k] if name in kept else 1 for k, name in enumerate(axes)]
        others = counts.size / max(1, mean.size)
        total += back.reshape(spread) / others
    return total
