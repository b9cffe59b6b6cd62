"""The members of published groups, and the values that each of them may have: as flat lists of entries.

An *entry* is a member and a value of its group; those of a member stand side by side, in the order in which the group
lists its values. A group publishes as many values as it has members: who is not known is a member without attributes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.table import ragged
from showthrough.table.arrays import Flags, Ints, Reals, sum_by

SWEEPS = 500
"""Times that rows and columns are scaled in turn, at most."""
_CLOSE = 1e-10
_TINY = 1e-300


@dataclass(frozen=True)
class GroupMembers:
    """Members in the order of their groups, and their entries."""

    group: Ints  # [members] ascending
    person: Ints  # [members] the row of who it is, −1: nobody knows
    start: Ints  # [members + 1] where the entries of each begin
    member: Ints  # [entries]
    value: Ints  # [entries]
    column: Ints  # [entries] the pair of group and value that is published
    count: Ints  # [columns] how often

    @classmethod
    def of(cls, group: Ints, counts: tuple[Ints, Ints, Ints], groups: int) -> GroupMembers:
        """From the group of each person (−1: not in one that is known) and the published (group, value, n).

        The counts are sorted by group, and nobody is in a group that has no room left.
        """
        at, value, n = counts
        size = np.bincount(at, weights=n, minlength=groups).astype(np.int64)
        known = np.flatnonzero(group >= 0)
        unknown = size - np.bincount(group[known], minlength=groups)
        place = np.concatenate([group[known], np.repeat(np.arange(groups), unknown)])
        order = np.argsort(place, kind="stable")
        person = np.concatenate([known, np.full(int(unknown.sum()), -1)])[order]
        place = place[order]
        kinds = np.bincount(at, minlength=groups)
        start = ragged.starts(kinds[place])
        member = ragged.owners(start)
        column = ragged.starts(kinds)[place[member]] + ragged.offsets(kinds[place])
        return cls(place, person, start, member, value[column], column, n)

    def part(self, groups: Flags) -> GroupMembers:
        """The members of some groups alone."""
        kept = groups[self.group]
        entries = kept[self.member]
        start = ragged.starts(np.diff(self.start)[kept])
        columns, column = np.unique(self.column[entries], return_inverse=True)
        return GroupMembers(
            self.group[kept], self.person[kept], start, ragged.owners(start),
            self.value[entries], column.astype(np.int64), self.count[columns],
        )  # fmt: skip

    @property
    def members(self) -> int:
        """How many there are, known or not."""
        return self.group.size

    def even(self) -> Reals:
        """[entries] every member with its group's share of each value: random worlds."""
        size = np.bincount(self.group)[self.group[self.member]]
        found: Reals = self.count[self.column] / size
        return found

    def by_member(self, entries: Reals) -> Reals:
        """[members] Σ over the entries of each."""
        found: Reals = np.add.reduceat(entries, self.start[:-1]) if self.members else np.zeros(0)
        return found

    def normalised(self, logs: Reals) -> Reals:
        """[entries] weights from their logarithms, made to add up to 1 for each member."""
        if not self.members:
            return np.zeros(0)
        top = np.maximum.reduceat(logs, self.start[:-1])
        found = np.exp(logs - top[self.member])
        found /= self.by_member(found)[self.member]
        return found

    def matched(self, logs: Reals, scaling: Reals | None = None, sweeps: int = SWEEPS) -> tuple[Reals, Reals]:
        """[entries] the beliefs nearest to the weights (relative entropy) that meet every count; and what scaled them.

        Members and published counts are scaled in turn; ``scaling`` is where to begin, such as what an earlier call
        ended with.
        """
        own = np.ones(self.count.size) if scaling is None else scaling.copy()
        weights = np.maximum(self.normalised(logs), _TINY)
        found = weights * own[self.column]
        for _ in range(sweeps):
            found /= self.by_member(found)[self.member]
            ratio = self.count / np.maximum(sum_by(self.column, found, self.count.size), _TINY)
            if np.abs(ratio - 1).max(initial=0.0) < _CLOSE:
                break
            own *= ratio
            found *= ratio[self.column]
        own /= np.exp(np.log(np.maximum(own, _TINY)).mean()) if own.size else 1.0
        return found, own

    def dealt(self, rng: np.random.Generator) -> Ints:
        """[members] an entry for each: the values of each group given to its members at random."""
        order = np.lexsort((rng.random(self.members), self.group))
        values = np.repeat(np.arange(self.count.size), self.count)  # the columns lie in the order of groups
        first = self.column[self.start[:-1]] if self.members else np.zeros(0, dtype=np.int64)
        entry = np.empty(self.members, dtype=np.int64)
        entry[order] = self.start[:-1][order] + values - first[order]
        return entry
