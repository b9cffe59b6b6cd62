"""A group of the records that nobody took, and of whole groups that make it satisfy the requirement."""

from __future__ import annotations

import numpy as np

from showthrough.anonymizers.regrow import Records, judge_dense
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.ragged import running

TOGETHER = 16
"""One group more is taken at once for each so many that were taken."""


def own_group(records: Records, group: Ints, rows: Ints) -> Ints | None:
    """One more group of these records and of as few whole groups as make it satisfy the requirement.

    A group whose values are distributed like the table's satisfies what the table does: so the groups are taken
    that bring the distribution nearest to the table's, per record taken.
    """
    requirement, share = records.requirement, records.share
    kept = np.flatnonzero(group >= 0)
    number = int(group.max()) + 1
    size = np.bincount(group[kept], minlength=number)
    if requirement.plain or requirement.sensitive is None:
        return _by_size(group, rows, size, requirement.k)
    cell, count = np.unique(group[kept] * len(share) + requirement.sensitive[kept], return_counts=True)
    owner, value = np.divmod(cell, len(share))
    mine = np.bincount(requirement.sensitive[rows], minlength=len(share))
    own, taken = len(rows), np.zeros(number, dtype=bool)
    while not (own >= requirement.k and judge_dense(requirement, mine[None])[0]):
        free = np.flatnonzero((size > 0) & ~taken)
        if not len(free):
            return None
        total = own + size
        away = _surplus(mine, share, total)
        alone = mine[value] - total[owner] * share[value]
        away += np.bincount(owner, np.maximum(alone + count, 0.0) - np.maximum(alone, 0.0), minlength=number)
        now = np.maximum(mine - own * share, 0.0).sum()
        # records too many by value, relative to the size: falls by taking groups that lack what is too frequent
        gain = (away[free] / total[free] - now / own) / size[free]
        best = free[np.argsort(gain, kind="stable")[: 1 + int(taken.sum()) // TOGETHER]]
        taken[best] = True
        chosen = np.isin(owner, best)
        mine = mine + np.bincount(value[chosen], count[chosen], minlength=len(share)).astype(np.int64)
        own += int(size[best].sum())
    return _united(group, rows, taken)


def _surplus(mine: Ints, share: Reals, total: Ints) -> Reals:
    """For each size of a group the records that it has too many by value, Σ max(mine − size · share, 0)."""
    until = np.divide(mine, share, out=np.where(mine > 0, np.inf, 0.0), where=share > 0)
    order = np.argsort(-until, kind="stable")
    above = np.searchsorted(-until[order], -total, side="left")
    return np.asarray(running(mine[order])[above] - total * running(share[order])[above])


def _by_size(group: Ints, rows: Ints, size: Ints, k: int) -> Ints | None:
    """With k alone only the size counts: the smallest groups."""
    own, taken = len(rows), np.zeros(len(size), dtype=bool)
    for smallest in np.argsort(size, kind="stable").tolist():
        if own >= k:
            break
        own, taken[smallest] = own + int(size[smallest]), True
    return None if own < k else _united(group, rows, taken)


def _united(group: Ints, rows: Ints, taken: Flags) -> Ints:
    united = np.where((group >= 0) & taken[group], len(taken), group)
    united[rows] = len(taken)
    return united
