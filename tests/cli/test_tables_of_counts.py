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


def test_tables_of_one_population(home):
    """Last week's hidden count is this week's less the new ones, if all count the same persons."""
    for name, week, n in (("last", "<=10", "c"), ("this", "<=11", "3"), ("new", "11", "2")):
        (home / f"{name}.csv").write_text(f"week,place,test,count\n{week},Aby,positive,{n}\n")
    tables = [f"{name}.csv" for name in ("last", "this", "new")]
    roles = ["--sensitive", "test", "--quasi", "week,place", "--count", "count", "--suppressed", "c=1-4"]
    found = json.loads(run("attack", "differencing", *tables, *roles, "--population", "tested", "--json", "-").out)
    assert found["cells"]["hidden_found"] == 1
    (home / "who.csv").write_text("id,week,place\na,10,Aby\nb,11,Aby\nc,11,Aby\n")
    done = run("audit", *tables, *roles, "--population", "tested", "--register", "who.csv", "--json", "-")
    assert done.code == 0, done.err
    (home / "history.toml").write_text(
        'sensitive = "test"\nquasi = ["week", "place"]\ncount = "count"\nsuppressed = { c = [1, 4] }\n'
        'population = "tested"\n\n'
        + "\n".join(f'[[release]]\nfile = "{table}"\n' for table in tables)
        + '\n[register]\nfile = "who.csv"\n'
    )
    again = run("audit", "history.toml", "--json", "-")
    assert json.loads(again.out)["together"] == json.loads(done.out)["together"]
    assert run("audit", "history.toml", "--population", "others").code == 2  # the file says it


def test_a_check_reads_marks_and_says_what_it_needs(home):
    roles = ("--sensitive", "disease", "--quasi", "region", "--count", "count", "--k", 2)
    (home / "M.csv").write_text("region,disease,count\nA,Flu,3\nA,HIV,c\n")
    done = run("check", "M.csv", *roles)
    assert done.code == 2
    assert "--suppressed MARK=1-4" in done.err
    done = run("check", "M.csv", *roles, "--suppressed", "c=1-4")
    assert done.code == 2
    assert "a criterion needs a table with exact counts" in done.err
    assert run("check", "M.csv", *roles, "--suppressed", "c=2-2").code == 0  # a mark for one number is exact
