"""``audit --bounds`` and ``--whole-values``."""

import json

import polars as pl
import pytest

from tests.cli.running import run
from tests.histories import WHOLE_VALUES, releases

ROLES = ("--id", "id", "--sensitive", "value", "--group", "group")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for release in releases(WHOLE_VALUES):
        release.to_frame().write_csv(f"{release.name}.csv")
    return tmp_path


FILES = ("D1.csv", "D2.csv", "D3.csv")


def test_bounds_stand_in_the_people_file(home):
    done = run("audit", *FILES, *ROLES, "--people", "p.csv", "--bounds", "0.5", "--quiet")
    assert done.code == 0
    frame = pl.read_csv("p.csv")
    two = frame.filter((pl.col("id") == 2) & (pl.col("value") == "b")).row(0, named=True)
    assert (two["lower"], two["upper"]) == (0.0, 1.0)
    one = frame.filter((pl.col("id") == 1) & (pl.col("value") == "b")).row(0, named=True)
    assert (one["lower"], one["upper"]) == (0.0, 0.5)
    few = run("audit", *FILES, *ROLES, "--people", "q.csv", "--bounds", "0.9", "--quiet")
    assert few.code == 0
    assert pl.read_csv("q.csv")["lower"].null_count() == 12


def test_bounds_need_a_people_file(home):
    done = run("audit", *FILES, *ROLES, "--bounds", "0.5")
    assert done.code == 2
    assert "--people" in done.err


def test_whole_values_are_counted_and_told(home):
    found = json.loads(run("audit", *FILES, *ROLES, "--whole-values", "20", "--json", "-").out)
    assert found["together"]["certain"] == 0
    assert found["whole_values"] == {"seconds": 20, "certain": 4, "impossible": 4, "undecided": 0}
    told = run("audit", *FILES, *ROLES, "--whole-values", "20").out
    assert "4 persons more can be told for certain" in " ".join(told.split())
    none = json.loads(run("audit", *FILES, *ROLES, "--json", "-").out)
    assert "whole_values" not in none
