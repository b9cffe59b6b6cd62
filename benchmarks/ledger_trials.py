"""Trials of the ledger that need processes: gates at the same moment, kills at random ones, and manipulations.

Children are forked from a process that has loaded the package and not worked with it: libraries that hold threads do
not survive a fork. What a child finds is its exit code, or a line of JSON.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import showthrough as st
from showthrough.errors import ShowthroughError
from showthrough.ledger import ledger as _loaded
from showthrough.ledger.verifying import verify

VERDICTS = {"pass": 0, "block": 1, "review": 3, "inconclusive": 4}


def fork(work: Callable[[], int]) -> int:
    """Run something in a child; gives its number."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        code = work()
    except ShowthroughError as problem:
        print(problem, flush=True)
        code = 2
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def done(child: int) -> int:
    """Wait for a child; its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def asked(work: Callable[[], Any]) -> Any:
    """What a child says, as plain data."""
    end, begin = os.pipe()

    def tell() -> int:
        os.close(end)
        with os.fdopen(begin, "w") as stream:
            json.dump(work(), stream)
        return 0

    child = fork(tell)
    os.close(begin)
    with os.fdopen(end) as stream:
        text = stream.read()
    code = done(child)
    assert code == 0, f"a child ended with {code}"
    return json.loads(text)


def _history(place: str) -> dict[str, Any]:
    with st.Ledger.open(place) as ledger:
        found = ledger.verify()
        return {
            "holds": found.holds,
            "faults": list(found.faults),
            "names": [r.name for r in ledger.history()],
            "prints": [r.fingerprint() for r in ledger.history()],
            "verdicts": [e.told["verdict"] for e in ledger.log() if e.kind == "verdict given"],
            "events": found.events,
        }


def at_once(places: Callable[[], str], rounds: int) -> Counter[str]:
    """Two candidates that are safe alone and unsafe together, judged at the same moment, round after round."""
    found: Counter[str] = Counter()
    for _ in range(rounds):
        place = places()
        assert asked(partial(_begun, place)) is True
        end, begin = os.pipe()
        children = [fork(partial(_gate, place, which, end)) for which in (0, 1)]
        time.sleep(0.05)  # both stand at the door
        os.write(begin, b"go")
        codes = sorted(done(child) for child in children)
        os.close(end)
        os.close(begin)
        state = asked(partial(_history, place))
        good = codes == [0, 1] and state["holds"] and len(state["names"]) == 2
        found["one passed, one was blocked" if good else f"wrong: {codes} {state}"] += 1
        assert sorted(state["verdicts"]) == ["block", "pass"], state
    return found


def _begun(place: str) -> bool:
    from tests.ledger.cases import safe

    with st.Ledger.create(place) as ledger:
        ledger.add(safe("D"))
    return True


def _gate(place: str, which: int, door: int) -> int:
    from tests.ledger.cases import STRICT, pair

    candidate = pair()[which]
    with st.Ledger.open(place) as ledger:
        os.read(door, 1)
        return VERDICTS[ledger.gate(candidate, policy=STRICT).verdict]


def killed(places: Callable[[], str], rounds: int, seed: int) -> Counter[str]:
    """Gates and additions that are killed at a random moment; the ledger is as before or as after, and goes on."""
    rng, found = random.Random(seed), Counter[str]()
    place, before, longest = "", None, 0.3
    for number in range(rounds):
        if number % 20 == 0:
            place = places()
            assert asked(partial(_begun, place)) is True
            before = asked(partial(_history, place))
            began = time.monotonic()
            assert done(fork(partial(_next, place, "first", seed - 1, adds=False))) == 0
            longest = time.monotonic() - began
            before = asked(partial(_history, place))
        adds, name = rng.random() < 0.3, f"R{number}"
        child = fork(partial(_next, place, name, seed + number, adds=adds))
        time.sleep(longest * (rng.random() * 1.1 if rng.random() < 0.4 else 0.7 + 0.5 * rng.random()))  # often late
        os.kill(child, signal.SIGKILL)
        code = done(child)
        state = asked(partial(_history, place))
        assert before is not None
        assert state["holds"], state["faults"]
        if state["events"] == before["events"]:
            assert state == before, (state, before)
            found["as before"] += 1
        else:
            assert state["names"] == [*before["names"], name], (state, before)
            assert state["prints"][:-1] == before["prints"]
            found["as after"] += 1
        found["ended by itself"] += code == 0
        before = state
    return found


def _next(place: str, name: str, seed: int, *, adds: bool) -> int:
    from tests.ledger.cases import PERMISSIVE, random_release

    candidate = random_release(random.Random(seed), name)
    with st.Ledger.open(place) as ledger:
        if adds:
            ledger.add(candidate)
        else:
            assert ledger.gate(candidate, policy=PERMISSIVE).verdict == "pass"
    return 0


def manipulated(home: Path, rounds: int, seed: int) -> Counter[str]:
    """A ledger in a file, changed in one place each time: by bytes of the file, or by SQL; what does `verify` see?"""
    from tests.ledger.cases import PERMISSIVE, STRICT, figure1, safe

    original, copy = home / "original.db", home / "copy.db"
    with st.Ledger.create(original) as ledger:
        d1, d2 = figure1()
        ledger.add(d1)
        ledger.gate(d2, policy=STRICT)
        ledger.add("D2", exception="court order", owner="board", until="2099-01-01")
        ledger.gate(safe("D3"), policy=PERMISSIVE)
        ledger.withdraw("D1", why="typo")
        head = ledger.head
    content, truth = original.read_bytes(), returned(original)
    rng, found = random.Random(seed), Counter[str]()
    for number in range(rounds):
        shutil.copyfile(original, copy)
        way = spoil_bytes if rng.random() < 0.5 else spoil_rows
        what = way(copy, content, rng)
        seen, changed = sees(copy), returned(copy) != truth
        if changed and not seen and sees(copy, expect=head):
            found["changed and found by the head that was kept elsewhere (the end cut off)"] += 1
            found["manipulations"] += 1
            continue
        found["manipulations"] += 1
        if changed and not seen:
            found["MISSED"] += 1
            print(f"missed: round {number} of seed {seed}: {what}", flush=True)
        elif changed:
            found[f"changed and found ({what.split(':')[0]})"] += 1
        elif seen:
            found["nothing that is read changed, found all the same"] += 1
        else:
            found["nothing that is read changed (free pages, counters), not found"] += 1
    return found


def sees(path: Path, expect: str | None = None) -> bool:
    """Whether `verify` finds something, or the ledger does not even open."""
    try:
        store = _loaded.open_store(path)
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


def _run(statement: str) -> Callable[[sqlite3.Connection, random.Random], str]:
    def run(connection: sqlite3.Connection, rng: random.Random) -> str:
        events = connection.execute("SELECT max(number) FROM events").fetchone()[0]
        one, other = rng.randrange(1, events + 1), rng.randrange(1, events + 1)
        names = [row[0] for row in connection.execute("SELECT DISTINCT sha256 FROM contents ORDER BY sha256")]
        place = {"one": one, "other": other, "name": rng.choice(names), "another": rng.choice(names)}
        connection.executescript(statement.format(**place, far=rng.randrange(50, 99)))
        return statement

    return run


_SQL = [
    _changed_text,
    _changed_text,
    _changed_bytes,
    _run("DELETE FROM events WHERE number = {one}"),
    _run("DELETE FROM events WHERE number = {one}; UPDATE events SET number = number - 1 WHERE number > {one}"),
    _run(
        "UPDATE events SET number = 1000 WHERE number = {one}; UPDATE events SET number = {one} WHERE number = {other}; UPDATE events SET number = {other} WHERE number = 1000"
    ),
    _run("UPDATE events SET body = (SELECT body FROM events WHERE number = {other}) WHERE number = {one}"),
    _run("INSERT INTO events SELECT {far}, time, kind, body, before, hash FROM events WHERE number = {one}"),
    _run("INSERT INTO events SELECT max(number) + 1, time, kind, body, hash, hash FROM events"),
    _run("DELETE FROM contents WHERE sha256 = '{name}'"),
    _run("INSERT INTO contents VALUES ('{far}', 0, x'00')"),
    _run("INSERT INTO contents SELECT sha256, part + 1, bytes FROM contents WHERE sha256 = '{name}'"),
    _run("UPDATE contents SET part = part + 1 WHERE sha256 = '{name}'"),
    _run("UPDATE contents SET bytes = (SELECT bytes FROM contents WHERE sha256 = '{another}') WHERE sha256 = '{name}'"),
    _run("UPDATE contents SET bytes = CAST(bytes AS TEXT) WHERE sha256 = '{name}'"),
    _run("UPDATE events SET kind = CAST(kind AS BLOB) WHERE number = {one}"),
    _run("UPDATE states SET bytes = x'00'"),
    _run("DELETE FROM states"),
    _run("INSERT INTO states VALUES (2, x'00')"),
    _run("DELETE FROM versions WHERE version = 1"),
    _run("DELETE FROM versions WHERE version = 2"),
    _run("INSERT INTO versions VALUES ({far})"),
    _run("CREATE TABLE more (x)"),
    _run("CREATE TRIGGER more AFTER INSERT ON events BEGIN SELECT 1; END"),
]
