"""Outcomes: rates, intervals and scores against slow truths, and what is told to whom."""

import json
import pickle

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

import showthrough as st
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import LEAST, rates, score, wilson
from tests.oracles import attacks as slow

THREAT = Threat("a table", "to know", "nothing")


@pytest.mark.parametrize(("hits", "of"), [(0, 1), (1, 1), (3, 10), (10, 10), (0, 50), (17, 31), (500, 1000)])
def test_wilson(hits, of):
    expected = binomtest(hits, of).proportion_ci(method="wilson")
    assert wilson(hits, of) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_rates():
    found = rates([({"of what": "a"}, 3, 4), ({"of what": "b"}, 0, 0)])
    assert found.columns == ["of what", "persons", "of", "share", "low", "high"]
    assert found["share"].to_list() == [0.75, None]


def random_beliefs(seed, persons, values=4, *, coarse=False):
    random = np.random.default_rng(seed)
    weight = random.random((persons, values)) ** 3
    if coarse:  # with ties
        weight = np.ceil(weight * 3)
    weight /= weight.sum(axis=1, keepdims=True)
    letters = list("abcdefg"[:values])
    truth = {f"p{i}": str(random.choice([*letters, "x"], p=[*(0.95 * weight[i]), 0.05])) for i in range(persons)}
    beliefs = {f"p{i}": dict(zip(letters, weight[i].tolist(), strict=True)) for i in range(persons)}
    rows = [(who, v, p) for who, row in beliefs.items() for v, p in row.items()]
    return pl.DataFrame(rows, schema=["id", "value", "p"], orient="row"), beliefs, truth


def as_truth(truth):
    return pl.DataFrame({"id": list(truth), "value": list(truth.values())})


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("persons", [1, 7, 20, 95, 300])
def test_scores(persons, coarse):
    people, beliefs, truth = random_beliefs(persons, persons, coarse=coarse)
    found = score(people, ["p"], as_truth(truth)).table.row(0, named=True)
    expected = slow.scores(beliefs, truth)
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    assert (found["low"], found["high"]) == wilson(expected["accuracy"] * persons, persons)
    assert found["low"] <= found["accuracy"] <= found["high"]


def test_scores_by_attacker_and_without_some():
    one, _, truth = random_beliefs(1, 40)
    other, beliefs, _ = random_beliefs(2, 40)
    both = pl.concat([one.select(pl.lit(who).alias("adversary"), pl.all()) for who in ("a",)])
    both = pl.concat([both, other.select(pl.lit("b").alias("adversary"), pl.all())])
    half = {who: truth[who] for who in list(truth)[:25]}
    found = score(both, ["p"], as_truth(half), by=("adversary",))
    assert found.table["adversary"].to_list() == ["a", "b"]
    assert found.unknown == 15
    expected = slow.scores(beliefs, half)
    assert found.table["brier"][1] == pytest.approx(expected["brier"])
    assert found.calibration.filter(pl.col("adversary") == "b")["persons"].sum() == 25


def outcome(people, beliefs=("p",)):
    counted = rates([({"adversary": "a"}, 3, 10)])
    beside = rates([({"adversary": "a"}, 1, 10)])
    return Outcome("test", THREAT, people, counted, beside, beliefs)


def test_nobody_is_named():
    people, _, truth = random_beliefs(3, 200)
    people = people.with_columns(id="secret" + pl.col("id"), value="illness" + pl.col("value"))
    known = as_truth(truth).with_columns(id="secret" + pl.col("id"), value="illness" + pl.col("value"))
    found = outcome(people)
    scored = found.score(known)
    said = [str(found), repr(found), json.dumps(found.as_dict()), found._repr_html_() or ""]
    said += [str(scored), repr(scored), json.dumps(scored.as_dict()), scored._repr_html_() or ""]
    for text in said:
        assert "secret" not in text
        assert "illness" not in text
    assert "a: 3 of 10 persons; baseline 1 of 10." in str(found)
    assert "The attacker has a table. It wants to know. It assumes nothing." in str(found)


def test_few_right_guesses_are_not_told():
    people, _, truth = random_beliefs(4, 2 * LEAST - 1)
    scored = outcome(people).score(as_truth(truth))
    assert scored.table["accuracy"][0] is not None
    assert scored.told()["accuracy"].to_list() == [None]
    assert "too few" in str(scored)
    assert scored.as_dict()["beliefs"][0]["brier"] is None


def test_pickles():
    people, _, truth = random_beliefs(5, 30)
    found = outcome(people)
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert str(pickle.loads(pickle.dumps(found.score(as_truth(truth))))) == str(found.score(as_truth(truth)))


def test_wrong_truths():
    people, _, truth = random_beliefs(6, 20)
    found = outcome(people)
    with pytest.raises(st.errors.InputError, match="names nobody"):
        found.score(pl.DataFrame({"id": ["q"], "value": ["a"]}))
    with pytest.raises(st.errors.InputError, match="twice"):
        found.score(pl.concat([as_truth(truth)] * 2))
    with pytest.raises(st.errors.InputError, match="no belief 'q'"):
        found.score(as_truth(truth), beliefs=["q"])
    with pytest.raises(st.errors.InputError, match="no probabilities"):
        outcome(people, ()).score(as_truth(truth))
    with pytest.raises(st.errors.InputError, match="value"):
        found.score(pl.DataFrame({"id": ["p1"]}))
