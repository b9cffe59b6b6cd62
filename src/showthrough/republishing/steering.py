"""Counterfeits and withheld records that would bring persons under a limit, weighed up all at once.

The influence of every count on the probabilities that are over a limit, or near it, comes from one linear system
(`inference/influence.py`). So each counterfeit that could be added and each record that could be withheld, alone or
with a counterfeit of its value in its place, has an effect before anything is tried. The best by their price are taken
together, one in a group, as many as promise to be enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
import polars as pl
from scipy import sparse

from showthrough.inference.influence import Influence, influence
from showthrough.inference.nearby import nearby
from showthrough.inference.posterior import Posterior
from showthrough.republishing.drafts import Drafts
from showthrough.republishing.group_judging import GroupJudging
from showthrough.republishing.proposal import Proposal
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.codes import positions

NEAR = 0.004  # how far below its limit a probability begins to count
ENOUGH = 1.2  # times what is to be gained that the changes promise together
_A_LITTLE = 1e-4
_LEAST = 1e-5  # what a change has to promise
_MANY = 1_000_000
_TRIES = 4  # choices, each without what broke a criterion before


@dataclass(frozen=True, eq=False)
class Changes:
    """Single changes of a proposal with what they promise and cost."""

    effect: Reals  # on what is over the limit: below 0 is better
    price: Ints
    row: Ints  # the record that is withheld or goes elsewhere; −1: none
    group: Ints
    value: Ints  # of the counterfeit, as the past counts values; −1: none
    target: Ints  # the group that the record goes to; −1: it is withheld, or stays

    @classmethod
    def together(cls, *parts: Changes) -> Changes:
        """All of several."""
        names = [own.name for own in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def where(self, flags: Flags) -> Changes:
        """Some of them."""
        return Changes(*(getattr(self, own.name)[flags] for own in fields(self)))

    def key(self, change: int) -> tuple[int, int, int, int]:
        """What one of them is."""
        return int(self.row[change]), int(self.group[change]), int(self.value[change]), int(self.target[change])

    def best(self, allowed: Flags, promised: float, most: int) -> Ints:
        """The best by their price, one in a group, until they promise enough or are so many."""
        worth = np.flatnonzero(allowed)
        worth = worth[np.argsort(self.effect[worth] / np.maximum(self.price[worth], 1), kind="stable")]
        chosen: list[int] = []
        taken, reached = {-1}, 0.0
        for change in worth.tolist():
            group, target = int(self.group[change]), int(self.target[change])
            if group in taken or (target >= 0 and target in taken):
                continue
            taken |= {group, target}
            chosen.append(change)
            reached -= float(self.effect[change])
            if reached >= promised or len(chosen) == most:
                break
        return np.array(chosen, dtype=np.int64)

    def made(self, chosen: Ints, proposal: Proposal) -> Proposal:
        """The proposal with some of the changes."""
        group, row = proposal.group.copy(), self.row[chosen]
        group[row[row >= 0]] = self.target[chosen[row >= 0]]
        fakes = chosen[self.value[chosen] >= 0]
        return Proposal(
            group,
            np.append(proposal.counterfeit_group, self.group[fakes]).astype(np.int32),
            np.append(proposal.counterfeit_value, self.value[fakes]).astype(np.int32),
            proposal.remarks,
        )


@dataclass(frozen=True, eq=False)
class Seen:
    """What readers believe of a proposal: who is over the limit, who counts, and how rough that is."""

    post: Posterior
    surer: Flags  # [persons]
    concerned: Flags  # [persons]
    limit: float
    passes: int

    @property
    def beyond(self) -> float:
        """By how much persons are over the limit, all together; each by a little at least."""
        return float((self.post.largest()[self.surer] - self.limit).clip(_A_LITTLE).sum())


@dataclass(frozen=True, eq=False)
class Steering:
    """What single changes of a proposal would do; ``wanted`` is what is to be gained, from ``passes`` of an answer."""

    drafts: Drafts
    criteria: tuple[object, ...]
    proposal: Proposal
    post: Posterior
    influence: Influence
    wanted: float
    passes: int

    @classmethod
    def of(cls, drafts: Drafts, criteria: tuple[object, ...], proposal: Proposal, seen: Seen) -> Steering:
        """From what readers believe of the proposal."""
        found = influence(seen.post, seen.concerned, seen.limit, NEAR)
        return cls(drafts, criteria, proposal, seen.post, found, seen.beyond, seen.passes)

    def ids(self, rows: Ints) -> pl.Series:
        """Ids of some rows of the table, as text."""
        table = self.drafts.table
        return table.frame[table.id or ""].cast(pl.String).gather(rows)

    def near(self, changes: Changes, chosen: Ints, bundle: Ints) -> sparse.csr_matrix:
        """[persons, bundles] everybody's nearness to bundles of some changes, as shares of one."""
        target = changes.target[chosen]
        moved = np.flatnonzero(target >= 0)
        group = np.concatenate([changes.group[chosen], target[moved]])
        place = positions(pl.Series(group + 1), self.influence.labels.cast(pl.Int64)).astype(np.int64)
        own = np.concatenate([bundle, bundle[moved]])
        return nearby(self.post, place, own, int(bundle.max(initial=-1)) + 1)

    def paid(self, *, hold_back: bool, share: float) -> Proposal | None:
        """The proposal with the counterfeits and without the records that promise most, or a share of them."""
        changes = self.weighed(hold_back=hold_back)
        chosen = self.fitting(changes, changes.effect < -_LEAST, promised=share * ENOUGH * self.wanted)
        return changes.made(chosen, self.proposal).inhabited() if chosen.size else None

    def moves(self) -> Changes:
        """Every record into every other group that it fits, which costs nothing."""
        return _moves(self)

    def weighed(self, *, hold_back: bool) -> Changes:
        """Every counterfeit that could be added, and every record that could be withheld."""
        return _weighed(self, hold_back=hold_back)

    def fitting(self, changes: Changes, allowed: Flags, *, promised: float = np.inf, most: int = _MANY) -> Ints:
        """The best of some changes that satisfy the criteria together, until they promise enough or are so many."""
        allowed = allowed.copy()
        for _ in range(_TRIES):
            chosen = changes.best(allowed, promised, most)
            broken = self.broken(changes, chosen)
            if not broken.any():
                return chosen
            allowed[chosen[broken]] = False
        return np.empty(0, dtype=np.int64)

    def broken(self, changes: Changes, chosen: Ints) -> Flags:
        """[chosen] whether a change is of a group that fails a criterion after all of them."""
        if not chosen.size:
            return np.zeros(0, dtype=bool)
        found = changes.made(chosen, self.proposal)
        left = np.unique(np.concatenate([found.group[found.group >= 0], found.counterfeit_group]))
        failing = left[self.drafts.failing(found, self.criteria)]  # criteria look at groups that somebody is in
        return np.asarray(np.isin(changes.group[chosen], failing) | np.isin(changes.target[chosen], failing))

    def singles(self, *, hold_back: bool, first: int, number: int) -> Iterator[Proposal]:
        """Proposals with one change each, the most promising first, from a number on."""
        changes = Changes.together(_moves(self), _weighed(self, hold_back=hold_back))
        order = np.argsort(changes.effect / np.maximum(changes.price, 1), kind="stable")
        for change in order[changes.effect[order] < -_LEAST][first : first + number]:
            found = changes.made(np.array([change]), self.proposal).inhabited()
            if self.drafts.satisfies(found, self.criteria):
                yield found


def _weighed(steering: Steering, *, hold_back: bool) -> Changes:
    """Every counterfeit with a value that its group publishes, and every record that could be withheld."""
    proposal, seen, past = steering.proposal, steering.influence, steering.drafts.past
    rows_of, groups = _ByRow.of(steering), _AfterOneChange.of(steering)
    own = rows_of.own_value(seen.value)
    fits = np.flatnonzero(own >= 0)
    fits = fits[groups.stand(rows_of.group[fits], own[fits], more=1, members=0)]
    none = np.full(fits.size, -1, dtype=np.int64)
    joins = Changes(seen.joining[fits], np.ones_like(none), none, rows_of.group[fits], own[fits], none)
    rows = np.flatnonzero(proposal.group >= 0)
    if not hold_back or not rows.size:
        return joins
    group, own = proposal.group[rows].astype(np.int64), past.value[rows].astype(np.int64)
    at, _ = rows_of.find(group, own)
    leaving = seen.leaving[positions(steering.ids(rows), steering.post.ids.cast(pl.String))] - seen.count[at]
    none, one = np.full(rows.size, -1, dtype=np.int64), np.ones(rows.size, dtype=np.int64)
    alone = Changes(leaving, one, rows, group, none, none).where(groups.stand(group, own, more=-1, members=-1))
    replaced = Changes(leaving + seen.joining[at], 2 * one, rows, group, own, none)
    return Changes.together(joins, alone, replaced.where(groups.stand(group, own, more=0, members=-1)))


def _moves(steering: Steering) -> Changes:
    """Every record into every other group that it fits, where both groups publish its value before and after."""
    proposal, post, seen, past = steering.proposal, steering.post, steering.influence, steering.drafts.past
    rows_of, rows = _ByRow.of(steering), np.flatnonzero(proposal.group >= 0)
    fits = post.groups_of(post.names[-1]).drop_nulls("group")
    at_row = positions(fits["id"].cast(pl.String), steering.ids(rows)).astype(np.int64)
    known = np.flatnonzero(at_row >= 0)
    row, target = rows[at_row[known]], fits["group"].cast(pl.Int64).to_numpy()[known] - 1
    group, own = proposal.group[row].astype(np.int64), past.value[row].astype(np.int64)
    here, _ = rows_of.find(group, own)
    there, shown = rows_of.find(target, own)
    own_row, _ = rows_of.find(proposal.group[rows].astype(np.int64), past.value[rows].astype(np.int64))
    many = np.bincount(own_row, minlength=seen.count.size)
    useful = np.flatnonzero((target != group) & shown & (many[here] > 1))
    groups, one, other, what = _AfterOneChange.of(steering), group[useful], target[useful], own[useful]
    stand = groups.stand(one, what, more=-1, members=-1) & groups.stand(other, what, more=1, members=1)
    useful = useful[stand]
    effect = seen.count[there[useful]] - seen.count[here[useful]]
    none = np.full(useful.size, -1, dtype=np.int64)
    return Changes(effect, np.zeros_like(none), row[useful], group[useful], none, target[useful])


@dataclass(frozen=True, eq=False)
class _AfterOneChange:
    """The groups of a proposal as they are published, and whether they satisfy the criteria after a single change."""

    shown: Ints  # [groups, values]
    real: Ints  # [groups] members who are no counterfeits
    judging: GroupJudging

    @classmethod
    def of(cls, steering: Steering) -> _AfterOneChange:
        proposal, past = steering.proposal, steering.drafts.past
        kept = proposal.group >= 0
        member = np.concatenate([proposal.group[kept], proposal.counterfeit_group]).astype(np.int64)
        held = np.concatenate([past.value[kept], proposal.counterfeit_value]).astype(np.int64)
        groups, span = int(member.max(initial=-1)) + 1, past.values.len()
        shown = np.bincount(member * span + held, minlength=groups * span).reshape(groups, span)
        real = np.bincount(proposal.group[kept], minlength=groups)
        return cls(shown, real, GroupJudging(past, steering.criteria))

    def stand(self, group: Ints, value: Ints, *, more: int, members: int) -> Flags:
        """Whether each group satisfies the criteria with so many more of a value, and so many members more."""
        kinds, kind = np.unique(group * self.shown.shape[1] + value, return_inverse=True)
        at, value = np.divmod(kinds, self.shown.shape[1])
        changed, real = self.shown[at], self.real[at] + members
        changed[np.arange(kinds.size), value] += more
        found = (real > 0) & (changed.sum(axis=1) > 0)
        found[found] = self.judging.each(changed[found], real[found], self.shown.sum(axis=0))
        kept: Flags = found[kind]
        return kept


@dataclass(frozen=True, eq=False)
class _ByRow:
    """The published rows that influence is told of, found by group and value."""

    group: Ints  # [rows] as the proposal counts groups
    span: int
    key: Ints
    order: Ints
    code: Ints  # [values of the past] their places among those of the posterior

    @classmethod
    def of(cls, steering: Steering) -> _ByRow:
        seen, post = steering.influence, steering.post
        past = steering.drafts.past.values.cast(pl.String)
        code = positions(past, post.values.cast(pl.String)).astype(np.int64)
        group = seen.labels.cast(pl.Int64).to_numpy()[seen.group] - 1  # published by their numbers, from 1 on
        key = group * post.values.len() + seen.value
        return cls(group, post.values.len(), key, np.argsort(key), code)

    def own_value(self, value: Ints) -> Ints:
        """Values of the posterior as the past counts them, or −1."""
        back = np.full(self.span, -1, dtype=np.int64)
        back[self.code[self.code >= 0]] = np.flatnonzero(self.code >= 0)
        found: Ints = back[value]
        return found

    def find(self, group: Ints, value: Ints) -> tuple[Ints, Flags]:
        """The row of each group and value of the past, and whether there is one."""
        wanted = group * self.span + self.code[value]
        at = self.order[np.minimum(np.searchsorted(self.key, wanted, sorter=self.order), self.key.size - 1)]
        return at, self.key[at] == wanted
