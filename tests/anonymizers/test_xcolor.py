from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.anonymizers.near_rows import ListedProximity, NumericProximity, ValueProximity
from showthrough.anonymizers.xcolor import allowed_neighbours, satisfiable, xcolor
from showthrough.errors import InputError
from tests.oracles import groupings

# Table I of the paper: (allergy, asthma, myocarditis)
SYNDROMES = [
    (0.8, 0.0, 0.0),
    (0.6, 0.4, 0.4),
    (0.7, 0.1, 0.1),
    (1.0, 0.2, 0.2),
    (0.1, 0.9, 0.9),
    (0.2, 0.5, 0.2),
    (0.8, 0.1, 0.9),
    (0.4, 0.3, 0.5),
    (0.6, 0.9, 0.3),
    (1.0, 0.7, 0.7),
]


def syndrome_pairs(epsilon: float) -> list[tuple[int, int]]:
    def distance(p, q):
        return min(abs(a - b) for a, b in zip(p, q, strict=True))

    rows = range(len(SYNDROMES))
    return [
        (i, j) for i, j in itertools.combinations(rows, 2) if distance(SYNDROMES[i], SYNDROMES[j]) <= epsilon + 1e-9
    ]


def check(found, edges, rows, k):
    """By loops: sizes, degrees inside groups, and what the result says about itself."""
    groups = groupings.members(found.group)
    sizes = [len(part) for part in groups.values()]
    assert sum(sizes) == rows
    assert len(groups) == rows // k
    assert min(sizes) >= k
    assert max(sizes) - min(sizes) <= 1
    inside = [0] * rows
    degree = [0] * rows
    for a, b in edges:
        degree[a] += 1
        degree[b] += 1
        if found.group[a] == found.group[b]:
            inside[a] += 1
            inside[b] += 1
    assert found.max_degree == max(degree)
    assert found.edges == len(edges) >= found.swaps
    assert found.violations.tolist() == [i for i in range(rows) if inside[i] > found.allowed]
    assert found.guaranteed == (max(degree) <= (rows // k) * (found.allowed + 1) / 2)
    if found.guaranteed:
        assert not len(found.violations)


def test_thousands_of_random_graphs():
    generator = np.random.default_rng(0)
    guaranteed = uneven = 0
    for number in range(3000):
        rows = int(generator.integers(2, 36))
        k = int(generator.integers(2, min(7, rows) + 1))
        pairs = generator.integers(0, rows, (int(generator.integers(0, 2 * rows)), 2)).tolist()
        edges = {(min(a, b), max(a, b)) for a, b in pairs if a != b}
        strict, delta = bool(number % 2), float(generator.choice([0.0, 0.25, 0.5, 0.6, 0.75]))
        if allowed_neighbours(rows, k, delta, strict=strict) < 0:
            continue
        found = xcolor(ListedProximity.of_pairs(rows, pairs), k, delta, strict=strict, seed=number)
        check(found, edges, rows, k)
        guaranteed += found.guaranteed
        uneven += found.guaranteed and rows % k > 0
    assert guaranteed > 500
    assert uneven > 200


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=4, max_size=40), st.integers(2, 4), st.booleans())
def test_values_and_numbers_agree_with_their_edge_list(values, k, near_next):
    rows = len(values)
    edges = {(i, j) for i, j in itertools.combinations(range(rows), 2) if abs(values[i] - values[j]) <= int(near_next)}
    table = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) <= int(near_next)
    codes = np.array(values, dtype=np.int32)
    for proximity in (
        ValueProximity(codes, table),
        NumericProximity(codes / 10, 0.1 * near_next),
        ListedProximity.of_pairs(rows, list(edges)),
    ):
        check(xcolor(proximity, k, 0.4, strict=False, order=np.arange(rows)), edges, rows, k)
        degree = [sum(i in edge for edge in edges) for i in range(rows)]
        assert proximity.degree.tolist() == degree
        one, other = np.meshgrid(np.arange(rows), np.arange(rows))
        apart = one != other
        expected = [(min(a, b), max(a, b)) in edges for a, b in zip(one[apart], other[apart], strict=True)]
        assert proximity.near(one[apart], other[apart]).tolist() == expected


def test_the_example_of_the_paper():
    pairs = syndrome_pairs(0.1)
    assert len(pairs) == 19
    found = xcolor(ListedProximity.of_pairs(10, pairs), 5, 0.5, strict=False)
    assert (found.max_degree, found.allowed, found.guaranteed) == (6, 2, False)
    assert len(syndrome_pairs(0.2)) == 36
    assert satisfiable(6, 2, 5)
    assert not satisfiable(6, 2, 4)


@pytest.mark.parametrize(
    ("rows", "k", "delta", "strict", "allowed"),
    [
        (10, 5, 0.5, True, 1),
        (10, 5, 0.5, False, 2),
        (14, 5, 0.5, False, 3),
        (11, 11, 0.7, False, 3),
        (8, 4, 1.0, False, 0),
    ],
)
def test_readings_of_the_definition(rows, k, delta, strict, allowed):
    assert allowed_neighbours(rows, k, delta, strict=strict) == allowed


def test_near_quasi_identifiers_stay_together():
    generator = np.random.default_rng(3)
    values = generator.integers(0, 10, 2000).astype(np.int32)
    age = generator.random(2000)
    order = np.argsort(age)
    found = xcolor(ValueProximity(values), 5, 0.5, order=order)
    assert not len(found.violations)
    width = np.array([np.ptp(age[part]) for part in groupings.members(found.group).values()])
    assert np.median(width) < 0.1


def test_refusals():
    with pytest.raises(InputError, match="lower δ"):
        xcolor(ValueProximity(np.zeros(4, dtype=np.int32)), 2, 1.0)
    with pytest.raises(InputError, match="larger than the table"):
        xcolor(ValueProximity(np.zeros(4, dtype=np.int32)), 5, 0.5)
    with pytest.raises(InputError, match="symmetric"):
        ValueProximity(np.zeros(4, dtype=np.int32), np.array([[True, True], [False, True]]))
