"""All attacks at once: what can run does, and the rest says why not."""

import json
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
    assert "bayes: It needs --prior." in done.out
    assert "Pneumonia" not in done.out
    told = json.loads((tmp_path / "all.json").read_text())
    assert told["attacks"]["intersection"]["vulnerable"] == 60.0
    assert told["not_run"]["linking"] == "It needs a register of persons."
    assert json.loads(run("attack", "all", "D1", "D2", "--json", "-").out) == told
    quiet = run("attack", "all", "D1", "D2", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    assert run("attack", "all", "nowhere").code == 2
