"""The search of the guard: how proposals are judged, repaired and remembered."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice

import numpy as np
import polars as pl

from showthrough.anonymizers.remark import Remark
from showthrough.errors import ContradictionError, NotConvergedError
from showthrough.inference.posterior import Posterior
from showthrough.policy.judging import ExposedPersons
from showthrough.policy.policy import Review
from showthrough.republishing.drafts import Drafts
from showthrough.republishing.filled import filled
from showthrough.republishing.front import Front
from showthrough.republishing.guard_terms import Guard
from showthrough.republishing.people import People, Rough, once_beside, over_by_sets
from showthrough.republishing.proposal import Proposal, started
from showthrough.republishing.repairs import merge, moves, regroup, swap, trimmed, withholding, without
from showthrough.table.arrays import Flags, Ints
from showthrough.table.codes import positions

ROUNDS = 24
SINGLY = 20  # persons over a limit up to which single changes are tried
TRIALS = 60  # of those, at a time
ROUGHLY = 0.25  # how far a rough probability may be over a limit that it only just keeps, divided by the passes
REMEMBERED = 5  # rough answers
SMALL = 2000  # records up to which the posterior itself is asked always
FEW = 0.2  # share of the records in leaking groups up to which merging is tried although there is a release already


@dataclass(frozen=True, eq=False)
class Acceptable:
    """A proposal that keeps policy and criteria."""

    proposal: Proposal
    steps: tuple[Remark, ...]
    loss: float
    passing: bool  # a release that makes the next ones hard

    @property
    def rank(self) -> tuple[bool, float]:
        """The best first."""
        return self.passing, self.loss


@dataclass(eq=False)
class Search:
    """The proposals found so far, and how proposals are judged."""

    guard: Guard
    before: Posterior | None
    exposed: ExposedPersons
    deadline: float
    found: list[Acceptable] = field(default_factory=list)
    contradicted: bool = False
    last: Review | None = None
    asked: tuple[Proposal, People] | None = None
    rough: int = 0  # passes, where posteriors may be rough for now: who is over a limit then only tells where to go
    beliefs: list[tuple[Proposal, int, Posterior]] = field(default_factory=list)  # rough ones, by passes
    began: float = field(default_factory=time.monotonic)
    tried: dict[str, None] = field(default_factory=dict)  # what was done to proposals, in words
    nearest: Proposal | None = None  # with the fewest persons over a limit
    fewest: float = np.inf
    mildest: Proposal | None = None  # with the smallest probability of anybody's likeliest value
    largest: float = np.inf
    suspects: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.String))  # over by a full answer alone
    leaks: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.String))  # who was over in the nearest attempt

    @cached_property
    def drafts(self) -> Drafts:
        """Proposals in codes."""
        return Drafts(self.guard.table, self.guard.past, self.before, self.guard.progress.silent())

    @cached_property
    def front(self) -> Front:
        """What a best effort may offer."""
        return Front(self.guard.table)

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self.deadline

    @property
    def most(self) -> tuple[bool, int]:
        """What a further release may cost."""
        return min((one.proposal.cost for one in self.found), default=(True, self.guard.table.rows * 99))

    def repair(self, name: str, start: Proposal, *, ways: bool = True) -> None:
        """Keep a proposal that is within the policy, or else bring it there by several ways, if asked for."""
        step = started(name, start)
        if self.passing(start) and any(not one.passing for one in self.found):
            return
        self.tried[f"{name}{' of the whole table' if name == 'm-invariance' else ' of the method'}"] = None
        over = self.over(start)
        if not over.any():
            self.keep(start, (step,))
            return
        best = min((one.loss for one in self.found), default=np.inf)
        if not ways or best <= start.loss(self.guard.table) or self.late:
            return  # repairs only lose more
        steps = [step, Remark.of("over", "{over:person|persons} would be over a limit", over=over.sum())]
        proposal = start
        touched = self.touched(proposal, over)
        self.tried["swapping members"] = None
        better = swap(self.guard.past, proposal, touched)
        after = over if better is None else self.over(better)
        if better is not None and after.sum() < over.sum():
            proposal, over = better, after
            steps.append(Remark("swapped", "swapped members"))
        if not over.any():
            self.keep(proposal, tuple(steps))
            return
        share = float(self.touched(proposal, over).mean())
        self.follow(self.by_single_moves(proposal, over), steps)
        if share <= FEW:
            self.follow(self.by_merging(proposal, over), steps)
        self.follow(self.by_regrouping(name, proposal, over), steps)
        if share > FEW and not self.found:
            self.follow(self.by_merging(proposal, over), steps)

    def follow(self, way: Iterator[tuple[Proposal, Remark]], steps: list[Remark]) -> None:
        """Take repairs one after the other until nobody is over a limit."""
        told = list(steps)
        for proposal, step in way:
            told.append(step)
            over = self.over(proposal)
            if proposal.cost <= self.most and not over.any():
                self.keep(proposal, tuple(told))
                return
            if self.late or proposal.cost > self.most:
                return

    def by_single_moves(self, proposal: Proposal, over: People) -> Iterator[tuple[Proposal, Remark]]:
        """One change at a time, each kept if fewer persons are over a limit after it; withholding comes last."""
        guard, strict = self.guard, self.satisfies(proposal)
        while 0 < over.sum() <= SINGLY:
            self.tried["single changes"] = None
            leaking = np.unique(proposal.group[self.touched(proposal, over)])
            people = self.rows_of(over)
            ways: Iterator[tuple[Proposal, Remark]] = moves(
                guard.table, guard.past, proposal, people=people, leaking=leaking
            )
            if guard.hold_back:
                ways = chain(ways, withholding(guard.past, proposal, people, leaking))
            better = next((one for one in islice(ways, TRIALS) if self.helps(one[0], over, strict=strict)), None)
            if better is None or self.late:
                return
            proposal, over = better[0], self.over(better[0])
            yield better

    def helps(self, candidate: Proposal, over: People, *, strict: bool) -> bool:
        """Whether fewer persons are over a limit; time that is up ends the trials."""
        if self.late:
            return True
        return (not strict or self.satisfies(candidate)) and self.over(candidate).sum() < over.sum()

    def by_merging(self, proposal: Proposal, over: People) -> Iterator[tuple[Proposal, Remark]]:
        """Leaking groups join their neighbours, again and again, at worst until one group is left."""
        for _ in range(ROUNDS):
            better = self.merged(proposal, over)
            if better is None:
                return
            yield better
            proposal, over = better[0], self.over(better[0])

    def merged(self, proposal: Proposal, over: People) -> tuple[Proposal, Remark] | None:
        """Leaking groups join their neighbours; None where one is left."""
        self.tried["merging groups"] = None
        leaking = np.unique(proposal.group[self.touched(proposal, over)])
        better = merge(self.guard.table, self.guard.past, proposal, leaking)
        words = f"merged {{groups}} group{'' if leaking.size == 1 else 's'} with neighbours"
        return None if better is None else (better, Remark.of("merged", words, groups=leaking.size))

    def by_regrouping(self, name: str, proposal: Proposal, over: People) -> Iterator[tuple[Proposal, Remark]]:
        """Leaking groups take the values of earlier groups; then records are withheld."""
        guard, tried = self.guard, set()
        for _ in range(ROUNDS):
            touched = self.touched(proposal, over)
            key = np.packbits(touched).tobytes()
            better = None
            if name != "m-invariance" and touched.any() and key not in tried:
                tried.add(key)
                self.tried["regrouping"] = None
                better = regroup(
                    guard.table, guard.past, proposal, touched, m=guard.m, hold_back=guard.hold_back, seed=guard.seed
                )
                words = "regrouped {records:record|records} by the values of their last groups"
                step = Remark.of("regrouped", words, records=touched.sum())
            if better is None:
                held = self.withheld(proposal, over)
                if held is None:
                    return
                better, step = held
            proposal = better
            yield proposal, step
            over = self.over(proposal)

    def withheld(self, proposal: Proposal, over: People) -> tuple[Proposal, Remark] | None:
        """The proposal without the records of persons over a limit, if that is allowed and leaves somebody."""
        rows = self.rows_of(over) & (proposal.group >= 0)
        rows = rows if rows.any() else self.touched(proposal, over)  # they have left: their former neighbours
        if not self.guard.hold_back or not rows.any() or not (proposal.group >= 0)[~rows].any():
            return None
        self.tried["withholding records"] = None
        words = "withheld {records:record|records}"
        return without(self.guard.past, proposal, rows), Remark.of("withheld", words, records=rows.sum())

    def keep(self, proposal: Proposal, steps: tuple[Remark, ...], *, lean: bool = True) -> None:
        """Remember a proposal that keeps the policy, in the form that satisfies the criteria.

        ``lean`` tries to drop counterfeits first.
        """
        fitted = self.fitted(proposal)
        if fitted is None:
            return
        if fitted is not proposal:
            steps = (*steps, Remark("merged", "merged groups for the criteria"))
        fitted, dropped = self.lean(fitted) if lean else (fitted, 0)
        if dropped:
            words = "dropped {counterfeits:counterfeit|counterfeits} that no limit needs"
            steps = (*steps, Remark.of("dropped", words, counterfeits=dropped))
        self.found = [one for one in self.found if one.proposal.cost <= fitted.cost]
        if fitted.cost <= self.most:
            self.found.append(Acceptable(fitted, steps, fitted.loss(self.guard.table), self.passing(fitted)))

    def passing(self, proposal: Proposal) -> bool:
        """Whether some group publishes a value more than once, and the caller cares."""
        if self.guard.prefer == "useful":
            return False
        return proposal.repeats(self.guard.past.value)

    def fitted(self, proposal: Proposal) -> Proposal | None:
        """The proposal if the criteria hold; else with small groups merged, or else withheld, if that helps."""
        guard = self.guard
        k = max((int(c.k) for c in guard.criteria if hasattr(c, "k")), default=0)
        alike = True
        for _ in range(2 * ROUNDS):
            if self.satisfies(proposal):
                return proposal
            proposal = proposal.numbered()
            size = np.bincount(proposal.group[proposal.group >= 0])
            small = np.flatnonzero(size < k)
            joined = merge(guard.table, guard.past, proposal, small, alike=alike)
            if joined is not None and not self.over(joined).any():
                proposal = joined
            elif alike:
                alike = False
            elif self.satisfies(full := filled(guard.past, proposal, self.failing)) and not self.over(full).any():
                return full
            else:
                rows = np.isin(proposal.group, small)
                if not guard.hold_back or not rows.any() or not (proposal.group >= 0)[~rows].any():
                    return None
                proposal = without(guard.past, proposal, rows)
                if self.over(proposal).any():
                    return None
        return None

    def failing(self, proposal: Proposal) -> Flags:
        """[groups] where a criterion does not hold."""
        return self.drafts.failing(proposal, self.guard.criteria)

    def satisfies(self, proposal: Proposal) -> bool:
        """Whether the criteria hold."""
        self.guard.progress.check()
        return bool((proposal.group >= 0).any()) and self.drafts.satisfies(proposal, self.guard.criteria)

    def lean(self, proposal: Proposal) -> tuple[Proposal, int]:
        """Drop counterfeits while policy and criteria hold: all that groups can spare, or half of them, …"""
        limit, dropped = self.guard.policy.max_posterior, 0
        needed = 2 if not limit else int(np.ceil(1 / limit - 1e-9))
        parts = [np.ones(proposal.counterfeits, dtype=bool)]
        for _ in range(6):
            if not parts or self.late:
                break
            among = parts.pop(0)
            smaller = trimmed(proposal, self.guard.past, values=needed, among=among)
            if smaller is None:
                continue
            if self.satisfies(smaller) and not self.over(smaller).any():
                dropped += proposal.counterfeits - smaller.counterfeits
                return smaller, dropped
            at = np.flatnonzero(among)
            for half in (at[::2], at[1::2]):
                if half.size and half.size < at.size:
                    parts.append(np.isin(np.arange(among.size), half))
        return proposal, dropped

    def over(self, proposal: Proposal) -> People:
        """Who is over a limit; what was asked last is remembered."""
        if self.asked is None or self.asked[0] is not proposal:
            self.guard.progress.check()
            found = self._over(proposal)
            self.asked = proposal, found
            if not self.rough and found.any():
                self.attempted(proposal, found)
        return self.asked[1]

    def attempted(self, proposal: Proposal, over: People) -> None:
        """Remember what leaves somebody over a limit, if it could be published: for refusals and best efforts."""
        if not over.read or not self.allowed(proposal):
            return
        self.front.remember(over.sum(), proposal)
        if over.sum() < self.fewest:
            self.nearest, self.fewest = proposal, over.sum()
            self.leaks = over.ids.filter(pl.Series(over.over))

    def allowed(self, proposal: Proposal) -> bool:
        """Whether no record is withheld, or records may be."""
        return self.guard.hold_back or not proposal.held

    def _over(self, proposal: Proposal) -> People:
        """Who is over a limit, beyond those whom the history exposes; a contradiction counts for everybody.

        Values that a group does not share with what was possible before are excluded at once. Where that
        alone puts somebody over a limit there is no need for the posterior; where the posterior does,
        there is none for whole values.
        """
        guard, before = self.guard, self.before
        limit = guard.policy.max_posterior
        by_groups = guard.located is None and guard.past.choice != "split"
        if limit is not None and by_groups and guard.table.rows > SMALL:
            by_sets = over_by_sets(guard.table, guard.past, proposal, before, limit=limit).without(self.exposed)
            if by_sets.any():
                return by_sets
        kept = proposal.group >= 0
        post = self.posterior(proposal) if kept.any() else None
        if post is None:  # what publishes nobody is no way out
            ids = guard.table.frame[guard.table.id or ""].cast(pl.String)
            return People(ids, kept if kept.any() else ~kept, read=False)
        ids, policy = post.ids.cast(pl.String), guard.policy
        if self.rough:
            rough = Rough(ROUGHLY / self.rough, self.suspects)
            return People(ids, rough.over(policy, post, before, self.exposed))
        over = policy.over_limit(post, before, exposed=self.exposed)
        largest = float(np.nan_to_num(post.largest(), nan=1.0).max(initial=0.0))
        if over.any() and largest < self.largest and self.allowed(proposal):
            self.mildest, self.largest = proposal, largest
        if not over.any() and guard.policy.integral != "no":
            left = max(1.0, min(guard.policy.seconds, self.deadline - time.monotonic()))
            whole = guard.policy.review(post, before, exposed=self.exposed, seconds=left).breaches
            over = ids.is_in(whole["id"].unique().implode()).to_numpy()
        return People(ids, over)

    def posterior(self, proposal: Proposal) -> Posterior | None:
        """What a reader would believe; None where the proposal contradicts the history or no answer was found."""
        try:
            return self.drafts.posterior(proposal) if self.guard.located is None else self._located(proposal)
        except (ContradictionError, NotConvergedError) as problem:
            self.contradicted |= isinstance(problem, ContradictionError)
            return None

    def _located(self, proposal: Proposal) -> Posterior:
        """What a reader who locates persons would believe; the last rough answers are remembered."""
        guard = self.guard
        known = next((p for one, passes, p in self.beliefs if one is proposal and passes == self.rough), None)
        if self.rough and known is not None:
            return known
        assert guard.located is not None
        releases = [*guard.past.history, guard.publish(proposal)]
        found = None
        if self.rough and self.before is not None:
            found = guard.located.roughly(releases, self.before, self.rough)
        if found is None:
            return guard.read(releases)
        self.beliefs = [*self.beliefs[1 - REMEMBERED :], (proposal, self.rough, found)]
        return found

    def row_of(self, ids: pl.Series) -> Ints:
        """[ids] the record of each person in the table, or −1."""
        table = self.guard.table
        found: Ints = positions(ids.cast(pl.String), table.frame[table.id or ""].cast(pl.String)).astype(np.int64)
        return found

    def rows_of(self, over: People) -> Flags:
        """[rows] records of the table whose person is over a limit."""
        bad = over.ids.filter(pl.Series(over.over))
        found: Flags = self.guard.table.frame[self.guard.table.id or ""].cast(pl.String).is_in(bad.implode()).to_numpy()
        return found

    def touched(self, proposal: Proposal, over: People) -> Flags:
        """[rows] records in groups with somebody over a limit, or with a former neighbour of one who is not in it."""
        rows = self.rows_of(over).copy()
        here = self.guard.table.frame[self.guard.table.id or ""].cast(pl.String)
        bad = over.ids.filter(pl.Series(over.over))
        gone = bad.filter(~bad.is_in(here.filter(pl.Series(proposal.group >= 0)).implode()))
        if gone.len():
            rows |= here.is_in(once_beside(self.guard.past, gone).implode()).to_numpy()
        groups: Ints = np.unique(proposal.group[rows & (proposal.group >= 0)])
        found: Flags = np.isin(proposal.group, groups) & (proposal.group >= 0)
        return found
