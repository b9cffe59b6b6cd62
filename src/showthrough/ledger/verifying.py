"""Whether a ledger is what it says: every event, every byte of every release, and the tables themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from showthrough.errors import LedgerError, ShowthroughError
from showthrough.ledger.events import BEGINNING, Event, broken, sha256, turned_back
from showthrough.ledger.memory import Memory
from showthrough.ledger.parcel import read
from showthrough.ledger.schema import table
from showthrough.ledger.shapes import ADDED, AUDITED, JUDGED
from showthrough.ledger.store import Session, Store
from showthrough.numerals import number_of
from showthrough.progress import Progress


@dataclass(frozen=True)
class Verification:
    """What `verify` found: ``faults`` begin with the first; ``head`` is the hash to keep elsewhere."""

    events: int
    releases: int
    contents: int
    head: str
    faults: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing was altered, removed or moved."""
        return not self.faults

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if self.faults:
            more = len(self.faults) - 1
            return self.faults[0] + (
                f" {more} more {'thing does' if more == 1 else 'things do'} not fit." if more else ""
            )
        counted = f"{number_of(self.events, 'event')}, {number_of(self.releases, 'release')} and "
        return f"Nothing was altered, removed or moved: {counted}{number_of(self.contents, 'content')}."

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        counts = {"events": self.events, "releases": self.releases, "contents": self.contents}
        return {
            "holds": self.holds, **counts, "head": self.head, "faults": list(self.faults), "remarks": list(self.remarks)
        }  # fmt: skip


@dataclass
class _Findings:
    faults: list[str] = field(default_factory=list)
    contents: int = 0


def verify(store: Store, *, expect: str | None = None, progress: Progress | None = None) -> Verification:
    """Look at everything; ``expect`` is the hash of an event that was kept elsewhere, which a cut-off chain has not."""
    tell, found = progress or Progress(), _Findings()
    events: list[Event] = []
    remarks: list[str] = []
    tell.stage("verifying")
    try:
        with store.reading() as session:
            found.faults += store.database.faults(store.version)
            found.faults += _rows(store, session)
            events = session.events()
            fault = broken(events)
            found.faults += [] if fault is None else [fault.said]
            found.faults += [] if events else ["There is not a single event: they were removed."]
            _expected(events, expect, found)
            if fault is None and events:
                memory = Memory.of(events, store.where)
                _contents(session, events, found, tell)
                _state(session, memory, found)
                _readable(session, memory, found)
    except LedgerError as problem:
        found.faults.append(problem.shareable)
    except UnicodeDecodeError:
        found.faults.append("The events hold text that is none.")
    if turned := turned_back(events):
        remarks.append(f"{number_of(turned, 'event')} say an earlier time than the one before: a clock was set back.")
    head = events[-1].hash if events else BEGINNING
    releases = sum(event.kind == ADDED for event in events)
    faults = tuple(dict.fromkeys(found.faults))
    return Verification(len(events), releases, found.contents, head, faults, tuple(remarks))


def _rows(store: Store, session: Session) -> list[str]:
    versions = store.database.run(f"SELECT version FROM {table(store.database.kind, 'versions')} ORDER BY version")
    good = [row[0] for row in versions] == list(range(1, store.version + 1)) and not session.strange_rows()
    return [] if good else ["There are rows that no ledger has, or some are missing."]


def _expected(events: list[Event], expect: str | None, found: _Findings) -> None:
    if expect is not None and expect not in {event.hash for event in events}:
        found.faults.append("No event has the hash that was expected: events were cut off, or this is another ledger.")


def named_contents(events: Iterable[Event]) -> dict[str, tuple[int, str]]:
    """The SHA-256 of every content that an event speaks of, with the event and the release that is meant."""
    found: dict[str, tuple[int, str]] = {}
    for event in events:
        told = event.told if event.kind == ADDED else event.told["candidate"] if event.kind == JUDGED else None
        own = [] if told is None else [*told["parts"].values(), told["link"]]
        if told is not None and told["published_kept"]:
            own += [one["sha256"] for one in told["published"]]
        register = event.told.get("register", {}) if event.kind == AUDITED else {}
        own += [register["content"]] if register.get("content") else []
        name = "a register" if told is None else str(told["name"])
        for sha in own:
            if sha is not None:
                found.setdefault(sha, (event.number, name))
    return found


def _contents(session: Session, events: list[Event], found: _Findings, tell: Progress) -> None:
    """Every content that is named is there and has its hash, and no other is."""
    named, held = named_contents(events), set(session.kept())
    for done, (sha, (number, name)) in enumerate(sorted(named.items(), key=lambda item: item[1])):
        tell.count(done, len(named))
        content = session.content(sha)
        if content is None:
            found.faults.append(f"The bytes of {name} (event {number}) are gone.")
        elif sha256(content) != sha:
            found.faults.append(f"The bytes of {name} (event {number}) were altered.")
    strange = held - named.keys()
    if strange:
        found.faults.append(f"{number_of(len(strange), 'content')} is held that no event speaks of.")
    found.contents = len(held)


def _state(session: Session, memory: Memory, found: _Findings) -> None:
    """The posterior that is kept is the one that was spoken of last."""
    told = memory.posterior
    if told is None:
        return
    content = session.state()
    if content is None or sha256(content) != told["sha256"]:
        found.faults.append("The posterior that is kept of the history was altered; the next gate solves it anew.")


def _readable(session: Session, memory: Memory, found: _Findings) -> None:
    """Every release still reads as what was recorded of it."""
    if found.faults:
        return
    for recorded in memory.releases:
        try:
            release = read(session, recorded.told, where=memory.where)
        except ShowthroughError:
            found.faults.append(f"{recorded.name} (event {recorded.event.number}) cannot be read any more.")
            continue
        if release.fingerprint() != recorded.told["fingerprint"]:
            found.faults.append(
                f"{recorded.name} (event {recorded.event.number}) reads as another release than it was."
            )
