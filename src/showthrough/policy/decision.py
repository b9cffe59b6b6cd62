"""A decision: every limit of a policy with what became of it, and the one verdict that follows.

It is made once and read by every format: terminal, JSON, JUnit, SARIF, Markdown, page and exit code. Nothing in it
names a person or shows a value: limits, counts, probabilities, and sentences of them.

The verdict fails closed. A limit that is proven to be broken *blocks*, whatever else is open. Otherwise what is not
known makes it *inconclusive*: somebody who is not known to be within a limit, and any doubt about the whole audit.
Then a broken limit of the softer kind asks for *review*, and only what is left *passes*.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from showthrough.table.plain import plain

Severity = Literal["block", "review"]
LimitOutcome = Literal["within", "over", "open", "excepted"]


class Verdict(StrEnum):
    """What a policy says of an audit."""

    PASS = "pass"
    REVIEW = "review"
    BLOCK = "block"
    INCONCLUSIVE = "inconclusive"

    @property
    def exit_code(self) -> int:
        """What a command ends with."""
        return {"pass": 0, "review": 3, "block": 1, "inconclusive": 4}[self.value]


@dataclass(frozen=True)
class Reason:
    """One limit and what became of it.

    ``rule`` is its field of `Policy`, ``limit`` what stands there, ``found`` the figure that was compared with it,
    ``persons`` how many are over it and ``open`` how many more are not known to be within it. ``said`` is a sentence
    for everybody. A limit on every release alone names its ``release``; ``line`` is where the policy file sets it.
    """

    rule: str
    severity: Severity
    outcome: LimitOutcome
    limit: Any
    found: Any
    persons: int
    open: int
    said: str
    release: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class UsedException:
    """An exception of the policy, and what became of it: "used", "unused" or "expired"."""

    rule: str
    state: Literal["used", "unused", "expired"]
    reason: str
    owner: str
    expires: dt.date
    said: str
    line: int | None = None


@dataclass(frozen=True)
class Decision:
    """A policy applied to an audit; ``said`` is the headline, ``doubts`` what makes all of it inconclusive."""

    verdict: Verdict
    reasons: tuple[Reason, ...]
    said: str
    exceptions: tuple[UsedException, ...] = ()
    doubts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.said

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dict(plain(self))


def decision(
    reasons: Sequence[Reason], *, doubts: Sequence[str] = (), exceptions: Sequence[UsedException] = ()
) -> Decision:
    """The verdict that follows from what became of every limit."""
    verdict = _verdict(reasons, doubts)
    said = _headline(verdict, reasons, doubts, exceptions)
    return Decision(verdict, tuple(reasons), said, tuple(exceptions), tuple(doubts))


def _verdict(reasons: Sequence[Reason], doubts: Sequence[str]) -> Verdict:
    outcomes = {(reason.severity, reason.outcome) for reason in reasons}
    if ("block", "over") in outcomes:
        return Verdict.BLOCK
    if doubts or any(outcome == "open" for _, outcome in outcomes):
        return Verdict.INCONCLUSIVE
    return Verdict.REVIEW if ("review", "over") in outcomes else Verdict.PASS


def _headline(
    verdict: Verdict, reasons: Sequence[Reason], doubts: Sequence[str], exceptions: Sequence[UsedException]
) -> str:
    """The worst in a sentence: the first limit that made the verdict, and how many more there are."""
    over = [r for r in reasons if r.outcome == "over" and r.severity == str(verdict)]
    if over:
        others = [r.said for r in reasons if r.outcome == "over" and r not in over]
        return _first([*(r.said for r in over), *others], "more limit is", "more limits are", "over")
    if verdict is Verdict.INCONCLUSIVE:
        return _first(
            [*doubts, *(r.said for r in reasons if r.outcome == "open")], "more thing is", "more things are", "open"
        )
    used = sum(e.state == "used" for e in exceptions)
    within = f"Within {'the limit' if len(reasons) == 1 else f'all {len(reasons)} limits'} of the policy"
    excused = f", but for {used} exception{'s' if used != 1 else ''}" if used else ""
    return f"{within}{excused}."


def _first(sentences: Sequence[str], one: str, several: str, state: str) -> str:
    more = len(sentences) - 1
    return sentences[0] + (f" {more} {one if more == 1 else several} {state}." if more else "")
