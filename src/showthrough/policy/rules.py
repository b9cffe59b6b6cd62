"""Rules: limits that block, limits that ask for review, and exceptions from them. What a policy file holds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from showthrough.errors import FieldError, InputError
from showthrough.policy.decision import Decision, Reason, Severity, UsedException, decision
from showthrough.policy.phrases import people
from showthrough.policy.policy import RULES, Policy
from showthrough.table import toml_text

VERSION = 1  # of policy files
NOT_SET = "excuses nothing: this limit is not set"


@dataclass(frozen=True)
class PolicyException:
    """A limit that may be broken until a day, for a reason that somebody answers for.

    ``persons``: no more than so many may be over it. ``severity`` and ``release``: only this limit and only there.
    """

    rule: str
    reason: str
    owner: str
    expires: dt.date
    persons: int | None = None
    severity: Literal["block", "review"] | None = None
    release: str | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise FieldError("rule", f"is the name of a limit: one of {', '.join(RULES)}.")
        for name in ("reason", "owner"):
            text = getattr(self, name)
            if not isinstance(text, str) or not text.strip():
                raise FieldError(name, "is missing: an exception says why, and who answers for it.")
        if not isinstance(self.expires, dt.date) or isinstance(self.expires, dt.datetime):
            raise FieldError("expires", "is a date such as 2027-01-31, without quotes.")
        if self.persons is not None and (isinstance(self.persons, bool) or not isinstance(self.persons, int)):
            raise FieldError("persons", "is a whole number.")
        if self.persons is not None and self.persons < 0:
            raise FieldError("persons", "is a whole number of 0 or more.")
        if self.severity not in (None, "block", "review"):
            raise FieldError("severity", "is block or review.")
        if self.release is not None and not isinstance(self.release, str):
            raise FieldError("release", "is the name of a release.")

    def covers(self, reason: Reason) -> bool:
        """Whether it excuses a limit that is broken; nothing is excused that is not known."""
        return (
            reason.outcome == "over"
            and reason.open == 0
            and reason.rule == self.rule
            and self.severity in (None, reason.severity)
            and self.release in (None, reason.release)
            and (self.persons is None or reason.persons <= self.persons)
        )


@dataclass(frozen=True)
class Rules:
    """Limits that block, limits that ask for review, and exceptions; ``file`` and ``lines`` say where they stand."""

    block: Policy | None = None
    review: Policy | None = None
    exceptions: tuple[PolicyException, ...] = ()
    file: str | None = field(default=None, compare=False)
    lines: tuple[tuple[str, int], ...] = field(default=(), compare=False, repr=False)  # ("block.certain", 3), …

    def __post_init__(self) -> None:
        object.__setattr__(self, "exceptions", tuple(self.exceptions))
        for name in ("block", "review"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, Policy):
                raise InputError(f"{name} is a policy such as Policy(max_posterior=0.5), not {type(given).__name__}.")
        if self.block is None and self.review is None:
            raise InputError("A policy without any limit allows everything: set one, such as max_posterior=0.5.")
        for one in self.exceptions:
            if not isinstance(one, PolicyException):
                raise InputError(f"An exception is a PolicyException, not {type(one).__name__}.")

    def tables(self) -> list[tuple[Severity, Policy]]:
        """The limits by what breaking them means."""
        given: list[tuple[Severity, Policy | None]] = [("block", self.block), ("review", self.review)]
        return [(severity, policy) for severity, policy in given if policy is not None]

    def to_toml(self) -> str:
        """As the text of a policy file, without comments."""
        found: dict[str, Any] = {"version": VERSION}
        for name, policy in self.tables():
            found[name] = _limits_as_toml(policy)
        if self.exceptions:
            found["exceptions"] = [
                {f.name: value for f in fields(one) if (value := getattr(one, f.name)) is not None}
                for one in self.exceptions
            ]
        return toml_text.document(found)

    def line(self, *path: str | int) -> int | None:
        """The line of the file on which an entry stands; that of its table where it is a default."""
        known = dict(self.lines)
        places = (".".join(map(str, path[:end])) for end in range(len(path), 0, -1))
        return next((known[place] for place in places if place in known), None)

    def excuses_nothing(self, one: PolicyException) -> bool:
        """Whether an exception is from a limit that is not set, so that it can never be used."""
        return not any(
            one.severity in (None, severity) and one.rule in policy.limits() for severity, policy in self.tables()
        )

    def decide(
        self, reasons: Sequence[Reason], *, doubts: Sequence[str] = (), today: dt.date | None = None
    ) -> Decision:
        """The verdict once every limit is judged: exceptions that are in force excuse what they cover."""
        day, told, used = today or dt.date.today(), [], set[int]()
        placed = [replace(r, line=self.line(r.severity, r.rule)) for r in reasons]
        valid = [k for k, one in enumerate(self.exceptions) if day <= one.expires]
        for reason in placed:
            covering = next((k for k in valid if self.exceptions[k].covers(reason)), None)
            if covering is None:
                told.append(reason)
                continue
            used.add(covering)
            one = self.exceptions[covering]
            excuse = f"{reason.said} Excepted until {one.expires.isoformat()} by {one.owner}: {one.reason}"
            told.append(replace(reason, outcome="excepted", said=excuse))
        outcomes = [self._told(k, used=k in used, expired=k not in valid) for k in range(len(self.exceptions))]
        return decision(told, doubts=doubts, exceptions=outcomes)

    def _told(self, number: int, *, used: bool, expired: bool) -> UsedException:
        one = self.exceptions[number]
        state: Literal["used", "unused", "expired"] = "used" if used else "expired" if expired else "unused"
        day, up_to = one.expires.isoformat(), "" if one.persons is None else f" for up to {people(one.persons)}"
        idle = NOT_SET if self.excuses_nothing(one) else f"was not used; it ends after {day}"
        said = {
            "used": f"The exception from {one.rule}{up_to} was used; it ends after {day}.",
            "unused": f"The exception from {one.rule}{up_to} {idle}.",
            "expired": f"The exception from {one.rule}{up_to} expired on {day} and does not count.",
        }[state]
        line = self.line("exceptions", number)
        return UsedException(one.rule, state, one.reason, one.owner, one.expires, said, line)


def rules_of(given: Policy | Rules) -> Rules:
    """A policy alone blocks."""
    return given if isinstance(given, Rules) else Rules(block=given)


def _limits_as_toml(policy: Policy) -> dict[str, Any]:
    """What differs from the defaults, and ``certain`` always: left out it means 0 in one table, none in the other."""
    told = {f.name: getattr(policy, f.name) for f in fields(policy) if getattr(policy, f.name) != f.default}
    told["certain"] = False if policy.certain is None else policy.certain
    return {name: limit for name, limit in told.items() if limit is not None}
