"""Events in a chain: each carries the hash of the one before, so that none can be altered, removed or moved unnoticed.

What a chain cannot show is that its end was cut off: whoever keeps the hash of the last event elsewhere can tell.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

COLUMNS = ("number", "time", "kind", "body", "before", "hash")
BEGINNING = "0" * 64  # stands before the first event


@dataclass(frozen=True)
class Event:
    """Something that happened: ``body`` is the canonical JSON of it, ``hash`` the SHA-256 of all the rest."""

    number: int
    time: str
    kind: str
    body: str
    before: str
    hash: str

    @property
    def row(self) -> tuple[int, str, str, str, str, str]:
        """As it stands in a table, by COLUMNS."""
        return self.number, self.time, self.kind, self.body, self.before, self.hash

    @cached_property
    def told(self) -> Mapping[str, Any]:
        """What it says."""
        found: Mapping[str, Any] = json.loads(self.body)
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        own = {"number": self.number, "time": self.time, "kind": self.kind}
        return {**own, "told": dict(self.told), "before": self.before, "hash": self.hash}


@dataclass(frozen=True)
class Broken:
    """The first place where a chain does not hold."""

    number: int
    said: str


def canonical(told: Any) -> str:
    """The one text of plain data: sorted, without blanks, in ASCII, so that every database keeps it as it is."""
    return json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def sha256(content: bytes) -> str:
    """As 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def next_event(last: Event | None, kind: str, told: Mapping[str, Any], *, time: str | None = None) -> Event:
    """What comes after ``last``, or first of all."""
    number, before = (1, BEGINNING) if last is None else (last.number + 1, last.hash)
    when = time or dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    body = canonical(told)
    return Event(number, when, kind, body, before, _hash(number, when, kind, body, before))


def broken(events: Sequence[Event]) -> Broken | None:
    """Where a chain does not hold; None if it does."""
    before = BEGINNING
    for number, event in enumerate(events, start=1):
        if event.number != number:
            return Broken(number, f"Event {number} is missing: event {event.number} stands in its place.")
        if event.hash != _hash(event.number, event.time, event.kind, event.body, event.before):
            return Broken(number, f"Event {number} was altered: it does not have the hash that it carries.")
        if event.before != before:
            return Broken(number, f"Event {number} does not follow the one before it: an event was altered or moved.")
        before = event.hash
    return None


def turned_back(events: Sequence[Event]) -> int:
    """How many events say an earlier time than the one before: a clock was set back, and their order still holds."""
    return sum(later.time < earlier.time for earlier, later in pairwise(events))


def _hash(number: int, time: str, kind: str, body: str, before: str) -> str:
    return sha256(canonical([number, time, kind, body, before]).encode())
