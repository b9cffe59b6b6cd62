"""The tables of a ledger, in the words of both databases, and how an older ledger becomes one of today.

Everything that is said of releases stands in ``events``, and nothing is told twice: lists are read off the events. What
was published stands in ``contents`` by its SHA-256, in parts that no database finds too large. ``states`` is a
convenience: what was worked out of the history, which is checked before it is used and may be thrown away.
"""

from __future__ import annotations

APPLICATION = 0x53545447  # marks a SQLite file as ours
PART = 16 * 2**20  # bytes of a content in one row

_EVENTS = """CREATE TABLE {events} (
  number BIGINT PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, before TEXT NOT NULL,
  hash TEXT NOT NULL)"""
_CONTENTS = """CREATE TABLE {contents} (
  sha256 TEXT NOT NULL, part BIGINT NOT NULL, bytes {binary} NOT NULL, PRIMARY KEY (sha256, part))"""
_VERSIONS = "CREATE TABLE {versions} (version BIGINT PRIMARY KEY)"
_STATES = "CREATE TABLE {states} (place BIGINT PRIMARY KEY, bytes {binary} NOT NULL)"

KEPT = ("events", "contents", "versions")  # nothing in them is ever changed
TABLES = (*KEPT, "states")

_REFUSAL = "a ledger only grows"
_LITE_TRIGGERS = [
    f"CREATE TRIGGER {table}_no_{what.lower()} BEFORE {what} ON {table} BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
    for table in KEPT
    for what in ("UPDATE", "DELETE")
]
REFUSING = f" BEGIN RAISE EXCEPTION '{_REFUSAL}'; END "
_POST_FUNCTION = f"CREATE FUNCTION showthrough.refuse() RETURNS trigger LANGUAGE plpgsql AS $${REFUSING}$$"
_POST_TRIGGERS = [
    f"CREATE TRIGGER {table}_no_{what.split()[0].lower()} BEFORE {what} ON showthrough.{table} "
    f"FOR EACH {'STATEMENT' if what == 'TRUNCATE' else 'ROW'} EXECUTE FUNCTION showthrough.refuse()"
    for table in KEPT
    for what in ("UPDATE OR DELETE", "TRUNCATE")
]

_NAMES = {
    "sqlite": {**{table: table for table in TABLES}, "binary": "BLOB"},
    "postgresql": {**{table: f"showthrough.{table}" for table in TABLES}, "binary": "BYTEA"},
}
_STEPS = {
    "sqlite": (
        (f"PRAGMA application_id = {APPLICATION}", _VERSIONS, _EVENTS, _CONTENTS, *_LITE_TRIGGERS),
        (_STATES,),
    ),
    "postgresql": (
        ("CREATE SCHEMA showthrough", _VERSIONS, _EVENTS, _CONTENTS, _POST_FUNCTION, *_POST_TRIGGERS),
        (_STATES,),
    ),
}
VERSION = len(_STEPS["sqlite"])
WITH_STATES = 2  # the version that brought them


def steps(database: str, since: int, until: int = VERSION) -> list[str]:
    """The statements that make a ledger of version ``until`` of one of version ``since`` (0: of nothing)."""
    found: list[str] = []
    for version, step in enumerate(_STEPS[database][since:until], start=since + 1):
        found += [text.format(**_NAMES[database]) if "{" in text else text for text in step]
        found.append(f"INSERT INTO {_NAMES[database]['versions']} (version) VALUES ({version})")
    return found


def table(database: str, name: str) -> str:
    """A table as the database calls it."""
    return _NAMES[database][name]


def triggers(database: str) -> set[str]:
    """The names of the triggers that keep what is there."""
    told = _LITE_TRIGGERS if database == "sqlite" else _POST_TRIGGERS
    return {text.split()[2] for text in told}
