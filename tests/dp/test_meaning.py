"""What ε means, against the figures of the papers and against finite mechanisms summed by brute force."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest

import showthrough as st
from showthrough.errors import ParameterError
from tests.oracles.couplings import smallest_delta


@pytest.mark.parametrize(
    ("epsilon", "paper", "tight"), [(0.1, 0.105171, 0.049958), (0.5, 0.648721, 0.244919), (1, 1.718282, 0.462117)]
)
def test_proposition_15(epsilon, paper, tight):
    found = st.dp.semantic(epsilon)
    assert (round(found.paper, 6), round(found.tight, 6)) == (paper, tight)
    assert found.delta == found.tight_delta == 0
    assert found.vacuous is (epsilon > math.log(2))
    assert not found.tight_vacuous


@pytest.mark.parametrize(
    ("epsilon", "delta", "expected"), [(0.1, 1e-10, 0.349879), (0.2, 1e-12, 0.822121), (0.5, 1e-9, 3.481752)]
)
def test_theorem_16(epsilon, delta, expected):
    found = st.dp.semantic(epsilon, delta, n=2)
    assert round(found.paper, 6) == expected
    assert found.vacuous is (expected >= 1)
    assert found.tight < found.paper
    assert found.tight_delta < found.delta


def test_theorem_16_failure():
    assert round(st.dp.semantic(0.1, 1e-12, n=30162).delta, 6) == 0.030163
    assert round(st.dp.semantic(0.1, 1e-10, n=1000).delta, 6) == 0.010002


def test_the_sharper_bound_is_not_vacuous_where_the_paper_is():
    for epsilon in (0.01, 0.3, 1.0, 3.0, 8.0):
        found = st.dp.semantic(epsilon, 1e-12, n=1000, failure=1e-3)
        assert not found.tight_vacuous
        assert found.tight == pytest.approx(math.tanh(epsilon / 2) + 2e-6)
        assert st.dp.semantic(epsilon, 1e-12, n=1000).vacuous is (math.exp(3 * epsilon) - 1 + 2e-6 >= 1)


def test_theorem_18_adds_what_is_not_covered():
    assert st.dp.semantic(0.1, 1e-9, n=10, exceptional=1e-9).approximate == pytest.approx(2e-9)
    assert st.dp.semantic(0.1, n=10, exceptional=1e-8).tight == st.dp.semantic(0.1, 1e-8, n=10).tight


def _mechanism(rng, records, values, outputs, sharp):
    """A random law for every table."""
    tables = list(itertools.product(range(values), repeat=records))
    base = rng.dirichlet(np.ones(outputs))
    return tables, np.array(
        [(lambda law: law / law.sum())(base * np.exp(sharp * rng.normal(size=outputs))) for _ in tables]
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_sharper_bound_holds_for_random_mechanisms(seed):
    """Beliefs, mechanisms and persons at random; what is claimed is summed over all tables and outputs."""
    rng = np.random.default_rng(1000 + seed)
    records, values = int(rng.integers(1, 4)), 2
    tables, law = _mechanism(rng, records, values, int(rng.integers(2, 7)), rng.uniform(0.1, 1.5))
    place = {t: k for k, t in enumerate(tables)}
    belief = rng.dirichlet(np.full(len(tables), rng.choice([0.2, 1.0])))
    others = [
        (a, b)
        for a, b in itertools.combinations(range(len(tables)), 2)
        if sum(x != y for x, y in zip(tables[a], tables[b], strict=True)) == 1
    ]
    for epsilon in (0.05, 0.3, 1.0):
        delta = max(smallest_delta(law[a], law[b], epsilon) for a, b in others)
        real = belief[:, None] * law
        moved = np.zeros((records, law.shape[1]))
        for i in range(records):
            default = [place[(*t[:i], 0, *t[i + 1 :])] for t in tables]
            other = belief[:, None] * law[default]
            moved[i] = 0.5 * np.abs(real / real.sum(axis=0) - other / other.sum(axis=0)).sum(axis=0)
        if delta < 1e-12:
            assert moved.max() <= st.dp.semantic(epsilon).tight + 1e-9
            continue
        for failure in (0.01, 0.1, 0.3, 0.7, 0.95):
            found = st.dp.semantic(epsilon, min(delta, 0.999), n=records, failure=failure)
            outside = real.sum(axis=0)[(moved > found.tight + 1e-9).any(axis=0)].sum()
            assert outside <= failure + 1e-9


def test_indistinguishability_is_the_hockey_stick_both_ways():
    rng = np.random.default_rng(5)
    for _ in range(50):
        first, second = rng.dirichlet(np.ones(5), size=2)
        for epsilon in (0.0, 0.4, 1.1):
            found = st.dp.indistinguishability(dict(enumerate(first)), dict(enumerate(second)), epsilon=epsilon)
            sets = [list(s) for k in range(6) for s in itertools.combinations(range(5), k)]
            both = [(first, second), (second, first)]
            most = max(a[s].sum() - math.exp(epsilon) * b[s].sum() for s in sets for a, b in both)
            assert found == pytest.approx(max(most, 0.0), abs=1e-12)


def test_total_variation_lets_a_sanitizer_pass_that_gives_somebody_away():
    table = ["Flu"] * 50
    one, other = st.dp.tv_sanitizer(table), st.dp.tv_sanitizer([*table[:-1], "HIV"])
    for epsilon in (0.0, 1.0, 50.0):
        assert st.dp.indistinguishability(one, other, epsilon=epsilon) == pytest.approx(1 / 50)
    assert not set(one) - set(st.dp.tv_sanitizer(table))
    assert {(49, "HIV")} == set(other) - set(one)  # and who sees it is certain
    assert st.dp.semantic(0.01, 1 / 50, n=50).tight_vacuous


@pytest.mark.parametrize(
    "given",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": math.nan},
        {"epsilon": True},
        {"delta": 1},
        {"delta": -0.1},
        {"delta": 0.1},
        {"delta": 0.1, "n": 0},
        {"failure": 2},
        {"exceptional": 1},
    ],
)
def test_bad_parameters_are_refused(given):
    with pytest.raises(ParameterError):
        st.dp.semantic(**{"epsilon": 1.0, **given})
    with pytest.raises(ParameterError):
        st.dp.indistinguishability({"a": 0.5}, {"a": 1.0})
    with pytest.raises(ParameterError):
        st.dp.tv_sanitizer([])


def test_no_file_hides_a_name():
    script = (
        "import importlib, showthrough as st; rooms = {home for home in st.dp._HOME.values()};"
        "[importlib.import_module(home) for home in sorted(rooms)];"
        "print(all(type(getattr(st.dp, name)).__name__ != 'module' for name in st.dp.__all__))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == "True"
    with pytest.raises(ParameterError):
        st.dp.indistinguishability([0.5, 0.5], {"a": 1.0})


def test_what_says_nothing_is_called_no_guarantee():
    assert str(st.dp.semantic(1.0, 1e-10, n=1000)).startswith("A guarantee")
    for empty in (st.dp.semantic(1.0, 1e-3, n=10**6), st.dp.semantic(1.0, 0.4, n=10), st.dp.semantic(1e5)):
        assert empty.tight_vacuous
        assert str(empty).startswith("No guarantee")


def test_no_epsilon_is_too_large_for_two_laws():
    assert st.dp.indistinguishability({"a": 0.5, "b": 0.5}, {"a": 1.0}, epsilon=1e6) == 0.5
