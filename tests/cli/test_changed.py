"""Values that changed, at the command line: tolerated by default, told by the publisher's own tables."""

import json

import polars as pl
import pytest

from tests.cli.running import ROLES, persons, run, table

CLASH = [(persons(1, 2, 3), ["a", "a", "b"])], [(persons(1, 2, 3), ["a", "b", "b"])]
HIDDEN = [(persons(1, 2), ["a", "b"])], [(persons(1, 3), ["b", "c"])]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def two(first, second):
    table(first).write_csv("A.csv")
    table(second).write_csv("B.csv")


def own(name, **values):
    """A table of the publisher: who has what."""
    frame = pl.DataFrame({"pseudonym": [f"zq-person-{k[1:]}" for k in values], "disease": list(values.values())})
    frame.write_csv(name)


def test_contradictions_are_tolerated_and_said(home):
    two(*CLASH)
    done = run("audit", "A.csv", "B.csv", *ROLES)
    words = " ".join(done.out.split())
    assert done.code == 4
    assert "1 person had to be taken for changed" in words
    assert "Premise: nobody's value changed between releases, except for these persons: 1 tolerated" in words
    assert "zq" not in done.out
    told = run("audit", "A.csv", "B.csv", *ROLES, "--audience", "internal")
    assert "Who counts as changed" in told.out
    made = json.loads(run("audit", "A.csv", "B.csv", *ROLES, "--audience", "internal", "--json", "-").out)
    assert made["certificate"]["changed"] == {"told": 0, "split": 0, "tolerated": 1}
    assert {(c["release"], c["why"]) for c in made["changes"]} == {("A", "tolerated"), ("B", "tolerated")}
    refused = run("audit", "A.csv", "B.csv", *ROLES, "--changed", "refuse", "--contradictions", "refuse")
    assert refused.code == 2
    assert "no assignment of values" in refused.err


@pytest.mark.parametrize("given", [["--tables", "1.csv", "2.csv"], ["--tables", "1.csv", "--tables", "2.csv"]])
def test_tables_tell_who_changed(home, given):
    two(*HIDDEN)
    own("1.csv", p1="a", p2="b")
    own("2.csv", p1="b", p3="c", p9="a")
    before = json.loads(run("audit", "A.csv", "B.csv", *ROLES, "--json", "-").out)
    done = run("audit", "A.csv", "B.csv", *given, *ROLES, "--json", "-")
    assert done.code == 0
    found = json.loads(done.out)
    assert before["together"]["certain"] == 3
    assert before["certificate"]["premise"] == "Premise: nobody's value changed between releases."
    assert found["together"]["certain"] == 0
    assert found["certificate"]["changed"] == {"told": 1, "split": 0, "tolerated": 0}
    assert "zq" not in done.out


def test_tables_of_a_clash_leave_nothing_to_tolerate(home):
    two(*CLASH)
    own("1.csv", p1="a", p2="a", p3="b")
    own("2.csv", p1="a", p2="b", p3="b")
    done = run("audit", "A.csv", "B.csv", *ROLES, "--tables", "1.csv", "2.csv")
    assert done.code == 0
    assert "1 told by the publisher" in " ".join(done.out.split())


def test_tables_may_be_coded_as_their_release_is(home):
    two([(persons(1, 2), ["A", "B"])], [(persons(1, 2), ["x", "y"])])
    pl.DataFrame({"old": ["A", "B"], "new": ["x", "y"]}).write_csv("map.csv")
    own("1.csv", p1="A", p2="B")
    own("2.csv", p1="x", p2="y")
    done = run("audit", "A.csv", "B.csv", *ROLES, "--value-map", "A=map.csv", "--tables", "1.csv", "2.csv")
    assert done.code == 0
    assert "Premise: nobody's value changed between releases." in " ".join(done.out.split())


def test_a_history_file_names_tables_beside_it(home):
    two(*HIDDEN)
    (home / "own").mkdir()
    own("own/1.csv", p1="a", p2="b")
    own("own/2.csv", p1="b", p3="c")
    entries = 'id = "pseudonym"\nsensitive = "disease"\ngroup = "group"\ntables = ["own/1.csv", "own/2.csv"]\n'
    releases = "".join(f'[[release]]\nfile = "{name}.csv"\n' for name in "AB")
    (home / "history.toml").write_text(entries + releases)
    made = json.loads(run("audit", "history.toml", "--json", "-").out)
    assert made["certificate"]["changed"]["told"] == 1


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        (["1.csv"], "1 tables for 2 releases"),
        (["1.csv", "none.csv"], "There is no file none.csv"),
        (["1.csv", "A.csv"], ""),
        (["1.csv", "twice.csv"], "more than once"),
        (["1.csv", "other.csv"], "no column"),
    ],
)
def test_tables_that_do_not_fit(home, tables, says):
    two(*HIDDEN)
    own("1.csv", p1="a", p2="b")
    pl.DataFrame({"pseudonym": persons(1, 1), "disease": ["a", "b"]}).write_csv("twice.csv")
    pl.DataFrame({"pseudonym": persons(1, 2), "illness": ["a", "b"]}).write_csv("other.csv")
    done = run("audit", "A.csv", "B.csv", *ROLES, "--tables", *tables)
    assert done.code == (2 if says else 0)
    assert says in " ".join(done.err.split())
    assert "zq" not in done.err
