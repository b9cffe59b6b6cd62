"""Starts of the search for a cheaper release: persons of the same old groups are published apart from all others.

Readers believe the same of all persons of a kind (`beliefs.Kinds`). Where a new group has nobody else, its counts alone
say what that is; so those who stand at the limit stay there if the records that are published, and those that are not,
have their values in proportion (`refill.rooms`). In groups of several kinds that takes a coincidence of multipliers,
which single steps seldom find. Who is far from the limit, or exposed already, may be anywhere: that is drawn, as is
who is published in proportion and where counterfeits stand for who is gone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.policy.judging import SLACK
from showthrough.republishing.beliefs import Kinds
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.refill import rooms
from showthrough.table.arrays import Codes, Flags, Ints

_AT_THE_LIMIT, _WITHIN, _EXPOSED = 0.9, 0.5, 0.3  # chances of a kind to have a group of its own
_ALIKE = 0.5  # chance of kinds that are believed the same to share it
_KEPT = 0.6  # chance that proportions are kept
_FILLED = 0.7  # chance of a group with all of its kinds that counterfeits stand for who is gone
_DIGITS = 4  # of probabilities that are the same


@dataclass(frozen=True, eq=False)
class KindsApart:
    """What starts are drawn from."""

    kinds: Kinds
    value: Ints  # [rows]
    limit: float
    most_held: int  # records that may be held back
    generator: np.random.Generator

    def drawn(self) -> Proposal:
        """A proposal with kinds in groups of their own, everybody else in one."""
        group = self._grouped()
        held = self.most_held
        for kind in self.generator.permutation(np.unique(self.kinds.of_row)).tolist():
            if self._limited(kind) and self.generator.random() < _KEPT:
                rows = np.flatnonzero(self.kinds.of_row == kind)
                out = self._out(kind, rows, held) if (group[rows] > 0).all() else rows[:0]
                group[out] = -1
                held -= out.size
        return self._filled(Proposal(group).numbered())

    def _limited(self, kind: int) -> bool:
        return kind != self.kinds.newcomer and self.kinds.bound[kind] < 1

    def _grouped(self) -> Codes:
        """[rows] 1, 2, …: a group of some kinds; 0: that of all others."""
        kinds, draw = self.kinds, self.generator.random
        group = np.zeros(self.value.size, dtype=np.int32)
        alike: dict[bytes, int] = {}
        for kind in np.unique(kinds.of_row).tolist():
            near = kinds.base[kind].max() > kinds.bound[kind] - SLACK
            chance = _EXPOSED if kinds.bound[kind] >= 1 else _AT_THE_LIMIT if near else _WITHIN
            if kind == kinds.newcomer:
                chance = _WITHIN
            if draw() >= chance:
                continue
            row = kinds.base[kind].round(_DIGITS).tobytes()
            number = alike[row] if row in alike and draw() < _ALIKE else int(group.max()) + 1
            group[kinds.of_row == kind] = alike[row] = number
        return group

    def _out(self, kind: int, rows: Ints, most: int) -> Ints:
        """Records of a kind that are held back so that both parts are within the limit; as few as can be."""
        span = self.kinds.base.shape[1]
        whole = (rows.size + self.kinds.gone[kind]) * self.kinds.base[kind]
        there = np.bincount(self.value[rows], minlength=span)
        for n in range(rows.size, max(rows.size - most, 1) - 1, -1):
            found = rooms(whole, there, n, self.limit)
            if found is None:
                continue
            kept, room = found
            for _ in range(n - int(kept.sum())):
                kept = kept + (np.arange(span) == self.generator.choice(np.flatnonzero(kept < room)))
            mine = [self.generator.permutation(rows[self.value[rows] == v])[kept[v] :] for v in range(span)]
            return np.concatenate(mine)
        return rows[:0]

    def _filled(self, proposal: Proposal) -> Proposal:
        """The proposal with counterfeits for who is gone in groups where nobody is exposed or held back."""
        kinds, span = self.kinds, self.kinds.base.shape[1]
        held: Flags = np.isin(np.arange(kinds.bound.size), kinds.of_row[proposal.group < 0])
        groups, values = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int32)]
        for g in range(int(proposal.group.max(initial=-1)) + 1):
            rows = np.flatnonzero(proposal.group == g)
            own = np.unique(kinds.of_row[rows])
            if (kinds.bound[own] >= 1).any() or held[own].any() or self.generator.random() >= _FILLED:
                continue
            mean = kinds.base[kinds.of_row[rows]].sum(axis=0) + kinds.gone[own] @ kinds.base[own]
            lacks = np.maximum(np.round(mean).astype(np.int64) - np.bincount(self.value[rows], minlength=span), 0)
            values.append(np.repeat(np.arange(span), lacks).astype(np.int32))
            groups.append(np.full(values[-1].size, g, dtype=np.int32))
        return Proposal(proposal.group, np.concatenate(groups), np.concatenate(values))
