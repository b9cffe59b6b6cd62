"""Beliefs and guarantees of noisy counts are told apart."""

import math

import pytest

import showthrough as st
from showthrough.report.noise_words import believed

PAIR = {"id": [1, 2], "ill": ["flu", "HIV"], "g": [1, 1]}


def said(*laws):
    pair = st.Release.bucketized(PAIR, id="id", sensitive="ill", group="g", name="D1")
    frame = {"sex": ["f", "f", "m", "m"], "ill": ["flu", "HIV"] * 2, "count": [1, 0, 0, 1]}
    noisy = [st.Release.noisy(frame, sensitive="ill", name=f"N{k}", **law) for k, law in enumerate(laws)]
    return believed(st.audit([pair, *noisy], register={"id": [1, 2], "sex": ["f", "m"]}))


def geometric(scale, neighbours="replace-one"):
    return {"mechanism": "geometric", "scale": scale, "neighbours": neighbours}


@pytest.mark.parametrize(
    ("laws", "epsilon"),
    [
        ([geometric(2.0)], 1.0),
        ([geometric(2.0), geometric(4.0)], 1.5),
        ([geometric(2.0, "add-remove")], 1.0),  # 0.5 for one record more or less, twice that for one replaced
    ],
)
def test_what_noise_guarantees_is_told_beside_what_is_believed(laws, epsilon):
    belief, guarantee = said(*laws)
    assert "beliefs" in belief
    assert "by Bayes' rule" in belief
    assert "expected counts" not in belief  # nobody's
    assert f"ε = {epsilon:g} " in guarantee
    assert f"at most {math.tanh(epsilon / 2):.2g} " in guarantee


def test_a_failure_is_told_and_an_empty_promise_is_none():
    law = {"mechanism": "gaussian", "scale": 9.0, "epsilon": 1.0, "delta": 1e-6, "neighbours": "replace-one"}
    assert "except with a probability of at most 0.002" in said(law)[1]
    assert "no bound follows" in said({**law, "delta": 0.3})[1]


def test_without_noise_nothing_is_said():
    assert said() == []
