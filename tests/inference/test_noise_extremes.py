"""Noisy counts far from everything: huge, narrow, contradicting; and noise that is not heard, which is told."""

import math

import pytest

import showthrough as st
from showthrough.release.noise import Law

PAIR = {"id": [1, 2], "ill": ["flu", "HIV"], "g": [1, 1]}
SEX = {"id": [1, 2], "sex": ["f", "m"]}


def noisy(counts, mechanism="geometric", scale=2.0, **more):
    rows = [("f", "flu"), ("f", "HIV"), ("m", "flu"), ("m", "HIV")]
    frame = {"sex": [c for c, _ in rows], "ill": [v for _, v in rows], "count": counts}
    told = {"mechanism": mechanism, "scale": scale, "neighbours": "replace-one", **more}
    return st.Release.noisy(frame, sensitive="ill", name="N", **told)


def bucketized(frame, name="D1"):
    return st.Release.bucketized(frame, id="id", sensitive="ill", group="g", name=name)


@pytest.mark.parametrize("far", [0, 10**3, 10**9, 10**15])
@pytest.mark.parametrize("scale", [0.5, 2.0, 40.0])
def test_counts_far_from_everything_weigh_by_their_differences(far, scale):
    """World (flu, HIV) is nearer to the counts by four persons in all."""
    post = st.infer([bucketized(PAIR), noisy([far + 1, -far, -far, far + 1], scale=scale)], register=SEX)
    assert post.of(1)["flu"] == pytest.approx(1 / (1 + math.exp(-4 / scale)), abs=1e-12)


@pytest.mark.parametrize("far", [0, 10**3, 10**6, 10**9])
def test_likelihoods_keep_their_digits_far_from_everything(far):
    """Against whole numbers of any size."""
    counts = [far - k for k in range(6)]
    for mechanism in ("geometric", "laplace", "gaussian", "discrete-gaussian"):
        scale = 2.0**10 if "gaussian" in mechanism else 2.0
        found = Law(mechanism, scale).log_ratio(counts)
        power = 2 if "gaussian" in mechanism else 1
        cost = [abs(x) ** power for x in counts]
        below = scale if power == 1 else 2 * scale**2
        assert found.tolist() == pytest.approx([-(c - min(cost)) / below for c in cost], rel=1e-15)


@pytest.mark.parametrize(("mechanism", "scale"), [("geometric", 1e-6), ("gaussian", 1e-5), ("gaussian", 1e-3)])
@pytest.mark.parametrize("far", [0, 7, 10**6])
def test_narrow_noise_is_a_belief_and_ends(mechanism, scale, far):
    claim = {} if mechanism == "geometric" else {"epsilon": 1e11, "delta": 0.5}
    post = st.infer([bucketized(PAIR), noisy([far + 1, -far, -far, far + 1], mechanism, scale, **claim)], register=SEX)
    assert post.of(1)["flu"] > 0.999
    assert set(post.states().to_list()) <= {"believed", "uncertified"}
    assert not post.proven().height
    assert not post.certain().any()


def test_who_shares_a_noisy_cell_with_a_contradiction_is_not_called_exact():
    """Nothing was weighed there, so that p is not what the history says."""
    fine = {"id": [1, 2, 3, 4, 5], "ill": ["flu", "HIV", "flu", "flu", "HIV"], "g": [1, 1, 2, 2, 2]}
    other = {"id": [3, 4, 5], "ill": ["flu", "HIV", "HIV"], "g": [1, 1, 1]}
    clash = [bucketized(fine), bucketized(other, "D2")]
    register = {"id": [1, 2, 3, 4, 5], "sex": ["f", "m", "f", "m", "f"]}
    alone = st.infer(clash, register=register)
    assert alone.states().to_list()[:2] == ["exact"] * 2
    post = st.infer([*clash, noisy([9, 0, 0, 9])], register=register)
    assert post.states().to_list()[:2] == ["uncertified"] * 2
    assert post.of(1) == alone.of(1)
