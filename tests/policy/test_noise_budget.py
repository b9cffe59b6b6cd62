"""A budget of differential privacy is kept or broken by the law of noise, and only broken by what others declare."""

import polars as pl
import pytest

import showthrough as st
from showthrough.policy.budget import budget_reasons

FRAME = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["flu", "HIV", "flu", "HIV"], "count": [7, -1, 3, 2]})


def noisy(**law) -> st.Release:
    given = {"mechanism": "geometric", "scale": 4.0, "neighbours": "replace-one", **law}
    return st.Release.noisy(FRAME, sensitive="ill", **given)


def told(releases, **limits):
    return {reason.rule: reason for reason in budget_reasons(st.Policy(**limits), "block", releases)}


def test_noise_keeps_or_breaks_a_budget():
    kept = told([noisy(), noisy()], epsilon=1.0)["epsilon"]
    assert (kept.outcome, kept.found) == ("within", 1.0)
    assert "2 noisy releases cost ε = 1 together, by basic composition; the policy allows 1." in str(kept.said)
    assert told([noisy()] * 3, epsilon=1.0)["epsilon"].outcome == "over"


def test_a_delta_buys_epsilon():
    many = [noisy()] * 40
    by_sum = told(many, epsilon=15.0)["epsilon"]
    both = told(many, epsilon=15.0, delta=1e-6)
    assert (by_sum.outcome, both["epsilon"].outcome, both["delta"].outcome) == ("over", "within", "within")
    assert both["epsilon"].found == pytest.approx(st.dp.compose([st.dp.geometric(4, [1, 1])] * 40, delta=1e-6).epsilon)


def test_gaussian_noise_needs_the_delta_that_it_declares():
    gauss = noisy(mechanism="gaussian", epsilon=1.0, delta=1e-6, scale=8.0)
    assert told([gauss], epsilon=1.5)["epsilon"].outcome == "within"
    assert told([gauss], delta=1e-9)["delta"].outcome == "within"  # its noise gives a larger ε at that δ
    assert told([gauss], epsilon=0.3, delta=1e-9)["epsilon"].outcome == "over"


def test_what_is_only_declared_keeps_nothing():
    bare = st.Release.counted(FRAME.with_columns(count=1), sensitive="ill", parameters={"epsilon": 0.1})
    assert told([bare, noisy()], epsilon=5.0)["epsilon"].outcome == "open"
    assert told([bare, noisy()], epsilon=0.5)["epsilon"].outcome == "over"
