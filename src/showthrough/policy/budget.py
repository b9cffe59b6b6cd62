"""The budget of differential privacy: what releases declare in their parameters, by basic composition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from showthrough.policy.decision import Reason, Severity
from showthrough.policy.policy import BUDGET, Policy
from showthrough.release.release import Release

_SIGN = {"epsilon": "ε", "delta": "δ"}


def budget_reasons(policy: Policy, severity: Severity, releases: Sequence[Release]) -> list[Reason]:
    """What became of ε and δ; a release without noise uses nothing of them and is not protected by them either.

    Noise is not understood yet, so what is declared can break a budget but never keep it.
    """
    declared = [release for release in releases if "epsilon" in release.parameters]
    return [_reason(policy, severity, rule, declared) for rule in BUDGET if getattr(policy, rule) is not None]


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
