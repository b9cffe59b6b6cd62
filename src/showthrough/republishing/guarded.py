"""Guarded publishing: propose, look at the joint posterior, repair what would leak, look again.

Two proposals stand side by side: m-invariance of the whole table, and the groups of the base method. The
posterior of the whole history with a proposal tells who is over a limit of the policy; local repairs
(`repairs`) are judged by it. Of everything that keeps policy and criteria the release with the least loss
is published, where a counterfeit or a withheld record counts as one lost record, but never one with more
of those than m-invariance needs. Groups whose values all differ go first unless the caller prefers the
useful: where a value is frequent in a group, whoever leaves it next year cannot be hidden any more, and a
series that begins with such groups soon ends in a refusal. The last word has a full inference of the
release itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import polars as pl

from showthrough.anonymizers.remark import Remark
from showthrough.errors import InputError, NotConvergedError
from showthrough.inference.posterior import Posterior
from showthrough.policy.judging import SLACK, ExposedPersons
from showthrough.policy.policy import Review
from showthrough.release.release import Release
from showthrough.republishing.brought_under import Settling
from showthrough.republishing.carried import Carrying
from showthrough.republishing.front import spread
from showthrough.republishing.guard_terms import Guard
from showthrough.republishing.located_guard import by_location
from showthrough.republishing.lowering import Lowering
from showthrough.republishing.past import Past
from showthrough.republishing.people import exposed_by
from showthrough.republishing.proposal import Proposal, started
from showthrough.republishing.refusing import exposing, refused
from showthrough.republishing.search import Acceptable, Search
from showthrough.republishing.standing import Standing
from showthrough.republishing.strategies import by_signature, guided
from showthrough.republishing.traded import traded

PLANNING = 0.3  # share of the time after which old groups go on as they are
TURNS = 4  # starts that are settled, each by other small changes, while too much is withheld
FRONT = 6  # attempts that a best effort tells of


@dataclass(frozen=True, eq=False)
class Guarded:
    """The release that keeps the policy, with its review and the way to it."""

    release: Release
    proposal: Proposal
    review: Review
    posterior: Posterior
    steps: tuple[Remark, ...]
    exposed: ExposedPersons  # ids of whom earlier releases expose
    told_more: int = 0  # how many of those this release makes more certain
    before: Posterior | None = None
    front: tuple[tuple[int, Proposal], ...] = ()  # of a best effort: persons over a limit, and with what


def guarded(guard: Guard, base: Proposal | None) -> Guarded:
    """Find a release that keeps the policy, or say who stands in the way."""
    deadline = time.monotonic() + guard.seconds
    before = guard.read(guard.past.history) if guard.past.history else None
    if guard.past.choice == "split" and not several(guard.past, before):  # whoever is looked up by id is found
        guard = replace(guard, past=replace(guard.past, choice="refuse"))
        before = guard.read(guard.past.history) if guard.past.history else None
    search = Search(guard, before, _exposed(guard, before), deadline)
    done = _searched(search, base)
    if guard.best_effort and (done is None or done.proposal.cost[0]):
        done = _nearest(search) or done
    if done is not None:
        return done
    raise refused(search, _holding_back(search, base))


def several(past: Past, before: Posterior | None) -> bool:
    """Whether an id stands for several persons, as its value changed."""
    return past.choice == "split" and bool(past.moved or (before is not None and before.changes().height))


def _searched(search: Search, base: Proposal | None) -> Guarded | None:
    guard = search.guard
    if guard.located is None:
        _by_groups(search, base)
    else:
        by_location(search, base)
    for one in sorted(search.found, key=lambda one: one.rank):
        done = _final(search, _closer(search, one))
        if done is not None:
            return done
    return None


def _closer(search: Search, one: Acceptable) -> Acceptable:
    """The same with records in each other's places, where that narrows cells and tells nobody more."""
    guard, before = search.guard, search.before
    if guard.located is not None or before is None or guard.past.choice == "split" or search.late:
        return one
    standing = Standing.of(guard.table, guard.past, before)
    found = traded(guard.table, guard.past, standing, one.proposal, lambda: search.late)
    loss = found.loss(guard.table)
    if loss >= one.loss or not search.satisfies(found) or search.over(found).any():
        return one
    moved = int((found.group != one.proposal.group).sum())
    words = "{records:record|records} of whom readers believe the same traded places"
    return replace(one, proposal=found, loss=loss, steps=(*one.steps, Remark.of("traded", words, records=moved)))


def _by_groups(search: Search, base: Proposal | None) -> None:
    """Proposals that keep the policy for readers who know everybody's group."""
    guard = search.guard
    whole = _whole(guard)
    lowered = _carried_on(search, [one for one in (base, whole) if one is not None])
    for name, start in (("m-invariance", whole), ("the proposal", base)):
        if start is None:
            search.tried[f"{name} (which this table does not allow)"] = None
            continue
        guard.progress.stage(f"guarding {name}")
        search.repair(name, start.numbered(), ways=not lowered)


def _carried_on(search: Search, others: list[Proposal]) -> bool:
    """The release that goes on with what readers believe, and history-guided groups, settled; if there is a past.

    True where the price was lowered as far as was possible from these and ``others``.
    """
    guard, before = search.guard, search.before
    if before is None or guard.past.choice == "split":
        return False
    limit = guard.policy.max_posterior or 1 / guard.m
    standing = Standing.of(guard.table, guard.past, before)
    lowering = Lowering(search, standing, limit)
    settling = Settling(search, standing, limit)
    carrying = Carrying(
        guard.table,
        guard.past,
        standing,
        guard.m,
        limit,
        guard.seed,
        failing=settling.failing,
        late=lambda: time.monotonic() > search.began + guard.seconds * PLANNING,
        thrift=guard.hold_back,
    )
    guard.progress.stage("carrying the past on")
    parted = replace(carrying, parted=True, plans={})
    for turn in range(TURNS):
        believed = replace(parted, seed=guard.seed + turn).proposal() if turn else carrying.proposal()
        starts = [("what readers believe", believed), ("the last groups with counterfeits", _guided(guard))]
        for name, start in starts[: 1 if turn else None]:
            if start is None or (search.late and (search.found or not guard.hold_back)):
                continue  # with records held back there is an answer, however late
            name = f"carrying on {name}"
            search.tried[name] = None
            others = [start, *others]
            done = settling.run(start, turn)
            if done is not None:
                search.keep(done[0], (started(name, start), *done[1]))
        if not turn and lowering.ready and _lowered(search, lowering, [*others, parted.proposal()]):
            return True
        spent = time.monotonic() - search.began > guard.seconds * PLANNING
        if spent or any(not (one.proposal.cost[0] if turn else one.proposal.held) for one in search.found):
            break
    return False


def _lowered(search: Search, lowering: Lowering, starts: list[Proposal]) -> bool:
    """Look for cheaper releases than what was found; True if there is one that withholds little."""
    if search.found and not search.most[1]:
        return True
    search.guard.progress.stage("lowering the price")
    search.tried["single steps and pairs of them"] = None
    found = [one.proposal for one in sorted(search.found, key=lambda one: one.proposal.cost)]
    for proposal in lowering.run([*found, *starts]):
        if search.satisfies(proposal) and not search.over(proposal).any():
            held, fakes = proposal.held, proposal.counterfeits
            words = "lowered to {counterfeits:counterfeit|counterfeits} and {held:record|records} held back"
            search.keep(proposal, (Remark.of("lowered", words, counterfeits=fakes, held=held),))
    return bool(search.found) and not search.most[0]


def _guided(guard: Guard) -> Proposal | None:
    """History-guided with counterfeits, if the last groups can go on."""
    try:
        return guided(guard.past, guard.m, repair="counterfeits", seed=guard.seed)[0].inhabited()
    except InputError:
        return None


def _holding_back(search: Search, base: Proposal | None) -> Proposal | None:
    """What keeps the policy with records held back, if that was not allowed, helps and is found."""
    guard = search.guard
    if guard.hold_back or search.late:
        return None
    again = Search(replace(guard, hold_back=True), search.before, search.exposed, search.deadline)
    done = _searched(again, base)
    return None if done is None else done.proposal


def _nearest(search: Search) -> Guarded | None:
    """The release with the fewest persons over a limit that withholds little, and others that cost or lose less."""
    guided = _guided(search.guard) if search.guard.located is None and not search.late else None
    if guided is not None:
        search.over(guided)
    front = list(search.front.offered(search.satisfies))
    for k, attempt in enumerate(front):
        one = Acceptable(attempt.proposal.inhabited(), (Remark("effort", "best effort"),), 0.0, passing=False)
        done = _final(search, one, strict=False)
        if done is not None:
            return replace(done, front=tuple((own.persons, own.proposal) for own in spread(front[k:], FRONT)))
    return None


def _final(search: Search, one: Acceptable, *, strict: bool = True) -> Guarded | None:
    """The release, judged by a full inference of its own; None if somebody is, or may be, over a limit after all."""
    guard, before, exposed = search.guard, search.before, search.exposed
    release = guard.publish(one.proposal)
    guard.progress.stage("final inference")
    try:
        posterior = guard.read([*guard.past.history, release])
    except NotConvergedError:
        return None
    review = guard.policy.review(posterior, before, exposed=exposed)
    if strict and (not review.holds or review.unsettled):
        search.last = review
        return None
    more = _told_more(before, posterior, exposed)
    return Guarded(release, one.proposal, review, posterior, one.steps, exposed, told_more=more, before=before)


def _exposed(guard: Guard, before: Posterior | None) -> ExposedPersons:
    """Whom the history alone puts over a limit: nothing can be undone for them."""
    ids = exposed_by(before, guard.policy)
    if before is not None and ids.everybody and guard.exposed == "refuse":
        raise exposing(before, guard.policy, ids.everybody)
    return ids


def _told_more(before: Posterior | None, after: Posterior, exposed: ExposedPersons) -> int:
    """How many exposed persons have a likelier value now."""
    if before is None or not exposed:
        return 0
    largest = pl.col("p").max()
    chosen = pl.col("id").cast(pl.String).is_in(pl.Series(sorted(exposed), dtype=pl.String).implode())
    told = (p.to_frame().filter(chosen).select(pl.col("id").cast(pl.String), "p") for p in (before, after))
    old, new = (frame.group_by("id").agg(largest) for frame in told)
    return old.join(new, on="id").filter(pl.col("p_right") > pl.col("p") + SLACK).height


def _whole(guard: Guard) -> Proposal | None:
    """m-invariance of the whole table, if it has one."""
    try:
        return by_signature(
            guard.table,
            guard.past,
            guard.m,
            hold_back=guard.hold_back,
            seed=guard.seed,
            short=guard.exposed == "accept",
        )
    except InputError:
        return None
