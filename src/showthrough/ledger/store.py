"""Where a ledger is kept: all that is said in SQL; what a database does in its own way is a `Database`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from showthrough.errors import LedgerError
from showthrough.ledger.events import COLUMNS, Event, sha256
from showthrough.ledger.schema import PART, VERSION, WITH_STATES, steps, table
from showthrough.storage.outcome import interruptions_wait, record

WAIT = 600.0  # seconds for others who write, if nobody says otherwise
_PAUSE = 0.05
LARGEST = 400 * 2**20  # bytes of a state; PostgreSQL takes rows up to 1 GB, and no text is as short as its bytes

Fetched = tuple[Any, ...]
Tell = Callable[[str], None]


class Database(Protocol):
    """A connection, and what differs between databases; errors come as sentences."""

    kind: str  # the words of `schema`
    where: str  # for messages: without a password

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[Fetched]:
        """Run a statement with ``?`` for values."""
        ...

    def begin(self, *, writing: bool) -> bool:
        """Begin a transaction; False where another one writes. Whoever reads sees one state."""
        ...

    def commit(self) -> bool:
        """End it with all that was done; False where it has to be tried again."""
        ...

    def undo(self) -> None:
        """End it as if nothing had been done."""
        ...

    def version(self) -> int | None:
        """Of the tables; None if there are none of ours."""
        ...

    def faults(self, version: int) -> list[str]:
        """What is wrong with the tables themselves, for whoever verifies."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class Session:
    """What can be asked and done inside one transaction."""

    def __init__(self, database: Database, version: int = VERSION) -> None:
        self._run, kind = database.run, database.kind
        self._events, self._contents, self._states = (table(kind, t) for t in ("events", "contents", "states"))
        self._states = self._states if version >= WITH_STATES else ""

    def events(self) -> list[Event]:
        """All of them, in order."""
        found = self._run(f"SELECT {', '.join(COLUMNS)} FROM {self._events} ORDER BY number")
        return [Event(_whole(row[0]), *map(_text, row[1:])) for row in found]

    def append(self, event: Event) -> None:
        """Add an event at the end."""
        self._run(f"INSERT INTO {self._events} ({', '.join(COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?)", event.row)

    def keep(self, content: bytes) -> str:
        """Keep some bytes, once; gives their SHA-256."""
        name = sha256(content)
        if not self._run(f"SELECT 1 FROM {self._contents} WHERE sha256 = ? LIMIT 1", (name,)):
            for part, at in enumerate(range(0, max(len(content), 1), PART)):
                values = (name, part, content[at : at + PART])
                self._run(f"INSERT INTO {self._contents} (sha256, part, bytes) VALUES (?, ?, ?)", values)
        return name

    def content(self, name: str) -> bytes | None:
        """The bytes with a SHA-256, whether they still have it or not; None if there are none."""
        found = self._run(f"SELECT bytes FROM {self._contents} WHERE sha256 = ? ORDER BY part", (name,))
        return b"".join(_bytes(row[0]) for row in found) if found else None

    def kept(self) -> list[str]:
        """The SHA-256 of all contents."""
        return [str(row[0]) for row in self._run(f"SELECT DISTINCT sha256 FROM {self._contents} ORDER BY sha256")]

    def state(self) -> bytes | None:
        """What was worked out of the history the last time."""
        if not self._states:  # of a ledger that was only read so far
            return None
        found = self._run(f"SELECT bytes FROM {self._states} WHERE place = 1")
        return _bytes(found[0][0]) if found else None

    def strange_rows(self) -> bool:
        """Whether there are parts of contents, or states, beside those that are ever read."""
        size = "length(bytes)"
        parts = self._run(
            f"SELECT count(*), min(part), max(part), min({size}), max({size}) FROM {self._contents} GROUP BY sha256"
        )
        odd = any((first, last) != (0, many - 1) or (many > 1 and not least) for many, first, last, least, _ in parts)
        states = self._run(f"SELECT place FROM {self._states}") if self._states else []
        return odd or any(row[0] != 1 for row in states)

    def put_state(self, content: bytes) -> bool:
        """Keep it instead of the earlier one; False if it is too large for a row."""
        if len(content) > LARGEST:
            return False
        self._run(f"DELETE FROM {self._states} WHERE place = 1")
        self._run(f"INSERT INTO {self._states} (place, bytes) VALUES (1, ?)", (content,))
        return True


class Store:
    """A ledger's database, of today's version."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.version = _known_version(database)

    @property
    def where(self) -> str:
        """For messages: without a password."""
        return self.database.where

    @contextlib.contextmanager
    def reading(self) -> Iterator[Session]:
        """One state of the ledger, whatever others write meanwhile."""
        self._begin(writing=False, wait=WAIT, tell=lambda _: None)
        try:
            yield Session(self.database, self.version)
        finally:
            self.database.undo()

    @contextlib.contextmanager
    def writing(self, *, wait: float = WAIT, tell: Tell = lambda _: None) -> Iterator[Session]:
        """Nobody else writes meanwhile; all that is done in the block is there at its end, or nothing.

        ``tell`` hears it if others have to be waited for, at most ``wait`` seconds. A process that ends lets go.
        """
        self._begin(writing=True, wait=wait, tell=tell)
        try:
            self.version = _known_version(self.database)  # others may have brought it forward since it was opened
            if self.version < VERSION:
                for statement in steps(self.database.kind, self.version):
                    self.database.run(statement)
            yield Session(self.database)
            with interruptions_wait():
                self._commit(wait)
                self.version = VERSION
                record([self.where])
        except BaseException:
            self.database.undo()
            raise

    def _begin(self, *, writing: bool, wait: float, tell: Tell) -> None:
        until, waiting = time.monotonic() + wait, False
        while not self.database.begin(writing=writing):
            left = until - time.monotonic()
            if left <= 0:
                raise LedgerError(
                    f"{self.where} is in use by another gate or command for {wait:g} seconds: try again when it has "
                    "ended, or wait longer.",
                    parameters=("wait",),
                )
            if not waiting:
                tell(f"Waiting up to {wait:g} seconds: another gate or command writes to {self.where}.")
                waiting = True
            time.sleep(min(_PAUSE, left))

    def _commit(self, wait: float) -> None:
        until = time.monotonic() + wait
        while not self.database.commit():  # somebody still reads
            if time.monotonic() > until:
                raise LedgerError(f"{self.where} is read by another command without end: nothing was recorded.")
            time.sleep(_PAUSE)


def _whole(given: Any) -> int:
    """A number; what is none, or is one only nearly, is no number of an event."""
    return given if isinstance(given, int) else 0


def _text(given: Any) -> str:
    return given if isinstance(given, str) else ""


def _bytes(given: Any) -> bytes:
    return bytes(given) if isinstance(given, (bytes, memoryview)) else b""


def _known_version(database: Database) -> int:
    found = database.version()
    if found is None:
        raise LedgerError(f"{database.where} is no ledger: showthrough ledger init makes one.")
    if found > VERSION:
        raise LedgerError(
            f"{database.where} is a ledger of version {found}; this showthrough reads up to version {VERSION}: use a "
            "newer one."
        )
    return found


def not_written(where: str, why: str) -> LedgerError:
    """What is said where a database refuses to write."""
    return LedgerError(f"{where} cannot be written: {why}. What it held before is as it was.")


def lost(where: str, why: str) -> LedgerError:
    """What is said where a database does not answer any more."""
    return LedgerError(f"{where} does not answer: {why}. Nothing of this command was recorded.")
