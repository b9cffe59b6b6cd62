"""A ledger in PostgreSQL, for teams: through psycopg 3, which the extra ``postgres`` installs.

The tables stand in a schema of their own, ``showthrough``, of the database that the address names. Whoever writes holds
an advisory lock that ends with the transaction, and with the connection if the process dies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from showthrough.errors import LedgerError
from showthrough.ledger.events import Event
from showthrough.ledger.schema import KEPT, REFUSING, TABLES, WITH_STATES, steps, triggers
from showthrough.ledger.store import Fetched, Session, lost, not_written

_TIMEOUTS = "'idle_in_transaction_session_timeout', 'statement_timeout', 'transaction_timeout'"  # a gate takes its time
_LOCK = 0x73686F777468726F  # the name of the lock, a number: "showthro"
_REFUSED = ("28000", "28P01")
_NO_PERMISSION = "42501"
_FULL = ("53100", "53200", "53400")
_EXISTS = ("42P06", "42P07")
_SECONDS = 15  # for a server that does not answer
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_HOST = r"(?:[\w.%-]*|\[[\da-fA-F:.]+\])(?::\d*)?"
_PRINTABLE = re.compile(
    rf"(?P<scheme>\w+)://(?:(?P<user>[\w.%+-]*)(?::[^\s/?#@]*)?(?P<at>@))?(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?P<database>/[^\s/?#@]*)?(?:\?[^\s#@]*)?"
)


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise LedgerError(
            "A ledger in PostgreSQL needs psycopg: install it with pip install 'showthrough[postgres]'."
        ) from None
    return psycopg


def create(address: str, first: Event) -> None:
    """Make the tables of a ledger, all or none."""
    database = PostgresDatabase(address)
    try:
        if not database.begin(writing=True):
            raise lost(database.where, "another command makes a ledger there")
        if database.version() is not None:
            raise LedgerError(f"{database.where} holds a ledger already: nothing was done.")
        for statement in steps("postgresql", 0):
            database.run(statement)
        Session(database).append(first)
        database.commit()
    finally:
        database.close()


class PostgresDatabase:
    """A connection to a server."""

    kind = "postgresql"

    def __init__(self, address: str) -> None:
        self._psycopg = _driver()
        self.where = without_password(address)
        try:
            self._connection = self._psycopg.connect(
                address, autocommit=True, connect_timeout=_SECONDS, prepare_threshold=None
            )  # nothing is prepared: a pooler may give the next transaction another server process
        except self._psycopg.Error as problem:
            raise self._unreachable(problem) from None
        except (ValueError, UnicodeError):
            raise LedgerError(f"{self.where} is no address of a PostgreSQL database.") from None

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[Fetched]:
        """Run a statement with ``?`` for values."""
        try:
            with self._connection.cursor(binary=True) as cursor:
                if values:
                    cursor.execute(cast(Any, statement.replace("%", "%%").replace("?", "%s")), values)
                else:
                    cursor.execute(cast(Any, statement))
                return list(cursor.fetchall()) if cursor.description else []
        except self._psycopg.Error as problem:
            raise self._sentence(problem) from None

    def begin(self, *, writing: bool) -> bool:
        """Begin a transaction; False where another one writes."""
        if not writing:
            self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return True
        self.run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")  # each statement sees what others have committed
        self.run(f"SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN ({_TIMEOUTS})")
        if self.run("SELECT pg_try_advisory_xact_lock(?)", (_LOCK,))[0][0]:
            return True
        self.undo()
        return False

    def commit(self) -> bool:
        """End it with all that was done."""
        self.run("COMMIT")
        return True

    def undo(self) -> None:
        """End it as if nothing had been done; a connection that is lost has done that."""
        try:
            if not self._connection.closed:
                self._connection.execute("ROLLBACK")
        except self._psycopg.Error:
            self._connection.close()

    def version(self) -> int | None:
        """Of the tables; None if there are none of ours."""
        if self.run("SELECT to_regclass('showthrough.versions')::text")[0][0] is None:
            return None
        found = self.run("SELECT max(version) FROM showthrough.versions")[0][0]
        return None if found is None else int(found)

    def faults(self, version: int) -> list[str]:
        """Tables that are none or have rows elsewhere, and triggers that are missing, asleep or do something else."""
        shown = [t for t in TABLES if t in KEPT or version >= WITH_STATES]
        tables = self.run(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = 'showthrough' AND c.relkind = 'r' AND NOT c.relrowsecurity AND NOT c.relhasrules "
            "AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE c.oid IN (i.inhparent, i.inhrelid))"
        )
        awake = self.run(
            "SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n "
            "ON n.oid = c.relnamespace JOIN pg_proc p ON p.oid = t.tgfoid WHERE n.nspname = 'showthrough' "
            "AND t.tgenabled IN ('O', 'A') AND t.tgtype IN (27, 34) AND t.tgqual IS NULL AND t.tgattr = '' "
            "AND t.tgname LIKE c.relname || '_no_%' AND p.proname = 'refuse' AND p.prosrc = ?",
            (REFUSING,),
        )
        found = []
        if {str(row[0]) for row in tables} != set(shown):
            found.append("The schema lacks a table of a ledger, or has others, rules or hidden rows.")
        if not triggers(self.kind) <= {str(row[0]) for row in awake}:
            found.append("The schema lacks a trigger that keeps what is there.")
        return found

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def _unreachable(self, problem: Exception) -> LedgerError:
        told = _QUOTED.sub("", str(problem))  # names of hosts, users and databases may hold any word
        if any(words in told for words in ("password", "authentication", "role  does not", "pg_hba")):
            return LedgerError(f"{self.where} refuses the user or the password: check both.")
        if "database  does not" in told:
            return LedgerError(f"{self.where}: there is no such database on this server.")
        if "too many" in told or "remaining connection slots" in told:
            return LedgerError(f"{self.where} takes no more connections now: try again later.")
        if isinstance(problem, self._psycopg.ProgrammingError) or ": invalid " in told:
            return LedgerError(f"{self.where} is no address of a PostgreSQL database.")
        return LedgerError(
            f"{self.where} cannot be reached: check host and port, that the server runs, and that it lets this user in."
        )

    def _sentence(self, problem: Any) -> LedgerError:
        state = str(getattr(problem, "sqlstate", None) or "")
        if state in _FULL:
            return not_written(self.where, "the disk or the memory of the server is full")
        if state == _NO_PERMISSION or state in _REFUSED:
            return LedgerError(f"{self.where}: this user has no permission for it. Ask whoever runs the database.")
        if state in _EXISTS:
            return LedgerError(f"{self.where} holds a schema showthrough already: nothing was done.")
        if state == "P0001":
            return LedgerError(f"{self.where} refuses what is to be recorded: a ledger only grows.")
        if state == "25006":
            return not_written(self.where, "the server only reads")
        if not state or state[:2] in ("08", "57", "25") or self._connection.closed:
            return lost(self.where, "the connection was lost")
        return LedgerError(f"{self.where} was changed by another program: showthrough ledger verify tells.")


def without_password(address: str) -> str:
    """The address as it may be printed; of one that is not quite an address only the scheme, lest it be a password."""
    found = _PRINTABLE.fullmatch(address)
    if found is None:
        return f"{address.partition('://')[0]}://…"
    return "{scheme}://{user}{at}{hosts}{database}".format(**found.groupdict(default=""))
