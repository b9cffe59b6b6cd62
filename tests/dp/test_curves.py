"""What one mechanism promises, against sums over all outputs and against the formulas of the textbooks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy import integrate, stats

import showthrough as st
from showthrough.dp.curves import delta_at, epsilon_at, pure, renyi, rho
from showthrough.dp.items import Promise
from tests.dp import worst_case

some = settings(max_examples=60, deadline=None, derandomize=True)
ORDERS = np.array([1.01, 1.5, 2.0, 3.7, 16.0, 80.0])


@some
@given(hs.floats(0.3, 5), hs.integers(1, 6), hs.floats(0, 6))
def test_geometric_noise_by_enumeration(scale, shift, epsilon):
    noise = worst_case.geometric(scale, reach=round(40 * scale) + 20)
    slow = worst_case.delta(worst_case.of_counts(noise, shift), epsilon)
    assert delta_at(st.dp.geometric(scale, shift), epsilon) == pytest.approx(slow, abs=1e-8)


@some
@given(hs.floats(0.5, 5), hs.integers(1, 5), hs.floats(0, 6))
def test_discrete_gaussian_noise_by_enumeration(scale, shift, epsilon):
    noise = worst_case.discrete_gaussian(scale, reach=round(40 * scale) + 20)
    slow = math.fsum(max(0.0, p - math.exp(epsilon) * noise.get(x - shift, 0.0)) for x, p in noise.items())
    assert delta_at(st.dp.discrete_gaussian(scale, shift), epsilon) == pytest.approx(slow, abs=1e-12)


@some
@given(hs.floats(0.3, 5), hs.floats(0.1, 4), hs.floats(0, 5))
def test_laplace_and_gaussian_noise_by_integration(scale, shift, epsilon):
    for law, item in (
        (stats.laplace(scale=scale), st.dp.laplace(scale, shift)),
        (stats.norm(scale=scale), st.dp.gaussian(scale, shift)),
    ):
        ends = (-60 * scale - shift, 60 * scale + 2 * shift)
        kinks = [0, shift, (shift - epsilon * scale) / 2, shift / 2 - epsilon * scale**2 / shift]
        slow, _ = integrate.quad(
            lambda x, law=law: max(0.0, law.pdf(x) - math.exp(epsilon) * law.pdf(x - shift)),
            *ends, points=[k for k in kinks if ends[0] < k < ends[1]], limit=400,
        )  # fmt: skip
        assert delta_at(item, epsilon) == pytest.approx(slow, abs=2e-7)


@pytest.mark.parametrize(
    ("scale", "epsilon", "delta"),
    [
        (1e12, 3.27418e-11, 6.055097e-249),  # in numbers of sixty digits; differences of logarithms say 0
        (1e12, 3.6e-11, 1.160054e-297),
        (731.728406159577, 0.026465181304518016, 5.384762557e-88),
        (3740627.045443699, 0.0, 1.0665117788e-07),
    ],
)
def test_gaussian_noise_far_from_where_it_is_used(scale, epsilon, delta):
    assert delta_at(st.dp.gaussian(scale), epsilon) == pytest.approx(delta, rel=0.02)


@some
@given(hs.sampled_from(["geometric", "laplace", "gaussian", "discrete_gaussian"]), hs.floats(0.5, 6), hs.integers(1, 3))
def test_epsilon_is_where_delta_is_reached(name, scale, shift):
    item = getattr(st.dp, name)(scale, shift)
    for delta in (1e-8, 1e-3, 0.2):
        epsilon = epsilon_at(item, delta)
        assert delta_at(item, epsilon) <= delta * (1 + 1e-9)
        if epsilon > 1e-6:
            assert delta_at(item, epsilon * (1 - 1e-6)) >= delta * (1 - 1e-3) or epsilon == pytest.approx(pure(item))


@some
@given(hs.floats(0.4, 6), hs.integers(1, 5))
def test_renyi_divergence_of_geometric_noise_by_enumeration(scale, shift):
    noise = worst_case.geometric(scale, reach=round(45 * scale) + 20)
    for order, told in zip(ORDERS, renyi(st.dp.geometric(scale, shift), ORDERS), strict=True):
        both = [(math.log(p), math.log(noise[x - shift])) for x, p in noise.items() if x - shift in noise]
        slow = np.logaddexp.reduce([order * p + (1 - order) * q for p, q in both]) / (order - 1)
        assert told == pytest.approx(slow, rel=1e-6, abs=1e-8)
        assert told <= pure(st.dp.geometric(scale, shift)) + 1e-12


@some
@given(hs.floats(0.4, 6), hs.floats(0.2, 4))
def test_renyi_divergence_of_laplace_noise_by_integration(scale, shift):
    law = stats.laplace(scale=scale)
    for order, told in zip(ORDERS[:4], renyi(st.dp.laplace(scale, shift), ORDERS[:4]), strict=True):
        slow, _ = integrate.quad(
            lambda x, a=order: math.exp(a * law.logpdf(x) + (1 - a) * law.logpdf(x - shift)),
            -60 * scale, 60 * scale + shift, points=[0, shift], limit=400,
        )  # fmt: skip
        assert told == pytest.approx(math.log(slow) / (order - 1), rel=1e-5, abs=1e-6)


@some
@given(hs.floats(0.8, 6), hs.integers(1, 3))
def test_renyi_divergence_of_discrete_gaussian_noise_is_bounded_by_its_formula(scale, shift):
    noise = worst_case.discrete_gaussian(scale, reach=round(25 * scale))
    for order, told in zip(ORDERS[:5], renyi(st.dp.discrete_gaussian(scale, shift), ORDERS[:5]), strict=True):
        both = [(math.log(p), math.log(noise[x - shift])) for x, p in noise.items() if x - shift in noise]
        slow = np.logaddexp.reduce([order * p + (1 - order) * q for p, q in both]) / (order - 1)
        assert slow <= told + 1e-9


@some
@given(hs.floats(0.05, 6))
def test_a_promise_is_no_better_than_randomized_response(epsilon):
    losses = worst_case.response(epsilon)
    for order, told in zip(ORDERS, renyi(Promise(epsilon), ORDERS), strict=True):
        slow = np.logaddexp.reduce([math.log(p) + (order - 1) * loss for loss, p in losses.items()]) / (order - 1)
        assert told == pytest.approx(slow, rel=1e-6, abs=1e-8)
        assert told <= min(epsilon, order * rho(Promise(epsilon))) + 1e-9  # ε gives ε²/2 of zCDP
