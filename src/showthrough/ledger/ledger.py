"""`Ledger`: the memory of an organisation's releases, and the gate that the next one has to pass."""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import polars as pl

from showthrough.auditing.deciding import PolicyGiven, rules_from
from showthrough.errors import InputError, LedgerError, ParameterError, RecordedError
from showthrough.inference.infer import SECONDS
from showthrough.inference.posterior import Told
from showthrough.knowledge.statement import Statement
from showthrough.ledger import gate as gates
from showthrough.ledger import parcel as parcels
from showthrough.ledger import postgres_store, pseudonyms, sqlite_store
from showthrough.ledger.events import Event, next_event
from showthrough.ledger.exporting import export
from showthrough.ledger.gate import Gate, Hearing
from showthrough.ledger.memory import Memory, Recorded
from showthrough.ledger.parcel import Parcel
from showthrough.ledger.pseudonyms import Pseudonyms
from showthrough.ledger.recording import Recording, together, told_day, told_text
from showthrough.ledger.shapes import CREATED
from showthrough.ledger.store import WAIT, Database, Session, Store, Tell
from showthrough.ledger.verifying import Verification, verify
from showthrough.numerals import number_of
from showthrough.progress import Progress
from showthrough.register.history_file import HistoryEntries
from showthrough.register.register import Register
from showthrough.release.release import Release
from showthrough.table.plain import plain

_SCHEMES = ("postgresql", "postgres")
_SETTINGS = re.compile(
    r"postgres(ql)?:|(\w+\s*=.*\b)?(password|passfile|dbname)\s*=", re.IGNORECASE
)  # as libpq takes them


class Ledger:
    """What has ever been published, append-only; `Ledger.open` opens one, `Ledger.create` makes it.

    ``wait`` is how many seconds to wait for others who write, and ``tell`` hears it when that begins.
    """

    def __init__(self, store: Store, key: bytes | None, *, wait: float, tell: Tell) -> None:
        self._store, self._wait, self._tell = store, wait, tell
        with self._reading() as (_, memory):
            self._created = dict(memory.created)
        self._key = key

    @classmethod
    def create(cls, where: str | os.PathLike[str], *, hash_ids: bool = False, key: bytes | None = None) -> Ledger:
        """Make an empty ledger: a SQLite file, or the tables in the PostgreSQL database of an address.

        With ``hash_ids`` ids are kept as HMAC-SHA256 under ``key``, which the ledger never holds.
        """
        if hash_ids and key is None:
            raise ParameterError("Ids that are hashed need a key: give one, key=.", parameters=("key",))
        name = str(uuid.uuid4())
        told: dict[str, Any] = {"ledger": name, "ids": "hashed" if hash_ids else "as given"}
        if hash_ids and key is not None:
            told["key"] = Pseudonyms(key).mark(name)
        address = _address(where)
        first = next_event(None, CREATED, told)
        if address is None:
            sqlite_store.create(Path(where), first)
        else:
            postgres_store.create(address, first)
        return cls.open(where, key=key)

    @classmethod
    def open(
        cls,
        where: str | os.PathLike[str],
        *,
        key: bytes | None = None,
        wait: float = WAIT,
        tell: Tell = lambda _: None,
    ) -> Ledger:
        """Open a ledger: the file of a SQLite database, or ``postgresql://…``.

        ``key`` is that of the ids, where they are hashed; without it the environment is asked.
        """
        store = open_store(where)
        try:
            return cls(store, key if key is not None else pseudonyms.key_from(None), wait=wait, tell=tell)
        except BaseException:
            store.database.close()
            raise

    def close(self) -> None:
        """Let go of the database."""
        self._store.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        with self._reading() as (_, memory):
            return f"<ledger {self.where}: {number_of(len(memory.releases), 'release')}, head {memory.head[:12]}>"

    @property
    def where(self) -> str:
        """What it was opened by, without a password."""
        return self._store.where

    @property
    def hashes_ids(self) -> bool:
        """Whether ids are kept as keyed hashes."""
        return self._created.get("ids") == "hashed"

    @property
    def head(self) -> str:
        """The hash of the newest event: kept elsewhere, it shows whether events were cut off."""
        with self._reading() as (_, memory):
            return memory.head

    def add(
        self,
        release: Release | str | os.PathLike[str],
        *,
        name: str | None = None,
        exception: str | None = None,
        owner: str | None = None,
        until: Any = None,
        **roles: Any,
    ) -> Recorded:
        """Record what is out there already: a release, or a file or folder with the options of `read_release`.

        A candidate that a gate did not let pass is recorded by its name, or by itself, with an ``exception`` (why it
        is published all the same), its ``owner`` and the day ``until`` which it excuses.
        """
        if exception is not None or owner is not None or until is not None:
            return self._add_excepted(release, exception, owner, until, roles)
        [parcel] = self._parcels(release, roles)
        return self.record([parcel if name is None else parcel.called(name)])[0]

    def record(self, given: Iterable[Parcel], *, by: str = "hand") -> list[Recorded]:
        """Record what is out there already, all or nothing."""
        found = [self._private(parcel) for parcel in given]
        events = []
        with self._recording() as recording:
            for at, parcel in enumerate(found):
                try:
                    events.append(recording.refuse_or_add(parcel, by=by))
                except RecordedError as problem:
                    problem.at = at
                    raise
        return [Recorded(event) for event in events]

    def _add_excepted(
        self, release: Any, why: str | None, owner: str | None, until: Any, roles: Mapping[str, Any]
    ) -> Recorded:
        why, owner, day = told_text("exception", why), told_text("owner", owner), told_day("until", until)
        given = None
        if isinstance(release, Release) or os.path.exists(release):
            [parcel] = self._parcels(release, roles)
            given = self._private(parcel).release
        with self._recording() as recording:
            memory = recording.memory
            name = str(release) if given is None else given.name
            judged = memory.candidate(name, None if given is None else given.fingerprint())
            if judged is None:
                if given is not None:
                    memory.refuse_recorded(name, given.fingerprint())
                raise LedgerError(f"{self.where} has judged no candidate {name} that is not published: gate it first.")
            told = judged.told["candidate"]
            memory.refuse_recorded(told["name"], told["fingerprint"])
            granted = recording.except_from(judged, why=why, owner=owner, until=day)
            own = parcels.read(recording.session, told, where=self.where)
            more = {"by": "exception", "exception": granted.number, "verdict": judged.number}
            event = recording.add(own, {**told, **more})
        return Recorded(event)

    def history(self) -> list[Release]:
        """The releases that readers have, in order, read from the bytes that were kept."""
        with self._reading() as (session, memory):
            return [parcels.read(session, r.told, where=self.where) for r in memory.history]

    def releases(self) -> pl.DataFrame:
        """Every release, in counts and hashes: name, event, time, kind, persons, groups, values, state, by, sha256."""
        with self._reading() as (_, memory):
            found = memory.releases
        rows = [
            {
                "name": r.name, "event": r.event.number, "time": r.event.time, "kind": r.told["kind"],
                "persons": r.told["persons"], "groups": r.told["groups"], "values": r.told["values"],
                "state": r.state, "by": r.told["by"], "fingerprint": r.told["fingerprint"],
            }
            for r in found
        ]  # fmt: skip
        return pl.DataFrame(rows, schema=_LISTED)

    def show(self, name: str) -> dict[str, Any]:
        """All that is recorded of one release: counts, hashes, and the events that speak of it."""
        with self._reading() as (_, memory):
            found = memory.named(name)
            numbers = {found.event.number, found.told.get("verdict"), found.told.get("exception")}
            about = [e for e in memory.events if e.number in numbers or e.told.get("release") == found.event.number]
        return {"name": name, "state": found.state, **plain(found.told), "events": [e.as_dict() for e in about]}

    def people(self, name: str) -> pl.DataFrame:
        """Internal: the persons of a release that publishes ids, or whose private link is kept: id, group."""
        with self._reading() as (session, memory):
            return parcels.read(session, memory.named(name).told, where=self.where).groups()

    def log(self) -> list[Event]:
        """Every event, in order."""
        with self._reading() as (_, memory):
            return memory.events

    def verify(self, *, expect: str | None = None, progress: Told = None) -> Verification:
        """Whether anything was altered, removed or moved; ``expect`` is a hash that was kept elsewhere."""
        return verify(self._store, expect=expect, progress=Progress.of(progress))

    def withdraw(self, name: str, *, why: str, never_left_the_house: bool = False) -> Recorded:
        """A release is not offered any more: it stays in every later audit, as readers may have it.

        Unless it ``never_left_the_house``: then nobody can have it, and it counts no more.
        """
        why = told_text("why", why)
        with self._recording() as recording:
            recording.withdraw(name, why=why, never_left_the_house=never_left_the_house)
            return recording.memory.named(name)

    def export(self, folder: str | os.PathLike[str]) -> None:
        """Write all that the ledger holds into a new folder that its owner alone can read."""
        with self._reading() as (session, memory):
            export(session, memory, folder)

    def budget(self) -> dict[str, Any]:
        """What all differentially private releases promise together: releases, epsilon, delta, method."""
        return together(self.history())

    def gate(
        self,
        release: Release | str | os.PathLike[str],
        *,
        policy: PolicyGiven,
        register: Any = None,
        knowledge: Iterable[Statement] = (),
        prior: Any = None,
        changed: Any = "refuse",
        contradictions: str = "explain",
        elastic: bool = False,
        seconds: float = SECONDS,
        whole_values: float | None = None,
        name: str | None = None,
        progress: Told = None,
        **roles: Any,
    ) -> Gate:
        """Judge a candidate together with the history, and record it as published if it passes.

        Nobody else writes to the ledger meanwhile. The options are those of `audit`, and for a file those of
        `read_release`. Review, block and inconclusive are recorded, the candidate is not: `add` with an exception does.
        """
        [parcel] = self._parcels(release, roles)
        parcel = parcel if name is None else parcel.called(name)
        known = None if register is None else Register.of(register)
        asked = Hearing(
            rules_from(policy), known, list(knowledge), prior, elastic, changed, contradictions,
            seconds=seconds, whole_values=whole_values,
        )  # fmt: skip
        return self.judge(parcel, asked, progress)

    def judge(self, candidate: Parcel, asked: Hearing, progress: Told = None) -> Gate:
        """The gate for a candidate that was read already."""
        with self.judging(candidate, asked, progress) as found:
            return found

    @contextlib.contextmanager
    def judging(self, candidate: Parcel, asked: Hearing, progress: Told = None) -> Iterator[Gate]:
        """The same; the block runs before the verdict counts, and if it fails nothing is recorded."""
        parcel, told = self._private(candidate), Progress.of(progress)
        if asked.register is not None:
            known = {"sha256": asked.register.fingerprint(), "persons": len(asked.register)}
            asked = replace(asked, register_told=known)
        asked = self._hidden(asked)
        with self._recording() as recording:
            yield gates.judged(recording, parcel, asked, told)

    def pseudonyms(self) -> Pseudonyms | None:
        """What ids are called in this ledger; None: as they are given."""
        return pseudonyms.required(self._created, self._key, self.where)

    def _hidden(self, asked: Hearing) -> Hearing:
        """The same with ids as the ledger knows them."""
        hidden = self.pseudonyms()
        if hidden is None:
            return asked
        others = (asked.prior, asked.register_file)
        if any(given is not None for given in others) or not isinstance(asked.changed, str):
            raise InputError(
                f"{self.where} keeps ids as keyed hashes: priors, tables of changes and "
                "registers to keep name persons, and cannot be used with it."
            )
        register = asked.register
        register = None if register is None else pseudonyms.renamed_register(register, hidden)
        said = [replace(one, ids=tuple(hidden.of(str(id)) for id in one.ids)) for one in asked.knowledge]
        return replace(asked, register=register, knowledge=said)

    def _private(self, parcel: Parcel) -> Parcel:
        """A release with ids as the ledger keeps them, and with a name."""
        if not parcel.release.name.strip():
            raise LedgerError("A release in a ledger needs a name: give one, name=TEXT.", parameters=("name",))
        hidden = self.pseudonyms()
        return parcel if hidden is None else pseudonyms.renamed_parcel(parcel, hidden)

    def _parcels(self, release: Any, roles: Mapping[str, Any]) -> list[Parcel]:
        if isinstance(release, Release):
            if roles:
                raise ParameterError("A release knows its roles: options are for files.", parameters=tuple(roles))
            return [parcels.of_release(release)]
        return parcels.of_entries(HistoryEntries.from_dict({"release": [{"file": os.fspath(release), **roles}]}))[0]

    @contextlib.contextmanager
    def _reading(self) -> Iterator[tuple[Session, Memory]]:
        with self._store.reading() as session:
            yield session, Memory.of(session.events(), self.where)

    @contextlib.contextmanager
    def _recording(self) -> Iterator[Recording]:
        with self._store.writing(wait=self._wait, tell=self._tell) as session:
            yield Recording(session, self.where)


_LISTED = {
    "name": pl.String, "event": pl.Int64, "time": pl.String, "kind": pl.String, "persons": pl.Int64,
    "groups": pl.Int64, "values": pl.Int64, "state": pl.String, "by": pl.String, "fingerprint": pl.String,
}  # fmt: skip


def open_store(where: str | os.PathLike[str]) -> Store:
    """The database of a ledger, whatever is in it."""
    address = _address(where)
    database: Database
    database = sqlite_store.SqliteDatabase(Path(where)) if address is None else postgres_store.PostgresDatabase(address)
    try:
        return Store(database)
    except BaseException:
        database.close()
        raise


def _address(where: str | os.PathLike[str]) -> str | None:
    """The address of a database on a server; None for a file."""
    text = os.fsdecode(where)
    scheme, mark, _ = text.partition("://")
    if scheme in _SCHEMES and mark:
        return text
    if not mark and not _SETTINGS.match(text):
        return None
    raise LedgerError("A ledger is a SQLite file or a database at postgresql://…: this address begins otherwise.")
