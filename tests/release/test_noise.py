"""The laws of noise: probabilities that add up, variances, and claims that are checked."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy import integrate, stats

from showthrough.errors import ParameterError
from showthrough.release.noise import MECHANISMS, Law, Marginal, Noise, declared, moved

some = settings(max_examples=60, deadline=None, derandomize=True)
SCALES = hs.floats(0.05, 60, allow_nan=False)


def summed(law: Law) -> tuple[float, float]:
    """The whole probability and the mean square, the slow way."""
    if law.whole:
        x = np.arange(-round(60 * law.scale) - 60, round(60 * law.scale) + 61)
        p = np.exp(law.log_density(x))
        return float(p.sum()), float((p * x * x).sum())
    ends = 45 * law.scale

    def total(power: int) -> float:
        half, _ = integrate.quad(lambda x: x**power * math.exp(float(law.log_density(x))), 0, ends, epsabs=0, limit=200)
        return 2 * half

    return total(0), total(2)


@some
@given(hs.sampled_from(MECHANISMS), SCALES)
def test_probabilities_add_up_and_the_variance_is_theirs(mechanism, scale):
    law = Law(mechanism, scale)
    total, square = summed(law)
    assert total == pytest.approx(1, rel=1e-7)
    assert law.variance == pytest.approx(square, rel=1e-6, abs=1e-12)
    assert law.deviation == pytest.approx(math.sqrt(square), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("scale", [0.3, 1, 2.9, 3.0, 3.1, 40])
def test_laws_are_those_of_the_textbooks(scale):
    x = np.arange(-30, 31)
    assert Law("laplace", scale).log_density(x) == pytest.approx(stats.laplace(scale=scale).logpdf(x))
    assert Law("gaussian", scale).log_density(x) == pytest.approx(stats.norm(scale=scale).logpdf(x))
    assert Law("geometric", scale).log_density(x) == pytest.approx(stats.dlaplace(1 / scale).logpmf(x))
    far = np.arange(-4000, 4001)
    weight = np.exp(-0.5 * (far / scale) ** 2)
    told = np.exp(Law("discrete-gaussian", scale).log_density(x))
    assert told == pytest.approx(np.exp(-0.5 * (x / scale) ** 2) / weight.sum(), rel=1e-10)
    assert Law("discrete-gaussian", scale).variance == pytest.approx((weight * far**2).sum() / weight.sum(), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e6, 1e12])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_extreme_scales_stay_finite(mechanism, scale):
    law = Law(mechanism, scale)
    assert np.isfinite(law.variance)
    assert np.isfinite(law.log_density([0.0, 1.0])).all()
    assert law.log_density(0.0) >= law.log_density(1.0)


def test_what_follows_from_mechanism_scale_and_neighbours():
    found = declared({"mechanism": "Geometric", "scale": 4, "neighbours": "replace-one"})
    assert found == Noise("geometric", 0.5, 0.0, 2.0, "replace-one", 4.0)
    assert declared({**found.parameters()}) == found
    assert found.law() == Law("geometric", 4.0)
    assert found.tables(["age"]) == (Marginal(("age",), 0.5, 0.0, 4.0),)
    assert moved("discrete-gaussian", "replace-one") == pytest.approx(math.sqrt(2))
    assert moved("gaussian", "add-remove") == moved("laplace", "add-remove") == 1


def test_tables_add_up():
    tables = [{"quasi": ["a"], "epsilon": 0.5, "scale": 4.0}, {"quasi": [], "epsilon": 0.25, "scale": 8.0}]
    found = declared({"mechanism": "laplace", "neighbours": "replace-one", "marginals": tables})
    assert (found.epsilon, found.scale) == (0.75, 8.0)
    assert found.law(["a"]).scale == 4
    assert found.law([]).scale == 8
    assert declared(found.parameters()) == found
    with pytest.raises(ParameterError, match=r"said to give ε = 0.6, but its scale and a sensitivity of 2 give 0.75"):
        declared({"mechanism": "laplace", "neighbours": "replace-one", "marginals": tables, "epsilon": 0.6})


def test_every_table_costs_what_its_noise_says():
    tables = [{"quasi": ["a"], "epsilon": 0.1, "scale": 4.0}, {"quasi": [], "epsilon": 0.65, "scale": 8.0}]
    with pytest.raises(
        ParameterError, match=r"A table is said to give ε = 0\.1, but its scale and a sensitivity of 2 give"
    ):
        declared({"mechanism": "laplace", "neighbours": "replace-one", "marginals": tables, "epsilon": 0.75})


GOOD = {"mechanism": "geometric", "scale": 4.0, "neighbours": "add-remove"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mechanism": "exponential"}, "mechanism is one of geometric, laplace, gaussian, discrete-gaussian, not"),
        ({"mechanism": None}, "mechanism is one of"),
        ({"neighbours": None}, "Say which tables are neighbours"),
        ({"neighbours": "both"}, "neighbours is one of replace-one, add-remove, not"),
        ({"scale": None}, "scale is missing"),
        ({"scale": 0}, "scale is a number above 0"),
        ({"scale": -1.0}, "scale is a number above 0"),
        ({"scale": math.inf}, "scale is a number above 0"),
        ({"scale": math.nan}, "scale is a number above 0"),
        ({"scale": "4"}, "scale is a number above 0"),
        ({"scale": True}, "scale is a number above 0"),
        ({"scale": 1e300}, "scale is a number above 0"),
        ({"epsilon": 0.0}, "epsilon is a number above 0"),
        ({"epsilon": -0.5}, "epsilon is a number above 0"),
        ({"epsilon": math.nan}, "epsilon is a number above 0"),
        ({"epsilon": 0.2}, "said to give ε = 0.2, but its scale and a sensitivity of 1 give 0.25"),
        ({"delta": 1.0}, "delta is a probability, at least 0 and below 1"),
        ({"delta": -1e-9}, "delta is a probability"),
        ({"sensitivity": 0}, "sensitivity is a number above 0"),
        ({"sensitivity": 0.5}, r"\(add-remove\) moves one of its cells by one, so .* at least 1, not 0.5"),
        ({"sensitivity": 1, "neighbours": "replace-one"}, r"two of its cells by one each, so .* at least 2, not 1"),
        (
            {"mechanism": "gaussian", "sensitivity": 1, "neighbours": "replace-one", "epsilon": 1.0, "delta": 1e-6},
            r"at least 1\.41421, not 1",
        ),
        ({"mechanism": "gaussian"}, "Gaussian noise promises an epsilon with a delta above 0"),
        ({"mechanism": "gaussian", "epsilon": 1.0}, "Gaussian noise promises an epsilon with a delta above 0"),
        ({"marginals": [{"epsilon": 1, "scale": 1}]}, "lists its quasi-identifiers"),
        ({"marginals": ["age"]}, "lists its quasi-identifiers"),
        ({"marginals": [{"quasi": ["a"], "epsilon": 1, "scale": 1}] * 2}, "the same columns twice"),
        ({"marginals": [{"quasi": ["a"], "epsilon": 1}]}, "scale is a number above 0"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        declared({**GOOD, **wrong})
