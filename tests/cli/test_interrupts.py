"""Ctrl-C during an audit: once for what is known, twice for the end; with real processes and real signals."""

import io
import json
import os
import signal
import subprocess
import sys

import pytest
from rich.console import Console

from showthrough.cli.common import _LiveLine
from showthrough.progress import Tally
from tests.cli.running import ROLES, persons, table

AT_WORK, HEARD = "at work", "Interrupted: ending with what is known. Press Ctrl-C again to end at once."

# the command itself, but for an inference that begins when the test says so
DRIVER = """
import sys, time
from showthrough.auditing import audit as room
infer = room.infer
def waiting(*given, progress, **more):
    print("at work", file=sys.stderr, flush=True)
    {wait}
    return infer(*given, progress=progress, **more)
room.infer = waiting
from showthrough.cli.main import main
main()
"""
UNTIL_ENOUGH = "while not progress.satisfied: time.sleep(0.01)"
UNTIL_CANCELLED = "while True: progress.check(); time.sleep(0.01)"
DEAF = "time.sleep(3600)"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one = persons(1, 2, 3), ["a", "a", "b"]
    two = persons(4, 5, 6), ["a", "b", "c"]
    table([one, two]).write_csv("D1.csv")
    table([(persons(1, 4, 5), ["a", "a", "b"]), (persons(2, 3, 6), ["a", "b", "c"])]).write_csv("D2.csv")
    return tmp_path


def started(wait, *more):
    command = ["audit", "D1.csv", "D2.csv", *ROLES, "--json", "a.json", "--people", "p.csv", *more]
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER.format(wait=wait), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert AT_WORK in process.stderr.readline()
    return process


def ended(process):
    out, err = process.communicate(timeout=600)
    assert "Traceback" not in out + err
    return process.returncode, out, err


def test_the_first_one_ends_with_what_is_known(home):
    process = started(UNTIL_ENOUGH)
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert code == 4
    assert HEARD in err
    assert "the work was interrupted, and this is what was known by then" in " ".join(err.split())
    assert "6 persons" in out or "of 6" in out
    assert {p.name for p in home.iterdir()} == {"D1.csv", "D2.csv", "a.json", "p.csv"}
    told = json.loads((home / "a.json").read_text())
    assert sum(told["certificate"]["persons_by_state"].values()) == 6
    assert "zq-person" not in out + err


@pytest.mark.parametrize("wait", [UNTIL_CANCELLED, DEAF])
def test_the_second_one_ends_at_once_and_writes_nothing(home, wait):
    process = started(wait)
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline().strip() == HEARD
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert (code, out) == (130, "")
    assert "no result was written" in err
    assert {p.name for p in home.iterdir()} == {"D1.csv", "D2.csv"}


def test_after_the_work_an_interrupt_is_what_it_always_was(home):
    before = signal.getsignal(signal.SIGINT)
    from tests.cli.running import run

    assert run("audit", "D1.csv", "D2.csv", *ROLES).code == 0
    assert signal.getsignal(signal.SIGINT) is before


def test_the_live_line_tells_persons_rows_and_islands():
    line, console = _LiveLine(), Console(force_terminal=True, width=120, record=True, file=io.StringIO())
    line.stage("maximum entropy")
    line.tally(Tally(persons=(1200, 16000), rows=(9, 12), islands=(3, 4)))
    console.print(line)
    told = console.export_text().replace("\u202f", "_")
    assert "maximum entropy … 1_200 of 16_000 persons, 9 of 12 rows, 3 of 4 islands (0 s)" in told


def test_the_live_line_tells_what_is_left_where_counts_grow(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("showthrough.cli.common.time.monotonic", lambda: now[0])
    line = _LiveLine()

    def told() -> str:
        return line.__rich__().plain

    line.stage("bounds")
    assert told() == "bounds … (0 s)"
    now[0] = 104.0
    assert "left" not in told()  # nothing is known yet
    line.count(10, 50)
    assert told() == "bounds … 10 of 50 (4 s, about 16 s left at this step)"
    now[0] = 110.0
    assert told() == "bounds … 10 of 50 (10 s, about 10 s left at this step)"
    now[0] = 125.0
    assert "left" not in told()  # slower than it seemed: no number is better than a wrong one
    line.count(20, 50)
    assert "about 38 s left" in told()
    line.count(50, 50)
    assert "left" not in told()
    line.stage("report")
    assert told() == "report … (25 s)"
