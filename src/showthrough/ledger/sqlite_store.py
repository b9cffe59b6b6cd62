"""A ledger in a SQLite file: the default, with nothing to install or run.

The journal is the old one, removed at the end of every transaction, and every write waits for the disk: a write-ahead
log of SQLite before 3.51.3 can be corrupted by two writers, and gates are rare. So the ledger is one file
that can be copied, and a copy on read-only media can be read.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from showthrough.errors import FileError, LedgerError
from showthrough.ledger.events import COLUMNS, Event
from showthrough.ledger.schema import APPLICATION, TABLES, VERSION, steps
from showthrough.ledger.store import Fetched, lost, not_written
from showthrough.storage.unit import Unit

# a damaged file gives numbers that are too large, and errors that quote bytes which are no text
PROBLEMS = (sqlite3.Error, OverflowError, UnicodeError)
_BUSY = 0.2  # seconds inside SQLite; waiting longer is up to the store, which hears interruptions
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_FOREIGN = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_HEAD = b"SQLite format 3\x00"


def create(path: Path, first: Event) -> None:
    """Make a ledger: a file that its owner alone can read, there as a whole or not at all."""
    with Unit() as unit:
        unit.file(path, private=True, replace=False).write(fresh(first=first))
        unit.commit()


def fresh(version: int = VERSION, *, first: Event | None = None) -> bytes:
    """The bytes of a ledger with at most one event."""
    made = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for statement in steps("sqlite", 0, version):
            made.execute(statement)
        if first is not None:
            made.execute(f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?)", first.row)
        return made.serialize()
    finally:
        made.close()


class SqliteDatabase:
    """A connection to a SQLite file."""

    kind = "sqlite"

    def __init__(self, path: Path) -> None:
        self.where = os.fspath(path)
        _refuse_others(path)
        self.read_only = not os.access(path, os.W_OK) or not os.access(path.absolute().parent, os.W_OK)
        mode = "ro" if self.read_only else "rw"
        name = f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}"
        try:
            self._connection = sqlite3.connect(
                name, uri=True, isolation_level=None, timeout=_BUSY, check_same_thread=False
            )
        except PROBLEMS as problem:
            raise self._sentence(problem) from None
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        if self.run("PRAGMA application_id")[0][0] != APPLICATION:
            raise LedgerError(f"{self.where} is no ledger: showthrough ledger init makes one.")
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = OFF"):
            self.run(f"PRAGMA {pragma}")
        if not self.read_only:
            self.run("PRAGMA journal_mode = DELETE")
            self.run("PRAGMA synchronous = EXTRA")

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[Fetched]:
        """Run a statement with ``?`` for values."""
        try:
            return self._connection.execute(statement, values).fetchall()
        except PROBLEMS as problem:
            raise self._sentence(problem) from None

    def begin(self, *, writing: bool) -> bool:
        """Begin a transaction; False where another one writes."""
        if writing and self.read_only:
            raise not_written(self.where, "it, or its folder, may only be read")
        try:
            self._connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
            self._connection.execute("SELECT count(*) FROM versions").fetchall()  # from now on one state
        except PROBLEMS as problem:
            self.undo()
            if _code(problem) in _LOCKED:
                return False
            raise self._sentence(problem) from None
        return True

    def commit(self) -> bool:
        """End it with all that was done; False while somebody reads."""
        try:
            self._connection.execute("COMMIT")
        except PROBLEMS as problem:
            if _code(problem) in _LOCKED:
                return False
            raise self._sentence(problem) from None
        return True

    def undo(self) -> None:
        """End it as if nothing had been done."""
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except PROBLEMS:  # the journal undoes it when the file is opened again
                self._connection.close()

    def version(self) -> int | None:
        """Of the tables; None if there are none of ours."""
        if not self.run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'versions'"):
            return None
        found = self.run("SELECT max(version) FROM versions")[0][0]
        return found if isinstance(found, int) else None

    def faults(self, version: int) -> list[str]:
        """Damaged pages, and tables or triggers that are not those of a ledger."""
        try:
            told = [str(row[0]) for row in self._connection.execute("PRAGMA integrity_check(3)").fetchall()]
            found = set(self._connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall())
        except PROBLEMS:
            return ["The file is damaged: SQLite cannot read it."]
        if told != ["ok"]:
            return ["The file is damaged: SQLite finds pages that do not fit together."]
        expected = sqlite3.connect(":memory:", isolation_level=None)
        expected.deserialize(fresh(version))
        wanted = set(expected.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall())
        expected.close()
        gone = sorted(str(row[1]) for row in wanted - found)
        more = sorted(str(row[1]) for row in found - wanted if row[1] not in {w[1] for w in wanted})
        kind = "a table or trigger" if not set(gone) & set(TABLES) else "a table"
        return [f"The file lacks {kind} of a ledger, or has it in another form."] * bool(gone) + [
            "The file has tables or triggers that are not those of a ledger."
        ] * bool(more)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _sentence(self, problem: Exception) -> FileError:
        code = _code(problem)
        if code in _FOREIGN and not self._is_ours():
            return LedgerError(f"{self.where} is no ledger: showthrough ledger init makes one.")
        if code in _FOREIGN or not isinstance(problem, sqlite3.Error):
            return LedgerError(f"{self.where} is damaged: SQLite cannot read it.")
        if code in _FULL:
            return not_written(self.where, "the disk is full, or fails")
        if code in _LOCKED:
            return lost(self.where, "another command holds it")
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
            return not_written(self.where, "the file or its folder may only be read, or not even that")
        if code == sqlite3.SQLITE_CONSTRAINT:
            return LedgerError(f"{self.where} refuses what is to be recorded: a ledger only grows.")
        return LedgerError(
            f"{self.where} is damaged, or was changed by another program: showthrough ledger verify tells."
        )

    def _is_ours(self) -> bool:
        try:
            with open(self.where, "rb") as stream:
                head = stream.read(100)
        except OSError:
            return False
        return head[:16] == _HEAD and head[68:72] == APPLICATION.to_bytes(4, "big")


def _code(problem: Exception) -> int:
    """The primary error code."""
    return int(getattr(problem, "sqlite_errorcode", None) or 0) & 0xFF


def _refuse_others(path: Path) -> None:
    if path.is_dir():
        raise LedgerError(f"{os.fspath(path)} is a folder, expected the file of a ledger.")
    if not path.exists():
        raise LedgerError(f"There is no ledger {os.fspath(path)}: showthrough ledger init makes one.")
    if not path.is_file():
        raise LedgerError(f"{os.fspath(path)} is a pipe or a device, expected the file of a ledger.")
    if not os.access(path, os.R_OK):
        raise LedgerError(f"{os.fspath(path)} cannot be read: it is its owner's.")
