"""The least value between bounds, against conditions that tell it."""

import numpy as np
import pytest

from showthrough.inference.bounded_descent import Bounded, least
from showthrough.inference.clock import Clock


def softmax_like(seed, ill=1.0):
    """Σ log Σ e^(Aθ) − b·θ, whose rows differ in scale by a factor ``ill``."""
    rng = np.random.default_rng(seed)
    rows, columns, terms = 30, 12, 5
    a = rng.normal(size=(rows, terms, columns)) * np.geomspace(1, ill, columns)
    share = rng.dirichlet(np.ones(terms), rows)
    b = np.einsum("rt,rtc->c", share, a)

    def value(theta):
        z = a @ theta
        top = z.max(axis=1, keepdims=True)
        e = np.exp(z - top)
        p = e / e.sum(axis=1, keepdims=True)
        return float((top[:, 0] + np.log(e.sum(axis=1))).sum() - b @ theta), np.einsum("rt,rtc->c", p, a) - b

    return value, rng


@pytest.mark.parametrize("seed", range(12))
def test_no_slope_is_left_that_can_be_followed(seed):
    value, rng = softmax_like(seed, ill=(1.0, 1e-2)[seed % 2])
    wide = rng.uniform(0.01, 0.4, 12)
    low, high = -wide, np.where(rng.random(12) < 0.3, np.inf, wide)
    found = least(Bounded(value, low, high), rng.normal(size=12), 1e-9, Clock())
    assert (low <= found).all()
    assert (found <= high).all()
    slope = value(found)[1]
    held = ((found <= low) & (slope > 0)) | ((found >= high) & (slope < 0))
    assert np.abs(slope[~held]).max(initial=0.0) <= 1e-9
    for _ in range(50):  # convex: a point is least if none around it is less
        other = np.clip(found + rng.normal(size=12) * 0.01, low, high)
        assert value(other)[0] >= value(found)[0] - 1e-12


def test_without_time_the_start_comes_back_inside_its_bounds():
    value, _ = softmax_like(0)
    found = least(Bounded(value, np.full(12, -0.1), np.full(12, 0.1)), np.full(12, 3.0), 1e-9, Clock(0))
    assert (found == 0.1).all()
