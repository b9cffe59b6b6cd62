"""``publish --method dp-counts`` from the table to the folder, and what it says where it cannot."""

import json
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest
from jsonschema import Draft202012Validator

import showthrough as st
from tests.cli.running import run

SCHEMA = Draft202012Validator(json.loads((files("showthrough.report") / "publish.schema.json").read_text("utf-8")))
TABLE = {
    "pid": [f"p{k}" for k in range(60)],
    "age": [18 + k for k in range(60)],
    "sex": ["f", "m"] * 30,
    "ill": ["flu", "flu", "HIV"] * 20,
}
BASIC = ["--method", "dp-counts", "--id", "pid", "--sensitive", "ill", "--quasi", "age,sex"]
DOMAIN = ["--domain", "age=<40;[40, 60);60+", "--domain", "sex=f,m", "--domain", "ill=flu,HIV,gout"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(TABLE).write_csv("table.csv")
    return tmp_path


def publish(*arguments, domain=DOMAIN):
    return run("publish", "table.csv", *BASIC, *domain, *arguments)


def test_end_to_end(home):
    done = publish("--epsilon", "0.5", "-o", "N")
    assert done.code == 0, done.err
    assert "ε = 0.5, δ = 0" in " ".join(done.out.split())
    assert "showthrough dp account" in " ".join(done.out.split())
    release = st.read_release("N")
    assert release.parameters["scale"] == 4.0
    assert release.cells()["age"].unique(maintain_order=True).to_list() == ["<40", "[40, 60)", "60+"]
    assert not Path("N.link.csv").exists()
    assert run("dp", "account", "N", "--max-epsilon", "0.5").code == 0


def test_json_holds_the_promise_and_nothing_of_the_records(home):
    done = publish("--epsilon", "1", "--marginal", "age", "--marginal", "sex:3", "-o", "N", "--json", "-")
    found = json.loads(done.out)
    assert [e.message for e in SCHEMA.iter_errors(found)] == []
    assert found["verdict"] == "pass"
    assert found["made"]["files"] == []  # the hash of the table is of its records
    assert found["remarks"][0]["figures"]["epsilon"] == 1.0
    parts = st.read_release("N").parameters["marginals"]
    assert [(m["quasi"], m["epsilon"]) for m in parts] == [(["age"], 0.25), (["sex"], 0.75)]
    other = run(
        "publish",
        "table.csv",
        *BASIC,
        "--method",
        "mondrian",
        "--k",
        3,
        "--quasi-anyway",
        "age",
        "-o",
        "G",
        "--json",
        "-",
    )
    assert [f["name"] for f in json.loads(other.out)["made"]["files"]] == ["table.csv"]


def test_domains_in_a_file_and_by_level(home):
    Path("domain.toml").write_text('age = ["<40", ">=40"]\nsex = ["f", "m"]\nill = ["flu", "HIV"]\n')
    assert publish("--epsilon", "1", "-o", "A", domain=["--domain", "domain.toml"]).code == 0
    assert st.read_release("A").to_frame().height == 8
    Path("age.csv").write_text("".join(f"{a};{'young' if a < 50 else 'old'};*\n" for a in range(18, 78)))
    by_level = ["--hierarchy", "age=age.csv", "--domain", "age=level:1", *DOMAIN[2:]]
    done = publish("--epsilon", "1", "-o", "B", domain=by_level)
    assert done.code == 0, done.err
    assert set(st.read_release("B").cells()["age"]) == {"young", "old"}


def test_gaussian_noise(home):
    done = publish(
        "--epsilon", "1", "--delta", "1e-6", "--mechanism", "gaussian", "--neighbours", "add-remove", "-o", "N"
    )
    assert done.code == 0, done.err
    found = json.loads(run("dp", "account", "N", "--json", "-").out)
    assert found["total"]["delta"] == 1e-6
    assert found["total"]["epsilon"] <= 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say how much with --epsilon"),
        (["--epsilon", "0"], "epsilon is a number above 0"),
        (["--epsilon", "-1"], "epsilon is a number above 0"),
        (["--epsilon", "1", "--delta", "1"], "delta is a probability"),
        (["--epsilon", "1", "--delta", "0.1"], "geometric noise keeps its promise with delta = 0"),
        (["--epsilon", "1", "--mechanism", "gaussian"], "promises nothing with delta = 0"),
        (["--epsilon", "1", "--seed", "0"], "Noise takes no seed"),
        (["--epsilon", "1", "--k", "3"], "keeps no criterion of groups"),
        (["--epsilon", "1", "--neighbours", "none"], "neighbours is one of"),
        (["--epsilon", "1", "--domain", "sex=f"], "--domain names 'sex' twice"),
        (["--epsilon", "1", "--domain", "zip=1,2"], "domain names 'zip'"),
        (["--epsilon", "1", "--domain", "zip="], "--domain takes COLUMN=VALUES"),
        (["--epsilon", "1", "--domain", "none.toml"], "none.toml"),
        (["--epsilon", "1", "--marginal", "zip"], "marginals lists 'zip'"),
        (["--epsilon", "1", "--marginal", "age:0"], "The share of a marginal is a number above 0"),
        (["--epsilon", "1", "--publish-ids"], "--publish-ids means nothing for the method dp-counts"),
        (["--epsilon", "1", "--suppress", "0.1"], "--suppress means nothing for the method dp-counts"),
        (["--epsilon", "1", "--accept-exposed"], "--accept-exposed means nothing for the method dp-counts"),
        (["--epsilon", "1", "--id", "id", "--link"], "--link writes who is in which group: that takes --id"),
    ],
)
def test_bad_input_is_a_sentence_and_nothing_is_written(home, arguments, message):
    done = publish(*arguments, "-o", "N")
    assert (done.code, done.out) == (2, "")
    assert message in " ".join(done.err.split())
    assert not Path("N").exists()


def test_what_was_not_declared_is_refused(home):
    done = publish("--epsilon", "1", "-o", "N", domain=DOMAIN[2:])
    assert done.code == 2
    assert "Declare the values of 'age' with --domain" in " ".join(done.err.split())
    done = publish("--epsilon", "1", "-o", "N", domain=["--domain", "age=18,19", *DOMAIN[2:]])
    assert done.code == 2
    assert "Some records hold a value of 'age' that the domain does not list" in " ".join(done.err.split())


def test_without_the_library_there_is_a_hint(home, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opendp", None)
    monkeypatch.setitem(__import__("sys").modules, "opendp.prelude", None)
    done = publish("--epsilon", "1", "-o", "N")
    assert done.code == 2
    assert 'pip install "showthrough[dp]"' in " ".join(done.err.split())


def test_a_budget_is_kept_over_the_history(home):
    assert publish("--epsilon", "0.5", "--max-epsilon", "1", "-o", "N1").code == 0
    over = publish("--epsilon", "0.7", "--history", "N1", "--max-epsilon", "1", "-o", "N2")
    assert over.code == 2
    assert "0.5 is spent, and epsilon = 0.5 would fit" in " ".join(over.err.split())
    assert not Path("N2").exists()
    fits = publish("--epsilon", "0.5", "--history", "N1", "--max-epsilon", "1", "-o", "N2")
    assert "before it: ε = 1, δ = 0, by basic composition; before it was ε = 0.5. The policy" in " ".join(
        fits.out.split()
    )
    again = publish("--epsilon", "0.5", "--overwrite", "-o", "N2")  # whoever saw what it held has both
    assert "ε = 1, δ = 0, by basic composition" in " ".join(again.out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "1", "--max-epsilon", "nan", "-o", "N"], "--max-epsilon is a number of 0 or more, not nan"),
        (["--epsilon", "1", "--max-delta", "1", "-o", "N"], "--max-delta is a probability"),
        (["--epsilon", "1", "--max-posterior", "0.5", "-o", "N"], "not max_posterior"),
        (["--epsilon", "1", "--history", "nowhere", "-o", "N"], "nowhere"),
        (["--epsilon", "1", "--dry-run"], "dp-counts has no strategies to compare"),
        (["--method", "mondrian", "--k", "2", "--max-epsilon", "1", "-o", "N"], "limits of --method dp-counts"),
    ],
)
def test_budgets_that_make_no_sense(home, arguments, message):
    done = publish(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in " ".join(done.err.split())
    assert not Path("N").exists()
