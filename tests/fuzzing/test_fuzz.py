"""Fuzzed files and options in continuous integration; ``python -m tests.fuzzing`` goes on from here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzzing.case import Case
from tests.fuzzing.cases import make
from tests.fuzzing.judging import Ran, faults, listing

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("seed", "cases", "more"), [(14, 2700, []), (15, 300, ["--processes"])], ids=["in workers", "a process each"]
)
def test_fuzzed_runs_end_well(seed, cases, more):
    """In a process of its own: what forks must not have worked with Polars before, as tests beside this one have."""
    command = [sys.executable, "-m", "tests.fuzzing", "--seed", str(seed), "--cases", str(cases), *more]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=850,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert f"{cases} cases, seed {seed}: 0 findings" in done.stdout


def test_a_case_is_the_same_whenever_it_is_made(tmp_path):
    for number in range(30):
        homes = [tmp_path / f"{number}-{again}" for again in range(2)]
        for home in homes:
            home.mkdir()
        first, second = (make(3, number, home) for home in homes)
        assert first.argv == second.argv
        assert listing(first.home).keys() == listing(second.home).keys()


def test_what_must_hold_is_noticed_where_it_does_not(tmp_path):
    """The judge itself: each way to break the promise is a fault, and a good run is none."""
    (tmp_path / "a.csv").write_text("x")
    case, before = Case(tmp_path, ["check", "a.csv"], ["out"]), listing(tmp_path)
    assert faults(case, before, Ran(2, "", "Error: no.\n")) == []
    assert faults(case, before, Ran(0, "fine", "")) == []
    broken = [
        Ran(70, "", "This is a bug"), Ran(-6, "", ""), Ran(2, "", "Error: a\nError: b\n"), Ran(2, "", ""),
        Ran(0, "zq7xid1", ""), Ran(1, "", "73191234"), Ran(0, "\x1b[2J", ""), Ran(2, "", "Error: no.", ["zq7xval"]),
        Ran(1, "", "Traceback (most recent call last)"),
    ]  # fmt: skip
    for ran in broken:
        assert faults(case, before, ran), ran
    (tmp_path / ".showthrough.x").write_text("")
    assert "left .showthrough.x" in faults(case, before, Ran(0))
    (tmp_path / ".showthrough.x").unlink()
    (tmp_path / "a.csv").write_text("y")
    assert "changed a.csv" in faults(case, before, Ran(0))
    (tmp_path / "a.csv").write_text("x")
    (tmp_path / "other").write_text("y")
    assert "wrote other" in faults(case, before, Ran(0))
    (tmp_path / "other").unlink()
    (tmp_path / "out").write_text("y")
    assert faults(case, before, Ran(0)) == []
    (tmp_path / "out").unlink()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "rows.csv").write_text("zq7xid1 zq7xid2 zq7xid3 zq7xid4 zq7xid5")
    publish = Case(tmp_path, ["publish", "a.csv"], ["out"])
    assert faults(publish, before, Ran(0)) == ["published 5 ids"]
    assert faults(Case(tmp_path, ["publish", "a.csv", "--publish-ids"], ["out"]), before, Ran(0)) == []
    (tmp_path / "out" / "rows.csv").unlink()
    (tmp_path / "out").rmdir()
    (tmp_path / "ledger.db").write_text("zq7xid1 zq7xid2 zq7xid3 zq7xid4 zq7xid5")
    hashed = ["gate", "a.csv", "--id", "pid", "--key-file", "key.txt"]
    assert faults(Case(tmp_path, hashed, ["ledger.db"]), before, Ran(0)) == ["the ledger holds 5 ids"]
    assert faults(Case(tmp_path, hashed[:-2], ["ledger.db"]), before, Ran(0)) == []
    (tmp_path / "ledger.db").unlink()
    (tmp_path / "out").write_text("y")
    assert "wrote out although it failed" in faults(case, before, Ran(2, "", "Error: no.\n"))
