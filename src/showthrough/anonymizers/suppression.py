"""Rows that are not published, and an order of the published ones that says nothing about the table's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Ints
from showthrough.table.ragged import ranks


def suppress_failing(group: npt.NDArray[np.integer], requirement: Requirement, *, limit: int) -> tuple[Codes, int]:
    """Groups that fail the requirement lose their rows (-1), the others are numbered 0, 1, …; and how many rows went.

    Refused when more than ``limit`` rows would go, those already at -1 included.
    """
    kept = np.flatnonzero(group >= 0)
    _, number = np.unique(group[kept], return_inverse=True)
    number = number.reshape(-1)
    groups = int(number.max(initial=-1)) + 1
    met = requirement.part(kept).met(number, groups)
    renumbered = ranks(met)
    result = np.full(len(group), -1, dtype=np.int32)
    result[kept] = renumbered[number]
    gone = int(np.count_nonzero(result < 0))
    if gone > limit:
        raise InputError(
            f"{gone} of {len(group)} rows would have to be suppressed, at most {limit} are allowed: "
            f"raise the limit or weaken the requirement."
        )
    return result, gone


def publication_order(
    group: npt.NDArray[np.integer], sensitive: npt.NDArray[np.integer] | None = None, *, seed: int = 0
) -> Ints:
    """Published rows in an order made of the seed and the published content alone.

    A shuffle of the table's own order could be undone by whoever learns the seed; so the rows are
    first sorted by what is published of them, which forgets the table's order, and then shuffled.
    """
    kept = np.flatnonzero(group >= 0)
    keys = [group[kept]] if sensitive is None else [sensitive[kept], group[kept]]
    content = kept[np.lexsort(keys)]
    return content[np.random.default_rng(seed).permutation(len(content))]
