"""What the events of a ledger add up to: releases in order, what was judged, exceptions, and what was withdrawn."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from showthrough.errors import LedgerError, RecordedError
from showthrough.ledger.events import BEGINNING, Event, broken
from showthrough.ledger.shapes import ADDED, AUDITED, CREATED, EXCEPTED, JUDGED, WITHDRAWN, understood
from showthrough.policy.policy import BUDGET
from showthrough.policy.rules import PolicyException
from showthrough.said import private


@dataclass(frozen=True)
class Recorded:
    """A release that the ledger holds as published."""

    event: Event
    withdrawn: Event | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.event.told["name"])

    @property
    def told(self) -> Mapping[str, Any]:
        """What was recorded of it: counts and hashes."""
        return self.event.told

    @property
    def counts(self) -> bool:
        """Whether it stands in every later audit; withdrawing does not make readers forget."""
        return self.withdrawn is None or not self.withdrawn.told.get("never_left_the_house")

    @property
    def state(self) -> str:
        """In a word or two."""
        if self.withdrawn is None:
            return "published"
        return "withdrawn, readers may have it" if self.counts else "never left the house"


@dataclass
class Memory:
    """The events, and what follows from them."""

    where: str
    events: list[Event]
    releases: list[Recorded] = field(default_factory=list)
    judged: list[Event] = field(default_factory=list)
    excepted: list[Event] = field(default_factory=list)

    @classmethod
    def of(cls, events: Sequence[Event], where: str) -> Memory:
        """Read the events of a chain that holds."""
        fault = broken(events)
        if fault is not None:
            raise LedgerError(f"{where} cannot be trusted: {fault.said} showthrough ledger verify tells more.")
        if not events or events[0].kind != CREATED:
            raise LedgerError(f"{where} cannot be trusted: it does not begin with its own creation.")
        event = next((event for event in events if not understood(event)), None)
        if event is not None:
            raise LedgerError(
                f"{where} cannot be trusted: Event {event.number} does not say what such an event says, so another "
                "program wrote it."
            )
        found = cls(where, list(events))
        for event in events[1:]:
            found._take(event)
        return found

    def _take(self, event: Event) -> None:
        if event.kind == ADDED:
            self.releases.append(Recorded(event))
        elif event.kind == JUDGED:
            self.judged.append(event)
        elif event.kind == EXCEPTED:
            self.excepted.append(event)
        elif event.kind == WITHDRAWN:
            number = event.told["release"]
            self.releases = [replace(r, withdrawn=event) if r.event.number == number else r for r in self.releases]

    @property
    def last(self) -> Event:
        """The newest event: the head of the chain."""
        return self.events[-1]

    @property
    def head(self) -> str:
        """The hash of the newest event."""
        return self.events[-1].hash if self.events else BEGINNING

    @property
    def created(self) -> Mapping[str, Any]:
        """What was said when the ledger was made."""
        return self.events[0].told

    @property
    def history(self) -> list[Recorded]:
        """The releases that readers have, in order."""
        return [r for r in self.releases if r.counts]

    @property
    def posterior(self) -> Mapping[str, Any] | None:
        """What was said last of the posterior that is kept: its hash, and the events of its releases."""
        told = (event.told.get("posterior") for event in reversed(self.events) if event.kind == AUDITED)
        return next((one for one in told if one), None)

    def named(self, name: str) -> Recorded:
        """A release by its name."""
        found = next((r for r in reversed(self.releases) if r.name == name), None)
        if found is None:
            listed = ", ".join(dict.fromkeys(r.name for r in self.releases)) or "none"
            raise LedgerError(
                f"There is no release {name} in {self.where}: it holds {private(listed, instead=listed)}."
            )
        return found

    def candidate(self, name: str, fingerprint: str | None = None) -> Event | None:
        """What was judged last under a name, or of a content, and is not recorded as published."""
        held = {r.told["fingerprint"] for r in self.history}
        for event in reversed(self.judged):
            own = event.told["candidate"]
            wanted = own["name"] == name and fingerprint in (None, own["fingerprint"])
            if wanted and own["fingerprint"] not in held:
                return event
        return None

    def not_passed(self, fingerprint: str) -> Event | None:
        """The last verdict on this very content, if it was not to pass."""
        own = (event for event in reversed(self.judged) if event.told["candidate"]["fingerprint"] == fingerprint)
        last = next(own, None)
        return None if last is None or last.told["verdict"] == "pass" else last

    def refuse_recorded(self, name: str, fingerprint: str, how: Mapping[str, str] | None = None) -> None:
        """The same release is not recorded twice, and another one of the same name not at all.

        ``how`` is what the gate is asked: whether it let the same release pass by the same rules is told.
        """
        same = next((r for r in self.history if r.told["fingerprint"] == fingerprint), None)
        if same is not None:
            raise RecordedError(
                f"{name} is in {self.where} already, as {same.name} since event {same.event.number}: nothing was "
                "recorded.",
                name=same.name,
                number=same.event.number,
                passed=bool(how) and all(same.told.get(key) == own for key, own in (how or {}).items()),
            )
        if any(r.name == name for r in self.releases):
            raise LedgerError(
                f"{self.where} holds another release that is called {name}: give this one a name of its own.",
                parameters=("name",),
            )

    def exceptions(self, today: dt.date, *, spends: bool) -> tuple[PolicyException, ...]:
        """What is excused today because a release was published all the same; one that nobody has excuses nothing.

        Exceptions from a budget are for what was spent: a release that ``spends`` more is not excused by them.
        """
        found, out_there = [], {r.told.get("exception") for r in self.history}
        for event in self.excepted:
            until = dt.date.fromisoformat(event.told["until"])
            if until < today or event.number not in out_there:
                continue
            for one in event.told["excuses"]:
                if not (spends and one["rule"] in BUDGET):
                    own = {"reason": event.told["why"], "owner": event.told["owner"], "expires": until}
                    found.append(PolicyException(**one, **own))
        return tuple(found)
