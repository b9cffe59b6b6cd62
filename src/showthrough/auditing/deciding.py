"""A policy applied to an audit: limits on all releases together, on each alone, and doubts about the whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from showthrough.criteria.levels import trees_of
from showthrough.errors import InputError
from showthrough.inference.certificate import Certificate, Status
from showthrough.inference.posterior import Posterior
from showthrough.numerals import many
from showthrough.policy.budget import budget_reasons
from showthrough.policy.decision import Decision, Reason, Severity
from showthrough.policy.phrases import are, people
from showthrough.policy.policy import Policy
from showthrough.policy.reasons import Basis, criterion_reason, joint_reasons
from showthrough.policy.rules import Rules, rules_of
from showthrough.policy.rules_file import read_policy
from showthrough.release.release import Release

PolicyGiven = Policy | Rules | str | os.PathLike[str]


def rules_from(policy: Any) -> Rules:
    """A policy, rules, or the file that holds them."""
    if isinstance(policy, (Policy, Rules)):
        return rules_of(policy)
    if isinstance(policy, (str, os.PathLike)):
        return read_policy(policy)
    raise InputError(f"Expected a policy such as Policy(max_posterior=0.5), got {type(policy).__name__}.")


def release_reasons(policy: Policy, severity: Severity, releases: list[tuple[str, Release]]) -> list[Reason]:
    """What became of the criteria for each release alone."""
    found = []
    for name, release in releases:
        if release.ranged:  # `doubts` tells
            continue
        for rule, criterion in policy.criteria.named(release.sensitive, trees_of(release, None)):
            check = criterion.check(release)
            found.append(criterion_reason(rule, severity, getattr(policy, rule), check, name))
    return found


def doubts(certificate: Certificate, untied: tuple[str, ...], *, interrupted: bool = False) -> list[str]:
    """Why nothing that is said of the history is known to be safe."""
    found = []
    if interrupted:
        found.append("The work was interrupted, and this is what was known by then.")
    if tolerated := certificate.changed.tolerated:
        found.append(
            f"{people(tolerated).capitalize()} had to be taken for changed, and who changed is a guess: nothing that "
            "is tied to them is known to be safe."
        )
    if untied:
        found.append(
            f"Nothing ties the persons of {many(len(untied))} releases to those of another, so nobody is known to be "
            "safe."
        )
    if not certificate.status.certain:
        late = sum(n for state, n in certificate.persons_by_state.items() if not Status(state).certain)
        found.append(
            f"{people(late).capitalize()} of {many(certificate.persons)} {are(late)} without a certified answer."
        )
    return found


def decide(
    rules: Rules,
    post: Posterior,
    *,
    untied: tuple[str, ...],
    interrupted: bool = False,
    earlier: Callable[[], Posterior | None],
    tick: Callable[[], None] = lambda: None,
) -> Decision:
    """The decision of an audit."""
    counted = frozenset(one.rule for one in rules.exceptions if one.persons is not None)
    basis, reasons = Basis(post, earlier, tick, counted), []
    releases = list(zip(post.names, post.releases, strict=True))
    alone = any(policy.criteria.named(None, {}) for _, policy in rules.tables())
    for severity, policy in rules.tables():
        reasons += joint_reasons(policy, severity, basis)
        reasons += release_reasons(policy, severity, releases)
        reasons += budget_reasons(policy, severity, [release for _, release in releases])
    told = doubts(post.certificate, untied, interrupted=interrupted)
    hidden = sum(release.ranged for _, release in releases) if alone else 0
    if hidden:
        told.append(
            f"{many(hidden)} of the tables hide or round counts: what a criterion would say of them alone is not known."
        )
    return rules.decide(reasons, doubts=told)
