"""Noise clears nobody: limits are held against the answer with noisy counts and the one without them."""

import numpy as np
import polars as pl
import pytest

import showthrough as st

SEX = {"id": ["1", "2", "3", "4"], "sex": ["f", "m", "f", "m"]}


def grouped(values, name="D1", groups=(1, 1, 1, 1)):
    frame = {"id": SEX["id"][: len(values)], "ill": list(values), "g": list(groups[: len(values)])}
    return st.Release.bucketized(frame, id="id", sensitive="ill", group="g", name=name)


def noisy(counts, scale=2.0, name="N"):
    rows = [(s, v) for s in "fm" for v in ("flu", "HIV")]
    frame = {"sex": [s for s, _ in rows], "ill": [v for _, v in rows], "count": counts}
    told = {"mechanism": "geometric", "scale": scale, "neighbours": "replace-one"}
    return st.Release.noisy(frame, sensitive="ill", quasi=["sex"], name=name, **told)


THREE = grouped(["flu", "flu", "flu", "HIV"])  # everybody has flu with .75
MORE_HIV = noisy([0, 2, 2, 0], 0.5)  # women rather have HIV


def test_a_probability_that_noise_lowers_still_counts():
    post = st.infer([THREE, MORE_HIV], register=SEX)
    women = post.largest()[[0, 2]]
    assert (women < 0.7).all()
    review = st.Policy(max_posterior=0.7).review(post)
    over = review.breaches
    assert set(over["id"]) == {"1", "2", "3", "4"}
    figure = dict(zip(over["id"], over["figure"], strict=True))
    assert figure["1"] == pytest.approx(0.75)
    assert figure["2"] == pytest.approx(post.of("2")["flu"])


def test_a_probability_that_noise_raises_counts_as_before():
    post = st.infer([grouped(["flu", "HIV"]), noisy([1, 0, 0, 1], 0.5)], register=SEX)
    assert st.Policy(max_posterior=0.6).review(post).breaches.height
    assert not st.Policy(max_posterior=0.9999).review(post).breaches.height


@pytest.mark.parametrize("limit", [0.7, 0.74])
def test_an_audit_blocks_and_says_so(limit):
    audit = st.audit([THREE, MORE_HIV], register=SEX, policy=st.Policy(max_posterior=limit))
    (reason,) = [r for r in audit.decision.reasons if r.rule == "max_posterior"]
    assert reason.outcome == "over"
    assert reason.persons == 4
    assert reason.found >= 0.75
    from showthrough.report.noise_words import believed

    assert "noise clears nobody" in " ".join(believed(audit))


def test_anonymity_counts_the_smaller_of_the_two():
    post = st.infer([THREE, MORE_HIV], register=SEX)
    plain = st.infer([THREE], register=SEX)
    least = float(np.exp(plain.entropies()).min())
    assert np.exp(post.entropies()[0]) > least + 0.01
    over = st.Policy(min_anonymity=least + 0.01).review(post).breaches
    assert {"1", "3"} <= set(over["id"])


def test_a_shift_from_the_prior_counts_though_noise_takes_it_back():
    prior = pl.DataFrame({"id": np.repeat(SEX["id"], 2), "value": ["flu", "HIV"] * 4, "p": [0.5] * 8})
    post = st.infer([THREE, MORE_HIV], register=SEX, prior=prior)
    assert abs(post.of("1")["flu"] - 0.5) < 0.2
    assert "1" in set(st.Policy(max_shift=0.2).review(post).breaches["id"])


def test_a_gain_without_noise_counts_though_noise_hid_it():
    """Before, noise had made them likely already."""
    first, second = grouped(["flu", "HIV"]), grouped(["flu"], "D2")
    strong = noisy([1, 0, 0, 1], 0.3)
    two = {"id": ["1", "2"], "sex": ["f", "m"]}
    before, post = (st.infer(given, register=two) for given in ([first, strong], [first, strong, second]))
    assert post.of("1")["flu"] - before.of("1")["flu"] < 0.1
    assert "1" in set(st.Policy(max_gain=0.3).review(post, before).breaches["id"])


def test_without_noise_nothing_changes():
    post = st.infer([THREE], register=SEX)
    assert st.Policy(max_posterior=0.8).review(post).breaches.height == 0


def test_the_quiet_answer_is_that_of_the_releases_without_noise():
    from showthrough.inference.unweighed import without_noise

    post, plain = st.infer([THREE, MORE_HIV], register=SEX), st.infer([THREE], register=SEX)
    quiet = without_noise(post)
    told, expected = (own.to_frame().sort("id", "value")["p"].to_list() for own in (quiet, plain))
    assert told == pytest.approx(expected)
    assert quiet.certificate.status == "exact"
    assert without_noise(plain) is None
