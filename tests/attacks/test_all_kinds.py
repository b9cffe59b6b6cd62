"""Attacks on releases of every kind: an answer or one sentence, and sets that hold what inference leaves."""

import json

import polars as pl
import pytest

import showthrough as st
from tests.located_cases import located

TREE = {"*": {"x": ["a", "b"], "y": ["c", "d", "e"]}}
SEEDS = [*range(40), *range(7000, 7020)]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_kind_of_release(seed):
    case = located(seed, persons=8)
    given, known = case.releases, case.register
    outcomes = [
        st.attacks.intersection(given, register=known),
        st.attacks.homogeneity(given, 0.5, register=known),
        st.attacks.skewness(given, register=known),
        st.attacks.similarity(given, hierarchy=TREE, register=known),
        st.attacks.membership(given, known),
    ]
    if any(release.roles.id is None for release in given):
        outcomes.append(st.attacks.linking(given, known))
    for outcome in outcomes:
        told = str(outcome) + json.dumps(outcome.as_dict())
        assert "p0" not in told
        assert (outcome.rates["persons"] <= outcome.rates["of"]).all()
    inside = st.attacks.membership(given, known).people
    assert inside["p"].is_between(0, 1).all()


@pytest.mark.parametrize("seed", SEEDS[::5])
def test_sets_hold_what_inference_leaves(seed):
    case = located(seed, persons=8)
    found = st.attacks.intersection(case.releases, register=case.register, beyond=True, seconds=20)
    sure = found.people.filter(pl.col("joint").is_not_null())
    assert (sure["left"] <= sure["posterior"]).all()


def offices():
    """Two tables of counts: hidden cells and totals, and other columns."""
    ages = pl.DataFrame(
        {
            "age": ["20-29", "20-29", "20-29", "30-39", "30-39", "Total", "Total"],
            "v": ["x", "y", "z", "x", "y", "x", "y"],
            "count": ["2", "c", "1", "3", "1", "5", "2"],
        }
    )
    places = pl.DataFrame({"zip": ["1", "1", "2"], "v": ["x", "y", "x"], "count": ["3", "2", "2"]})
    return [
        st.Release.counted(ages, sensitive="v", quasi=["age"], suppressed={"c": (1, 4)}, totals=["Total"], name="A"),
        st.Release.counted(places, sensitive="v", quasi=["zip"], name="B"),
    ]


def test_tables_of_counts():
    people = pl.DataFrame(
        {"id": list("abcdefg"), "age": ["21"] * 4 + ["31"] * 3, "zip": ["1", "1", "1", "1", "1", "2", "2"]}
    )
    for who in (people, None):
        everything = st.attack_all(offices(), register=who, seconds=30)
        assert "homogeneity" in everything.results
        assert str(everything)
    both = st.attacks.intersection(offices(), register=people, least=1)
    assert set(both.people["id"]) <= set(people["id"])
    assert (both.people["posterior"] <= both.people["prior"]).all()
