"""The budget of differential privacy: what noisy releases cost together, and what others declare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from showthrough.errors import InputError
from showthrough.numerals import number_of
from showthrough.policy.decision import Reason, Severity
from showthrough.policy.policy import BUDGET, Policy
from showthrough.release.release import Release

_SIGN = {"epsilon": "ε", "delta": "δ"}


def budget_reasons(policy: Policy, severity: Severity, releases: Sequence[Release]) -> list[Reason]:
    """What became of ε and δ; a release without noise uses nothing of them and is not protected by them either.

    Of noisy releases the law of their noise tells what they cost together. What others declare of themselves can break
    a budget but never keep it.
    """
    declared = [release for release in releases if "epsilon" in release.parameters]
    if declared and all(release.noise is not None for release in declared):
        return _reasons_of_noise(policy, severity, declared)
    return [_reason(policy, severity, rule, declared) for rule in BUDGET if getattr(policy, rule) is not None]


def _reasons_of_noise(policy: Policy, severity: Severity, noisy: Sequence[Release]) -> list[Reason]:
    """By the best composition at the δ that the policy allows, or that the releases declare."""
    from showthrough.dp.account import Account  # loads much that other audits do without

    needed = math.fsum(release.noise.delta for release in noisy if release.noise is not None)
    allowed = needed if policy.delta is None else policy.delta
    try:
        found = Account.of(noisy).spent(delta=allowed or None)
    except InputError as problem:  # no δ suffices, or relations of neighbours that do not fit
        said = f"What {len(noisy)} noisy releases cost together is not known: {problem.said}"
        return [Reason(rule, severity, "open", getattr(policy, rule), 0, 0, 0, said) for rule in _asked(policy)]
    spent = {"epsilon": found.epsilon, "delta": found.delta}
    return [_spent_reason(policy, severity, rule, spent[rule], (len(noisy), found.method)) for rule in _asked(policy)]


def _asked(policy: Policy) -> list[str]:
    return [rule for rule in BUDGET if getattr(policy, rule) is not None]


def _spent_reason(policy: Policy, severity: Severity, rule: str, spent: float, by: tuple[int, str]) -> Reason:
    limit, sign = getattr(policy, rule), _SIGN[rule]
    over = spent > limit * (1 + 1e-12)
    cost = f"{number_of(by[0], 'noisy release')} cost {sign} = {spent:.6g} together, by {by[1]} composition"
    said = f"{cost}; the policy allows {limit:g}."
    return Reason(rule, severity, "over" if over else "within", limit, spent, 0, 0, said)


def _reason(policy: Policy, severity: Severity, rule: str, declared: Sequence[Release]) -> Reason:
    limit, sign = getattr(policy, rule), _SIGN[rule]
    if not declared:
        said = f"No release declares to be differentially private, so nothing of the budget {sign} = {limit:g} is used."
        return Reason(rule, severity, "within", limit, 0, 0, 0, said)
    spent = [_number(release.parameters.get(rule, 0 if rule == "delta" else None)) for release in declared]
    total = math.fsum(x for x in spent if x is not None)
    known = all(x is not None for x in spent)
    if total > limit * (1 + 1e-12):
        said = f"{len(declared)} releases declare {sign} = {total:g} together; the policy allows {limit:g}."
        return Reason(rule, severity, "over", limit, total, 0, 0, said)
    declares = f"declare {sign} = {total:g} together" if known else f"do not all declare {sign} as a number"
    said = f"{len(declared)} differentially private releases {declares}; whether their noise keeps it is not checked."
    return Reason(rule, severity, "open", limit, total, 0, 0, said)


def _number(given: Any) -> float | None:
    good = isinstance(given, (int, float)) and not isinstance(given, bool) and 0 <= given < math.inf
    return float(given) if good else None
