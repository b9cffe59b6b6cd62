"""A ledger that somebody changes, by bytes of its file or by SQL: what does `verify` see?"""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import showthrough as st
from showthrough.errors import ShowthroughError
from showthrough.ledger.ledger import open_store
from showthrough.ledger.verifying import verify


def manipulated(home: Path, rounds: int, seed: int) -> Counter[str]:
    """A ledger in a file, changed in one place each time: by bytes of the file, or by SQL."""
    original, copy = home / "original.db", home / "copy.db"
    head = _written(original)
    content, truth, prints = original.read_bytes(), returned(original), _read(original)
    rng, found = random.Random(seed), Counter[str]()
    for number in range(rounds):
        shutil.copyfile(original, copy)
        way = spoil_bytes if rng.random() < 0.5 else spoil_rows
        what = way(copy, content, rng)
        seen, changed = sees(copy), returned(copy) != truth
        _count(found, (number, what), (seen, changed or (not seen and _read(copy) != prints)), lambda: sees(copy, head))
    return found


def manipulated_rows(server: Any, rounds: int, seed: int) -> Counter[str]:
    """A ledger in PostgreSQL, a copy of its database changed by SQL each time."""
    original = server.fresh()
    head, name = _written(original), original.split("/")[-1].split("?")[0]
    truth, prints = _selected(original), _read(original)
    rng, found = random.Random(seed), Counter[str]()
    for number in range(rounds):
        server.run(f"CREATE DATABASE copy_{number} TEMPLATE {name}")
        place = server.address(f"copy_{number}")
        statement = rng.choice(_POST)
        with _session(place) as connection:
            for table in ("events", "contents", "versions"):
                connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            _run(statement)(connection, rng)
            for table in ("events", "contents", "versions"):
                connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        seen, changed = sees(place), _selected(place) != truth
        _count(
            found,
            (number, f"rows: {statement}"),
            (seen, changed or (not seen and _read(place) != prints)),
            partial(sees, place, head),
        )
        server.run(f"DROP DATABASE copy_{number}")
    return found


def _written(place: str | Path) -> str:
    """A ledger with events of most kinds; gives its head."""
    from tests.ledger.cases import PERMISSIVE, STRICT, figure1, safe

    with st.Ledger.create(place) as ledger:
        d1, d2 = figure1()
        ledger.add(d1)
        ledger.gate(d2, policy=STRICT)
        ledger.add("D2", exception="court order", owner="board", until="2099-01-01")
        ledger.gate(safe("D3"), policy=PERMISSIVE)
        ledger.withdraw("D1", why="typo")
        return ledger.head


def _read(place: str | Path) -> Any:
    """What the package itself reads."""
    with st.Ledger.open(place) as ledger:
        assert ledger.verify()
        return [release.fingerprint() for release in ledger.history()], ledger.head, ledger.releases().rows()


def _count(
    found: Counter[str], which: tuple[int, str], sight: tuple[bool, bool], with_head: Callable[[], bool]
) -> None:
    """Whether it was seen and whether anything that is read changed, as one of the counts."""
    (number, what), (seen, changed) = which, sight
    found["manipulations"] += 1
    if changed and seen:
        found[f"changed and found ({what.split(':')[0]})"] += 1
    elif changed and with_head():
        found["changed and found by the head that was kept elsewhere (the end cut off)"] += 1
    elif changed:
        found["MISSED"] += 1
        print(f"missed: round {number}: {what}", flush=True)
    elif seen:
        found["nothing that is read changed, found all the same"] += 1
    else:
        found["nothing that is read changed (free pages, counters), not found"] += 1


@contextmanager
def _session(address: str) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("SET search_path = showthrough")
        yield connection


def _selected(address: str) -> Any:
    """All rows of every table, without our code."""
    with _session(address) as connection:
        names = [
            row[0] for row in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'showthrough'")
        ]
        return {name: sorted(map(repr, connection.execute(f"SELECT * FROM {name}"))) for name in names}


def sees(place: str | Path, expect: str | None = None) -> bool:
    """Whether `verify` finds something, or the ledger does not even open."""
    try:
        store = open_store(place)
    except ShowthroughError:
        return True
    try:
        return not verify(store, expect=expect).holds
    finally:
        store.database.close()


def returned(path: Path) -> Any:
    """All that queries return, without our code: rows of every table with their types, and the schema."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        connection.text_factory = bytes
        tables = [row[0].decode() for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {t: sorted(map(repr, connection.execute(f"SELECT * FROM {t}"))) for t in tables}
        return rows, sorted(map(repr, connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")))
    except (sqlite3.Error, UnicodeDecodeError) as problem:
        return f"unreadable: {type(problem).__name__}"
    finally:
        connection.close()


def spoil_bytes(path: Path, content: bytes, rng: random.Random) -> str:
    """Flip, overwrite, cut off or exchange bytes of the file."""
    changed, at = bytearray(content), rng.randrange(len(content))
    kind = rng.choice(["flip", "flip", "flip", "header", "write", "cut", "pages", "zeros"])
    if kind == "flip":
        changed[at] ^= 1 << rng.randrange(8)
    elif kind == "header":
        at = rng.randrange(100)
        changed[at] ^= 1 << rng.randrange(8)
    elif kind == "write":
        size = rng.randrange(1, 64)
        changed[at : at + size] = rng.randbytes(len(changed[at : at + size]))
    elif kind == "zeros":
        size = rng.randrange(1, 4096)
        changed[at : at + size] = bytes(len(changed[at : at + size]))
    elif kind == "cut":
        changed = changed[:at]
    else:
        pages = len(content) // 4096
        one, other = (4096 * rng.randrange(pages) for _ in range(2))
        first, second = bytes(changed[one : one + 4096]), bytes(changed[other : other + 4096])
        changed[one : one + 4096], changed[other : other + 4096] = second, first
    path.write_bytes(changed)
    return f"bytes: {kind} at {at}"


def spoil_rows(path: Path, _: bytes, rng: random.Random) -> str:
    """Change, remove, add or exchange rows, the triggers out of the way and back again."""
    connection = sqlite3.connect(path, isolation_level=None)
    told = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _sql in told:
        connection.execute(f"DROP TRIGGER {name}")
    statement = rng.choice(_SQL)(connection, rng)
    for _name, sql in told:
        connection.execute(sql)
    connection.close()
    return f"rows: {statement}"


def _changed_text(connection: sqlite3.Connection, rng: random.Random) -> str:
    column = rng.choice(["time", "kind", "body", "before", "hash"])
    number, text = rng.choice(connection.execute(f"SELECT number, {column} FROM events").fetchall())
    at = rng.randrange(len(text))
    new = text[:at] + chr(rng.randrange(32, 127)) + text[at + rng.randrange(2) :]
    connection.execute(f"UPDATE events SET {column} = ? WHERE number = ?", (new, number))
    return f"{column} of event {number}"


def _changed_bytes(connection: sqlite3.Connection, rng: random.Random) -> str:
    name, part, content = rng.choice(connection.execute("SELECT sha256, part, bytes FROM contents").fetchall())
    new = bytearray(content)
    new[rng.randrange(len(new))] ^= 1 << rng.randrange(8)
    connection.execute("UPDATE contents SET bytes = ? WHERE sha256 = ? AND part = ?", (bytes(new), name, part))
    return "bytes of a content"


def _run(statement: str) -> Callable[[Any, random.Random], str]:
    def run(connection: Any, rng: random.Random) -> str:
        events = connection.execute("SELECT max(number) FROM events").fetchone()[0]
        one, other = rng.randrange(1, events + 1), rng.randrange(1, events + 1)
        names = [row[0] for row in connection.execute("SELECT DISTINCT sha256 FROM contents ORDER BY sha256")]
        place = {"one": one, "other": other, "name": rng.choice(names), "another": rng.choice(names)}
        place["column"] = rng.choice(["time", "kind", "body", "before", "hash"])
        several = connection.executescript if isinstance(connection, sqlite3.Connection) else connection.execute
        several(statement.format(**place, far=rng.randrange(50, 99), at=rng.randrange(200)))
        return statement

    return run


_ANYWHERE = [
    "DELETE FROM events WHERE number = {one}",
    "DELETE FROM events WHERE number = {one}; UPDATE events SET number = number - 1 WHERE number > {one}",
    "UPDATE events SET number = 1000 WHERE number = {one}; UPDATE events SET number = {one} WHERE number = {other} "
    "AND {one} <> {other}; UPDATE events SET number = {other} WHERE number = 1000",
    "UPDATE events SET body = (SELECT body FROM events WHERE number = {other}) WHERE number = {one}",
    "INSERT INTO events SELECT {far}, time, kind, body, before, hash FROM events WHERE number = {one}",
    "INSERT INTO events SELECT number + 1, time, kind, body, hash, hash FROM events ORDER BY number DESC LIMIT 1",
    "DELETE FROM contents WHERE sha256 = '{name}'",
    "INSERT INTO contents SELECT sha256, part + 1, bytes FROM contents WHERE sha256 = '{name}'",
    "UPDATE contents SET part = part + 1 WHERE sha256 = '{name}'",
    "UPDATE contents SET bytes = (SELECT bytes FROM contents WHERE sha256 = '{another}') WHERE sha256 = '{name}'",
    "DELETE FROM states",
    "DELETE FROM versions WHERE version = 1",
    "DELETE FROM versions WHERE version = 2",
    "INSERT INTO versions VALUES ({far})",
]
_SQL = [
    *[_changed_text] * 4,
    *[_changed_bytes] * 2,
    *map(_run, _ANYWHERE),
    _run("INSERT INTO contents VALUES ('{far}', 0, x'00')"),
    _run("UPDATE contents SET bytes = CAST(bytes AS TEXT) WHERE sha256 = '{name}'"),
    _run("UPDATE events SET kind = CAST(kind AS BLOB) WHERE number = {one}"),
    _run("UPDATE states SET bytes = x'00'"),
    _run("INSERT INTO states VALUES (2, x'00')"),
    _run("CREATE TABLE more (x)"),
    _run("CREATE TRIGGER more AFTER INSERT ON events BEGIN SELECT 1; END"),
]
_POST = [
    *_ANYWHERE,
    *[
        "UPDATE events SET {column} = overlay({column} placing '~' from 1 + {at} % length({column})) WHERE number = {one}"
    ]
    * 4,
    *["UPDATE contents SET bytes = set_bit(bytes, {at}, 1 - get_bit(bytes, {at})) WHERE sha256 = '{name}'"] * 2,
    "UPDATE states SET bytes = set_bit(bytes, {at}, 1 - get_bit(bytes, {at}))",
    "INSERT INTO contents VALUES ('{far}', 0, decode('00', 'hex'))",
    "INSERT INTO states VALUES (2, decode('00', 'hex'))",
    "CREATE TABLE more (x integer)",
    "CREATE TABLE public.more () INHERITS (events)",
    "CREATE RULE more AS ON INSERT TO events DO INSTEAD NOTHING",
    "DROP TRIGGER events_no_update ON events",
    "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL/* RAISE EXCEPTION */; END'",
    "ALTER TABLE contents ENABLE ROW LEVEL SECURITY",
]
