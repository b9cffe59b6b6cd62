"""The ledger under strain, and what it costs.

    python -m benchmarks.ledger at-once [--rounds 200]      two gates at the same moment, on SQLite and PostgreSQL
    python -m benchmarks.ledger killed [--rounds 200]       kill -9 at random moments, on both
    python -m benchmarks.ledger manipulated [--rounds 10000]   bytes and rows of a ledger changed: what `verify` sees
    python -m benchmarks.ledger full [--rounds 200] [--small FOLDER]   gates without room; FOLDER is on a small file system
    python -m benchmarks.ledger gate                        the gate of the 21st release beside `extend` in memory
    python -m benchmarks.ledger many [--rounds 1000]        opening and reading a ledger with so many releases
    python -m benchmarks.ledger contents                    contents in rows beside contents in files

PostgreSQL is started from the machine's own programs, as in the tests.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import os
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import showthrough as st
from benchmarks import ledger_spoiling as spoiling
from benchmarks import ledger_trials as trials


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["at-once", "killed", "full", "manipulated", "gate", "many", "contents"])
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    parser.add_argument("--small", metavar="FOLDER", type=Path)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # a server that was started is ended too
    if given.what in ("at-once", "killed"):
        rounds = given.rounds or 200
        for database in ("sqlite", "postgresql") if given.only is None else (given.only,):
            with _places(database) as places:
                began = time.monotonic()
                work = trials.at_once if given.what == "at-once" else partial(trials.killed, seed=given.seed)
                _print(f"{given.what} on {database}", work(places, rounds), began)
    elif given.what == "manipulated":
        manipulated(given.rounds, given.seed, given.only)
    elif given.what == "full":
        began = time.monotonic()
        with tempfile.TemporaryDirectory(dir=given.small) as home:
            fills = given.small is not None
            _print("full", trials.full(Path(home), given.rounds or 200, given.seed, fills=fills), began)
    elif given.what == "gate":
        for name, made in (("safe groups", _lasting), ("everybody mixed", _mixed)):
            gate_beside_extend(name, made())
    elif given.what == "many":
        many(given.rounds or 1000)
    else:
        contents()


def manipulated(rounds: int | None, seed: int, only: str | None) -> None:
    """A ledger in a file, and one in PostgreSQL, where bytes of files are the server's."""
    if only != "postgresql":
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as home:
            found = spoiling.manipulated(Path(home), rounds or 10_000, seed)
        _print("manipulated on sqlite", found, began)
    if only != "sqlite":
        from tests.ledger.server import running

        began = time.monotonic()
        with running() as server:
            _print("manipulated on postgresql", spoiling.manipulated_rows(server, rounds or 1000, seed), began)


@contextmanager
def _places(database: str) -> Iterator[Callable[[], str]]:
    """Where new ledgers can be made."""
    if database == "sqlite":
        with tempfile.TemporaryDirectory() as home:
            numbers = itertools.count()
            yield lambda: f"{home}/{next(numbers)}.db"
    else:
        from tests.ledger.server import running

        with running() as server:
            yield lambda: str(trials.asked(server.fresh))


def _print(what: str, found: Counter[str], began: float) -> None:
    print(f"{what}: {time.monotonic() - began:.0f} s")
    for name, times in sorted(found.items()):
        print(f"  {times:>6}  {name}")


def _lasting(records: int = 7200, releases: int = 21, seed: int = 0) -> list[st.Release]:
    """Groups that last: each time a tenth of the groups is replaced by groups of newcomers (as m-invariance would)."""
    rng = np.random.default_rng(seed)
    groups = [list(range(k, k + 6)) for k in range(0, records, 6)]
    values = {tuple(g): rng.permutation(14)[:6] for g in groups}
    following, made = records, []
    for number in range(releases):
        made.append(_release(groups, values, f"R{number:02}"))
        for k in rng.choice(len(groups), size=len(groups) // 10, replace=False).tolist():
            groups[k] = list(range(following, following + 6))
            values[tuple(groups[k])] = rng.permutation(14)[:6]
            following += 6
    return made


def _mixed(records: int = 7200, releases: int = 21, size: int = 300, seed: int = 0) -> list[st.Release]:
    """The same persons in other large groups each time: all of them are one island."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(12, size=records)
    made = []
    for number in range(releases):
        order = rng.permutation(records)
        frame = pl.DataFrame(
            {
                "id": [f"p{k}" for k in order],
                "group": np.arange(records) // size,
                "value": [f"v{v}" for v in truth[order]],
            }
        )
        made.append(st.Release.bucketized(frame, id="id", sensitive="value", group="group", name=f"R{number:02}"))
    return made


def _release(groups: list[list[int]], values: dict[tuple[int, ...], np.ndarray], name: str) -> st.Release:
    rows = [(f"p{p}", k, f"v{v}") for k, g in enumerate(groups) for p, v in zip(g, values[tuple(g)], strict=True)]
    frame = pl.DataFrame(rows, schema=["id", "group", "value"], orient="row")
    return st.Release.bucketized(frame, id="id", sensitive="value", group="group", name=name)


def gate_beside_extend(name: str, releases: list[st.Release]) -> None:
    """The gate of the last release after all others, and `extend` of their posterior by it, in one process."""
    policy = st.Policy(certain=10**9, integral="no")  # whole values take the time that a policy allows them
    with tempfile.TemporaryDirectory() as home:
        with st.Ledger.create(Path(home) / "ledger.db") as ledger:
            for one in releases[:-2]:
                ledger.add(one)
            ledger.gate(releases[-2], policy=policy)  # keeps the posterior
        post = st.infer(releases[:-1])
        began, used = time.monotonic(), time.process_time()
        post.extend(releases[-1])
        extend, extend_cpu = time.monotonic() - began, time.process_time() - used
        began, used = time.monotonic(), time.process_time()
        with st.Ledger.open(Path(home) / "ledger.db") as ledger:
            found = ledger.gate(releases[-1], policy=policy)
        gate, gate_cpu = time.monotonic() - began, time.process_time() - used
        size = os.path.getsize(Path(home) / "ledger.db") / 2**20
    allowed = 1.5 * extend_cpu + 1
    print(
        f"{name}: gate {gate:.2f} s ({gate_cpu:.2f} s CPU), extend {extend:.2f} s ({extend_cpu:.2f} s CPU); {found.how}"
    )
    print(
        f"  allowed 1.5 × extend + 1 s = {allowed:.2f} s CPU: {'kept' if gate_cpu <= allowed else 'NOT KEPT'}; {size:.1f} MB"
    )


def many(releases: int) -> None:
    """What it takes to open a ledger with many releases, to list it, to verify it, and to read all of them."""
    from tests.ledger.cases import safe

    with tempfile.TemporaryDirectory() as home:
        place = Path(home) / "ledger.db"
        with st.Ledger.create(place) as ledger:
            ledger.record([_parcel(safe(f"R{k}", persons=range(8 * k, 8 * k + 8))) for k in range(releases)])
        for what, work in (
            ("open", lambda ledger: ledger.head),
            ("list", lambda ledger: ledger.releases()),
            ("verify", lambda ledger: ledger.verify()),
            ("history", lambda ledger: ledger.history()),
        ):
            began = time.monotonic()
            with st.Ledger.open(place) as ledger:
                work(ledger)
            print(f"{what} with {releases} releases: {time.monotonic() - began:.3f} s")


def _parcel(release: st.Release):
    from showthrough.ledger.parcel import of_release

    return of_release(release)


def contents() -> None:
    """Contents of several sizes, kept and read: rows of SQLite beside files with a sync each."""
    rng = np.random.default_rng(0)
    for size, number in ((10_000, 100), (300_000, 30), (30_000_000, 3)):
        blobs = [rng.bytes(size) for _ in range(number)]
        with tempfile.TemporaryDirectory() as home:
            print(f"{number} contents of {size} bytes")
            for what, work in (("rows", _in_rows), ("files", _in_files)):
                kept, read = work(Path(home), blobs)
                print(f"  {what}: kept in {kept:.3f} s, read in {read:.3f} s")


def _in_rows(home: Path, blobs: list[bytes]) -> tuple[float, float]:
    place = home / "rows.db"
    st.Ledger.create(place).close()
    began = time.monotonic()
    with st.Ledger.open(place) as ledger, ledger._store.writing() as session:
        names = [session.keep(blob) for blob in blobs]
    kept, began = time.monotonic() - began, time.monotonic()
    with st.Ledger.open(place) as ledger, ledger._store.reading() as session:
        assert all(session.content(name) for name in names)
    return kept, time.monotonic() - began


def _in_files(home: Path, blobs: list[bytes]) -> tuple[float, float]:
    """As a database beside files would have to: each file on the disk before a row names it."""
    folder = home / "files"
    folder.mkdir()
    connection = sqlite3.connect(home / "files.db", isolation_level=None)
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("CREATE TABLE contents (sha256 TEXT PRIMARY KEY)")
    began = time.monotonic()
    names = []
    connection.execute("BEGIN IMMEDIATE")
    for blob in blobs:
        names.append(hashlib.sha256(blob).hexdigest())
        with open(folder / names[-1], "wb") as stream:
            stream.write(blob)
            stream.flush()
            os.fsync(stream.fileno())
        connection.execute("INSERT INTO contents VALUES (?)", (names[-1],))
    handle = os.open(folder, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)
    connection.execute("COMMIT")
    kept, began = time.monotonic() - began, time.monotonic()
    assert all((folder / name).read_bytes() for name in names)
    connection.close()
    return kept, time.monotonic() - began


if __name__ == "__main__":
    main()
