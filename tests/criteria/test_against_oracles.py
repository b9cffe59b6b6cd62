"""Every model against its definition, computed slowly, on random releases."""

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from showthrough.criteria.alpha_k import AlphaKAnonymity
from showthrough.criteria.beta_likeness import BetaLikeness
from showthrough.criteria.delta_disclosure import DeltaDisclosure
from showthrough.criteria.dissimilarity import Dissimilarity
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    RecursiveLDiversity,
)
from showthrough.criteria.m_uniqueness import MUniqueness
from showthrough.criteria.negation import distinct_after, entropy_after, frequency_after, recursive_after
from showthrough.criteria.t_closeness import TCloseness
from showthrough.table.hierarchy import Hierarchy
from tests.criteria.releases import QUICK, VALUES, by_group, counted, releases, table
from tests.oracles import criteria as slow

TREE = {
    "angina": ("heart", "*"),
    "asthma": ("lung", "*"),
    "flu": ("lung", "*"),
    "gout": ("joint", "*"),
    "mumps": ("joint", "*"),
}
HIERARCHY = Hierarchy.from_rows([[value, *above] for value, above in TREE.items()])


def levels(criterion, groups, rest=()):
    found = counted(groups, rest)
    return by_group(found, criterion.level(found.counts))


@QUICK
@given(releases())
def test_counting_criteria(release):
    groups, rest = release
    sizes = [len(g) for g in groups]
    tops = [max(g.count(v) for v in g) for g in groups]
    assert levels(KAnonymity(1), groups, rest) == sizes
    assert levels(DistinctLDiversity(1), groups, rest) == [len(set(g)) for g in groups]
    assert levels(FrequencyLDiversity(1), groups, rest) == [n / top for n, top in zip(sizes, tops, strict=True)]
    assert levels(MUniqueness(1), groups, rest) == [len(g) if len(set(g)) == len(g) else 0 for g in groups]
    assert levels(AlphaKAnonymity(1, 3), groups, rest) == [
        top / n if n >= 3 else inf for n, top in zip(sizes, tops, strict=True)
    ]
    watched = AlphaKAnonymity(1, 1, values=("flu", "gout"))
    assert levels(watched, groups, rest) == [max(g.count(v) for v in watched.values) / len(g) for g in groups]


@QUICK
@given(releases(), some.integers(1, 5))
def test_entropy_exactly(release, l):
    groups, rest = release
    found = counted(groups, rest)
    criterion = EntropyLDiversity(l)
    level = criterion.level(found.counts)
    assert by_group(found, level) == pytest.approx([slow.entropy_level(g) for g in groups], rel=1e-12)
    assert by_group(found, criterion.met(level)) == [slow.entropy_holds(g, l) for g in groups]


@QUICK
@given(releases(), some.integers(1, 5), some.fractions(Fraction(1, 10), 4, max_denominator=10))
def test_recursive(release, l, c):
    groups, rest = release
    found = counted(groups, rest)
    criterion = RecursiveLDiversity(float(c), l)
    level = criterion.level(found.counts)
    assert by_group(found, level) == pytest.approx([slow.recursive_level(g, l) for g in groups])
    assert by_group(found, criterion.met(level)) == [slow.recursive_holds(g, c, l) for g in groups]


def distances(domain):
    rank = {v: k for k, v in enumerate(domain)}

    def by_tree(a, b):
        return 0.0 if a == b else 0.5 if TREE[a][0] == TREE[b][0] else 1.0

    return {
        "equal": lambda a, b: float(a != b),
        "ordered": lambda a, b: abs(rank[a] - rank[b]) / max(len(rank) - 1, 1),
        "tree": by_tree,
    }


@QUICK
@given(releases(most=6))
def test_t_closeness_moves_as_little_earth_as_a_linear_program(release):
    groups, rest = release
    for reference, rows in (("all", table(groups, rest)), ("kept", table(groups))):
        for name, distance in distances(sorted(set(rows))).items():
            criterion = TCloseness(1, HIERARCHY if name == "tree" else name, reference)
            expected = [slow.emd(g, rows, distance) for g in groups]
            assert levels(criterion, groups, rest) == pytest.approx(expected, abs=1e-9), name


@QUICK
@given(releases())
def test_likeness_and_disclosure(release):
    groups, rest = release
    rows = table(groups, rest)
    for enhanced in (False, True):
        expected = [slow.beta(g, rows, enhanced=enhanced) for g in groups]
        assert levels(BetaLikeness(1, enhanced), groups, rest) == pytest.approx(expected, abs=1e-12)
    for occurring in (False, True):
        expected = [slow.disclosure(g, rows, occurring=occurring) for g in groups]
        assert levels(DeltaDisclosure(1, occurring), groups, rest) == pytest.approx(expected, abs=1e-12)


DECIMALS = some.integers(0, 30).map(lambda n: n / 10)


@QUICK
@given(releases(values=DECIMALS), some.integers(0, 8).map(lambda n: n / 10), some.integers(0, 9), some.booleans())
def test_dissimilarity_of_numbers(release, epsilon, tenths, strict):
    groups, _ = release
    delta = tenths / 10
    near = slow.decimal_near(epsilon)
    expected = []
    for g in groups:
        degree, room = slow.most_neighbours(g, near), (1 - Fraction(tenths, 10)) * (len(g) - 1)
        expected.append(len(g) >= 2 and (degree < room if strict else degree <= room))
    for metric in ("numeric", "max", lambda a, b: abs(a - b)):
        criterion = Dissimilarity(epsilon, delta, 2, metric=metric, strict=strict)
        found = counted(groups)
        assert by_group(found, criterion.met(criterion.level(found.counts))) == expected


@QUICK
@given(releases(), some.sampled_from([0.0, 0.5, 0.7, 1.0]))
def test_dissimilarity_of_words(release, epsilon):
    groups, _ = release
    distance = distances(VALUES)["tree"]
    listed = {(a, b): distance(a, b) for a in VALUES for b in VALUES if a < b}
    expected = [slow.most_neighbours(g, lambda a, b: distance(a, b) <= epsilon) for g in groups]
    for metric in (HIERARCHY, listed, distance):
        found = counted(groups)
        assert by_group(found, Dissimilarity(epsilon, 0, 1, metric=metric).degree(found.counts)) == expected
    alike = [slow.most_neighbours(g, lambda a, b: a == b or epsilon >= 1) for g in groups]
    found = counted(groups)
    assert by_group(found, Dissimilarity(epsilon, 0, 1, metric="equal").degree(found.counts)) == alike


@QUICK
@given(releases(most=12), some.integers(0, 5), some.integers(1, 4))
def test_negations_at_worst_over_every_choice_of_values(release, j, l):
    groups, _ = release
    found = counted(groups)
    left = [slow.excluded(g, j) for g in groups]

    def got(level):
        return by_group(found, level)

    assert got(distinct_after(found.counts, j)) == [min(len(set(g)) for g in choice) for choice in left]
    assert got(frequency_after(found.counts, j)) == pytest.approx(
        [min(len(g) / max(g.count(v) for v in g) for g in choice) for choice in left]
    )
    assert got(entropy_after(found.counts, j)) == pytest.approx(
        [min(slow.entropy_level(g) for g in choice) for choice in left], rel=1e-12
    )
    assert got(recursive_after(found.counts, j, l=l)) == pytest.approx(
        [max(slow.recursive_level(g, l) for g in choice) for choice in left]
    )


@QUICK
@given(some.lists(some.integers(1, 60), min_size=1, max_size=8), some.integers(0, 7))
def test_negations_of_uneven_counts(counts, j):
    values = [f"v{k}" for k, n in enumerate(counts) for _ in range(n)]
    found = counted([values])
    expected = min(slow.entropy_level(g) for g in slow.excluded(values, j))
    assert entropy_after(found.counts, j)[0] == pytest.approx(expected, rel=1e-12)


def test_dissimilarity_in_many_pieces_is_the_same(monkeypatch):
    random = np.random.default_rng(0)
    groups = [random.integers(0, 40, n).astype(str).tolist() for n in (50, 1, 30, 70)]
    found = counted(groups)
    criterion = Dissimilarity(3, 0, 1, metric="max")
    whole = criterion.level(found.counts)
    monkeypatch.setattr("showthrough.criteria.dissimilarity.PAIRS", 7)
    assert criterion.level(found.counts).tolist() == whole.tolist()
    assert Dissimilarity(3, 0, 1).level(found.counts).tolist() == whole.tolist()
