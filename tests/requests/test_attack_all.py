"""All attacks at once: what can run does, and the rest says why not."""

import json
import stat
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
import pytest

import showthrough as st
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import rates
from showthrough.errors import InputError
from showthrough.examples import figure1, hospitals
from showthrough.requests import attack_all as module
from showthrough.requests.attack_entries import ATTACKS
from showthrough.requests.attack_entries.base import AttackEntries
from tests.attacks.test_intersection import SEEDS, bucketized, history
from tests.cli.running import run


@dataclass(frozen=True)
class OneByOne(AttackEntries):
    """Counts records."""

    one: ClassVar[bool] = True

    def run(self, given):
        counted = rates([({"seed": given.seed}, given.release.members, given.release.members)])
        people = pl.DataFrame({"id": ["x"]})
        return Outcome("counting", Threat("a", "b", "c"), people, counted, counted)


@dataclass(frozen=True)
class Refusing(AttackEntries):
    """Refuses."""

    def run(self, given):  # noqa: ARG002
        raise InputError("It does not want to.")


def test_every_attack_runs_or_says_why():
    found = st.attack_all(hospitals.releases(), register=hospitals.register())
    names = {name.partition(" (")[0] for name in [*found.results, *found.not_run]}
    assert names == set(ATTACKS)
    assert {"intersection", "homogeneity", "skewness", "linking", "membership"} <= set(found.results)
    assert {"bayes", "background"} <= set(found.not_run)
    for why in found.not_run.values():
        assert why.endswith(".")
    assert set(found.table["attack"]) == set(found.results)
    assert found.scores is None
    for text in (str(found), repr(found), json.dumps(found.as_dict())):
        assert "Alice" not in text
        assert "AIDS" not in text


def test_attacks_on_one_release_are_run_on_each(monkeypatch):
    monkeypatch.setattr(module, "ATTACKS", {"counting": OneByOne, "refusing": Refusing})
    found = st.attack_all(figure1.releases(), seed=7)
    assert found.table.select("attack", "measure", "persons", "baseline").rows() == [
        ("counting (D1)", "seed 7", 13, 13), ("counting (D2)", "seed 7", 12, 12),
    ]  # fmt: skip
    assert found.not_run == {"refusing": "It does not want to."}
    assert list(st.attack_all(figure1.releases()[0]).results) == ["counting"]
    assert st.attack_all(figure1.releases(), seconds=0).not_run == {
        **dict.fromkeys(["counting (D1)", "counting (D2)", "refusing"], module.TIME)
    }


@pytest.mark.parametrize("seed", SEEDS[::30])
def test_random_histories_with_the_truth(seed):
    releases, register, _, truth = history(seed)
    true = pl.DataFrame({"id": list(truth), "value": list(truth.values())})
    found = st.attack_all(releases, register=register, truth=true, seconds=60)
    assert "homogeneity" in found.results
    assert found.scores is not None
    assert Counter(found.scores["attack"])["homogeneity"] == 2 * len(releases)


@pytest.mark.parametrize(
    "releases",
    [
        [bucketized(["a"], ["x"], [1], "one")],
        [bucketized(["a"], ["x"], [1], "one")] * 2,
        [bucketized(list("abc"), list("xxx"), [1, 1, 1], "same value")],
        [bucketized(list("abc"), list("xyz"), [1, 2, 3], "raw")] * 2,
        [st.Release.generalized(pl.DataFrame({"q": ["*", "*"], "v": ["x", "y"]}), sensitive="v", quasi=["q"])],
        [bucketized(list("ab"), list("xy"), [1, 1], "before"), bucketized(list("ab"), list("zz"), [1, 1], "after")],
    ],
)
def test_degenerate_input(releases):
    found = st.attack_all(releases, truth=pl.DataFrame({"id": ["a"], "value": ["x"]}), seconds=60)
    assert found.results
    assert str(found)


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for release, name in zip(figure1.releases(), ("D1", "D2"), strict=True):
        release.save(name)
    done = run("attack", "all", "D1", "D2", "--json", "all.json")
    assert (done.code, done.err) == (0, "")
    assert "All attacks: persons exposed" in done.out
    assert "showthrough attack bayes … --prior FILE" in " ".join(done.out.split())
    assert "Pneumonia" not in done.out
    told = json.loads((tmp_path / "all.json").read_text())
    assert told["attacks"]["intersection"]["vulnerable"] == 60.0
    assert told["not_run"]["linking"].startswith(
        "It needs a register of persons. showthrough attack linking … --register FILE"
    )
    assert told["lacking"]["linking"] == ["register"]
    assert json.loads(run("attack", "all", "D1", "D2", "--json", "-").out) == told
    quiet = run("attack", "all", "D1", "D2", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    assert run("attack", "all", "nowhere").code == 2
    assert run("attack", "all", "D1", "D2", "--people", "who.csv").code == 0
    assert pl.read_csv("who.csv", infer_schema=False).columns[:2] == ["attack", "id"]
    assert stat.S_IMODE((tmp_path / "who.csv").stat().st_mode) == 0o600
    assert run("attack", "all", "D1", "D2", "--people", "D1/release.toml").code == 2


def numbered(values, tree=None):
    rows = {"id": list("abcdef"), "group": [1, 1, 1, 2, 2, 2], "zip": ["1", "1", "2", "2", "3", "3"], "v": values}
    trees = None if tree is None else {"v": tree}
    return st.Release.bucketized(
        pl.DataFrame(rows), id="id", group="group", sensitive="v", quasi=["zip"], name="salaries", hierarchies=trees
    )


def test_numbers_are_near_by_their_range():
    found = st.attack_all([numbered([100, 101, 102, 100, 150, 200])])
    assert {"similarity", "proximity"} <= set(found.results)
    assert "proximity" not in found.lacking
    near = found.results["proximity"].outcome
    assert "within 5 of some value" in near.threat.wants
    assert near.rates["persons"][0] == 3
    assert found.results["similarity"].outcome.rates["persons"][0] == 3
    same = st.attack_all([numbered([7] * 6)])
    assert same.results["proximity"].outcome.rates["persons"][0] == 6


@pytest.mark.parametrize(
    "values", [list("xyzxyz"), ["1", "2", "x", "4", "5", "6"], [1.0, 2.0, 3.0, 4.0, 5.0, float("inf")]]
)
def test_what_is_no_number_is_not_near(values):
    found = st.attack_all([numbered(values)])
    assert found.lacking["similarity"] == ("kinds",)
    assert found.lacking["proximity"] == ("kinds", "epsilon")


def test_a_hierarchy_of_the_values_says_what_is_similar():
    values, alone = ["x", "y", "x", "x", "z", "u"], {"similarity", "proximity"}
    assert alone <= set(st.attack_all([numbered(values)]).not_run)
    found = st.attack_all([numbered(values, tree={"*": {"low": ["x", "y"], "high": ["z", "u"]}})])
    assert alone <= set(found.results)
    assert found.results["similarity"].outcome.rates["persons"][0] == 3
    assert found.results["proximity"].outcome.rates["persons"][0] == 6
    assert alone <= set(st.attack_all([numbered(values, tree={"*": ["x", "y", "z", "u"]})]).not_run)


def test_rules_of_the_truth():
    release = numbered(["x", "x", "y", "x", "y", "y"])
    truth = pl.DataFrame({"id": list("abcdef"), "value": ["x", "x", "y", "x", "y", "y"]})
    assert st.attack_all([release], truth=truth).lacking["background"] == ("table",)
    told = st.attack_all([release], truth=truth.with_columns(zip=pl.Series(["1", "1", "2", "2", "3", "3"])))
    assert "background" in [*told.results, *told.not_run]
    assert "background" not in told.lacking


def test_everybody_in_one_table():
    found = st.attack_all(figure1.releases())
    people = found.private()
    assert set(people["attack"]) == set(found.results)
    for name, result in found.results.items():
        own = people.filter(pl.col("attack") == name)
        assert own.height == result.outcome.private().height
    sets = found.results["intersection"].outcome.people
    told = people.filter(pl.col("attack") == "intersection")
    assert told["posterior"].cast(pl.Int64).to_list() == sets["posterior"].to_list()
    nobody = st.attack_all(figure1.releases(), seconds=0).private()
    assert (nobody.height, nobody.columns) == (0, ["attack"])
