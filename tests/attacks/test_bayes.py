"""Bayes-optimal privacy: the slides' example, and random releases against all worlds and the formula by hand."""

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.attacks.weighted_worlds import states, weighed
from tests.oracles import attacks as slow

DISEASES = ["Cold", "Flu", "HIV"]
V = st.Release.generalized(
    pl.DataFrame(
        {
            "zip": ["[75001, 75002]"] * 2 + ["[75003, 75010]"] * 2,
            "age": ["[22, 29]"] * 4,
            "disease": ["Cold", "Flu", "Cold", "HIV"],
        }
    ),
    sensitive="disease",
    quasi=["zip", "age"],
    name="V",
)
REGISTER = pl.DataFrame(
    {"id": ["Bob", "Bill", "Don", "Sue"], "zip": ["75001", "75002", "75003", "75010"], "age": ["22", "29", "22", "29"]}
)


def prior(**beliefs):
    rows = [(who, v, p) for who, row in beliefs.items() for v, p in zip(DISEASES, row, strict=True)]
    return pl.DataFrame(rows, schema=["id", "disease", "p"], orient="row")


EVEN = [1 / 3] * 3
DON = prior(Don=[0.4, 0.04, 0.56], Sue=EVEN, Bob=EVEN, Bill=EVEN)


def of(outcome, who, column, adversary=None):
    mine = outcome.people.filter(pl.col("id") == who)
    if adversary is not None:
        mine = mine.filter(pl.col("adversary") == adversary)
    return dict(zip(mine["value"], mine[column], strict=True))


def close(found, **expected):
    assert found == pytest.approx(expected, abs=5e-7)


def test_the_example_of_the_slides():
    found = st.attacks.bayes(V, DON, 0.05, register=REGISTER)
    close(of(found, "Don", "alpha"), Cold=0.4, Flu=0.04, HIV=0.56)
    close(of(found, "Don", "formula"), Cold=0.465278, Flu=0, HIV=0.534722)
    close(of(found, "Don", "relative_entropy"), Cold=0.458040, Flu=0, HIV=0.541960)
    close(of(found, "Don", "exact"), Cold=0.416667, Flu=0, HIV=0.583333)
    close(of(found, "Don", "release"), Cold=0.5, Flu=0, HIV=0.5)
    assert of(found, "Don", "formula_breach") == {"Cold": True, "Flu": False, "HIV": False}
    assert of(found, "Don", "exact_breach") == {"Cold": False, "Flu": False, "HIV": False}


def test_a_difference_of_theta_is_a_breach():
    assert of(st.attacks.bayes(V, DON, 0.04, register=REGISTER), "Don", "exact_breach")["Flu"] is True
    assert of(st.attacks.bayes(V, DON, 0.0401, register=REGISTER), "Don", "exact_breach")["Flu"] is False


def test_priors_by_quasi_identifiers_need_no_register():
    by_quasi = DON.join(REGISTER, on="id").select("zip", "age", "disease", "p")
    found = st.attacks.bayes(V, by_quasi, register=REGISTER)
    alone = st.attacks.bayes(V, by_quasi)
    for column in ("alpha", "formula", "relative_entropy", "exact"):
        assert of(alone, "75003, 22", column) == pytest.approx(of(found, "Don", column), abs=1e-9)


def test_a_target_among_members_whom_nobody_names():
    """The formula and relative entropy answer; worlds need every member."""
    found = st.attacks.bayes(V, prior(Don=[0.4, 0.04, 0.56]), register=REGISTER.filter(pl.col("id") == "Don"))
    assert set(of(found, "Don", "exact").values()) == {None}
    assert any("whom nobody names" in note for note in found.notes)
    assert found.rates.filter(pl.col("belief") == "exact")["of"].to_list() == [0]
    close(of(found, "Don", "formula"), Cold=0.5, Flu=0, HIV=0.5)  # Don alone is all that is known of the group


def test_several_adversaries():
    both = st.attacks.bayes(V, {"a neighbour": DON, "nobody": prior(Don=EVEN)}, 0.1, register=REGISTER)
    assert both.people["adversary"].unique(maintain_order=True).to_list() == ["a neighbour", "nobody"]
    close(of(both, "Don", "exact", "a neighbour"), Cold=0.416667, Flu=0, HIV=0.583333)
    close(of(both, "Don", "exact", "nobody"), Cold=0.5, Flu=0, HIV=0.5)
    assert both.rates.filter(pl.col("adversary") == "nobody")["of"].to_list() == [1, 1, 1]
    assert any("nobody: 3 persons are without a prior" in note for note in both.notes)


def test_a_prior_that_excludes_what_a_group_publishes():
    never = prior(Don=[1, 0, 0], Sue=[0.5, 0.5, 0], Bob=EVEN, Bill=EVEN)
    found = st.attacks.bayes(V, never, 0.1, register=REGISTER)
    for belief in ("formula", "relative_entropy", "exact"):
        assert set(of(found, "Don", belief).values()) == {None}, belief
        assert None not in of(found, "Bob", belief).values(), belief
    assert any("which the prior rules out for all of them" in note for note in found.notes)
    assert found.rates["of"].to_list() == [2, 2, 2]


def test_a_prior_that_is_sure_of_one():
    found = st.attacks.bayes(V, prior(Don=[1, 0, 0], Sue=EVEN, Bob=EVEN, Bill=EVEN), register=REGISTER)
    close(of(found, "Don", "exact"), Cold=1, Flu=0, HIV=0)
    close(of(found, "Sue", "exact"), Cold=0, Flu=0, HIV=1)
    close(of(found, "Sue", "relative_entropy"), Cold=0, Flu=0, HIV=1)


def test_counterfeits_can_have_any_value():
    frame = pl.DataFrame({"id": ["1", "2", None], "g": [1, 1, 1], "disease": DISEASES})
    release = st.Release.bucketized(frame, id="id", sensitive="disease", group="g", counterfeits={1: 1})
    rows = [
        (who, v, p) for who, row in (("1", [0.7, 0.2, 0.1]), ("2", EVEN)) for v, p in zip(DISEASES, row, strict=True)
    ]
    given = pl.DataFrame(rows, schema=["id", "value", "p"], orient="row")
    found = st.attacks.bayes(release, given)
    even = dict.fromkeys(DISEASES, 1 / 3)
    expected = slow.exact_beliefs(DISEASES, [dict(zip(DISEASES, [0.7, 0.2, 0.1], strict=True)), even, even])
    close(of(found, "1", "exact"), **expected[0])
    close(of(found, "2", "exact"), **expected[1])


def random_case(seed):
    """A bucketized release with a prior of everybody: groups as lists of (id, value), and priors by id."""
    random = np.random.default_rng(seed)
    groups, beliefs, number = [], {}, 0
    for _ in range(random.integers(1, 4)):
        members = []
        for _ in range(random.integers(1, 6)):
            row = random.random(3) * (random.random(3) > 0.2)
            row = row if row.sum() else np.ones(3)
            beliefs[f"p{number}"] = dict(zip(DISEASES, row / row.sum(), strict=True))
            members.append((f"p{number}", str(random.choice(DISEASES))))
            number += 1
        groups.append(members)
    return groups, beliefs


@pytest.mark.parametrize("seed", [*range(40), *range(7000, 7020)])
def test_random_releases(seed):
    groups, beliefs = random_case(seed)
    frame = pl.DataFrame(
        [(who, g, v) for g, members in enumerate(groups) for who, v in members],
        schema=["id", "group", "value"],
        orient="row",
    )
    every = [(who, v, p) for who, row in beliefs.items() for v, p in row.items()]
    release = st.Release.bucketized(frame, id="id", sensitive="value", group="group")
    published = set(frame["value"])
    given = pl.DataFrame([row for row in every if row[1] in published], schema=["id", "value", "p"], orient="row")
    total = given.group_by("id").agg(pl.col("p").sum().alias("total"))
    given = given.join(total, on="id").with_columns(p=pl.col("p") / pl.col("total")).filter(pl.col("total") > 0)
    if given["id"].n_unique() < frame.height:
        return  # somebody can have nothing that is published: another test
    told = {who: dict(zip(own["value"], own["p"], strict=True)) for (who,), own in given.group_by("id")}
    found = st.attacks.bayes(release, given.drop("total"), 0.2)
    for members in groups:
        values, priors = [v for _, v in members], [told[who] for who, _ in members]
        exact = slow.exact_beliefs(values, priors)
        scaled = slow.scaled(values, priors) if exact else None
        for number, (who, _) in enumerate(members):
            if scaled is not None:  # scaling is slow where a zero is forced
                mine = of(found, who, "relative_entropy")
                assert mine == pytest.approx({v: scaled[number].get(v, 0.0) for v in mine}, abs=2e-3)
            for column, expected in (
                ("exact", exact and exact[number]),
                ("formula", slow.formula(values, priors, number)),
            ):
                mine = of(found, who, column)
                if expected is None:
                    assert set(mine.values()) == {None}
                else:
                    assert mine == pytest.approx({v: expected.get(v, 0.0) for v in mine}, abs=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_weighted_worlds_of_one_group(seed):
    random = np.random.default_rng(seed)
    counts = random.integers(1, 4, random.integers(1, 4)).tolist()
    letters = [letter for letter, n in zip("abc", counts, strict=False) for _ in range(n)]
    weights = random.random((len(letters), len(counts))) ** 8
    expected = slow.exact_beliefs(letters, [dict(zip("abc", row, strict=False)) for row in weights])
    found = weighed(counts, weights)
    assert [dict(zip("abc", row, strict=False)) for row in found.tolist()] == [pytest.approx(e) for e in expected]
    assert states(counts, len(letters)) == np.prod(np.array(counts) + 1) * len(letters)


def test_a_large_group_has_no_exact_belief_and_says_so():
    random = np.random.default_rng(1)
    frame = pl.DataFrame({"id": range(30), "g": [1] * 30, "value": [f"v{k}" for k in range(30)]})
    release = st.Release.bucketized(frame, id="id", sensitive="value", group="g")
    weight = random.random((30, 30))
    weight /= weight.sum(axis=1, keepdims=True)
    given = pl.DataFrame(
        {"id": np.repeat(np.arange(30), 30), "value": [f"v{k}" for k in range(30)] * 30, "p": weight.ravel()}
    )
    found = st.attacks.bayes(release, given)
    assert any("30 persons are in groups with too many worlds" in note for note in found.notes)
    assert found.people["relative_entropy"].null_count() == 0
    assert found.people["exact"].null_count() == 900


@pytest.mark.parametrize("theta", [0, -0.1, 1.5, "0.2", None, True, float("nan")])
def test_wrong_thetas(theta):
    with pytest.raises(st.errors.ParameterError, match="theta"):
        st.attacks.bayes(V, DON, theta, register=REGISTER)


def test_wrong_priors():
    with pytest.raises(st.errors.InputError, match="No prior"):
        st.attacks.bayes(V, {}, register=REGISTER)
    with pytest.raises(st.errors.InputError, match="named by text"):
        st.attacks.bayes(V, {1: DON}, register=REGISTER)
    with pytest.raises(st.errors.InputError, match="The release names nobody"):
        st.attacks.bayes(V, DON)


def test_beliefs_in_what_the_release_does_not_publish_move_too():
    """The class of Don and Sue alone: Flu is not in it, and α is as believed, not made to fit the published values."""
    frame = pl.DataFrame({"id": ["Don", "Sue"], "ill": ["Cold", "HIV"], "group": [1, 1]})
    release = st.Release.bucketized(frame, id="id", sensitive="ill", group="group", name="V")
    prior = pl.DataFrame(
        {"id": ["Don"] * 3 + ["Sue"] * 3, "ill": ["Cold", "Flu", "HIV"] * 2, "p": [0.4, 0.04, 0.56] + [1 / 3] * 3}
    )
    don = st.attacks.bayes(release, prior, 0.06).people.filter(pl.col("id") == "Don").sort("value")
    assert don["alpha"].to_list() == pytest.approx([0.4, 0.04, 0.56])
    assert don["formula"].to_list() == pytest.approx([0.465278, 0, 0.534722], abs=1e-6)
    assert don["relative_entropy"].to_list() == pytest.approx([0.458040, 0, 0.541960], abs=1e-6)
    assert don["exact"].to_list() == pytest.approx([0.416667, 0, 0.583333], abs=1e-6)
    assert don["formula_breach"].to_list() == [True, False, False]


def test_exact_beliefs_are_those_of_worlds_weighed_by_the_prior():
    found = st.attacks.bayes(V, DON, register=REGISTER)
    worlds = st.infer([V], register=REGISTER, prior=DON).worlds()
    for who in ("Bob", "Bill", "Don", "Sue"):
        mine = worlds.filter(pl.col("id") == who)
        told = dict(zip(mine["value"], mine["p"], strict=True))
        assert of(found, who, "exact") == pytest.approx({v: told.get(v, 0.0) for v in DISEASES}, abs=1e-9)
