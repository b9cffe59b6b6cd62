"""Writing to a ledger: events in order, and what has to stand beside a release that is added."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any

from showthrough.dp.account import Account
from showthrough.errors import InputError, LedgerError, ParameterError
from showthrough.ledger.events import Event, next_event
from showthrough.ledger.memory import Memory
from showthrough.ledger.parcel import Parcel, read
from showthrough.ledger.shapes import ADDED, EXCEPTED, SPENT, WITHDRAWN
from showthrough.ledger.store import Session
from showthrough.release.release import Release
from showthrough.table.plain import plain


class Recording:
    """A transaction that adds events."""

    def __init__(self, session: Session, where: str) -> None:
        self.session = session
        self.memory = Memory.of(session.events(), where)

    @property
    def next_number(self) -> int:
        """Of the next event."""
        return self.memory.last.number + 1

    def append(self, kind: str, told: Mapping[str, Any]) -> Event:
        """Add an event at the end of the chain."""
        event = next_event(self.memory.last, kind, told)
        self.session.append(event)
        self.memory.events.append(event)
        self.memory._take(event)
        return event

    def add(self, release: Release, told: Mapping[str, Any]) -> Event:
        """A release is out there; what a noisy one spends is told with what all have spent together."""
        event = self.append(ADDED, told)
        if release.noise is not None or spends(release):
            self._spend(release, event)
        return event

    def _spend(self, release: Release, event: Event) -> None:
        noise, parameters = release.noise, release.parameters
        own = (
            noise.parameters()
            if noise is not None
            else {k: parameters.get(k) for k in ("epsilon", "delta", "mechanism")}
        )
        told = {"release": event.number, "name": event.told["name"], "declared": plain(own)}
        earlier = [read(self.session, r.told, where=self.memory.where) for r in self.memory.history]
        self.append(SPENT, {**told, "together": together(earlier)})

    def except_from(self, judged: Event, *, why: str, owner: str, until: dt.date) -> Event:
        """A candidate that did not pass is published all the same: somebody says why and answers for it."""
        if judged.told["verdict"] == "pass":
            raise LedgerError(f"{judged.told['candidate']['name']} passed: it needs no exception.")
        over = [r for r in judged.told["reasons"] if r["outcome"] == "over"]
        excuses = [
            {"rule": r["rule"], "severity": r["severity"], "release": r["release"]}
            | ({"persons": r["persons"]} if r["persons"] else {})
            for r in over
        ]
        name = judged.told["candidate"]["name"]
        told = {"name": name, "verdict": judged.number, "why": why, "owner": owner, "until": until.isoformat()}
        return self.append(EXCEPTED, {**told, "excuses": excuses})

    def withdraw(self, name: str, *, why: str, never_left_the_house: bool) -> Event:
        """A release is not offered any more, or was never given to anybody."""
        found = self.memory.named(name)
        if found.withdrawn is not None and not (found.counts and never_left_the_house):
            raise LedgerError(f"{name} was withdrawn already, by event {found.withdrawn.number}: {found.state}.")
        told = {"release": found.event.number, "name": name, "why": why}
        return self.append(WITHDRAWN, {**told, "never_left_the_house": never_left_the_house})

    def refuse_or_add(self, parcel: Parcel, *, by: str, more: Mapping[str, Any] | None = None) -> Event:
        """Add what is out there already, unless it is in the ledger or a gate did not let it pass."""
        self.memory.refuse_recorded(parcel.release.name, parcel.release.fingerprint())
        judged = self.memory.not_passed(parcel.release.fingerprint())
        if judged is not None:
            raise LedgerError(
                f"{parcel.release.name} did not pass the gate of {self.memory.where} (event {judged.number}: "
                f"{judged.told['verdict']}): it is recorded with an exception, its owner and its last day.",
                parameters=("exception", "owner", "until"),
            )
        return self.add(parcel.release, {**parcel.kept(self.session), "by": by, **(more or {})})


def spends(release: Release) -> bool:
    """Whether a release declares to be differentially private."""
    return release.noise is not None or "epsilon" in release.parameters


def together(releases: list[Release]) -> dict[str, Any]:
    """What all noisy releases promise together; what others only declare is added to it."""
    noisy = [r for r in releases if r.noise is not None]
    declared = [r for r in releases if r.noise is None and spends(r)]
    try:
        spent = Account.of(noisy).spent() if noisy else None
    except InputError as problem:
        return {"known": False, "why": problem.shareable, "releases": len(noisy) + len(declared)}
    usual = {"epsilon": None, "delta": 0}
    own = {name: [_number(r.parameters.get(name, given)) for r in declared] for name, given in usual.items()}
    if None in (*own["epsilon"], *own["delta"]):
        why = "A release declares to be differentially private, but not by how much."
        return {"known": False, "why": why, "releases": len(noisy) + len(declared)}
    more = {name: math.fsum(one or 0.0 for one in told) for name, told in own.items()}
    return {
        "known": True,
        "releases": len(noisy) + len(declared),
        "epsilon": more["epsilon"] + (spent.epsilon if spent else 0.0),
        "delta": more["delta"] + (spent.delta if spent else 0.0),
        "method": spent.method if spent else "sum",
    }


def _number(given: Any) -> float | None:
    good = isinstance(given, (int, float)) and not isinstance(given, bool) and 0 <= given < math.inf
    return float(given) if good else None


def told_text(name: str, given: Any) -> str:
    """A reason or an owner: something has to be said."""
    if not isinstance(given, str) or not given.strip():
        raise ParameterError(f"{name} is missing: say it in words, {name}=TEXT.", parameters=(name,))
    return given.strip()


def told_day(name: str, given: Any) -> dt.date:
    """A day, as a date or as text; of a moment its day."""
    try:
        given = given.date() if isinstance(given, dt.datetime) else given
        return given if isinstance(given, dt.date) else dt.date.fromisoformat(str(given))
    except ValueError:
        raise ParameterError(f"{name} is a day such as 2027-01-31, not what was given.", parameters=(name,)) from None
