"""Average risk and uniqueness against records one by one; and whether methods keep them."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as some

import showthrough as st
from showthrough.criteria.risk import risk
from tests.criteria.releases import QUICK
from tests.oracles import average_risk as oracle

CELLS = some.lists(some.sampled_from("abcdefg"), min_size=1, max_size=20)
METHODS = ("mondrian", "mondrian-relaxed", "local-recoding", "full-domain")


def frame(cells):
    return pl.DataFrame({"zip": cells})


@QUICK
@given(CELLS, some.floats(0.05, 1))
def test_average_risk_against_records(cells, most):
    truth = oracle.mean_risk(cells)
    found = st.AverageRisk(most).check(frame(cells), quasi=["zip"])
    assert found.level == pytest.approx(float(truth))
    if abs(float(truth) - most) > 1e-9:
        assert found.holds == (truth < most)
    assert st.AverageRisk(float(truth)).check(frame(cells), quasi=["zip"]).holds


@QUICK
@given(CELLS, some.floats(0, 1))
def test_uniqueness_against_records(cells, most):
    truth = oracle.share_alone(cells)
    found = st.Uniqueness(most).check(frame(cells), quasi=["zip"])
    assert found.level == pytest.approx(float(truth))
    if abs(float(truth) - most) > 1e-9:
        assert found.holds == (truth < most)
    if not found.holds:
        assert found.failing_persons == sum(cells.count(c) == 1 for c in cells)


@QUICK
@given(CELLS, some.sampled_from([0.05, 0.3, 1.0]))
def test_uniqueness_in_the_population_is_that_of_the_estimate(cells, fraction):
    estimate = risk(frame(cells), sampling_fraction=fraction).estimated
    found = st.Uniqueness(0.01, sampling_fraction=fraction).check(frame(cells), quasi=["zip"])
    assert found.level == estimate.share
    assert found.holds == (estimate.share <= 0.01)
    if fraction == 1:
        assert found.level == pytest.approx(float(oracle.share_alone(cells)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "criterion", [st.AverageRisk(0.3), st.Uniqueness(0.1), st.Uniqueness(0.001, sampling_fraction=0.1)], ids=str
)
def test_methods_keep_them(method, criterion):
    ages = [21, 22, 25, 41, 44, 48, 52, 60, 61, 77]
    table = pl.DataFrame({"age": ages, "disease": ["flu", "cold"] * 5})
    made = st.anonymize(
        table, method=method, sensitive="disease", quasi=["age"], criteria=[criterion, st.DistinctLDiversity(2)]
    )
    assert criterion.check(made).holds
    printed = made.to_frame()["age"].to_list()
    if isinstance(criterion, st.AverageRisk):
        assert oracle.mean_risk(printed) <= 0.3
    assert oracle.share_alone(printed) == 0


def test_beside_a_population():
    table = pl.DataFrame({"age": [21, 22, 25, 41, 44, 48], "disease": ["flu", "cold"] * 3})
    people = pl.DataFrame({"age": [21, 22, 25, 41, 44, 48, 23, 42, 43]})
    criteria = [st.AverageRisk(0.4), st.KMap(3, population=people)]
    made = st.anonymize(table, sensitive="disease", quasi=["age"], criteria=criteria)
    assert oracle.mean_risk(made.to_frame()["age"].to_list()) <= 0.4


@pytest.mark.parametrize("method", ["anatomy", "mdav", "xcolor"])
def test_methods_that_cannot_say_so(method):
    table = pl.DataFrame({"age": [1, 2], "disease": ["a", "b"]})
    with pytest.raises(st.errors.InputError, match=r"cannot enforce average risk of at most 0\.5.*use full-domain"):
        st.anonymize(table, method=method, sensitive="disease", quasi=["age"], criteria=[st.AverageRisk(0.5)])


@pytest.mark.parametrize(("most", "k"), [(0.2, 5), (0.05, 20), (1 / 3, 3), (0.07, 15), (0.1, 10), (1, 1)])
def test_groups_that_are_large_enough(most, k):
    assert st.AverageRisk(most).k == k
    assert st.AverageRisk(most).check(frame(["a"] * k + ["b"] * k), quasi=["zip"]).holds


def test_a_policy_holds_them():
    policy = st.Policy(average_risk=0.1, uniqueness=0, population_uniqueness=(0.01, 0.1))
    names = [str(c) for c in policy.criteria.criteria(None, {}, None)]
    assert len(names) == 3
