"""What a policy file means, in words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

from showthrough.policy.meanings import MEANINGS
from showthrough.policy.phrases import people, percent, times
from showthrough.policy.policy import Policy
from showthrough.policy.rules import NOT_SET, PolicyException, Rules

BULLET = "  • "
_HEAD = {
    "block": "A history is blocked (exit code 1) if one of these does not hold:",
    "review": "Somebody has to look at it (exit code 3) if nothing is blocked, but one of these does not hold:",
}
_END = (
    "What is not known to hold (no certified answer in time, releases that nothing ties together or that contradict "
    "each other, values that may have changed) makes the verdict inconclusive (exit code 4), unless a limit is already "
    "proven to be broken. Otherwise it passes (exit code 0)."
)


def explained(rules: Rules) -> list[str]:
    """Lines of text: limits that block, limits that ask for review, exceptions, and what else holds."""
    lines: list[str] = []
    for severity, policy in rules.tables():
        lines += [_HEAD[severity], *(f"{BULLET}{sentence}" for sentence in _limits(policy)), ""]
    for one in rules.exceptions:
        lines.append(_excused(one) + (f" It {NOT_SET}." if rules.excuses_nothing(one) else ""))
    return [*lines, *([""] if rules.exceptions else []), _END]


def _limits(policy: Policy) -> list[str]:
    found = []
    for rule, limit in policy.limits().items():
        said = (
            _SAID[rule](limit, policy) if rule in _SAID else f"Every release alone satisfies {rule} = {_shown(limit)}."
        )
        found.append(said if rule in _SAID else f"{said} {MEANINGS[rule]}")
    if policy.certain is not None or policy.impossible is not None:
        found.append(_INTEGRAL[policy.integral].format(seconds=f"{policy.seconds:g}"))
    return found


_INTEGRAL = {
    "no": "Certain and impossible count as the published counts prove them, not over assignments of whole values.",
    "checked": "Certain and impossible also count over assignments of whole values, as far as {seconds} s allow.",
    "required": "Certain and impossible also count over assignments of whole values; if {seconds} s do not decide "
    "them all, the verdict is inconclusive.",
}


def _posterior(limit: Any, policy: Policy) -> str:
    few = policy.over_posterior
    but = "" if not few else f", but of {people(few) if isinstance(few, int) else percent(few) + ' of the persons'}"
    return f"A reader of all releases can be at most {percent(limit)} sure of anybody's value{but}."


_SAID: Mapping[str, Callable[[Any, Policy], str]] = {
    "certain": lambda limit, _: (
        f"A reader of all releases can prove the value of {'nobody' if not limit else f'at most {people(limit)}'}."
    ),
    "max_posterior": _posterior,
    "max_gain": lambda limit, _: (
        f"The newest release makes no value of anybody likelier by more than {percent(limit).rstrip('%')}points."
    ),
    "max_shift": lambda limit, _: (
        f"No value of anybody gets likelier or less likely by more than {percent(limit).rstrip('%')}points than the "
        "reader believed before."
    ),
    "min_anonymity": lambda limit, _: f"Everybody's value stays as uncertain as {limit:g} equally likely values.",
    "proximity": lambda limit, _: (
        f"A reader can be at most {percent(limit[1])} sure that anybody's value, a number, lies within {limit[0]:g} of "
        "one that it can be."
    ),
    "impossible": lambda limit, _: (
        "No value of a person's own groups can be ruled out for that person."
        if not limit
        else f"A value of a person's own groups can be ruled out for that person at most {times(limit)}."
    ),
    "epsilon": lambda limit, _: (
        f"Releases that declare to be differentially private use at most ε = {limit:g} together."
    ),
    "delta": lambda limit, _: f"Releases that declare to be differentially private use at most δ = {limit:g} together.",
}


def _excused(one: PolicyException) -> str:
    up_to = "" if one.persons is None else f" by up to {people(one.persons)}"
    where = "" if one.release is None else f" of {one.release}"
    what = "" if one.severity is None else f" that would {'block' if one.severity == 'block' else 'ask for review'}"
    if one.expires < dt.date.today():
        return f"Exception: that from {one.rule}{where}{what} expired on {one.expires.isoformat()} and does not count."
    return (
        f"Exception: until {one.expires.isoformat()} the limit {one.rule}{where}{what} may be broken{up_to}. "
        f"{one.owner} answers for it: {one.reason}"
    )


def _shown(limit: Any) -> str:
    return ", ".join(f"{x:g}" for x in limit) if isinstance(limit, tuple) else f"{limit:g}"
