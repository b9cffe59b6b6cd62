"""Bring a proposal under the limits by small changes, and if all else fails by withholding: a way that always ends.

Where nobody near those over a limit is published, readers know of them what the past tells, which is within the
limits or counts as exposed. So withholding those groups, then their neighbours', ends at the latest where nobody
concerned is left in the release.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from showthrough.anonymizers.remark import Remark
from showthrough.republishing.filled import cheapest, filled, parted, thinned
from showthrough.republishing.kept_cells import all_back
from showthrough.republishing.nudging import Change, Kin, Leak, Nudging, applied, helped
from showthrough.republishing.people import People
from showthrough.republishing.proposal import MOST_HELD, Proposal
from showthrough.republishing.readmitting import Readmitting
from showthrough.republishing.repairs import merge
from showthrough.republishing.search import Search
from showthrough.republishing.standing import Standing
from showthrough.table.arrays import Flags, Ints
from showthrough.table.codes import positions

ROUNDS = 30
STALE = 3  # rounds without progress after which whole groups are withheld
PROGRESS = 0.98
MERGES = 12
TURNS = 2
HOPS = 12


@dataclass(eq=False)
class Settling:
    """The ways to a proposal that keeps policy and criteria, for a history."""

    search: Search
    standing: Standing
    limit: float

    @cached_property
    def kin(self) -> Kin:
        """Who shared a group with whom."""
        assert self.search.before is not None
        return Kin.of(self.search.guard.past, self.search.before)

    @cached_property
    def nudging(self) -> Nudging:
        """Small changes."""
        guard = self.search.guard
        return Nudging(guard.past, self.standing, self.kin, guard.hold_back)

    @cached_property
    def _ids(self) -> pl.Series:
        table = self.search.guard.table
        return table.frame[table.id or ""].cast(pl.String)

    def failing(self, proposal: Proposal) -> Flags:
        """[groups] where a criterion does not hold."""
        return self.search.failing(proposal)

    def run(self, start: Proposal, turn: int = 0) -> tuple[Proposal, tuple[Remark, ...]] | None:
        """The proposal in a form that keeps criteria and policy, and what was done; None if nothing is left of it.

        Another ``turn`` tries other small changes.
        """
        seed = [self.search.guard.seed, turn] if turn else self.search.guard.seed
        proposal = self._merged(start.numbered())
        for _ in range(TURNS):
            if self._settled(proposal):
                break
            proposal = self._merged(self._nudged(proposal, np.random.default_rng(seed)).numbered())
        safe = proposal if self._settled(proposal) else self._withheld(proposal)
        if safe is None:
            return None
        back = self.readmitting.run(safe, lambda: self.search.late, np.random.default_rng(seed))
        if back.cost < safe.cost and self._settled(back):
            safe = back
        if safe.held and not self.search.guard.hold_back:
            return None
        words = "settled with {counterfeits:counterfeit|counterfeits} and {held:record|records} held back"
        return safe, (Remark.of("settled", words, counterfeits=safe.counterfeits, held=safe.held),)

    @cached_property
    def readmitting(self) -> Readmitting:
        """How withheld records come back."""
        guard = self.search.guard
        return Readmitting(guard.past, self.standing, self.nudging, self._leak, self.failing, guard.m)

    def _settled(self, proposal: Proposal) -> bool:
        return self.search.satisfies(proposal) and not self.search.over(proposal).any()

    def _leak(self, proposal: Proposal) -> Leak | None:
        """Who is over a limit, by how much; None where readers find a contradiction."""
        search = self.search
        post = search.posterior(proposal) if (proposal.group >= 0).any() else None
        if post is None:
            return None
        over = search.guard.policy.over_limit(post, search.before, exposed=search.exposed)
        best, values = post.best(), search.guard.past.values
        p = best["p"].fill_null(1.0).to_numpy()
        if search.allowed(proposal):
            search.front.remember(int(over.sum()), proposal)
        return Leak(
            np.where(over, np.maximum(p - self.limit, 1e-6), 0.0),
            positions(best["value"].cast(values.dtype), values).astype(np.int64),
            positions(post.ids.cast(pl.String), self._ids).astype(np.int64),
        )

    def _nudged(self, proposal: Proposal, generator: np.random.Generator) -> Proposal:
        """Rounds of small changes; whole groups where these do not help."""
        search, stale = self.search, 0
        leak = self._leak(proposal)
        for _ in range(ROUNDS):
            if leak is None or not leak.persons or search.late:
                break
            search.guard.progress.check()
            whole = stale >= STALE and search.guard.hold_back
            draw = self.nudging.withdrawn if whole else self.nudging.drawn
            before = float(leak.excess.sum())
            proposal, leak = self._tried(proposal, leak, draw(proposal, leak, generator))
            stale = 0 if whole or leak.excess.sum() < PROGRESS * before else stale + 1
        return proposal

    def _tried(self, proposal: Proposal, leak: Leak, changes: list[Change]) -> tuple[Proposal, Leak]:
        """The changes that help, made."""
        if not changes:
            return proposal, leak
        made = applied(proposal, changes)
        after = self._leak(made)
        if after is None:
            return proposal, leak
        zones = (self.nudging.zones(proposal, one, changes) for one in (leak, after))
        good = [change for change, better in zip(changes, helped(*zones), strict=True) if better]
        if 0 < len(good) < len(changes):
            made = applied(proposal, good)
            after = self._leak(made)
        if good and after is not None and after.excess.sum() < leak.excess.sum():
            return made, after
        return proposal, leak

    def _merged(self, start: Proposal) -> Proposal:
        """Groups that fail a criterion joined with their neighbours, or with counterfeits where that does not help."""
        guard, proposal = self.search.guard, start
        for _ in range(MERGES):
            if not (proposal.group >= 0).any():
                break
            failing = self.failing(proposal)
            joined = merge(guard.table, guard.past, proposal, np.flatnonzero(failing)) if failing.any() else None
            if joined is None:
                break
            proposal = joined
        if not (proposal.group >= 0).any() or not self.failing(proposal).any():
            return proposal
        return self._with_counterfeits(proposal, start)

    def _with_counterfeits(self, *proposals: Proposal) -> Proposal:
        """The cheapest way to the criteria by counterfeits: of several proposals, with everybody back, and in parts."""
        guard, failing = self.search.guard, self.failing
        starts = [*proposals, *(all_back(guard.table, one) for one in proposals)]
        if guard.hold_back:
            most = int(MOST_HELD * guard.table.rows)
            starts += [thinned(guard.past, one, failing, most) for one in starts]
        starts += [parted(guard.past, one, failing) for one in starts]
        return cheapest([*proposals, *(filled(guard.past, one, failing) for one in starts)], failing)

    def _withheld(self, proposal: Proposal) -> Proposal | None:
        """Withhold the groups of those over a limit and of their neighbours, farther and farther, and what fails."""
        search = self.search
        if not search.guard.hold_back:
            return None
        hops = 0
        for _ in range(4 * HOPS):
            if not (proposal.group >= 0).any():
                return None
            failing = np.flatnonzero(self.failing(proposal))
            if failing.size:
                proposal = applied(proposal, [Change(int(g)) for g in failing]).numbered()
                continue
            over = search.over(proposal)
            if not over.any():
                return proposal
            groups = self._groups_near(proposal, over, hops)
            hops += 1
            if groups.size:
                proposal = applied(proposal, [Change(int(g)) for g in groups]).numbered()
        return None

    def _groups_near(self, proposal: Proposal, over: People, hops: int) -> Ints:
        """The new groups of persons over a limit, and of those who shared old groups with them."""
        bad = over.ids.filter(pl.Series(over.over))
        rows = self._ids.is_in(bad.implode()).to_numpy()
        assert self.search.before is not None
        known = self.search.before.ids.cast(pl.String).is_in(bad.implode()).to_numpy()
        here = self.standing.row[self.kin.near(known, hops)]
        rows = rows.copy()
        rows[here[here >= 0]] = True
        found: Ints = np.unique(proposal.group[rows & (proposal.group >= 0)])
        return found
