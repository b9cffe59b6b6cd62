"""Publish the next table beside its history, by one of the strategies."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from showthrough.anonymizers.made import Made
from showthrough.anonymizers.methods import Grouped
from showthrough.anonymizers.publishing import cost
from showthrough.anonymizers.table import Table
from showthrough.errors import InputError
from showthrough.policy.policy import limits_of
from showthrough.release.release import Release
from showthrough.republishing.guarded import Guard, Guarded, guarded
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal, release_of
from showthrough.republishing.strategies import by_signature, guided, values_per_group


@dataclass(frozen=True, eq=False)
class Republish:
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
    progress: Callable[[str], None]


def republish(table: Table, plan: Republish, base: Callable[[], Grouped], *, began: float) -> Release:
    """The next release; ``base`` is the method that a guard starts from."""
    if table.sensitive is None or table.id is None:
        raise InputError("Re-publishing follows persons and their values: name the id and the sensitive column.")
    past = Past.of(table, plan.history, changed=plan.changed)
    parameters = {"strategy": plan.strategy, "criteria": [str(c) for c in plan.criteria]}

    def publish(proposal: Proposal) -> Release:
        return release_of(table, past, proposal, kind=plan.kind, name=plan.name, seed=plan.seed, parameters=parameters)

    outcome: Guarded | None = None
    if plan.strategy == "guarded":
        outcome = guarded(_guard(table, past, plan, publish), _proposed(base))
        proposal, release = outcome.proposal, outcome.release
    elif plan.strategy == "m-invariance":
        m = values_per_group(plan.criteria, plan.strategy)
        proposal = by_signature(table, past, m, hold_back=plan.hold_back, seed=plan.seed)
        release = publish(proposal)
    else:
        l = values_per_group(plan.criteria, plan.strategy)
        proposal = guided(past, l, repair=plan.repair, seed=plan.seed)
        release = publish(proposal)
    return replace(release, made=_made(table, past, plan, proposal, outcome, began))


def _guard(table: Table, past: Past, plan: Republish, publish: Callable[[Proposal], Release]) -> Guard:
    policy = limits_of(plan.policy)
    if plan.exposed not in ("refuse", "accept"):
        raise InputError(f"exposed is refuse or accept, not {plan.exposed!r}.")
    try:
        m = values_per_group(plan.criteria, plan.strategy)
    except InputError:
        m = int(np.ceil(1 / policy.max_posterior - 1e-9)) if policy.max_posterior else 2
    return Guard(
        table,
        past,
        policy,
        m,
        publish,
        plan.seed,
        plan.seconds,
        hold_back=plan.hold_back,
        exposed=plan.exposed,
        progress=plan.progress,
    )


def _proposed(base: Callable[[], Grouped]) -> Proposal | None:
    """What the base method proposes; none if it cannot satisfy its criteria."""
    try:
        return Proposal(base().group.astype(np.int32))
    except InputError:
        return None


def _made(table: Table, past: Past, plan: Republish, proposal: Proposal, outcome: Guarded | None, began: float) -> Made:
    notes = list(proposal.notes)
    if past.changed:
        notes.append(f"{past.changed} persons changed their value and are published as new persons.")
    if outcome is not None:
        notes = [
            f"{proposal.counterfeits} counterfeits, {proposal.held} records held back.",
            *(f"Guard: {step}." for step in outcome.steps),
            f"The policy holds for everybody: {outcome.posterior.certificate}."
            if not outcome.exposed
            else f"The policy holds for everybody but {len(outcome.exposed)} persons whom earlier releases expose.",
        ]
        if not outcome.review.conclusive:
            notes.append(f"Inconclusive: {outcome.review.undecided} pairs are undecided over whole values.")
    return Made(
        method=plan.strategy,
        seconds=time.perf_counter() - began,
        suppressed=proposal.held,
        incomplete=table.incomplete,
        checks=(),
        utility=cost(table, proposal.numbered().group, plan.criteria),
        notes=tuple(notes),
        counterfeits=proposal.counterfeits,
        guard=outcome,
    )
