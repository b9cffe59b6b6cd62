"""What goes wrong around a ledger: full disks, lost connections, read-only media, interruptions; always a sentence."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import showthrough as st
from showthrough.errors import Cancelled, LedgerError
from showthrough.progress import Progress
from tests.ledger.cases import PERMISSIVE, STRICT, pair, safe

ROOT = Path(__file__).resolve().parents[2]


class _At(Progress):
    """Does something when a stage begins."""

    def __init__(self, stage: str, what) -> None:
        super().__init__()
        self._stage, self._what = stage, what

    def stage(self, name: str) -> None:
        super().stage(name)
        if name == self._stage:
            self._what()


def large(name: str) -> st.Release:
    return safe(name, persons=range(4000))


def test_a_full_database_is_a_sentence_and_the_old_state_stays(tmp_path):
    with st.Ledger.create(tmp_path / "l.db") as ledger:
        ledger.add(safe("D"))
        before = ledger.log()
        run = ledger._store.database.run
        run(f"PRAGMA max_page_count = {run('PRAGMA page_count')[0][0]}")
        with pytest.raises(LedgerError, match=r"the disk is full, or fails\. What it held before is as it was"):
            ledger.gate(large("E"), policy=STRICT)
        assert ledger.log() == before
        assert ledger.verify()
        run("PRAGMA max_page_count = 100000")
        assert ledger.gate(large("E"), policy=STRICT).verdict == "pass"


def test_a_file_that_may_not_grow(tmp_path):
    """The system refuses to write beyond a size, in a process of its own."""
    st.Ledger.create(tmp_path / "l.db").close()
    large("D").save(tmp_path / "D")
    limit = os.path.getsize(tmp_path / "l.db") + 4096
    words = ["showthrough", "ledger", "add", "D", "--ledger", "l.db"]
    code = (
        f"import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); "
        f"sys.argv = {words!r}; runpy.run_module('showthrough', run_name='__main__')"
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "cannot be written: the disk is full, or fails" in ended.stderr
    with st.Ledger.open(tmp_path / "l.db") as ledger:
        assert ledger.verify()
        assert not ledger.history()


@pytest.mark.parametrize("stage", ["reading the ledger", "reading groups", "certificate", "policy"])
@pytest.mark.parametrize("raised", [KeyboardInterrupt, MemoryError, Cancelled])
def test_whatever_ends_a_gate_leaves_no_lock_and_no_entry(place, stage, raised):
    def stop() -> None:
        raise raised

    with st.Ledger.create(place) as ledger:
        ledger.add(safe("D"))
        before = ledger.head
        with pytest.raises(raised):
            ledger.gate(pair()[0], policy=STRICT, progress=_At(stage, stop))
        with st.Ledger.open(place, wait=0) as other:
            assert other.head == before
            assert other.gate(pair()[0], policy=STRICT).verdict == "pass"
        assert ledger.verify()


def test_who_writes_is_waited_for_and_not_for_ever(place):
    told: list[str] = []
    st.Ledger.create(place).close()
    with st.Ledger.open(place) as first, st.Ledger.open(place, wait=0.3, tell=told.append) as second:
        with first._store.writing():
            with pytest.raises(LedgerError, match=r"in use by another gate or command for 0\.3 seconds"):
                second.add(safe("D"))
            assert second.log()  # who only reads need not wait
        assert len(told) == 1
        assert told[0].startswith("Waiting up to 0.3 seconds")
        second.add(safe("D"))


def test_who_waits_is_let_in(place):
    st.Ledger.create(place).close()
    with st.Ledger.open(place) as first, st.Ledger.open(place) as second:

        def later() -> None:
            with first._store.writing():
                held.set()
                time.sleep(0.3)

        held = threading.Event()
        other = threading.Thread(target=later)
        other.start()
        held.wait()
        second.add(safe("D"))
        other.join()
        assert second.verify()


def test_a_connection_that_is_lost_in_the_middle_of_a_gate(server):
    place = server.fresh()
    with st.Ledger.create(place) as ledger:
        ledger.add(safe("D"))
        before = ledger.head
        name = place.split("/")[-1].split("?")[0]

        def cut() -> None:
            server.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")

        with pytest.raises(LedgerError, match=r"does not answer: the connection was lost\. Nothing of this command"):
            ledger.gate(pair()[0], policy=STRICT, progress=_At("certificate", cut))
    with st.Ledger.open(place) as ledger:
        assert ledger.head == before
        assert ledger.gate(pair()[0], policy=STRICT).verdict == "pass"
        assert ledger.verify()


def test_a_full_disk_of_the_server_is_a_sentence(server):
    """No quota can be set in a test; the server is made to say what it says then."""
    place = server.fresh()
    with st.Ledger.create(place) as ledger:
        ledger._store.database.run(
            "CREATE FUNCTION public.full_disk() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'No space left on device'; END $$"
        )
        ledger._store.database.run(
            "CREATE TRIGGER full_disk BEFORE INSERT ON showthrough.contents EXECUTE FUNCTION public.full_disk()"
        )
        with pytest.raises(LedgerError, match=r"the disk or the memory of the server is full\. What it held before"):
            ledger.add(safe("D"))
        assert not ledger.history()


def test_a_ledger_that_may_only_be_read(tmp_path, monkeypatch):
    with st.Ledger.create(tmp_path / "l.db") as ledger:
        ledger.add(safe("D"))
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and real(path, mode))  # root may everything
    with st.Ledger.open(tmp_path / "l.db") as ledger:
        assert ledger.verify()
        assert len(ledger.history()) == 1
        with pytest.raises(LedgerError, match="may only be read"):
            ledger.withdraw("D", why="x")
        with pytest.raises(LedgerError, match="may only be read, or not even that"):
            ledger._store.database.run("INSERT INTO versions VALUES (3)")


def test_a_copy_of_an_open_ledger_is_the_state_before(tmp_path):
    with st.Ledger.create(tmp_path / "l.db") as ledger:
        ledger.add(safe("D"))
        head = ledger.head
        with ledger._recording() as recording:
            recording.withdraw("D", why="x", never_left_the_house=True)
            shutil.copyfile(tmp_path / "l.db", tmp_path / "copy.db")
        with st.Ledger.open(tmp_path / "copy.db") as copy:
            assert copy.head == head
            assert copy.verify()


def test_releases_added_at_the_same_time_are_all_there(place):
    st.Ledger.create(place).close()
    failed: list[BaseException] = []

    def add(k: int) -> None:
        try:
            with st.Ledger.open(place) as ledger:
                ledger.add(safe(f"D{k}", persons=range(8 * k, 8 * k + 8)))
        except BaseException as problem:
            failed.append(problem)

    threads = [threading.Thread(target=add, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    with st.Ledger.open(place) as ledger:
        assert sorted(r.name for r in ledger.history()) == [f"D{k}" for k in range(6)]
        assert ledger.verify()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(b""), "is no ledger"),
        (lambda path: path.write_bytes(b"id,group,value\n"), "is no ledger"),
        (lambda path: path.write_bytes(path.read_bytes()[:5000]), "is damaged"),
        (lambda path: path.unlink(), "There is no ledger"),
        (lambda path: (path.unlink(), path.mkdir()), "is a folder"),
        (lambda path: (path.unlink(), sqlite3.connect(path).executescript("CREATE TABLE x (y)")), "is no ledger"),
        (lambda path: (path.unlink(), os.mkfifo(path)), "is a pipe or a device"),
    ],
)
def test_files_that_are_no_ledger(tmp_path, spoil, said):
    st.Ledger.create(tmp_path / "l.db").close()
    spoil(tmp_path / "l.db")
    with pytest.raises(LedgerError, match=said):
        st.Ledger.open(tmp_path / "l.db").history()


def test_addresses_that_are_none(server):
    for address, said in (
        ("mysql://x/y", "this address begins otherwise"),
        ("postgresql://127.0.0.1:1/x", "cannot be reached"),
        (server.address(password="secret word"), "refuses the user or the password"),
        (server.address("nowhere"), "there is no such database"),
        (server.address() + "&nonsense=1", "is no address"),
        (server.address(), "is no ledger"),
    ):
        with pytest.raises(LedgerError, match=said) as found:
            st.Ledger.open(address)
        assert "secret" not in str(found.value)


def test_a_user_without_permission(server):
    place = server.fresh()
    st.Ledger.create(place).close()
    name = place.split("/")[-1].split("?")[0]
    server.run(f"CREATE ROLE guest_{name} LOGIN PASSWORD 'only for tests'")
    guest = server.address(name, user=f"guest_{name}")
    with pytest.raises(LedgerError, match="no permission"):
        st.Ledger.open(guest)
    with pytest.raises(LedgerError):
        st.Ledger.create(guest)


def test_psycopg_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerError, match=r"pip install 'showthrough\[postgres\]'"):
        st.Ledger.open("postgresql://h/d")


def test_a_broken_chain_stops_the_gate(place):
    with st.Ledger.create(place) as ledger:
        ledger.add(safe("D"))
        own = "showthrough." if "://" in place else ""
        if own:
            ledger._store.database.run("ALTER TABLE showthrough.events DISABLE TRIGGER USER")
        else:
            ledger._store.database.run("DROP TRIGGER events_no_update")
        ledger._store.database.run(f"UPDATE {own}events SET time = '2000' WHERE number = 2")
        for asked in (lambda: ledger.gate(pair()[0], policy=STRICT), ledger.history, ledger.log):
            with pytest.raises(LedgerError, match="cannot be trusted: Event 2 was altered"):
                asked()
        found = ledger.verify()
        assert not found
        assert any("Event 2 was altered" in fault for fault in found.faults)


_MANIPULATIONS = [
    "DELETE FROM {}contents WHERE part = 0",
    "UPDATE {}contents SET sha256 = 'x' WHERE sha256 = (SELECT min(sha256) FROM {}contents)",
    "DELETE FROM {}events WHERE number = 3",
    "UPDATE {}events SET number = 99 WHERE number = 2",
    "UPDATE {}events SET kind = 'release added' WHERE number = 2",
    "UPDATE {}events SET before = hash WHERE number = 2",
    "INSERT INTO {}versions VALUES (0)",
    "DELETE FROM {}versions WHERE version = 1",
    "DELETE FROM {}states",
    "UPDATE {}states SET place = 2",
    "CREATE TABLE {}more (x INTEGER)",
    "ALTER TABLE {}events RENAME TO elsewhere",
]


@pytest.mark.parametrize("statement", _MANIPULATIONS)
def test_manipulations_by_sql_are_found(place, statement):
    with st.Ledger.create(place) as ledger:
        ledger.gate(safe("D"), policy=STRICT)
        ledger.gate(pair()[0], policy=PERMISSIVE)
        assert ledger.verify()
        run = ledger._store.database.run
        if "://" in place:
            for table in ("events", "contents", "versions"):
                run(f"ALTER TABLE showthrough.{table} DISABLE TRIGGER USER")
            run(statement.replace("{}", "showthrough."))
            if "RENAME" not in statement:
                for table in ("events", "contents", "versions"):
                    run(f"ALTER TABLE showthrough.{table} ENABLE TRIGGER USER")
        else:
            told = run("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            for name, _ in told:
                run(f"DROP TRIGGER {name}")
            run(statement.replace("{}", ""))
            for _, sql in told if "RENAME" not in statement else ():
                run(sql)
        assert not ledger.verify()


def test_missing_triggers_are_found(place):
    with st.Ledger.create(place) as ledger:
        drop = (
            "ALTER TABLE showthrough.events DISABLE TRIGGER USER" if "://" in place else "DROP TRIGGER events_no_update"
        )
        ledger._store.database.run(drop)
        assert not ledger.verify()
