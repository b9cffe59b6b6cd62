"""Uniqueness in the population, against exact small cases and super-populations drawn by chance."""

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as some

from showthrough.criteria.risk import risk
from showthrough.criteria.uniqueness import (
    estimated,
    mean_risk,
    pitman_groups,
    pitman_likelihood,
    pitman_uniques,
    sure_size,
    sure_size_of_all,
    zayatz_uniques,
)
from showthrough.errors import InputError
from tests.criteria.releases import QUICK
from tests.oracles import uniqueness as oracle


def histogram(sizes):
    return np.unique(np.array(sizes), return_counts=True)


@pytest.mark.parametrize(("alpha", "theta"), [(0.0, 1.0), (0.3, 2.0), (0.8, -0.5)])
def test_the_likelihood_of_all_partitions_adds_up_to_one(alpha, theta):
    every = [
        oracle.ways(sizes) * math.exp(pitman_likelihood(*histogram(sizes), alpha, theta))
        for sizes in oracle.partitions(7)
    ]
    assert sum(every) == pytest.approx(1)


@pytest.mark.parametrize(("alpha", "theta"), [(0.0, 1.0), (0.3, 2.0), (0.8, -0.5)])
def test_expected_uniques_are_those_of_all_partitions(alpha, theta):
    expected = sum(
        sizes.count(1) * oracle.ways(sizes) * math.exp(pitman_likelihood(*histogram(sizes), alpha, theta))
        for sizes in oracle.partitions(7)
    )
    assert pitman_uniques(alpha, theta, 7) == pytest.approx(expected)
    groups = sum(
        len(sizes) * oracle.ways(sizes) * math.exp(pitman_likelihood(*histogram(sizes), alpha, theta))
        for sizes in oracle.partitions(7)
    )
    assert pitman_groups(alpha, theta, 7) == pytest.approx(groups)


@QUICK
@given(some.lists(some.integers(1, 4), min_size=1, max_size=6), some.integers(1, 40))
def test_zayatz_against_exact_fractions(sizes, more):
    sizes = [1, *sizes]
    n, people = sum(sizes), sum(sizes) + more
    share = oracle.alone_given_alone(sizes, people)
    assert zayatz_uniques(*histogram(sizes), people) == pytest.approx(float(sizes.count(1) * share * people / n))


@pytest.mark.parametrize(("found", "fraction"), [(1, 0.1), (2, 0.05), (5, 0.5)])
def test_sizes_given_what_was_found(found, fraction):
    every = list(oracle.size_given_found(found, fraction))
    assert mean_risk(found, fraction) == pytest.approx(sum(p / size for size, p in every if p))
    k = sure_size(found, fraction)
    assert sum(p for size, p in every if size >= k) >= 0.95 - 1e-9
    assert sum(p for size, p in every if size >= k + 1) < 0.95


def test_all_groups_have_the_estimated_size_with_the_probability_that_is_told():
    sizes, often, fraction = np.array([1, 2, 4]), np.array([3, 2, 5]), 0.02
    k = sure_size_of_all(sizes, often, fraction)

    def chance(least):
        found = 1.0
        for size, many in zip(sizes, often, strict=True):
            found *= sum(p for n, p in oracle.size_given_found(int(size), fraction) if n >= least) ** int(many)
        return found

    assert chance(k) >= 0.95 - 1e-9
    assert chance(k + 1) < 0.95
    assert k < sure_size(1, fraction)
    assert sure_size_of_all(np.array([1]), np.array([1]), fraction) == sure_size(1, fraction)
    assert sure_size_of_all(np.array([1]), np.array([600]), fraction) == 1


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("fraction", [0.05, 0.3])
def test_the_average_risk_is_that_of_the_population(seed, fraction):
    sizes = np.array(list(Counter(oracle.seated(40_000, 0.6, 300.0, seed)).values()))
    found = estimated(sampled(sizes, fraction, seed), fraction)
    assert found.average_risk == pytest.approx(len(sizes) / 40_000, rel=0.15)
    assert found.average_risk >= found.share


def sampled(sizes, fraction, seed):
    """Sizes of the groups in a sample of the persons."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    taken = np.random.default_rng(seed).random(len(group)) < fraction
    found = np.bincount(group[taken])
    return found[found > 0]


@pytest.mark.parametrize("seed", [1, 2])
def test_pitman_finds_the_uniques_of_a_population_of_its_kind(seed):
    sizes = np.array(list(Counter(oracle.seated(40_000, 0.6, 300.0, seed)).values()))
    found = estimated(sampled(sizes, 0.08, seed), 0.08)
    assert found.model == "pitman"
    assert found.dankar == pytest.approx(np.count_nonzero(sizes == 1), rel=0.15)


@pytest.mark.parametrize("seed", [1, 2])
def test_snb_finds_the_uniques_of_a_population_of_its_kind(seed):
    sizes = 1 + np.random.default_rng(seed).negative_binomial(1.5, 0.4, 20_000)
    found = estimated(sampled(sizes, 0.3, seed), 0.3)
    assert found.snb == pytest.approx(np.count_nonzero(sizes == 1), rel=0.15)
    assert found.dankar == min(found.zayatz, found.snb)


@QUICK
@given(some.lists(some.integers(1, 6), min_size=1, max_size=30), some.floats(0.01, 1.0))
def test_estimates_are_possible(sizes, fraction):
    found = estimated(np.array(sizes), fraction)
    assert found.population >= sum(sizes)
    for uniques in (found.pitman, found.zayatz, found.snb, found.dankar):
        assert uniques is None or 0 <= uniques <= found.population * (1 + 1e-9)
    assert 0 < found.average_risk <= 1
    assert found.average_risk >= found.share * (1 - 1e-9)
    assert found.k_map >= min(sizes)


def test_the_whole_population_and_nobody_alone():
    assert estimated(np.array([1, 1, 3]), 1.0).dankar == 2
    assert estimated(np.array([2, 2, 3]), 0.1).dankar == 0
    assert estimated(np.array([1, 1, 1]), 0.1).pitman is None


def test_in_a_risk():
    found = risk(pl.DataFrame({"zip": ["1", "1", "2"]}), sampling_fraction=0.5)
    assert found.estimated is not None
    assert found.estimated.population == 6
    assert "are unique (" in str(found)
    with pytest.raises(InputError, match="sampling"):
        risk(pl.DataFrame({"zip": ["1"]}), sampling_fraction=0)
    for slip in (1e-300, 1e-12):
        with pytest.raises(InputError, match="means a population of more than"):
            risk(pl.DataFrame({"zip": ["1", "2", "3"]}), sampling_fraction=slip)
