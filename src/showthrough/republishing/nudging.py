"""Many small changes at once, each judged by what happens near it.

A person over the limit with a value is helped by what makes that value rarer in its own new group, or likelier for
those with whom it shared an old one: a counterfeit more or less, or a record withheld. One such change per group is
drawn, all are judged by one posterior, and those stay after which less is over the limit in the groups, old and new,
that the change touches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from showthrough.inference.posterior import Posterior
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.standing import Standing
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.codes import positions

_GAIN = 1e-9
_BESIDE = 3


@dataclass(frozen=True, eq=False)
class Leak:
    """Who is over a limit in a proposal: by how much, and with which value."""

    excess: Reals  # [persons] 0 for who is not; those of the past first
    value: Ints  # [persons] the likeliest value
    row: Ints  # [persons] place in the table, −1: gone

    @property
    def persons(self) -> int:
        """How many are."""
        return int((self.excess > 0).sum())


@dataclass(frozen=True, eq=False)
class Change:
    """One counterfeit more or less, one record withheld, or (nothing of these) a whole group."""

    group: int
    value: int = -1
    counterfeits: int = 0
    row: int = -1


@dataclass(frozen=True, eq=False)
class Kin:
    """Who shared which old group with whom: groups of all releases in one numbering."""

    groups: list[Ints]  # for each release [persons] the group, −1: not in it
    many: int

    @classmethod
    def of(cls, past: Past, before: Posterior) -> Kin:
        """Look the groups of all releases up."""
        ids, found, base = before.ids.cast(pl.String), [], 0
        for release in past.history:
            link = release.groups()
            place = positions(link["id"].cast(pl.String), ids).astype(np.int64)
            own = np.full(ids.len(), -1, dtype=np.int64)
            own[place[place >= 0]] = base + positions(link["group"], release.labels)[place >= 0]
            found.append(own)
            base += release.labels.len()
        return cls(found, base)

    def near(self, persons: Flags, hops: int = 1) -> Flags:
        """[persons] who shared an old group with one of them; again and again."""
        found = persons.copy()
        for _ in range(hops):
            hit = np.zeros(self.many + 1, dtype=bool)
            for own in self.groups:
                hit[own[found & (own >= 0)]] = True
            for own in self.groups:
                found |= (own >= 0) & hit[own]
        return found


@dataclass(frozen=True, eq=False)
class Nudging:
    """Draws changes of a proposal, and says which of them helped."""

    past: Past
    standing: Standing
    kin: Kin
    hold_back: bool

    def drawn(self, proposal: Proposal, leak: Leak, generator: np.random.Generator) -> list[Change]:
        """For persons over a limit in random order, one change each; at most one per group."""
        found: dict[int, Change] = {}
        for i in generator.permutation(np.flatnonzero(leak.excess > 0)).tolist():
            change = self._change(proposal, leak, i, generator)
            if change is not None and change.group not in found:
                found[change.group] = change
        return list(found.values())

    def withdrawn(self, proposal: Proposal, leak: Leak, generator: np.random.Generator) -> list[Change]:
        """For each person over a limit one group that is withheld: its own, or a small one of somebody beside it."""
        found: dict[int, Change] = {}
        size = np.bincount(proposal.group[proposal.group >= 0])
        for i in generator.permutation(np.flatnonzero(leak.excess > 0)).tolist():
            row = int(leak.row[i])
            near = [int(proposal.group[row])] if row >= 0 else []
            near += [self._beside(proposal, i, generator) for _ in range(_BESIDE)]
            near = [g for g in near if g >= 0]
            if near:
                g = min(near, key=lambda g: size[g])
                found[g] = Change(g)
        return list(found.values())

    def _change(self, proposal: Proposal, leak: Leak, i: int, generator: np.random.Generator) -> Change | None:
        """Something that should make the likeliest value of a person less likely."""
        row, v = int(leak.row[i]), int(leak.value[i])
        g = int(proposal.group[row]) if row >= 0 else -1
        other = self._beside(proposal, i, generator)
        if g < 0 or (other >= 0 and generator.random() < 0.3):
            return None if other < 0 else self._towards(proposal, other, v, generator)
        return self._away(proposal, g, v, generator)

    def _beside(self, proposal: Proposal, i: int, generator: np.random.Generator) -> int:
        """The new group of somebody who shared an old one with the person, or −1."""
        if i >= self.standing.row.size:
            return -1
        owns = [own for own in self.kin.groups if own[i] >= 0]
        if not owns:
            return -1
        own = owns[int(generator.integers(len(owns)))]
        rows = self.standing.row[np.flatnonzero(own == own[i])]
        groups = proposal.group[rows[rows >= 0]]
        groups = groups[groups >= 0]
        return int(generator.choice(groups)) if groups.size else -1

    def _away(self, proposal: Proposal, g: int, v: int, generator: np.random.Generator) -> Change | None:
        """A value made rarer in a group."""
        rows = np.flatnonzero(proposal.group == g)
        fakes = proposal.counterfeit_value[proposal.counterfeit_group == g]
        ways: list[Change] = []
        if (fakes == v).any():
            ways.append(Change(g, v, -1))
        shown = np.unique(np.concatenate([self.past.value[rows], fakes]))
        others = shown[shown != v]
        if others.size:
            ways.append(Change(g, int(generator.choice(others)), 1))
        mine = rows[self.past.value[rows] == v]
        if self.hold_back and mine.size and rows.size > 1:
            ways.append(Change(g, row=int(generator.choice(mine))))
        return ways[int(generator.integers(len(ways)))] if ways else None

    def _towards(self, proposal: Proposal, g: int, v: int, generator: np.random.Generator) -> Change | None:
        """A value made likelier in a group."""
        rows = np.flatnonzero(proposal.group == g)
        fakes = proposal.counterfeit_value[proposal.counterfeit_group == g]
        ways = [Change(g, v, 1)]
        if (fakes != v).any():
            ways.append(Change(g, int(generator.choice(fakes[fakes != v])), -1))
        others = rows[self.past.value[rows] != v]
        if self.hold_back and others.size and rows.size > 1:
            ways.append(Change(g, row=int(generator.choice(others))))
        return ways[int(generator.integers(len(ways)))]

    def zones(self, proposal: Proposal, leak: Leak, changes: list[Change]) -> Reals:
        """[changes] how much is over in the group of each, and in the old groups of its members."""
        person = np.flatnonzero(leak.excess > 0)
        row = leak.row[person]
        size = int(proposal.group.max(initial=-1)) + 2
        own = np.where(row >= 0, proposal.group[np.maximum(row, 0)], -1)
        by_new = np.bincount(own + 1, weights=leak.excess[person], minlength=size + 1)
        by_old = np.zeros(self.kin.many + 1)
        known = person[person < self.standing.row.size]
        for groups in self.kin.groups:
            there = known[groups[known] >= 0]
            np.add.at(by_old, groups[there], leak.excess[there])
        found = np.zeros(len(changes))
        for k, change in enumerate(changes):
            rows = np.flatnonzero(proposal.group == change.group)
            members = self.standing.person[np.append(rows, change.row) if change.row >= 0 else rows]
            members = members[members >= 0]
            old = np.unique(np.concatenate([groups[members] for groups in self.kin.groups] or [members]))
            found[k] = by_new[change.group + 1] + by_old[old[old >= 0]].sum()
        return found


def applied(proposal: Proposal, changes: list[Change]) -> Proposal:
    """The proposal with all changes made; groups keep their numbers."""
    group = proposal.group.copy()
    keep = np.ones(proposal.counterfeits, dtype=bool)
    more: list[tuple[int, int]] = []
    for change in changes:
        if change.row >= 0:
            group[change.row] = -1
        elif not change.counterfeits:
            group[group == change.group] = -1
            keep &= proposal.counterfeit_group != change.group
        elif change.counterfeits > 0:
            more.append((change.group, change.value))
        else:
            at = np.flatnonzero(
                keep & (proposal.counterfeit_group == change.group) & (proposal.counterfeit_value == change.value)
            )
            keep[at[:1]] = False
    new = np.array(more, dtype=np.int32).reshape(-1, 2)
    return Proposal(
        group,
        np.concatenate([proposal.counterfeit_group[keep], new[:, 0]]),
        np.concatenate([proposal.counterfeit_value[keep], new[:, 1]]),
        proposal.remarks,
    )


def helped(before: Reals, after: Reals) -> Flags:
    """Which changes left less over than there was."""
    return np.asarray(after < before - _GAIN)
