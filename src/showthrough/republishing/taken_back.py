"""Withheld records and counterfeits of a proposal, in the order in which they may be taken back.

A search that brings persons under a limit step by step takes more than it needs. A record comes back to the group that
holds most of its former group, in the place of a counterfeit of its value if there is one; the persons who are the
farthest from the limit without it come first, and then the counterfeits that stand for nobody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.table.arrays import Ints, Reals


@dataclass(frozen=True, eq=False)
class TakenBack:
    """Single steps back, the safest first."""

    proposal: Proposal
    row: Ints  # the record that comes back; −1: none
    group: Ints  # where to
    fake: Ints  # the counterfeit that goes, by its place; −1: none

    @classmethod
    def of(cls, start: Proposal, proposal: Proposal, past: Past, largest: Reals) -> TakenBack:
        """From where the search began, with everybody's largest probability [rows]."""
        rows = np.flatnonzero((proposal.group < 0) & (start.group >= 0))
        home = _homes(start, proposal)[start.group[rows]]
        rows, home = rows[home >= 0], home[home >= 0]
        order = np.argsort(largest[rows], kind="stable")
        rows, home = rows[order], home[order]
        free: dict[tuple[int, int], list[int]] = {}
        fakes = zip(proposal.counterfeit_group.tolist(), proposal.counterfeit_value.tolist(), strict=True)
        for place, one in enumerate(fakes):
            free.setdefault(one, []).append(place)
        wanted = zip(home.tolist(), past.value[rows].tolist(), strict=True)
        mine = np.array([free[one].pop() if free.get(one) else -1 for one in wanted], dtype=np.int64)
        rest = np.array(sorted(place for places in free.values() for place in places), dtype=np.int64)
        none = np.full(rest.size, -1, dtype=np.int64)
        return cls(proposal, np.concatenate([rows, none]), np.concatenate([home, none]), np.concatenate([mine, rest]))

    @property
    def steps(self) -> int:
        """How many there are."""
        return self.row.size

    def first(self, number: int) -> Proposal:
        """The proposal after so many of them."""
        group = self.proposal.group.copy()
        row = self.row[:number]
        group[row[row >= 0]] = self.group[:number][row >= 0]
        kept = np.ones(self.proposal.counterfeits, dtype=bool)
        fake = self.fake[:number]
        kept[fake[fake >= 0]] = False
        fakes = self.proposal.counterfeit_group[kept], self.proposal.counterfeit_value[kept]
        return Proposal(group, *fakes, self.proposal.remarks).inhabited()


def _homes(start: Proposal, proposal: Proposal) -> Ints:
    """[groups of the start] the group of the proposal that holds most of its records, or −1."""
    both = np.flatnonzero((start.group >= 0) & (proposal.group >= 0))
    groups = int(proposal.group.max(initial=-1)) + 1
    key, many = np.unique(start.group[both].astype(np.int64) * groups + proposal.group[both], return_counts=True)
    found = np.full(int(start.group.max(initial=-1)) + 1, -1, dtype=np.int64)
    order = np.argsort(many, kind="stable")  # the last one that is written has most
    found[key[order] // max(groups, 1)] = key[order] % max(groups, 1)
    return found
