"""Records that were withheld come back where nobody is hurt: many at once, each judged by what happens near it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from showthrough.republishing.nudging import Change, Leak, Nudging
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import MOST_HELD, Proposal
from showthrough.republishing.standing import Standing
from showthrough.table.arrays import Flags, Ints

ROUNDS = 12
_TRIALS = 4  # times that bundles which hurt are taken out of a round
_TRIED = 0.7  # share of the bundles that a round tries


@dataclass(frozen=True, eq=False)
class Bundle:
    """Records that come back into one group, with counterfeits."""

    group: int
    rows: Ints
    fakes: Ints  # values


@dataclass(frozen=True, eq=False)
class Readmitting:
    """What may come back, and how it is judged."""

    past: Past
    standing: Standing
    nudging: Nudging
    leak: Callable[[Proposal], Leak | None]
    failing: Callable[[Proposal], Flags]
    m: int = 2  # values that a group of newcomers needs

    def run(self, proposal: Proposal, enough: Callable[[], bool], generator: np.random.Generator) -> Proposal:
        """Rounds of bundles that come back, as long as there are some to try."""
        for k in range(ROUNDS):
            if not proposal.held or enough():
                break
            proposal = self._round(proposal, self._bundles(proposal, k, generator))
        return proposal

    def _bundles(self, proposal: Proposal, turn: int, generator: np.random.Generator) -> list[Bundle]:
        """One bundle per group: the last groups of those withheld, or any group for others."""
        s, fresh = self.standing, int(proposal.group.max(initial=-1)) + 1
        found: dict[int, Bundle] = {}
        opened: dict[int, None] = {}
        none = np.empty(0, dtype=np.int64)
        if turn % 2:
            loose = self._newcomers(fresh, np.flatnonzero(proposal.group < 0), self.m + turn // 2 % 3, generator)
            found |= loose
            opened |= dict.fromkeys((-1 - k for k in range(len(loose))), None)
        taken = np.concatenate([none, *(one.rows for one in found.values())]).tolist()
        for row in generator.permutation(np.flatnonzero(proposal.group < 0)).tolist():
            person = int(s.person[row])
            if row in taken:
                continue
            old = int(s.member[person]) if person >= 0 else -1
            if old < 0:
                target = int(generator.integers(max(fresh, 1)))
                found.setdefault(target, Bundle(target, np.array([row]), none))
                continue
            mates = s.row[s.of_group(old)]
            mates = mates[mates >= 0]
            groups = proposal.group[mates]
            if (groups >= 0).any():
                target = int(generator.choice(groups[groups >= 0]))
                found.setdefault(target, Bundle(target, np.array([row]), none))
            elif old not in opened:
                opened[old] = None
                found[fresh + len(opened) - 1] = self._opened(fresh + len(opened) - 1, old, mates, turn)
        chosen = generator.random(len(found)) < _TRIED
        kept = [one for one, take in zip(found.values(), chosen.tolist(), strict=True) if take]
        return [one for one in kept if one.fakes.size < one.rows.size] + self._dear(proposal, kept)

    def _dear(self, proposal: Proposal, bundles: list[Bundle]) -> list[Bundle]:
        """Bundles that take as many counterfeits as records, or more, until not too much is withheld any more."""
        dear = [one for one in bundles if one.fakes.size >= one.rows.size]
        back = np.cumsum([0, *(one.rows.size for one in dear)])[:-1]
        beyond = proposal.held - int(MOST_HELD * proposal.group.size)
        return [one for one, before in zip(dear, back.tolist(), strict=True) if before < beyond]

    def _newcomers(self, first: int, rows: Ints, size: int, generator: np.random.Generator) -> dict[int, Bundle]:
        """Groups of newcomers alone with different values, as many as ``size`` needs, counterfeits where some lack."""
        new = generator.permutation(rows[self.standing.person[rows] < 0])
        found: dict[int, Bundle] = {}
        while new.size:
            own = new[np.unique(self.past.value[new], return_index=True)[1]]
            others = np.setdiff1d(np.arange(len(self.past.values)), self.past.value[own])
            fakes = generator.permutation(others)[: max(size - own.size, 0)]
            found[first + len(found)] = Bundle(first + len(found), own, fakes)
            new = np.setdiff1d(new, own)
        return found

    def _opened(self, group: int, old: int, mates: Ints, turn: int) -> Bundle:
        """All who are left of an old group, with counterfeits for those who are gone every second time."""
        values, count = self.standing.counts(old)
        there = np.bincount(np.searchsorted(values, self.past.value[mates]), minlength=values.size)
        fakes = np.repeat(values, np.maximum(count - there[: values.size], 0))
        return Bundle(group, mates, fakes if turn % 2 else fakes[:0])

    def _round(self, proposal: Proposal, bundles: list[Bundle]) -> Proposal:
        """The proposal with the bundles that hurt nobody."""
        for _ in range(_TRIALS):
            if not bundles:
                break
            made = _with(proposal, bundles)
            leak = self.leak(made)
            if leak is None:
                break
            bad_groups = np.unique(made.group[made.group >= 0])[self.failing(made)]
            if not leak.persons and not bad_groups.size:
                return made.numbered()
            hurt = self.nudging.zones(made, leak, [Change(one.group) for one in bundles])
            bundles = [one for one, bad in zip(bundles, hurt, strict=True) if bad <= 0 and one.group not in bad_groups]
        return proposal


def _with(proposal: Proposal, bundles: list[Bundle]) -> Proposal:
    group = proposal.group.copy()
    for one in bundles:
        group[one.rows] = one.group
    fakes = [np.full(one.fakes.size, one.group, dtype=np.int32) for one in bundles]
    values = [one.fakes.astype(np.int32) for one in bundles]
    return Proposal(
        group,
        np.concatenate([proposal.counterfeit_group, *fakes]),
        np.concatenate([proposal.counterfeit_value, *values]),
        proposal.remarks,
    )
