"""Whether groups satisfy the criteria, for a search that asks about the same few groups again and again.

A criterion judges a group by its own counts, by how many of its members are real, and by the counts of the whole table:
what was said of these is remembered. Criteria on a release as a whole are asked each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.counts import Counted, GroupCounts
from showthrough.republishing.past import Past
from showthrough.table.arrays import Flags, Ints

MOST = 200_000  # answers that are remembered


@dataclass(frozen=True, eq=False)
class GroupJudging:
    """The criteria of one guard."""

    past: Past
    criteria: Sequence[Any]
    known: dict[tuple[bytes, bytes, int], bool] = field(default_factory=dict)

    @cached_property
    def _of_wholes(self) -> list[Any]:
        return [c for c in self.criteria if not c.of_groups]

    @cached_property
    def _of_groups(self) -> list[Any]:
        return [c for c in self.criteria if c.of_groups]

    def fits(self, shown: Ints, real: Ints, asked: Iterable[int]) -> bool:
        """Whether some of the groups satisfy the criteria: all counts [groups, values], and real members [groups]."""
        total = shown.sum(axis=0)
        key = total.tobytes()
        if not all(self._fits(shown[g], int(real[g]), total, key) for g in asked):
            return False
        inside = np.flatnonzero(real)
        return not self._of_wholes or self._met(self._of_wholes, shown[inside], real[inside], total)

    def _fits(self, shown: Ints, real: int, total: Ints, key: bytes) -> bool:
        asked = key, shown.tobytes(), real
        found = self.known.get(asked)
        if found is None:
            if len(self.known) >= MOST:
                self.known.clear()
            found = self._met(self._of_groups, shown[None], np.array([real]), total)
            self.known[asked] = found
        return found

    def each(self, shown: Ints, real: Ints, total: Ints) -> Flags:
        """[groups] whether each of some groups satisfies the criteria on groups, beside a table with these counts."""
        return self._each(self._of_groups, shown, real, total)

    def _met(self, criteria: Sequence[Any], shown: Ints, real: Ints, total: Ints) -> bool:
        """Whether criteria hold for all groups."""
        return bool(self._each(criteria, shown, real, total).all())

    def _each(self, criteria: Sequence[Any], shown: Ints, real: Ints, total: Ints) -> Flags:
        rank, labels = self.past.in_order
        order = np.argsort(rank, kind="stable")
        order = order[total[order] > 0]
        names = labels if order.size == labels.len() else labels.gather(rank[order])
        group, value = np.nonzero(shown[:, order])
        start = np.searchsorted(group, np.arange(shown.shape[0] + 1))
        count = shown[:, order][group, value]
        counts = GroupCounts(start, value.astype(np.int32), count, total[order]).named(names)
        fakes = bool((shown.sum(axis=1) > real).any())
        counted = Counted(counts, lambda asked: pl.DataFrame({"group": asked + 1}), real=real if fakes else None)
        found: Flags = np.ones(shown.shape[0], dtype=bool)
        for criterion in criteria:
            ready = criterion.fitted(counted)
            found &= ready.met(ready.level(counts))
        return found
