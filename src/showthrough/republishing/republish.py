"""Publish the next table beside its history, by one of the strategies."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np

from showthrough.anonymizers.made import Made
from showthrough.anonymizers.methods import Groups
from showthrough.anonymizers.publication import utility_of
from showthrough.anonymizers.refusals import too_few_values
from showthrough.anonymizers.remark import Remark
from showthrough.anonymizers.table import Table
from showthrough.criteria.l_diversity import FrequencyLDiversity
from showthrough.criteria.m_uniqueness import MUniqueness
from showthrough.errors import CriterionError, InputError, ParameterError
from showthrough.inference.posterior import Posterior
from showthrough.policy.policy import Policy, Review, limits_of
from showthrough.progress import Progress
from showthrough.release.kind import Shows
from showthrough.release.kinds import KINDS
from showthrough.release.release import Release
from showthrough.republishing.guard_terms import Guard
from showthrough.republishing.guarded import Guarded, guarded, several
from showthrough.republishing.least_price import largest_share, least_price
from showthrough.republishing.located_view import (
    LOOKING,
    MOST,
    LocatedReader,
    LocatedView,
    located_view,
    without_overlaps,
)
from showthrough.republishing.nudging import Kin
from showthrough.republishing.past import Past
from showthrough.republishing.price import price
from showthrough.republishing.proposal import Proposal, release_of
from showthrough.republishing.standing import Standing
from showthrough.republishing.strategies import by_signature, departed, guided, spent, values_per_group, values_wanted
from showthrough.republishing.tied import joint, tied_proposal
from showthrough.table.frozen import Frozen


@dataclass(frozen=True, eq=False)
class Choices:
    """What the caller chose."""

    strategy: str
    criteria: tuple[Any, ...]
    history: tuple[Release, ...]
    policy: Any
    kind: str
    name: str
    seed: int
    changed: str
    repair: str
    hold_back: bool
    exposed: str
    seconds: float
    progress: Progress
    merge_overlaps: bool = False
    readers: str = "groups"  # or "located": whom a guard looks at
    prefer: str = "lasting"
    best_effort: bool = False
    accept: bool = False  # return a release that violates a criterion
    known: Mapping[str, Any] = field(default_factory=Frozen)  # what the reader knows, as `infer` takes it


def republish(table: Table, choices: Choices, base: Callable[[Table], Groups], *, began: float) -> Release:
    """The next release; ``base`` is the method that a guard starts from, for all rows or for some."""
    if table.sensitive is None or table.id is None:
        raise InputError("Re-publishing follows persons and their values: name the id and the sensitive column.")
    cells = KINDS[choices.kind].shows is Shows.CELLS
    if choices.merge_overlaps and (not cells or choices.strategy == "history-guided"):
        raise ParameterError(
            "merge_overlaps=True is for generalized output of m-invariance or guarded.", parameters=("merge_overlaps",)
        )
    _refuse_readers(choices, cells=cells)
    past = Past.of(table, choices.history, changed=choices.changed, known=choices.known)
    parameters = {"strategy": choices.strategy, "criteria": [str(c) for c in choices.criteria]}

    def publish(proposal: Proposal) -> Release:
        return release_of(
            table, past, proposal, kind=choices.kind, name=choices.name, seed=choices.seed, parameters=parameters
        )

    work = _Making(table, past, choices, publish)
    if choices.strategy == "guarded":
        return work.guarded(base, began)
    if choices.strategy == "m-invariance":
        return work.m_invariant(began)
    return work.guided(began)


@dataclass(frozen=True, eq=False)
class _Making:
    """One release in the making."""

    table: Table
    past: Past
    choices: Choices
    publish: Callable[[Proposal], Release]

    def guarded(self, base: Callable[[Table], Groups], began: float) -> Release:
        """What keeps the policy, beside what the base method alone would have published."""
        if (problem := too_few_values(self.past.values, self.choices.criteria)) is not None:
            raise problem
        alone = _proposed(base, self.table)
        guard = _guard(self.table, self.past, self.choices, self.publish)
        outcome = guarded(replace(guard, grouped=lambda some: _proposed(base, some)), alone)
        proposal, release = outcome.proposal, outcome.release
        told = [spent(proposal.counterfeits, proposal.held)]
        if proposal.cost[0]:
            words = "These are {share:.1%} of the records, so many that this is hardly a release of the table: "
            words += "best_effort=True shows what less would leave."
            told.append(Remark.of("much held", words, share=proposal.held / self.table.rows))
        if alone is not None:
            here = price(self.table, self.past, proposal, kind=self.choices.kind)
            there = price(self.table, self.past, alone, kind=self.choices.kind)
            told.append(here.beside(there))
        told += [_step(step, len(list(same))) for step, same in groupby(outcome.steps)]
        told.append(_verdict(outcome))
        told += [self.tried(persons, one) for persons, one in outcome.front]
        told += self.least(outcome) if self.choices.readers == "groups" else [_LOCATED]
        if not outcome.review.conclusive:
            words = "Inconclusive: {undecided:pair is|pairs are} undecided over whole values."
            told.append(Remark.of("inconclusive", words, undecided=outcome.review.undecided))
        limit = limits_of(self.choices.policy).max_posterior
        if limit is not None and self.choices.readers == "groups":
            proposal, release, more = self.seen_by_readers(
                proposal, release, limit, lambda one: self.keeps(one, outcome)
            )
            told += more
        if proposal is not outcome.proposal:
            review, posterior = self.reviewed(proposal, outcome)
            outcome = replace(outcome, release=release, proposal=proposal, review=review, posterior=posterior)
        return self.done(release, proposal, told, began, exposed=sorted(outcome.exposed.everybody), guard=outcome)

    def tried(self, persons: int, proposal: Proposal) -> Remark:
        """What an attempt of a best effort costs, and how many it leaves over a limit."""
        cost = price(self.table, self.past, proposal, kind=self.choices.kind)
        fakes = "{counterfeits:counterfeit|counterfeits}"
        words = f"Best effort: {{over:person|persons}} over a limit, {{withheld}} withheld, {fakes}"
        words += "" if cost.query_error is None else ", counting queries off by {query_error:.1%}"
        return Remark.of("effort", f"{words}.", over=persons, **asdict(cost))

    def least(self, outcome: Guarded) -> list[Remark]:
        """What any release takes that keeps a limit on the posterior, beside what this one takes."""
        limit, paid = limits_of(self.choices.policy).max_posterior, outcome.proposal.price
        if limit is None or outcome.before is None or self.past.known or not paid:
            return []
        if several(self.past, outcome.before):
            return []
        standing = Standing.of(self.table, self.past, outcome.before)
        kin = Kin.of(self.past, outcome.before)
        share, seconds = largest_share(self.choices.criteria), min(30.0, self.choices.seconds)
        found = least_price(self.past, standing, kin, limit, seconds=seconds, share=share)
        if found is None:
            return []
        noun = "{least:counterfeit or withheld record|counterfeits or withheld records}"
        here = "this one {paid}." if outcome.review.holds else "this one, which is not, {paid}."
        words = f"Any release within the limit takes at least {noun}, {here}"
        return [Remark.of("least", words, least=found, paid=paid)]

    def m_invariant(self, began: float) -> Release:
        """Everybody keeps the values of the group."""
        m = values_per_group(self.choices.criteria, self.choices.strategy)
        proposal = by_signature(self.table, self.past, m, hold_back=self.choices.hold_back, seed=self.choices.seed)
        proposal, release, more = self.seen_by_readers(
            proposal, self.publish(proposal), 1 / m, lambda one: self.known_groups(one, 1 / m)
        )
        release = self.done(release, proposal, [*proposal.remarks, *more], began)
        self.refuse_violations(release)
        return release

    def guided(self, began: float) -> Release:
        """The last groups go on; who left and can be told from that is listed."""
        l = values_per_group(self.choices.criteria, self.choices.strategy)
        proposal, at_risk = guided(self.past, l, repair=self.choices.repair, seed=self.choices.seed)
        proposal = proposal.inhabited()
        ids = departed(self.past, self.table, at_risk)
        return self.done(self.publish(proposal), proposal, proposal.remarks, began, exposed=ids)

    @property
    def criteria(self) -> list[Any]:
        """What must hold; groups that merge repeat values, so of m-uniqueness only the shares are left then."""
        if not self.choices.merge_overlaps:
            return list(self.choices.criteria)
        return [FrequencyLDiversity(c.m) if isinstance(c, MUniqueness) else c for c in self.choices.criteria]

    def reviewed(self, proposal: Proposal, outcome: Guarded) -> tuple[Review, Posterior]:
        """The policy and the whole history with another proposal."""
        release = tied_proposal(self.table, self.past, proposal, name=self.choices.name)
        post = self.joint(release)
        return limits_of(self.choices.policy).review(post, outcome.before, exposed=outcome.exposed), post

    def keeps(self, proposal: Proposal, outcome: Guarded) -> bool:
        """Whether everybody is known to be within the limits of the policy with another proposal."""
        review = self.reviewed(proposal, outcome)[0]
        return review.holds and not review.unsettled

    def joint(self, release: Release) -> Posterior:
        """What readers who know everybody's group learn from the whole history with the release."""
        every, quiet = [*self.past.history, release], self.choices.progress.silent()
        return joint(every, changed=self.past.choice, known=self.past.known, progress=quiet)

    def known_groups(self, proposal: Proposal, limit: float) -> bool:
        """Whether nobody exceeds the limit for readers who know everybody's group."""
        release = tied_proposal(self.table, self.past, proposal, name=self.choices.name)
        post = self.joint(release)
        return not Policy(max_posterior=limit, integral="no").over_limit(post).any()

    def seen_by_readers(
        self, proposal: Proposal, release: Release, limit: float, allowed: Callable[[Proposal], bool]
    ) -> tuple[Proposal, Release, list[Remark]]:
        """Of generalized output: who exceeds the limit for readers without ids, and less of it by merging."""
        if release.form.shows is not Shows.CELLS:
            return proposal, release, []

        quiet, merging = self.choices.progress.silent(), self.choices.merge_overlaps
        most, seconds = (None, self.choices.seconds) if merging else (MOST, min(LOOKING, self.choices.seconds))
        end = time.monotonic() + seconds
        earlier: list[LocatedView] = []  # looked at once somebody is over the limit

        def view(releases: Sequence[Release]) -> LocatedView:
            left = max(0.0, end - time.monotonic())
            return located_view(self.table, releases, limit, past=self.past, most=most, seconds=left, progress=quiet)

        def look(one: Proposal) -> LocatedView:
            seen = view([*self.past.history, self.publish(one)])
            if seen.over and self.past.history and not earlier:
                earlier.append(view(self.past.history))
            return seen.beyond(earlier[0] if earlier else None)

        def keeps(one: Proposal) -> bool:
            shown = self.publish(one)
            return all(criterion.check(shown).holds for criterion in self.criteria) and allowed(one)

        self.choices.progress.stage("locating persons by quasi-identifiers")
        if not self.choices.merge_overlaps:
            seen = look(proposal)
            hint = " merge_overlaps=True merges groups for {whom}, as far as other limits allow." if seen.new else ""
            hint = hint.replace("{whom}", "the others" if seen.earlier else "them")
            return proposal, release, [replace(seen.remark, words=f"{seen.remark.words}{hint}")]
        groups = int(proposal.numbered().group.max(initial=-1)) + 1
        found, seen, why = without_overlaps(self.past, proposal.numbered(), look, keeps)
        left = int(found.group.max(initial=-1)) + 1
        words = "{groups:group|groups} became {left} by merging those with overlapping extents."
        told = [Remark.of("merged overlaps", words, groups=groups, left=left), seen.remark, *why]
        return (proposal, release, told) if left == groups else (found, self.publish(found), told)

    def refuse_violations(self, release: Release) -> None:
        """A criterion that the strategy does not look at must hold nevertheless."""
        failing = [c for c in release.made.checks if not c.holds]
        if failing and not self.choices.accept:
            raise CriterionError(
                f"The strategy {self.choices.strategy} did not reach {failing[0].criterion}: {failing[0].sentence} "
                "The strategy guarded merges groups for it; accept_violations=True returns the release as it is.",
                release=release,
                parameters=("accept_violations",),
            )

    def done(
        self,
        release: Release,
        proposal: Proposal,
        remarks: Sequence[Remark],
        began: float,
        *,
        exposed: Sequence[str] = (),
        guard: Guarded | None = None,
    ) -> Release:
        """The release with what it cost."""
        if self.past.changed:
            words = (
                "{changed:person|persons} changed their value, published as new from now on: readers who take them for "
                "the same ones may believe what is not true."
            )
            remarks = [*remarks, Remark.of("changed", words, changed=self.past.changed)]
        if (found := self.past.remark()) is not None:
            remarks = [*remarks, found]
        made = Made(
            method=self.choices.strategy,
            seconds=time.perf_counter() - began,
            suppressed=proposal.held,
            incomplete=self.table.incomplete,
            checks=tuple(criterion.check(release) for criterion in self.criteria),
            utility=utility_of(self.table, proposal.numbered().group, self.choices.criteria),
            remarks=tuple(remarks),
            counterfeits=proposal.counterfeits,
            exposed=tuple(exposed),
            guard=guard,
            exact=release.form.shows is Shows.EXACT,
        )
        return replace(release, made=made)


_LOCATED = Remark(
    "readers", "The guard looked at readers who locate persons by quasi-identifiers; whoever knows groups may be surer."
)


def _refuse_readers(choices: Choices, *, cells: bool) -> None:
    """Readers who locate persons are for a guard of what is generalized."""
    if choices.readers not in ("groups", "located"):
        raise ParameterError(f"readers= is groups or located, not {choices.readers!r}.", parameters=("readers",))
    if choices.readers == "groups":
        return
    if not cells:
        raise ParameterError('readers="located" is for generalized output.', parameters=("readers",))
    if choices.merge_overlaps:
        raise ParameterError(
            'readers="located" judges every attempt for readers who locate persons: leave merge_overlaps=True out.',
            parameters=("readers", "merge_overlaps"),
        )


def _step(step: Remark, times: int) -> Remark:
    again = " ({times} times)" if times > 1 else ""
    return Remark.of(f"guard {step.kind}", f"Guard: {step.words}{again}.", **step.figures, times=times)


def _verdict(outcome: Guarded) -> Remark:
    words = "The policy holds for everybody: {certificate}."
    if not outcome.review.holds:
        over = outcome.review.breaches["id"].n_unique()
        words = "The policy does not hold: {over:person is|persons are} over a limit."
        return Remark.of("verdict", words, over=over, exposed=len(outcome.exposed.everybody))
    if outcome.exposed.everybody:
        more = "; this release tells more of {told_more} of them" if outcome.told_more else ""
        words = f"The policy holds for everybody but {{exposed:person|persons}} whom earlier releases expose{more}: "
        words += "{certificate}."
    return Remark.of(
        "verdict",
        words,
        exposed=len(outcome.exposed.everybody),
        told_more=outcome.told_more,
        certificate=str(outcome.posterior.certificate),
    )


def _guard(table: Table, past: Past, choices: Choices, publish: Callable[[Proposal], Release]) -> Guard:
    policy = limits_of(choices.policy)
    if choices.exposed not in ("refuse", "accept"):
        raise InputError(f"exposed is refuse or accept, not {choices.exposed!r}.")
    if choices.prefer not in ("lasting", "useful"):
        raise InputError(f"prefer is lasting or useful, not {choices.prefer!r}.")
    m = values_wanted(choices.criteria)
    if m is None:
        m = int(np.ceil(1 / policy.max_posterior - 1e-9)) if policy.max_posterior else 2
    return Guard(
        table,
        past,
        policy,
        m,
        publish,
        choices.kind,
        choices.seed,
        choices.seconds,
        criteria=choices.criteria,
        hold_back=choices.hold_back,
        best_effort=choices.best_effort,
        exposed=choices.exposed,
        prefer=choices.prefer,
        progress=choices.progress,
        located=None if choices.readers == "groups" else _located(table, past, choices),
    )


def _located(table: Table, past: Past, choices: Choices) -> LocatedReader:
    return LocatedReader(table, past, time.monotonic() + choices.seconds, choices.progress.silent())


def _proposed(base: Callable[[Table], Groups], table: Table) -> Proposal | None:
    """What the base method proposes for a table; none if it cannot satisfy its criteria."""
    try:
        return Proposal(base(table).group.astype(np.int32))
    except InputError:
        return None
