"""The ledger asked by files and names: make one, add what is out there, and tell what it holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from showthrough.errors import FieldError, RecordedError
from showthrough.ledger.ledger import Ledger, open_store
from showthrough.ledger.memory import Recorded
from showthrough.ledger.parcel import of_entries
from showthrough.ledger.pseudonyms import key_from, new_key
from showthrough.ledger.store import WAIT, Tell
from showthrough.ledger.verifying import Verification, verify
from showthrough.progress import Progress
from showthrough.register.history_file import HistoryEntries
from showthrough.release.release import Release
from showthrough.storage.unit import check_writable
from showthrough.table.entries import Entries, between


@dataclass(frozen=True)
class LedgerRequest(Entries):
    """Which ledger: a file or an address, and the file of the key of its ids, where they are hashed."""

    ledger: str = "ledger.db"
    key_file: str | None = None
    wait: float = WAIT

    def check(self) -> None:
        """Seconds are a number."""
        between("wait", self.wait, 0)

    def open(self, tell: Tell = lambda _: None) -> Ledger:
        """Open it."""
        return Ledger.open(self.ledger, key=key_from(self.key_file), wait=self.wait, tell=tell)


@dataclass(frozen=True)
class LedgerInitRequest(LedgerRequest):
    """A new ledger; ``hash_ids`` keeps ids as keyed hashes, and a key file that is not there yet is made."""

    hash_ids: bool = False

    def check(self) -> None:
        """A key is for ids that are hashed."""
        super().check()
        if self.key_file is not None and not self.hash_ids:
            raise FieldError(
                "key_file", "is the key of ids that are hashed: say hash_ids=True.", parameters=("hash_ids",)
            )


def run_ledger_init(request: LedgerInitRequest) -> Ledger:
    """Make a ledger, and the file of its key if there is none."""
    key, made = None, False
    if request.hash_ids:
        if request.key_file is not None and not os.path.exists(request.key_file):
            check_writable(request.key_file)
            key, made = new_key(Path(request.key_file)), True
        else:
            key = key_from(request.key_file)
        if key is None:
            raise FieldError("key_file", "is missing: name the file of the key, which is made if it is not there.")
    try:
        return Ledger.create(request.ledger, hash_ids=request.hash_ids, key=key)
    except BaseException:
        if made and request.key_file is not None:
            os.unlink(request.key_file)
        raise


@dataclass(frozen=True)
class LedgerAddRequest(HistoryEntries):
    """What is out there already, read as an audit reads it; ``ledger`` says where it is recorded."""

    ledger: LedgerRequest = field(default_factory=LedgerRequest)
    name: str | None = None

    def check(self) -> None:
        """One name is for one release."""
        super().check()
        if self.name is not None and len(self.release) > 1:
            raise FieldError("name", "is for one release: add them one by one, or let their files name them.")

    def at(self, place: Mapping[str, Any]) -> Self:
        """The same for another ledger."""
        return replace(self, ledger=LedgerRequest.from_dict(place))


@dataclass(frozen=True)
class Additions:
    """What was recorded, and what was in the ledger already."""

    added: tuple[Recorded, ...]
    known: tuple[RecordedError, ...]


def run_ledger_add(request: LedgerAddRequest, tell: Tell = lambda _: None) -> Additions:
    """Record releases in order, all or none; those that are in the ledger already are told and left."""
    found, _ = of_entries(request)
    found = [parcel if request.name is None else parcel.called(request.name) for parcel in found]
    with request.ledger.open(tell) as ledger:
        known: list[RecordedError] = []
        while True:
            try:
                return Additions(tuple(ledger.record(found)), tuple(known))
            except RecordedError as problem:
                known.append(problem)
                found = [parcel for at, parcel in enumerate(found) if at != problem.at]
                if not found:
                    return Additions((), tuple(known))


@dataclass(frozen=True)
class LedgerExceptRequest(LedgerRequest):
    """A candidate that did not pass is published all the same: by its name, or ``read`` from the file that it is."""

    candidate: str = ""
    read: LedgerAddRequest | None = None
    exception: str = ""
    owner: str = ""
    until: str = ""

    def check(self) -> None:
        """One exception is for one candidate."""
        super().check()
        if self.read is not None and len(self.read.release) > 1:
            raise FieldError("exception", "is for one candidate: grant them one by one.")


def run_ledger_except(request: LedgerExceptRequest, tell: Tell = lambda _: None) -> Recorded:
    """Record it with its exception."""
    given: str | Release = request.candidate
    if request.read is not None:
        [parcel], _ = of_entries(request.read)
        given = (parcel if request.read.name is None else parcel.called(request.read.name)).release
    with request.open(tell) as ledger:
        told: dict[str, Any] = {"exception": request.exception, "owner": request.owner, "until": request.until}
        return ledger.add(given, **told)


def run_ledger_verify(request: LedgerRequest, expect: str | None, progress: Progress) -> Verification:
    """Look at everything, also where the events are not those of a ledger any more."""
    store = open_store(request.ledger)
    try:
        return verify(store, expect=expect, progress=progress)
    finally:
        store.database.close()
