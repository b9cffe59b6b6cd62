"""Classes that fail a criterion on values keep as many records as satisfy it.

What is too frequent goes: the counts of a class are capped, either all values alike or each by its share of the
table, and the highest cap that satisfies the requirement is found by halving. So a class of mostly one value
still makes a group, and only the surplus has to be gathered elsewhere.
"""

from __future__ import annotations

import numpy as np

from showthrough.anonymizers.requirement import Requirement
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.ragged import owners

HALVINGS = 6


def trimmed(requirement: Requirement, start: Ints, value: Ints, count: Ints, *, relative: bool) -> Ints:
    """Kept records of each (class, value); 0 everywhere in a class of which no cap satisfies the requirement.

    Class i has the entries ``start[i]`` to ``start[i + 1]``, values ascending, as in `GroupCounts`.
    """
    part: Reals = requirement.total[value].astype(np.float64) if relative else np.ones(len(value))
    owner = owners(start)
    ratio = count / part
    low = np.minimum.reduceat(ratio, start[:-1])
    high = np.maximum.reduceat(ratio, start[:-1])
    kept = np.zeros(len(count), dtype=np.int64)
    most = np.zeros(len(low), dtype=np.int64)
    for nth in range(HALVINGS + 1):
        middle = (low + high) / 2 if nth else low
        capped = np.minimum(count, np.ceil(middle[owner] * part - 1e-9).astype(np.int64))
        size = np.add.reduceat(capped, start[:-1])
        fine: Flags = (size >= requirement.k) & requirement.judge_counts(start, value, capped)
        better = fine & (size > most)
        kept = np.where(better[owner], capped, kept)
        most = np.where(better, size, most)
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
    return kept
