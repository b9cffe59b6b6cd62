"""``showthrough audit`` of tables that hide, round and total counts."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import run

TABLE = """region,disease,count
A,Flu,3
A,HIV,c
A,Total,4
B,Flu,c
B,HIV,2
Total,Flu,4
"""
PEOPLE = "id,region\n" + "".join(f"a{k},A\n" for k in range(4)) + "".join(f"b{k},B\n" for k in range(3))
ROLES = ("--sensitive", "disease", "--quasi", "region")
PRINTED = ("--suppressed", "c=1-4", "--totals", "Total")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "T.csv").write_text(TABLE)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path


def test_options_say_how_counts_are_printed(home):
    done = run("audit", "T.csv", *ROLES, *PRINTED, "--register", "people.csv", "--json", "-")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["together"]["persons"] == 7
    assert [r["name"] for r in found["releases"]] == ["T"]  # totals are part of the table
    assert found["certificate"]["status"] == "exact"


def test_a_history_file_says_the_same(home):
    (home / "history.toml").write_text(
        'suppressed = { c = [1, 4] }\ntotals = ["Total"]\n\n[[release]]\nfile = "T.csv"\nsensitive = "disease"\n'
        'quasi = ["region"]\n\n[register]\nfile = "people.csv"\n'
    )
    by_file = run("audit", "history.toml", "--json", "-")
    by_options = run("audit", "T.csv", *ROLES, *PRINTED, "--register", "people.csv", "--json", "-")
    assert json.loads(by_file.out)["together"] == json.loads(by_options.out)["together"]


def test_a_mark_that_nobody_declared(home):
    done = run("audit", "T.csv", *ROLES, "--totals", "Total", "--register", "people.csv")
    assert done.code == 2
    assert "T.csv: row 2 has … in column 'count'" in done.err
    assert "--suppressed MARK=1-4" in done.err
    told = run("audit", "T.csv", *ROLES, "--totals", "Total", "--register", "people.csv", "--audience", "internal")
    assert "--suppressed c=1-4" in told.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--suppressed", "c"), "--suppressed takes MARK=LOW-HIGH"),
        (("--suppressed", "c=4-1"), "stands for a least and a greatest count"),
        (("--suppressed", "c=1-4", "--suppressed", "c=1-5"), "twice"),
        (("--suppressed", "c=1-4", "--rounding", "0"), "1 or more"),
        (("--suppressed", "c=1-4", "--rounding", "5:sideways"), "conventional, random, up, down"),
        (("--suppressed", "c=1-4", "--rounding", "5"), "no multiple of 5"),
    ],
)
def test_bad_options_get_a_sentence(home, options, said):
    done = run("audit", "T.csv", *ROLES, *options, "--register", "people.csv")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_without_a_register_there_are_bounds_only_and_it_says_so(home):
    done = run("audit", "T.csv", *ROLES, *PRINTED)
    assert done.code == 2
    assert "without a register there are bounds of counts" in done.err
    assert "Give --register" in done.err


def test_limits_on_single_tables_are_inconclusive(home):
    done = run("audit", "T.csv", *ROLES, *PRINTED, "--register", "people.csv", "--k", "2", "--max-posterior", "1")
    assert done.code == 4
    assert "hide or round counts" in " ".join(done.out.split())


def test_a_page_and_one_person(home):
    done = run("audit", "T.csv", *ROLES, *PRINTED, "--register", "people.csv", "-o", "page.html", "--quiet")
    assert done.code == 0, done.err
    assert "region" not in done.out
    told = run("explain", "a0", "T.csv", *ROLES, *PRINTED, "--register", "people.csv")
    assert told.code == 0, told.err
    assert "Flu" in told.out


def test_values_that_are_cells(home):
    (home / "A.csv").write_text("id,g,age\n1,1,20-30\n2,2,20-30\n")
    (home / "B.csv").write_text("id,g,age\n1,1,25-35\n2,2,<=24\n")
    roles = ("--id", "id", "--group", "g", "--sensitive", "age")
    done = run("audit", "A.csv", "B.csv", *roles, "--value-cells", "--json", "-")
    assert json.loads(done.out)["together"]["certain"] == 2
