"""Limits on the joint posterior, each with what became of it, in a sentence.

What is *over* a limit is proven or has a certified figure. What hangs on an if (on a guess at who changed, or on
releases being consistent that may not be) is open, and so is everybody who is not known to be within the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.criterion import Check
from showthrough.inference.posterior import Posterior
from showthrough.numerals import many
from showthrough.policy.decision import LimitOutcome, Reason, Severity
from showthrough.policy.judging import PAIR, WHO, Judged, Known, as_text, nobody_open
from showthrough.policy.phrases import are, people, percent
from showthrough.policy.policy import Policy, texted

FACTS = ("certain", "impossible")
_NOTHING_BEFORE = "Nothing was published before"


@dataclass(eq=False)
class Basis:
    """What limits are held against; every part is worked out when a limit first asks for it, and then kept."""

    posterior: Posterior
    earlier: Callable[[], Posterior | None]
    tick: Callable[[], None] = lambda: None
    counted: frozenset[str] = frozenset()  # limits whose exceptions count persons
    _facts: dict[tuple[bool, bool], pl.DataFrame] = field(default_factory=dict)
    _known: dict[float, Known] = field(default_factory=dict)

    @cached_property
    def before(self) -> Posterior | None:
        """The posterior without the newest release; None if that is the first."""
        return self.earlier()

    @cached_property
    def loose(self) -> pl.DataFrame:
        """Of whom nothing holds without an if: id, part."""
        known = self.known(0.0)
        return nobody_open() if known.settled else known.loose

    def known(self, seconds: float) -> Known:
        """All that is known of everybody."""
        return self._known.setdefault(seconds, Known(self.posterior, seconds))

    def facts(self, policy: Policy) -> pl.DataFrame | None:
        """What is proven, as far as limits ask for it; over whole values too, if they say so and it matters.

        Where more is proven already than the limits allow, whole values could only add to it; they are asked all the
        same if an exception counts on the number.
        """
        limits = {rule: most for rule in FACTS if (most := getattr(policy, rule)) is not None}
        if not limits:
            return None
        plain = self._proven(policy, whole=False)
        enough = all(firm_facts(plain, rule).height > most for rule, most in limits.items())
        if policy.integral == "no" or (enough and not self.counted & limits.keys()):
            return plain
        return self._proven(policy, whole=True)

    def _proven(self, policy: Policy, *, whole: bool) -> pl.DataFrame:
        every = whole or policy.impossible is not None
        if (every, whole) not in self._facts:
            if every:
                found = self.posterior.proven(integral=whole, seconds=policy.seconds, tick=self.tick)
            else:  # without listing what is impossible
                found = self.posterior.best().filter("certain").with_columns(pl.lit("certain").alias("fact"))
            self._facts[every, whole] = texted(found)
        return self._facts[every, whole]


def firm_facts(facts: pl.DataFrame, fact: str) -> pl.DataFrame:
    """Facts of a kind that hold without an if."""
    mine = facts.filter(pl.col("fact") == fact)
    return mine.filter(~pl.col("conditional")) if "conditional" in mine.columns else mine


def joint_reasons(policy: Policy, severity: Severity, basis: Basis) -> list[Reason]:
    """What became of each limit on the joint posterior."""
    judged = _judged(policy, basis, 0.0)
    if any(one.left_open.height for one in judged.values()):  # programs may settle it
        judged = _judged(policy, basis, policy.seconds)
    return [_reason(policy, severity, rule, one, basis) for rule, one in judged.items()]


def added_up(policy: Policy, severity: Severity, pieces: Sequence[Sequence[Reason]], everybody: int) -> list[Reason]:
    """What became of each limit on the joint posterior, from what became of it in pieces that hold other persons."""
    found = []
    for own in zip(*pieces, strict=True):
        rule, persons, waiting = own[0].rule, sum(one.persons for one in own), sum(one.open for one in own)
        figures = [one.found for one in own if one.found is not None]
        count = sum(figures) if rule in FACTS else persons
        most = policy.most_over(everybody) if rule == "max_posterior" else getattr(policy, rule) if rule in FACTS else 0
        outcome: LimitOutcome = "over" if count > most else "open" if waiting else "within"
        worst = count if rule in FACTS else min(figures, default=None) if rule == "min_anonymity" else None
        worst = max(figures, default=None) if rule not in (*FACTS, "min_anonymity") else worst
        first = rule == "max_gain" and all(one.said.startswith(_NOTHING_BEFORE) for one in own)
        said = _SAID[rule](_Found(policy, count, persons, most, everybody, first))
        said = _left_open(rule, waiting, said) if outcome == "open" else said
        found.append(Reason(rule, severity, outcome, getattr(policy, rule), worst, persons, waiting, said))
    return found


def _left_open(rule: str, waiting: int, said: str) -> str:
    who = f"{_capital(people(waiting))} {are(waiting)}"
    return f"{who} not known to be within the limit {rule}. Known so far: {said[:1].lower()}{said[1:]}"


def criterion_reason(rule: str, severity: Severity, limit: Any, check: Check, release: str) -> Reason:
    """What became of a criterion that one release has to satisfy."""
    outcome: LimitOutcome = "within" if check.holds else "over"
    said = f"{release}: {check.sentence}"
    return Reason(rule, severity, outcome, limit, check.level, check.failing_persons, 0, said, release=release)


def _judged(policy: Policy, basis: Basis, seconds: float) -> dict[str, Judged]:
    old = None
    if policy.max_gain is not None and basis.before is not None:
        old = Known(basis.before, seconds)
    return policy.judged(basis.known(seconds), old, basis.facts(policy))


def _reason(policy: Policy, severity: Severity, rule: str, judged: Judged, basis: Basis) -> Reason:
    firm = _firm(rule, judged.over, policy, basis)
    shaky = judged.over.join(firm, on=PAIR, how="anti", nulls_equal=True)
    count, persons = judged.among(firm), firm.select(WHO).unique().height
    undecided = _undecided(policy, rule, basis)
    doubtful = judged.open if judged.doubtful else nobody_open()
    waiting = pl.concat([doubtful, shaky.select(WHO), basis.loose, undecided]).unique()
    waiting = waiting.join(firm.select(WHO).unique(), on=WHO, how="anti")
    outcome: LimitOutcome = "over" if count > judged.most else "open" if waiting.height else "within"
    found = _found(rule, count, firm, basis)
    first = rule == "max_gain" and basis.before is None
    said = _SAID[rule](_Found(policy, count, persons, judged.most, basis.posterior.ids.len(), first))
    said = _left_open(rule, waiting.height, said) if outcome == "open" else said
    return Reason(rule, severity, outcome, getattr(policy, rule), found, persons, waiting.height, said)


def _firm(rule: str, over: pl.DataFrame, policy: Policy, basis: Basis) -> pl.DataFrame:
    """What is over a limit without an if: facts know it of themselves, figures by their person."""
    facts = basis.facts(policy) if rule in FACTS else None
    if facts is None:
        return over.join(basis.loose, on=WHO, how="anti")
    return over.join(as_text(firm_facts(facts, rule)).select(PAIR), on=PAIR, how="semi")


def _undecided(policy: Policy, rule: str, basis: Basis) -> pl.DataFrame:
    """Persons of whom the time left open what whole values allow, where that has to be known."""
    facts = basis.facts(policy) if rule in FACTS else None
    if facts is None or policy.integral != "required":
        return nobody_open()
    return as_text(facts.filter(pl.col("fact") == "undecided")).select(WHO).unique()


def _found(rule: str, count: int, firm: pl.DataFrame, basis: Basis) -> Any:
    """The figure that is compared with the limit: a count, or the worst probability of anybody."""
    if rule in FACTS:
        return count
    if rule == "max_posterior":
        largest = basis.posterior.largest()
        if (quiet := basis.known(0.0).without_noise) is not None:
            largest = np.fmax(largest, quiet.posterior.largest())
        return None if np.isnan(largest).all() else round(float(np.nanmax(largest)), 6)
    if not firm.height:
        return None
    worst = firm["figure"].min() if rule == "min_anonymity" else firm["figure"].max()
    return None if not isinstance(worst, float) else round(worst, 6)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


@dataclass(frozen=True)
class _Found:
    """What a sentence is made of: how many count as over the limit, how many persons that are, and how many may be."""

    policy: Policy
    count: int
    persons: int
    most: int
    everybody: int
    first: bool  # nothing was published before


def _posterior_said(told: _Found) -> str:
    who = "Nobody has" if not told.persons else f"{many(told.persons)} of {_whom(told.everybody, told.persons)}"
    sure = f"a value that a reader can be more than {percent(told.policy.max_posterior or 0.0)} sure of"
    return f"{who} {sure}; the policy allows {people(told.most)}."


def _whom(everybody: int, some: int) -> str:
    return f"{people(everybody)} {'has' if some == 1 else 'have'}"


def _certain_said(told: _Found) -> str:
    return f"{_capital(people(told.count))} {are(told.count)} certain; the policy allows {people(told.most)}."


def _impossible_said(told: _Found) -> str:
    pairs = "No value" if told.count == 0 else f"{many(told.count)} time{'s' if told.count != 1 else ''} a value"
    room = "none" if told.most == 0 else many(told.most)
    return f"{pairs} of a person's groups is ruled out for that person; the policy allows {room}."


def _gain_said(told: _Found) -> str:
    limit = percent(told.policy.max_gain or 0.0).removesuffix("%") + "points"
    if told.first:
        return f"{_NOTHING_BEFORE}, so no probability grew by more than {limit}."
    who = people(told.persons)
    return f"The newest release makes a value of {who} likelier by more than {limit}; the policy allows nobody."


def _shift_said(told: _Found) -> str:
    limit = percent(told.policy.max_shift or 0.0).removesuffix("%") + "points"
    who = people(told.persons)
    return f"A probability of {who} lies more than {limit} from what the reader believed; the policy allows nobody."


def _anonymity_said(told: _Found) -> str:
    less = f"less uncertain than {told.policy.min_anonymity:g} equally likely values"
    return f"The value of {people(told.persons)} is {less}; the policy allows nobody."


def _proximity_said(told: _Found) -> str:
    reach, limit = told.policy.proximity or (0.0, 0.0)
    return (
        f"Of {people(told.persons)} a reader can believe with more than {percent(limit)} that the value lies within "
        f"{reach:g} of a number; the policy allows nobody."
    )


_SAID: dict[str, Callable[[_Found], str]] = {
    "max_posterior": _posterior_said,
    "certain": _certain_said,
    "impossible": _impossible_said,
    "max_gain": _gain_said,
    "max_shift": _shift_said,
    "min_anonymity": _anonymity_said,
    "proximity": _proximity_said,
}
