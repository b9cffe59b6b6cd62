"""``showthrough attack``: counts on the terminal and as JSON, persons in a private file."""

import json
import os
import stat

import numpy as np
import polars as pl
import pytest

from showthrough.requests.attack_entries import ATTACKS
from tests.attacks.test_bayes import DON, REGISTER
from tests.cli.running import run

ROLES = ["--sensitive", "disease", "--quasi", "zip,age", "--register", "people.csv"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = {"zip": ["[75001, 75002]"] * 2 + ["[75003, 75010]"] * 2, "age": ["[22, 29]"] * 4}
    pl.DataFrame({**cells, "disease": ["Cold", "Flu", "Cold", "HIV"]}).write_csv("V.csv")
    REGISTER.write_csv("people.csv")
    DON.write_csv("neighbour.csv")
    DON.with_columns(p=pl.lit(1 / 3)).write_csv("even.csv")
    pl.DataFrame({"id": ["Bob", "Bill", "Don", "Sue"], "disease": ["Cold", "Flu", "Cold", "HIV"]}).write_csv("T.csv")
    return tmp_path


def test_bayes_in_counts(home):
    done = run("attack", "bayes", "V.csv", "--prior", "neighbour.csv", "--theta", 0.05, *ROLES)
    assert (done.code, done.err) == (0, "")
    told = " ".join(done.out.split())
    assert "The attacker has one release" in told
    assert "a belief that moves by 0.05 or more" in told
    assert "relative_entropy" in told
    assert "Don" not in told
    assert "HIV" not in told


def test_definetti_in_counts_and_with_a_declared_domain(home):
    rng = np.random.default_rng(1)
    sex = rng.permutation(["f", "m"] * 45)
    value = np.where(rng.random(90) < 0.85, sex, "x")
    table = pl.DataFrame({"id": np.arange(90), "sex": sex, "g": np.arange(90) // 3, "value": value})
    dealt = table.with_columns(pl.col("value").shuffle(seed=1).over("g"))
    dealt.write_csv("B.csv")
    table.write_csv("own.csv")
    pl.DataFrame({"sex": ["f", "m", "d"]}).write_csv("sexes.csv")
    roles = ["--id", "id", "--sensitive", "value", "--group", "g", "--quasi", "sex"]
    done = run("attack", "definetti", "B.csv", *roles, "--truth", "own.csv", "--seed", 3, "--domain", "sex=sexes.csv")
    assert (done.code, done.err) == (0, "")
    told = " ".join(done.out.split())
    assert "naive Bayes" in told
    assert "R-hat" in told
    again = run("attack", "definetti", "B.csv", *roles, "--method", "em", "--json", "-", "--people", "q.csv")
    found = json.loads(again.out)
    assert (found["method"], found["converged"], found["r_hat"]) == ("em", True, None)
    assert pl.read_csv("q.csv").columns == ["id", "value", "p", "error", "calibrated", "one_shot", "release"]
    wrong = run("attack", "definetti", "B.csv", *roles, "--method", "vb")
    assert wrong.code != 0
    assert "gibbs or em" in wrong.err


def test_minimality_of_a_release_that_the_command_made(home):
    rows = {"id": list("abcdef"), "age": [20, 20, 40, 40, 40, 41], "value": list("xxyzxz")}
    table = pl.DataFrame(rows)
    table.write_csv("own.csv")
    table.drop("value").write_csv("who.csv")
    columns = ["--id", "id", "--sensitive", "value", "--quasi", "age"]
    made = run("publish", "own.csv", *columns, "--k", 2, "--distinct-l", 2, "--quasi-anyway", "age", "-o", "R")
    assert made.code == 0, made.err
    done = run("attack", "minimality", "R", "--register", "who.csv", "--k", 2, "--distinct-l", 2, "--json", "-")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert told["exact"] is True
    assert told["inconclusive"] == 0
    assert 0 < told["confidentiality"] <= 1
    shown = run("attack", "minimality", "R", "--register", "who.csv", "--k", 2, "--distinct-l", 2)
    assert "m-confidential" in " ".join(shown.out.split())
    assert run("attack", "minimality", "R", "--register", "who.csv").code != 0
    assert run("attack", "minimality", "R", "--k", 2).code != 0


def test_bayes_as_json_with_people_and_truth(home):
    options = ["--prior", "a=neighbour.csv", "--prior", "b=even.csv", "--theta", 0.05, "--truth", "T.csv"]
    done = run("attack", "bayes", "V.csv", *options, *ROLES, "--json", "-", "--people", "p.csv")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert [(r["adversary"], r["belief"], r["persons"], r["of"]) for r in told["rates"]][:3] == [
        ("a", "formula", 4, 4), ("a", "relative_entropy", 4, 4), ("a", "exact", 3, 4),
    ]  # fmt: skip
    assert told["score"]["beliefs"][0]["accuracy"] is None  # of four persons nothing is told
    assert "Don" not in done.out
    people = pl.read_csv("p.csv")
    mine = people.filter((pl.col("adversary") == "a") & (pl.col("id") == "Don") & (pl.col("value") == "Cold"))
    assert mine["exact"][0] == pytest.approx(0.416667, abs=1e-6)
    assert mine["formula"][0] == pytest.approx(0.465278, abs=1e-6)
    assert mine["relative_entropy"][0] == pytest.approx(0.458040, abs=1e-6)
    assert stat.S_IMODE(os.stat("p.csv").st_mode) == 0o600
    done = run("attack", "bayes", "V.csv", *options, *ROLES, "--json", "o.json", "--quiet")
    assert (done.code, done.out) == (0, "")
    assert json.loads((home / "o.json").read_text()) == told


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--prior", "neighbour.csv", "--theta", 2], "theta is a number above 0"),
        (["--prior", "neighbour.csv", "--prior", "neighbour.csv"], "--prior names 'neighbour' twice"),
        (["--prior", "=x"], "--prior takes FILE or NAME=FILE"),
        (["--prior", "people.csv"], "'p'"),
        (["--prior", "neighbour.csv", "--truth", "people.csv"], "The truth"),
        (["--prior", "neighbour.csv", "--people", "V.csv"], "what this command reads"),
    ],
)
def test_wrong_options(home, options, words):
    done = run("attack", "bayes", "V.csv", *options, *ROLES)
    assert done.code == 2
    assert words in " ".join(done.err.split())
    assert "Don" not in done.err


def test_background(home):
    frame = pl.DataFrame(
        {"id": list("1234"), "sex": list("ffmm"), "g": [1] * 4, "disease": ["Flu", "Flu", "HIV", "Cold"]}
    )
    frame.write_csv("D1.csv")
    frame.drop("g").write_csv("raw.csv")
    roles = ["--id", "id", "--sensitive", "disease", "--group", "g"]
    options = ["--table", "raw.csv", "--support", 2, "--positive", 1, "--negative", 0]
    done = run("attack", "background", "D1.csv", *options, *roles)
    assert (done.code, done.err) == (0, "")
    told = " ".join(done.out.split())
    assert "1 rule puts somebody over the limit who is not without them; fewer do not." in told
    assert "Flu" not in told
    found = json.loads(run("attack", "background", "D1.csv", *options, *roles, "--json", "-").out)
    assert found["first"] == 1
    assert [point["certain"] for point in found["curve"]] == [0, 2]
    wrong = run("attack", "background", "D1.csv", "--table", "people.csv", *roles)
    assert wrong.code == 2
    assert "--table lacks the sensitive column" in wrong.err


def test_every_attack_is_a_command(home):
    listed = run("attack", "--help").out
    for name in ATTACKS:
        assert name in listed
        told = run("attack", name, "--help").out
        assert "--json" in told
        assert all(f"--{option.replace('_', '-')}" in told for option in ATTACKS[name].choices())


def test_a_history_file(home):
    (home / "h.toml").write_text(
        'sensitive = "disease"\nquasi = ["zip", "age"]\n[[release]]\nfile = "V.csv"\n'
        '[register]\nfile = "people.csv"\nonly_published = true\n'
    )
    options = ["--prior", "neighbour.csv", "--theta", 0.05, "--json", "-"]
    by_file = run("attack", "bayes", "h.toml", *options)
    assert (by_file.code, by_file.err) == (0, "")
    assert by_file.out == run("attack", "bayes", "V.csv", *options, *ROLES).out
    wrong = run("attack", "bayes", "h.toml", *options, *ROLES)
    assert wrong.code == 2
    assert "history file" in wrong.err


def test_differencing(home):
    told = {"none": 7, "asthma": 3, "diabetes": 1}
    for name, age, counts in (("T1", "15-19", told), ("T2", "16-19", {k: v for k, v in told.items() if v > 1})):
        pl.DataFrame({"age": [age] * len(counts), "ill": list(counts), "count": list(counts.values())}).write_csv(
            f"{name}.csv"
        )
    pl.DataFrame({"id": [f"p{k}" for k in range(11)], "age": [15] + [17] * 10}).write_csv("school.csv")
    roles = ["--sensitive", "ill", "--quasi", "age", "--register", "school.csv"]
    done = run("attack", "differencing", "T1.csv", "T2.csv", *roles)
    assert done.code == 2
    assert "name its column of counts, --count." in " ".join(done.err.split())
    roles += ["--count", "count"]
    done = run("attack", "differencing", "T1.csv", "T2.csv", *roles, "--people", "cells.csv")
    assert (done.code, done.err) == (0, "")
    told = " ".join(done.out.split())
    assert "T1 minus T2 leaves 1 person (2 times)." in told
    for private in ("15-19", "diabetes", "p0"):
        assert private not in told
    cells = pl.read_csv("cells.csv")
    assert cells["because"][0] == "T1 minus T2 leaves 1 person: 11 (15-19; T1) − 10 (16-19; T2) = 1."
    assert cells.filter(pl.col("found") == "person").select("id", "value", "alone").rows() == [
        ("p0", "diabetes", False)
    ]
    assert stat.S_IMODE(os.stat("cells.csv").st_mode) == 0o600
    found = json.loads(run("attack", "differencing", "T1.csv", "T2.csv", *roles, "--json", "-").out)
    assert (found["cells"]["unprinted"], found["cells"]["everybody"]) == (2, 1)
    wrong = run("attack", "differencing", "T1.csv", "--few", 0, *roles)
    assert wrong.code == 2


def test_bcf(home):
    pl.DataFrame({"job": ["{a, b}"] * 3, "ill": ["flu", "flu", "HIV"]}).write_csv("R1.csv")
    pl.DataFrame({"job": ["{a}", "{a}", "{b}", "{b}"], "ill": ["flu", "HIV", "flu", "cold"]}).write_csv("R2.csv")
    pl.DataFrame({"id": ["Al", "Bo"], "job": ["a", "b"]}).write_csv("who.csv")
    roles = ["--sensitive", "ill", "--quasi", "job"]
    done = run("attack", "bcf", "R1.csv", "R2.csv", *roles, "--register", "who.csv", "--people", "p.csv")
    assert (done.code, done.err) == (0, "")
    assert "Records that are left to a person, at least" in " ".join(done.out.split())
    assert "Al" not in done.out.replace("All", "")
    assert pl.read_csv("p.csv").select("id", "forward", "backward_exact").rows() == [("Al", 1, 2), ("Bo", 2, 1)]
    wrong = run("attack", "bcf", "R1.csv", "R2.csv", *roles)
    assert wrong.code == 2
    assert "--register is missing" in " ".join(wrong.err.split())
    wrong = run("attack", "bcf", "R2.csv", "R1.csv", *roles, "--register", "who.csv")
    assert wrong.code == 2
    assert "cannot be found in" in " ".join(wrong.err.split())


def test_least_knowledge(home):
    frame = pl.DataFrame({"id": list("1234"), "g": [1] * 4, "disease": ["Flu", "Flu", "HIV", "Cold"]})
    frame.write_csv("D1.csv")
    frame.drop("g").write_csv("raw.csv")
    roles = ["--id", "id", "--sensitive", "disease", "--group", "g"]
    done = run("attack", "least-knowledge", "D1.csv", *roles, "--people", "who.csv")
    assert (done.code, done.err) == (0, "")
    told = " ".join(done.out.split())
    assert "are enough to make a reader certain of a value; no smaller set is: all of them were tried." in told
    assert "2 statements (2 of the kind" in told
    assert "Flu" not in told
    assert pl.read_csv("who.csv").columns == ["id", "value", "p", "statement"]
    options = ["--kinds", "known", "--person", "1", "--truth", "raw.csv"]
    found = json.loads(run("attack", "least-knowledge", "D1.csv", *roles, *options, "--json", "-").out)
    assert (found["size"], found["exact"], found["rates"][0]["persons"]) == (2, True, 1)
    assert found["baseline"][0]["persons"] == 0
    wrong = run("attack", "least-knowledge", "D1.csv", *roles, "--kinds", "guessed")
    assert wrong.code == 2
    assert "kinds are some of known, excluded" in " ".join(wrong.err.split())


@pytest.mark.parametrize(
    ("options", "persons"),
    [
        (["homogeneity", "--share", 0.5], [4]),
        (["skewness", "--ratio", 1.2, "--matters", 30], [2]),
        (["similarity", "--kinds", "kinds.csv"], [2]),
        (["similarity", "--epsilon", 1], [2]),
        (["proximity", "--epsilon", 1, "--limit", 0.9], [2]),
        (["proximity", "--epsilon", 0.5, "--kinds", "kinds.csv", "--limit", 0.9], [2]),
    ],
)
def test_attacks_on_groups(home, options, persons):
    (home / "a.csv").write_text("id,g,v\n1,1,10\n2,1,11\n3,2,10\n4,2,30\n")
    (home / "kinds.csv").write_text("10,small,*\n11,small,*\n30,large,*\n")
    roles = ["--id", "id", "--group", "g", "--sensitive", "v"]
    done = run("attack", *options, "a.csv", *roles, "--truth", "a.csv", "--json", "-", "--people", "p.csv")
    assert (done.code, done.err) == (0, "")
    assert [row["persons"] for row in json.loads(done.out)["rates"]] == persons
    assert pl.read_csv("p.csv").height == 4
    shown = run("attack", *options, "a.csv", *roles)
    assert "baseline" in shown.out
    assert "30" not in shown.out.replace("--matters 30", "")


def test_similar_how(home):
    done = run("attack", "similarity", "V.csv", *ROLES)
    assert done.code == 2
    assert "--kinds or --epsilon says which values are similar" in done.err


@pytest.mark.parametrize(
    "limits",
    [
        ("--k", 2, "--recursive", "3,2"), ("--k", 2, "--delta-disclosure", 2), ("--k", 2, "--distinct-l", 2),
        ("--method", "xcolor", "--dissimilarity", "0,0.5,2", "--metric", "equal"),
        ("--method", "anatomy", "--m-unique", 2),
    ],
)  # fmt: skip
def test_minimality_replays_every_criterion_of_publish(home, limits):
    rows = {"id": list("abcdef"), "age": [20, 20, 40, 40, 41, 41], "value": list("xyxyxy")}
    pl.DataFrame(rows).write_csv("own.csv")
    pl.DataFrame(rows).drop("value").write_csv("who.csv")
    columns = ["--id", "id", "--sensitive", "value", "--quasi", "age", "--quasi-anyway", "age"]
    made = run("publish", "own.csv", *columns, *limits, "-o", "R")
    assert made.code == 0, made.err
    done = run("attack", "minimality", "R", "--register", "who.csv", *limits, "--json", "-")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert told["replays"] > 0
    assert told["inconclusive"] == 0
    assert 0.5 <= told["confidentiality"] <= 1


def test_numbers_with_commas(home):
    wrong = run("attack", "minimality", "R", "--register", "who.csv", "--recursive", "3")
    assert wrong.code == 2
    assert "--recursive takes numbers as C,L" in " ".join(wrong.err.split())


def test_a_truth_where_nobody_is_attacked(home):
    pl.DataFrame({"age": ["20-29"] * 2, "value": ["x", "y"]}).write_csv("G.csv")
    pl.DataFrame({"id": ["a", "b"], "age": [98, 99], "value": ["x", "y"]}).write_csv("own.csv")
    pl.DataFrame({"id": ["a", "b"], "age": [98, 99]}).write_csv("who.csv")
    roles = ["--sensitive", "value", "--quasi", "age", "--register", "who.csv", "--truth", "own.csv"]
    for name in ("intersection", "homogeneity", "skewness", "definetti"):
        done = run("attack", name, "G.csv", *roles)
        assert (done.code, done.err) == (0, ""), name
        assert "Nobody is counted" in done.out
