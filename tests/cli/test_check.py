"""``showthrough check``: levels, limits, worst groups, JSON and exit codes.

The command is tested through an app of its own, with the same faults as sentences.
"""

import json

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from showthrough.cli.check import check
from showthrough.release.release import Release
from tests.cli.running import persons, table


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table([(persons(1, 2, 3), ["flu", "gout", "mumps"]), (persons(4, 5), ["flu", "flu"])]).write_csv("D1.csv")
    plain = pl.DataFrame(
        {"zip": ["zq-1", "zq-1", "zq-2", "*"], "age": ["30", "30", "50", "*"], "pay": [1, 3, 2, 9]}
    ).with_columns(job=pl.Series(["a", "b", "a", "a"]))
    plain.write_csv("plain.csv")
    pl.concat([plain, plain[:2]]).write_csv("people.csv")
    return tmp_path


def run(*arguments):
    app = typer.Typer()
    app.command()(check)
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


BUCKETIZED = ["D1.csv", "--id", "pseudonym", "--sensitive", "disease", "--group", "group"]
PLAIN = ["plain.csv", "--sensitive", "pay", "--quasi", "zip", "--quasi", "age"]


def told(*arguments):
    done = run(*arguments, "--json", "-")
    found = json.loads(done.stdout)
    (release,) = found.pop("releases")
    return done.exit_code, {**release, **found}


def test_levels_without_limits(home):
    done = run(*BUCKETIZED)
    assert done.exit_code == 0
    assert "k-anonymity" in done.stdout
    assert "The smallest group has 2 persons." in done.stdout
    assert "zq" not in done.stdout


def test_limits_that_hold_and_fail(home):
    assert run(*BUCKETIZED, "--k", 2).exit_code == 0
    done = run(*BUCKETIZED, "--k", 3, "--entropy-l", "1")
    assert done.exit_code == 1
    assert "FAIL 3-anonymity does not hold for 1 of 2 groups (2 persons)." in " ".join(done.stdout.split())
    assert "pass  entropy 1-diversity holds." in done.stdout
    assert "Worst: a group of 2 persons at level 2, a group of 3 persons at level 3." in done.stdout
    assert "--audience internal" in done.stdout
    named = run(*BUCKETIZED, "--k", 3, "--audience", "internal").stdout
    assert "group 2" in named
    assert "Worst groups" in named


def test_every_limit(home):
    options = ["--k", 2, "--distinct-l", 1, "--frequency-l", 1, "--entropy-l", 1, "--recursive", "9,1", "--t", 1]
    options += ["--alpha", 1, "--beta", 99, "--delta-disclosure", 9, "--m-unique", 1, "--dissimilarity", "0.1,0.5,1"]
    options += ["--ck-safety", "1,0", "--skyline", "0.9,1,1,1", "--average-risk", 0.5, "--uniqueness", 0]
    options += ["--population-uniqueness", "0.01,0.5"]
    code, found = told(*BUCKETIZED, *options, "--metric", "equal")
    assert code == 1
    holds = {c["criterion"]: c["holds"] for c in found["results"][0]["checks"]}
    failing = {
        "9-disclosure",
        "1-uniqueness",
        "(0.1,0.5)^1-dissimilarity",
        "(1,0)-safety",
        "skyline privacy below 0.9 at (1,1,1)",
    }
    assert len(holds) == 16
    assert {name for name, held in holds.items() if not held} == failing


def test_json_is_shareable_unless_asked(home):
    code, found = told(*PLAIN, "--suppressed", "*", "--k", 2, "--negations", 1)
    assert (code, found["schema"], found["audience"], found["holds"]) == (1, "showthrough.check", "shareable", False)
    part = found["results"][0]
    assert (part["persons"], part["groups"], part["suppressed"]) == (3, 2, 1)
    assert part["checks"][0]["worst"][0] == {"persons": 1, "level": 1.0}
    assert [row["excluded"] for row in part["negations"]] == [0, 1]
    assert {row["criterion"] for row in part["levels"]} >= {"t-closeness (ordered, kept rows)", "m-uniqueness"}
    assert "zq" not in json.dumps(found)
    code, found = told(*PLAIN, "--k", 2, "--audience", "internal")
    labels = [entry["group"] for entry in found["results"][0]["checks"][0]["worst"]]
    assert {"zip": "zq-2", "age": "50"} in labels


def test_json_to_a_file(home):
    done = run(*PLAIN, "--json", "out.json", "--quiet")
    assert (done.exit_code, done.stdout) == (0, "")
    assert json.loads((home / "out.json").read_text())["holds"] is None
    assert run(*PLAIN, "--json", "plain.csv").exit_code == 2


def test_quasi_identifiers_default_to_all_other_columns(home):
    _, found = told("plain.csv", "--sensitive", "pay")
    assert found["results"][0]["groups"] == 4
    _, found = told("plain.csv", "--sensitive", "pay", "--id", "job")
    assert found["results"][0]["groups"] == 3
    _, found = told("plain.csv", "--sensitive", "pay", "--group", "zip")
    assert found["results"][0]["groups"] == 3


def test_several_sensitive_columns(home):
    both = ["plain.csv", "--sensitive", "pay", "--sensitive", "job", "--quasi", "zip"]
    _, found = told(*both)
    assert [(p["sensitive"], p["groups"]) for p in found["results"]] == [("pay", 3), ("job", 3)]
    _, found = told(*both, "--others", "quasi")
    assert [(p["sensitive"], p["groups"]) for p in found["results"]] == [("pay", 4), ("job", 4)]


def test_population_and_risk(home):
    quasi = ["plain.csv", "--quasi", "zip", "--quasi", "age", "--population", "people.csv"]
    code, found = told(*quasi, "--k-map", 1, "--presence", "0,1", "--risk", "category")
    assert code == 0
    assert found["risk"]["prosecutor"]["highest"] == 1
    assert found["risk"]["uniques"] == 2
    assert told(*quasi, "--risk", "wildcard")[1]["risk"]["uniques"] == 0
    assert told(*quasi, "--k-map", 2)[0] == 1
    done = run(*quasi, "--risk", "wildcard")
    assert "Journalist" in done.stdout


def test_columns_that_tell_rows_apart(home):
    asked = ["plain.csv", "--sensitive", "pay", "--find-quasi", 2]
    found = told(*asked)[1]["quasi_identifiers"]
    assert (found["rows"], found["looked_at"], found["complete"]) == (4, 6, True)
    assert found["sets"][0] == {"columns": ["zip", "job"], "distinction": 1, "separation": 1, "unique": 1}
    done = run(*asked)
    assert "best of 6 sets" in done.stdout
    assert "zip, job" in done.stdout
    assert "zq" not in done.stdout
    refused = run(*BUCKETIZED, "--find-quasi", 2)
    assert refused.exit_code == 2


def test_release_folder_and_table(home):
    frame = pl.read_csv("D1.csv")
    Release.bucketized(frame, id="pseudonym", sensitive="disease", group="group").save("D1")
    frame.with_columns(disease=pl.lit("flu")).vstack(frame).write_csv("table.csv")
    _, found = told("D1", "--table", "table.csv")
    assert found["results"][0]["suppressed"] == 5
    assert "t-closeness (equal, kept rows)" in {row["criterion"] for row in found["results"][0]["levels"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "nothing.csv"),
        (["plain.csv", "--sensitive", "wage"], "no column 'wage'"),
        ([*PLAIN, "--ck-safety", "0.5"], "--ck-safety takes numbers as C,K, such as --ck-safety 0.5,2"),
        ([*PLAIN, "--skyline", "0.5,1,1"], "--skyline takes numbers as C,L,K,M, such as --skyline 0.5,1,1,1"),
        ([*PLAIN, "--skyline", "0.5,1,1,1,2"], "--skyline takes numbers as C,L,K,M"),
        ([*PLAIN, "--skyline", "0.5,1,1,1.5"], "--skyline cannot be used"),
        ([*PLAIN, "--ck-safety", "1.5,1"], "--ck-safety cannot be used"),
        ([*PLAIN, "--recursive", "2"], "--recursive takes numbers as C,L"),
        ([*PLAIN, "--recursive", "2,1.5"], "--recursive takes numbers as C,L"),
        ([*PLAIN, "--dissimilarity", "a,b,c"], "EPS,DELTA,K"),
        ([*PLAIN, "--k", "0"], "at least 1"),
        ([*PLAIN, "--k-map", "2"], "--population"),
        ([*PLAIN, "--group", "zip"], "give one"),
        ([*BUCKETIZED, "--dissimilarity", "0.1,0.5,2"], "numbers as values"),
        (["plain.csv", "--quasi", "zip", "--entropy-l", "2"], "looks at sensitive values"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_2(home, arguments, message):
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.output
