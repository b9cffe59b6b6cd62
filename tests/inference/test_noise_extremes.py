"""Noisy counts far from everything: huge, narrow, contradicting; and noise that is not heard, which is told."""

import math

import numpy as np
import polars as pl
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


def test_a_history_of_noise_alone_proves_nothing_over_whole_values_either():
    post = st.infer([noisy([1, 0, 0, 1])], register=SEX)
    assert not post.proven(integral=True).height
    assert not st.Policy(certain=0).review(post).breaches.height


def many(n, seed=0):
    """Groups of four, and a register of two sexes."""
    rng = np.random.default_rng(seed)
    ill = np.where(rng.random(n) < 0.4, "flu", "HIV").tolist()
    ids = list(range(n))
    frame = {"id": ids, "ill": ill, "g": (np.arange(n) // 4).tolist()}
    return bucketized(frame), {"id": ids, "sex": ["fm"[k] for k in rng.integers(0, 2, n)]}


@pytest.mark.parametrize("wide", ["geometric", "laplace"])
def test_narrow_noise_far_from_everything_beside_wide_noise_near(wide):
    """Multipliers of 10^12 and more beside some of 10^-6."""
    groups, register = many(120)
    claim = {"epsilon": 1e11, "delta": 0.5}
    far = noisy([1e6, -1e6, 30.0, 40.0], "gaussian", 1e-3, **claim)
    near = noisy([20, 30, 20, 40], wide, 1e6).called("M")
    post = st.infer([groups, far, near], register=register)
    assert set(post.states().to_list()) <= {"believed", "exact"}
    assert post.certificate.evidence.residual < 1e-4
    flu = post.to_frame().filter(pl.col("value") == "flu").join(pl.DataFrame(register), on="id")
    assert flu.filter(pl.col("sex") == "f")["p"].mean() > flu.filter(pl.col("sex") == "m")["p"].mean()


def test_statements_that_contradict_beside_noise_alone_are_told():
    said = [st.knowledge.known("1", "flu"), st.knowledge.known("1", "HIV")]
    register = {"id": ["1", "2"], "sex": ["f", "m"]}
    post = st.infer([noisy([1, 0, 0, 1])], register=register, knowledge=said)
    assert len(post.contradictions) == 1
    assert post.states().to_list()[0] == "contradictory"


@pytest.mark.parametrize("scale", [0.02, 0.3, 4.0, 1e5])
@pytest.mark.parametrize("law", ["geometric", "laplace", "mixed"])
def test_fifty_tables_with_the_same_cells_are_one(law, scale):
    """Their sum is what counts: Gaussian noise adds up to its mean, other noise has a stair for each table."""
    groups, register = many(200, seed=1)
    rng = np.random.default_rng(2)
    tables = []
    for k in range(50):
        own = ("geometric", "laplace", "gaussian")[k % 3] if law == "mixed" else law
        claim = {"epsilon": 1e11, "delta": 0.5} if own == "gaussian" else {}
        counts = np.array([40, 60, 45, 55]) + rng.laplace(0, scale, 4)
        told = [round(c) for c in counts] if own == "geometric" else counts.tolist()
        tables.append(noisy(told, own, scale, **claim).called(f"N{k}"))
    post = st.infer([groups, *tables], register=register)
    assert len(post._solved.history.noisy_layers) == 1
    assert post.certificate.evidence.releases == 50
    assert set(post.states().to_list()) <= {"believed", "exact"}
    assert post.certificate.evidence.residual < 1e-4
