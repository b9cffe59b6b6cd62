"""``showthrough check`` on every kind of release, with hierarchies, utility, trees, and on tables that are traps."""

import json
from importlib.resources import files

import polars as pl
import pytest
from jsonschema import Draft202012Validator, ValidationError

from showthrough.release.release import Release
from tests.cli.running import run

PLAIN = pl.DataFrame(
    {
        "zip": ["130**", "130**", "148**", "148**", "*"],
        "age": ["20-29", "20-29", "30-39", "30-39", "*"],
        "disease": ["flu", "gout", "asthma", "flu", "gout"],
    }
)
RAW = PLAIN.with_columns(
    zip=pl.Series(["13053", "13068", "14850", "14853", "13053"]), age=pl.Series(["21", "28", "31", "39", "25"])
)
SCHEMA = Draft202012Validator(json.loads((files("showthrough.report") / "check.schema.json").read_text("utf-8")))
TREE = "flu;lung;*\nasthma;lung;*\ngout;joint;*\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PLAIN.write_csv("plain.csv")
    RAW.write_csv("raw.csv")
    PLAIN.group_by(PLAIN.columns, maintain_order=True).agg(pl.len().alias("n")).write_csv("counted.csv")
    PLAIN[:4].with_columns(age=pl.Series([24.5, 24.5, 35, 35])).write_csv("micro.csv")
    (tmp_path / "disease.csv").write_text(TREE)
    return tmp_path


def told(*arguments):
    done = run("check", *arguments, "--json", "-")
    assert done.code in (0, 1), done.err
    found = json.loads(done.out)
    SCHEMA.validate(found)
    return done.code, found


def levels(found, place=0):
    return {row["criterion"]: row["level"] for row in found["releases"][place]["results"][0]["levels"]}


ROLES = ["--sensitive", "disease", "--quasi", "zip,age"]


def test_kinds_agree(home):
    options = [*ROLES, "--suppressed", "*"]
    _, plain = told("plain.csv", *options)
    _, general = told("plain.csv", *options, "--kind", "generalized")
    _, counted = told("counted.csv", *options, "--count", "n")
    assert [r["releases"][0]["kind"] for r in (plain, general, counted)] == [None, "generalized", "counted"]
    assert levels(plain) == levels(general) == levels(counted)
    assert levels(plain)["k-anonymity"] == 2
    assert plain["releases"][0]["results"][0]["suppressed"] == 1
    _, micro = told("micro.csv", "--kind", "microaggregated", *ROLES)
    assert levels(micro)["k-anonymity"] == 2
    _, named = told("plain.csv", "--kind", "generalized", *ROLES, "--k", 3, "--audience", "internal")
    assert named["releases"][0]["results"][0]["checks"][0]["worst"][1]["group"] == {"zip": "130**", "age": "20-29"}


def test_quasi_identifiers_with_commas_or_again_and_again(home):
    one = told("plain.csv", "--sensitive", "disease", "--quasi", "zip, age")[1]
    two = told("plain.csv", "--sensitive", "disease", "--quasi", "zip", "--quasi", "age")[1]
    assert one == two


def test_any_failing_release_fails_all(home):
    Release.generalized(PLAIN[:4], sensitive="disease", quasi=["zip", "age"], name="good").save("good")
    assert told("good", *ROLES, "--k", 2)[0] == 0
    code, found = told("good", "plain.csv", *ROLES, "--k", 2)
    assert (code, found["holds"]) == (1, False)
    assert [(r["release"], r["holds"]) for r in found["releases"]] == [("good", True), ("plain", False)]
    shown = run("check", "good", "plain.csv", *ROLES, "--k", 2)
    assert shown.code == 1
    assert shown.out.index("good") < shown.out.index("plain")
    assert [r["release"] for r in told("plain.csv", "plain.csv", *ROLES)[1]["releases"]] == ["plain (1)", "plain (2)"]


def test_a_history_file_stands_for_its_releases(home):
    Release.generalized(PLAIN, sensitive="disease", quasi=["zip", "age"], name="good").save("good")
    (home / "history.toml").write_text('[[release]]\nfile = "good"\n\n[[release]]\nfile = "good"\nname = "again"\n')
    _, found = told("history.toml")
    assert [r["release"] for r in found["releases"]] == ["good", "again"]


def test_distances_by_hierarchy(home):
    tree = ["--hierarchy", "disease=disease.csv"]
    _, found = told("plain.csv", *ROLES, *tree, "--t", 1, "--distance", "hierarchy")
    assert "hierarchical" in found["releases"][0]["results"][0]["checks"][0]["criterion"]
    assert "t-closeness (hierarchical)" in levels(found)
    code, found = told("micro.csv", *ROLES, *tree, "--dissimilarity", "0.5,0,2", "--metric", "hierarchy", "--floor")
    check = found["releases"][0]["results"][0]["checks"][0]
    assert (code, check["level"], check["criterion"]) == (0, 1.0, "(0.5,0)^2-dissimilarity, floor reading")
    assert told("micro.csv", *ROLES, *tree, "--dissimilarity", "0.5,0,2", "--metric", "hierarchy")[0] == 1


def test_several_columns_as_one_value(home):
    pl.DataFrame({"g": [1, 1], "x": [0, 3], "y": [0, 4]}).write_csv("points.csv")
    both = ["points.csv", "--sensitive", "x", "--sensitive", "y", "--others", "together", "--dissimilarity"]
    for metric, epsilon, code in (
        ("manhattan", 6, 0),
        ("manhattan", 7, 1),
        ("euclidean", 5, 1),
        ("max", 3, 0),
        ("min", 3, 1),
    ):
        assert told(*both, f"{epsilon},0,2", "--metric", metric)[0] == code


def test_utility_against_the_table(home):
    options = [*ROLES, "--suppressed", "*", "--table", "raw.csv", "--k", 2, "--queries", 20, "--seed", 3]
    _, found = told("plain.csv", *options)
    useful = found["releases"][0]["utility"]
    assert (useful["rows"], useful["groups"], useful["suppressed"], useful["c_avg"]) == (5, 2, 1, 1.0)
    assert useful["discernibility"] == 4 + 4 + 5
    ages, zips = 2 * (29 - 21) / 18 + 2 * (39 - 30) / 18, 2 * 15 / 1800 + 2 * 3 / 1800
    assert useful["gcp_published"] == pytest.approx(((ages + zips) / 2 + 1) / 5)
    assert useful["query_error_median"] >= 0
    assert told("plain.csv", *options)[1] == found
    assert told("counted.csv", *options, "--count", "n")[1]["releases"][0]["utility"] == useful
    shown = run("check", "plain.csv", *options)
    assert "GCP as published" in shown.out
    assert "discernibility" in shown.out
    _, micro = told("micro.csv", "--kind", "microaggregated", *ROLES, "--table", "raw.csv")
    assert "Centroids" in micro["releases"][0]["utility"]["notes"][0]
    _, grouped = told("plain.csv", "--sensitive", "disease", "--group", "zip", "--table", "raw.csv")
    assert "No quasi-identifiers" in grouped["releases"][0]["utility"]["notes"][0]


def test_counterfeits_are_told(home):
    Release.generalized(PLAIN, sensitive="disease", quasi=["zip", "age"], counterfeits={1: 1}, name="f").save("f")
    done = run("check", "f")
    assert "4 persons and 1 counterfeit in 3 groups" in done.out
    assert "without the 1 counterfeit" in " ".join(done.out.split())


def test_trees(home):
    drawn = ["check", "plain.csv", *ROLES, "--hierarchy", "disease=disease.csv", "--tree", "disease"]
    assert "├── lung" in run(*drawn, "--audience", "internal").out
    everybody = run(*drawn).out
    assert "level 1: 2 labels" in everybody
    assert "lung" not in everybody
    refused = run("check", "plain.csv", *ROLES, "--tree", "zip")
    assert (refused.code, refused.out) == (2, "")
    assert "--hierarchy zip=FILE" in " ".join(refused.err.split())
    proposed = run("check", "plain.csv", *ROLES, "--table", "raw.csv", "--tree", "zip", "--audience", "internal")
    assert "1305*" in proposed.out
    assert "zip (prefixes)" in proposed.out
    assert told("plain.csv", *ROLES, "--hierarchy", "disease=disease.csv", "--tree", "disease")[1]["trees"]["disease"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--hierarchy", "disease"], "NAME=FILE"),
        (["--hierarchy", "disease=none.csv"], "none.csv"),
        (["--t", "0.2", "--distance", "hierarchy"], "--hierarchy disease=FILE"),
        (["--dissimilarity", "0,0,1", "--metric", "hierarchy"], "--hierarchy disease=FILE"),
        (["--kind", "noisy"], "says what its noise is"),
        (["--kind", "heap"], "reads: bucketized"),
        (["--kind", "bucketized"], "--group"),
        (["--tree", "zap"], "no column of what was read"),
        (["--values", "raw.csv", "--values", "raw.csv"], "2 tables of values"),
        (["--count", "m"], "no column 'm'"),
        (["--table", "micro.csv"], "5 persons, but the table 4 rows"),
        (["--t", "nan"], "between 0 and 1"),
        (["--dissimilarity", "inf,0,1"], "EPS,DELTA,K"),
        (["--quasi", "disease"], "sensitive and as quasi"),
        (["--metric", "cosine"], "cosine"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_wrong_options_are_sentences(home, arguments, message):
    done = run("check", "plain.csv", *ROLES, *arguments)
    assert done.code == 2
    assert message in " ".join(done.err.replace("│", " ").split())
    assert done.out == ""


TRAPS = {
    "gaps": pl.DataFrame({"q": ["a", None, ""], "d": ["x", None, "y"]}),
    "constant": pl.DataFrame({"q": ["a"] * 4, "d": ["x"] * 4}),
    "one row": pl.DataFrame({"q": ["a"], "d": ["x"]}),
    "only values": pl.DataFrame({"d": ["x", "y", "x"]}),
    "unicode": pl.DataFrame({"städte": ["日本", "é", "é"], "^q$": ["*", "α", "α"], "d": ["ß", "\u202e", "🎈"]}),
    "numbers as text": pl.DataFrame({"q": ["1", "01", "1.0", "1"], "d": ["9", "10", "1e3", "-0"]}),
    "wide": pl.DataFrame({**{f"q{k}": [str(k), "x", "x"] for k in range(200)}, "d": ["1", "2", "2"]}),
}


@pytest.mark.parametrize("name", TRAPS)
def test_traps_give_answers_or_sentences(home, name):
    frame = TRAPS[name]
    frame.write_csv("trap.csv")
    every = [
        "--distinct-l",
        1,
        "--t",
        1,
        "--negations",
        1,
        "--beta",
        99,
        "--presence",
        "0,1",
        "--population",
        "trap.csv",
    ]
    quasi = [c for c in frame.columns if c != "d"]
    if not quasi:
        every = every[:-4]
    for more in ([], ["--table", "trap.csv", "--queries", 5], ["--risk", "wildcard"]):
        done = run("check", "trap.csv", "--sensitive", "d", *every, *more, "--json", "-")
        if done.code == 2:
            assert done.err.startswith("Error: ")
            assert not quasi
        else:
            found = json.loads(done.out)
            SCHEMA.validate(found)
            assert found["releases"][0]["results"][0]["persons"] == frame.height
            assert levels(found)["k-anonymity"] >= 1
    for kind in ("generalized", "microaggregated", "counted", "bucketized"):
        done = run("check", "trap.csv", "--kind", kind, "--sensitive", "d", "--quasi", ",".join(quasi), "--group", "d")
        assert done.code == 2
        assert done.err.startswith("Error: ")
        if quasi:
            done = run("check", "trap.csv", "--kind", kind, "--sensitive", "d", "--quasi", ",".join(quasi))
            assert done.code in (0, 2)
            assert done.code == 0 or done.err.startswith("Error: ")


def test_the_json_keeps_to_its_schema_and_nothing_else(home):
    Draft202012Validator.check_schema(SCHEMA.schema)
    every = ["--k", 2, "--negations", 1, "--risk", "category", "--population", "plain.csv", "--table", "raw.csv"]
    _, found = told("plain.csv", *ROLES, "--suppressed", "*", *every)
    assert "group" not in json.dumps(found["releases"][0]["results"][0]["checks"][0]["worst"])
    told("plain.csv", *ROLES, "--k", 9, "--audience", "internal")
    with pytest.raises(ValidationError):
        SCHEMA.validate({**found, "persons": ["someone"]})


def test_a_bucketized_release_keeps_its_groups_beside_other_files(home):
    rows = RAW.with_columns(id=pl.Series(list("abcde")), g=pl.Series([1, 1, 1, 2, 2]))
    Release.bucketized(rows, id="id", sensitive="disease", group="g", name="b").save("b")
    code, found = told("b", "plain.csv", *ROLES, "--distinct-l", 1, "--k", 1)
    assert (code, levels(found)["k-anonymity"], levels(found, 1)["k-anonymity"]) == (0, 2, 1)
    _, found = told("b", "--table", "raw.csv", "--queries", 10)
    assert found["releases"][0]["utility"]["gcp_published"] == 0
