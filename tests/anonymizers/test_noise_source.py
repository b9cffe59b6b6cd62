"""The audit of the mechanisms: what is measured on real noise stays below what is claimed, with a stated error.

A test on neighbouring tables counts how often an event happens on each. By Clopper and Pearson, the chance of the
first is at least p and that of the second at most q, both with probability 1 − ALPHA; ε is at least ln((p − δ)/q).
"""

import math

import numpy as np
import pytest
from scipy import stats

from showthrough.anonymizers.noise_source import scale_for, with_noise
from showthrough.dp.curves import delta_at
from showthrough.dp.items import Mechanism
from showthrough.errors import InputError
from showthrough.release.noise import Law, moved

ALPHA = 1e-6  # a right mechanism fails one of these tests in a million at most, for each event that it looks at
DRAWS = 20_000
CASES = [("geometric", 0.0), ("laplace", 0.0), ("gaussian", 1e-3), ("discrete-gaussian", 1e-3)]


def least_epsilon(hits: int, others: int, draws: int, delta: float) -> float:
    """The ε that the frequencies of one event prove on two tables."""
    p = stats.beta.ppf(ALPHA / 2, hits, draws - hits + 1) if hits else 0.0
    q = stats.beta.ppf(1 - ALPHA / 2, others + 1, draws - others) if others < draws else 1.0
    return math.log((p - delta) / q) if p > delta and q > 0 else -math.inf


def audited(mechanism: str, scale: float, delta: float, tables: tuple[list[int], list[int]]) -> float:
    """The largest ε that events of the noisy counts prove; events are chosen before anything is drawn."""
    law = Law(mechanism, scale)
    one, other = (np.tile(np.array(t), DRAWS) for t in tables)
    drawn = [np.asarray(with_noise(t, law), dtype=float).reshape(DRAWS, -1) for t in (one, other)]
    way = np.sign(np.array(tables[0]) - np.array(tables[1]))
    score = [np.sum(noisy * way, axis=1) for noisy in drawn]
    each = [np.all(noisy * way >= np.array(tables[0]) * way, axis=1) for noisy in drawn]
    centre = float(np.sum(np.array(tables[0]) * way))
    found = [least_epsilon(int(each[0].sum()), int(each[1].sum()), DRAWS, delta)]
    for step in np.linspace(-2, 3, 11):
        hits, others = ((s >= centre + step * law.deviation).sum() for s in score)
        found.append(least_epsilon(int(hits), int(others), DRAWS, delta))
    return max(found)


@pytest.mark.parametrize(("mechanism", "delta"), CASES)
@pytest.mark.parametrize(
    ("neighbours", "tables"), [("replace-one", ([5, 0, 2], [4, 1, 2])), ("add-remove", ([1], [0]))]
)
def test_no_more_is_lost_than_is_claimed(mechanism, delta, neighbours, tables):
    epsilon = 1.5
    scale = scale_for(mechanism, epsilon, delta, neighbours)
    proven = audited(mechanism, scale, delta, tables)
    assert proven <= epsilon
    narrow = audited(mechanism, scale / 4, delta, tables)
    assert narrow > epsilon  # the test can fail: noise that is too narrow is found out


@pytest.mark.parametrize(("mechanism", "delta"), CASES)
def test_noise_is_as_wide_as_its_law(mechanism, delta):
    for scale in (0.7, 4.0, 30.0):
        law = Law(mechanism, scale)
        noise = np.asarray(with_noise(np.zeros(DRAWS, dtype=np.int64), law), dtype=float)
        fourth = 6.0 if law.exponential else 3.0  # of these laws at most, in units of the variance squared
        off = 5.5 * math.sqrt(max(fourth, 1 + 1 / law.variance) / DRAWS)  # one in ten millions
        assert abs(np.mean(noise**2) / law.variance - 1) < off
        assert abs(np.mean(noise)) < 5.5 * law.deviation / math.sqrt(DRAWS)
        assert (noise == np.round(noise)).all() == law.whole


@pytest.mark.parametrize("scale", [0.8, 3.0])
@pytest.mark.parametrize("mechanism", ["geometric", "discrete-gaussian"])
def test_whole_noise_follows_its_law(mechanism, scale):
    law = Law(mechanism, scale)
    noise = np.asarray(with_noise(np.full(DRAWS, 7, dtype=np.int64), law)) - 7
    reach = math.ceil(3 * law.deviation)
    x = np.arange(-reach, reach + 1)
    p = np.exp(law.log_density(x))
    seen = np.array([(noise == k).sum() for k in x])
    both = stats.chisquare([*seen, DRAWS - seen.sum()], [*(p * DRAWS), DRAWS * (1 - p.sum())])
    assert both.pvalue > ALPHA


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0])
@pytest.mark.parametrize(("mechanism", "delta"), CASES)
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_scales_keep_the_promise_and_no_more(mechanism, delta, epsilon, neighbours):
    scale = scale_for(mechanism, epsilon, delta, neighbours)
    distance = moved(mechanism, neighbours)
    if not delta:
        assert scale == pytest.approx(distance / epsilon, rel=1e-12)
        assert distance / scale <= epsilon
        return
    exact = delta_at(Mechanism("gaussian", scale, (distance,)), epsilon)
    assert exact <= delta
    assert delta_at(Mechanism("gaussian", scale * 0.6, (distance,)), epsilon) > delta


def test_what_cannot_be_made_is_refused():
    with pytest.raises(InputError, match="epsilon asks for noise of scale 2e\\+14"):
        scale_for("geometric", 1e-14, 0.0, "replace-one")
    with pytest.raises(InputError, match="epsilon asks for noise of scale 2e-08"):
        scale_for("laplace", 1e8, 0.0, "replace-one")
    with pytest.raises(InputError, match="Counts from 0 to"):
        with_noise(np.array([2**60]), Law("geometric", 1.0))


def test_noise_is_never_the_same_again():
    law = Law("geometric", 1000.0)
    drawn = {tuple(with_noise(np.zeros(8, dtype=np.int64), law)) for _ in range(20)}
    assert len(drawn) == 20


def test_large_counts_do_not_overflow():
    law = Law("geometric", 1e9)
    noisy = np.asarray(with_noise(np.full(100, 2**52, dtype=np.int64), law)) - 2**52
    assert abs(noisy).max() < 60 * 1e9
    assert len(set(noisy.tolist())) == 100
