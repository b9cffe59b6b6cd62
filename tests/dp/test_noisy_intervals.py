"""Posteriors after a noisy release lie in their intervals; the naive interval of one record does not hold."""

import math

import polars as pl
import pytest
from benchmarks.noisy_intervals import FAILURE, simulate

import showthrough as st
from showthrough.errors import InputError, ParameterError
from tests.histories import releases


def pair(counts, scale=2.0, cells=("x", "x"), **more):
    """The group {1, 2} with Flu and HIV, and a noisy table of the two."""
    rows = [(c, v) for c in sorted({*cells}) for v in ("Flu", "HIV")]
    frame = pl.DataFrame({"cell": [c for c, _ in rows], "value": [v for _, v in rows], "count": counts})
    told = {"mechanism": "geometric", "scale": scale, "neighbours": "replace-one", **more}
    table = st.Release.noisy(frame, sensitive="value", quasi=["cell"], name="N", **told)
    register = pl.DataFrame({"id": [1, 2], "cell": cells})
    return st.infer([*releases([[([1, 2], ["Flu", "HIV"])]]), table], register=register)


def test_the_naive_interval_of_a_pair_fails():
    post = pair([9, -9, -9, 9], cells=("x", "y"))  # ε = 1, each of two records in a cell of its own
    assert post.of(1)["Flu"] == pytest.approx(math.exp(2) / (1 + math.exp(2)))
    assert round(post.of(1)["Flu"], 3) == 0.881
    assert round(st.dp.posterior_interval(0.5, epsilon=1.0, changed=1).high, 3) == 0.731
    found = st.dp.after(post, release="N").people.filter((pl.col("id") == 1) & (pl.col("value") == "Flu"))
    assert found["changed"].item() == 2
    assert found["high"].item() == pytest.approx(post.of(1)["Flu"])  # tight


def test_a_posterior_reaches_further_than_near_partners_allow():
    """Groups {0,1,2,5}{3,4} and {0,1,3,5}{2,4} of truth abaacc: partners at distance 2, d = 4; ε = 1."""
    truth, best = "abaacc", 0.0
    partitions = [[[0, 1, 2, 5], [3, 4]], [[0, 1, 3, 5], [2, 4]]]
    history = [[(g, [truth[i] for i in g]) for g in groups] for groups in partitions]
    register = pl.DataFrame({"id": list(range(6)), "cell": list("uvwxyz")})
    for seen in ("abaacc", "abccab"):  # what the noisy counts look like
        rows = [(c, v, 50 if v == s else -50) for c, s in zip("uvwxyz", seen, strict=True) for v in "abc"]
        frame = pl.DataFrame(rows, schema=["cell", "value", "count"], orient="row")
        told = {"mechanism": "geometric", "scale": 2.0, "neighbours": "replace-one"}
        table = st.Release.noisy(frame, sensitive="value", quasi=["cell"], name="N", **told)
        post = st.infer([*releases(history), table], register=register)
        row = st.dp.after(post, release="N", ids=[0]).people.filter(pl.col("value") == "a").row(0, named=True)
        assert row["changed"] == 4
        assert row["low"] <= post.of(0)["a"] <= row["high"]
        best = max(best, post.of(0)["a"])
    assert best == pytest.approx(0.919, abs=5e-4)
    assert best > st.dp.posterior_interval(4 / 9, epsilon=1.0, changed=2).high


def test_records_of_one_cell_may_swap_unseen():
    post = pair([9, -9])
    assert post.of(1) == {"Flu": 0.5, "HIV": 0.5}
    assert st.dp.changed_records(post, 1, "Flu") == 2
    assert st.dp.changed_records(post, 1, "Flu", cells="N") == 0
    found = st.dp.after(post, release="N").people
    assert found["low"].to_list() == found["high"].to_list() == [0.5] * 4


def test_add_remove_counts_twice():
    post = pair([9, -9, -9, 9], scale=1.0, cells=("x", "y"), neighbours="add-remove")
    found = st.dp.after(post, release="N").people
    assert found["high"].max() == pytest.approx(st.dp.posterior_interval(0.5, epsilon=2.0, changed=2).high)


def test_what_is_no_noisy_release_is_refused():
    post = pair([1, 1])
    for given in ({"release": "D1"}, {"release": "nothing"}):
        with pytest.raises(InputError):
            st.dp.after(post, **given)
    for given in ({"release": "N", "epsilon": 1.0}, {}, {"epsilon": 1.0, "p": "guess"}):
        with pytest.raises(ParameterError):
            st.dp.after(post, **given)
    with pytest.raises(InputError):
        st.dp.changed_records(post, 1, "Flu", cells="D1")


def test_simulated_histories_stay_inside():
    """A slice of benchmarks/noisy_intervals.py, with a seed of its own."""
    found = simulate(90, seed=77)
    for law in ("geometric", "laplace"):
        assert found[law].outside["records"] == found[law].outside["cells"] == 0
    assert found["geometric"].outside["naive"] + found["laplace"].outside["naive"] > 0
    own = found["gaussian"]
    for name in ("records", "cells"):
        assert own.outside[name] <= FAILURE * own.posteriors


def test_attacks_that_read_counts_refuse_noise():
    frame = pl.DataFrame({"cell": ["x", "x", "y", "y"], "value": list("abab"), "count": [2, 0, 1, 1]})
    told = {"mechanism": "geometric", "scale": 1.0, "neighbours": "replace-one"}
    table = st.Release.noisy(frame, sensitive="value", quasi=["cell"], name="N", **told)
    register = pl.DataFrame({"id": ["1", "2"], "cell": ["x", "y"]})
    prior = pl.DataFrame({"id": ["1"], "value": ["a"], "p": [1.0]})
    attacks = st.attacks
    asked = [
        lambda: attacks.intersection([table], register=register),
        lambda: attacks.homogeneity([table], register=register),
        lambda: attacks.skewness([table], register=register),
        lambda: attacks.similarity([table], register=register, epsilon=0.5, metric="equal"),
        lambda: attacks.membership([table], register),
        lambda: attacks.linking([table], register),
        lambda: attacks.differencing([table]),
        lambda: attacks.bcf([table, table], register=register),
        lambda: attacks.definetti(table, register=register),
        lambda: attacks.bayes(table, prior, register=register),
        lambda: attacks.minimality(table, register=register, publish={"method": "mondrian"}),
    ]
    for ask in asked:
        with pytest.raises(InputError, match=r"noise|not exact"):
            ask()
    found = st.attack_all([table], register=register)
    assert {"intersection", "membership"} <= {*found.not_run}
