"""What Gaussian noise gives is told from its scale: claims of more are refused, true ones never."""

import math

import numpy as np
import pytest

import showthrough as st
from showthrough.release.gaussian_claim import claims_too_much, least_delta


def summed(sensitivity, scales, epsilon):
    """δ by a sum over a fine grid of the likelihoods, along the line that a record moves the tables by."""
    mu = sensitivity * math.sqrt(sum(s**-2 for s in scales))
    x = np.linspace(-14, 14 + mu, 400_001)
    first, second = np.exp(-0.5 * (x - mu) ** 2), np.exp(-0.5 * x**2)
    return float(np.maximum(first - math.exp(epsilon) * second, 0).sum() * (x[1] - x[0]) / math.sqrt(2 * math.pi))


def whole(scale, epsilon, cells):
    """δ of discrete Gaussian noise on one or two counts that move by one, by enumeration."""
    x = np.arange(-300, 301)
    p = np.exp(-0.5 * (x / scale) ** 2)
    q = np.exp(-0.5 * ((x - 1) / scale) ** 2)
    p, q = p / p.sum(), q / p.sum()
    if cells == 2:
        p, q = np.outer(p, p), np.outer(q, q)
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize("seed", range(40))
def test_the_least_delta_is_the_integral(seed):
    rng = np.random.default_rng(seed)
    scales = rng.uniform(0.4, 6, int(rng.integers(1, 4))).tolist()
    sensitivity, epsilon = float(rng.choice([1.0, math.sqrt(2)])), float(rng.uniform(0.01, 5))
    assert least_delta(sensitivity, scales, epsilon) == pytest.approx(
        summed(sensitivity, scales, epsilon), rel=1e-5, abs=1e-12
    )


@pytest.mark.parametrize("seed", range(200))
def test_true_claims_are_never_refused_and_small_ones_are(seed):
    rng = np.random.default_rng([7, seed])
    scale, epsilon, cells = float(rng.uniform(0.2, 8)), float(rng.uniform(0.05, 6)), int(rng.integers(1, 3))
    true = whole(scale, epsilon, cells)
    assert claims_too_much(math.sqrt(cells), [scale], (epsilon, true), whole=True) is None
    if true > 1e-12:
        assert claims_too_much(math.sqrt(cells), [scale], (epsilon, true * 0.99), whole=True) is not None


@pytest.mark.parametrize("mechanism", ["gaussian", "discrete-gaussian"])
@pytest.mark.parametrize("scale", [1e-5, 0.3, 4.0])
def test_a_release_that_promises_too_much_is_refused(mechanism, scale):
    frame = {"sex": ["f", "m"], "ill": ["flu", "flu"], "count": [2, 3]}
    told = {"sensitive": "ill", "mechanism": mechanism, "scale": scale, "neighbours": "replace-one"}
    with pytest.raises(st.errors.ParameterError, match="δ is at least"):
        st.Release.noisy(frame, **told, epsilon=0.01, delta=1e-9)
    assert st.Release.noisy(frame, **told, epsilon=1e11 if scale < 0.1 else 60.0, delta=1e-4).noise is not None
