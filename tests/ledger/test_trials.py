"""Gates at the same moment, kills at random ones, manipulations: a few rounds of what `benchmarks.ledger` does.

Children are forked from a fresh process, as libraries with threads do not survive a fork of this one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ledger.server import NEEDED, NoServerError, programs

ROOT = Path(__file__).resolve().parents[2]


def run(*words: str) -> str:
    command = [sys.executable, "-m", "benchmarks.ledger", *words]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return ended.stdout


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    if request.param == "postgresql":
        try:
            programs()
        except NoServerError as why:
            if os.environ.get(NEEDED):
                pytest.fail(f"PostgreSQL is needed, but {why}.")
            pytest.skip(str(why))
    return str(request.param)


def test_of_two_gates_at_once_exactly_one_passes(database):
    assert "20  one passed, one was blocked" in run("at-once", "--rounds", "20", "--only", database)


def test_a_killed_gate_leaves_the_state_before_or_after(database):
    told = run("killed", "--rounds", "20", "--only", database)
    assert sum(int(line.split()[0]) for line in told.splitlines() if "as before" in line or "as after" in line) == 20


def test_manipulations_are_found(database):
    rounds = "200" if database == "sqlite" else "40"
    told = run("manipulated", "--rounds", rounds, "--seed", "3", "--only", database)
    assert "MISSED" not in told
    assert f"{rounds}  manipulations" in told


def test_without_room_the_old_state_stays():
    told = run("full", "--rounds", "20")
    assert "refused in a sentence, the old state intact" in told
    assert sum(int(line.split()[0]) for line in told.splitlines() if "sentence" in line or "room" in line) == 20
