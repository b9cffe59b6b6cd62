"""The textbook's Mondrian beside a plain recursion."""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.anonymizers.requirement import Requirement
from showthrough.criteria.l_diversity import EntropyLDiversity
from showthrough.experiments.textbook_mondrian import textbook_mondrian
from tests.oracles import textbook_mondrian as oracle

TREE = {"a": ("*", "x"), "b": ("*", "x"), "c": ("*", "y"), "d": ("*", "y"), "e": ("*", "z")}


def columns_of(records):
    numbers = QuasiColumn.numeric("n", [float(record[0]) for record in records])
    texts = QuasiColumn.categorical("t", [record[1] for record in records])
    rows = [[leaf, *reversed(path)] for leaf, path in TREE.items()]
    return [numbers, texts.with_hierarchy(rows)]


def parts_of(group):
    return {frozenset(np.flatnonzero(group == g).tolist()) for g in set(group.tolist())}


records_ = some.lists(some.tuples(some.integers(0, 6), some.sampled_from("abcde")), min_size=4, max_size=40)


@settings(max_examples=60)
@given(records_, some.integers(1, 4), some.booleans())
def test_the_same_groups_as_by_recursion(records, k, relaxed):
    found = textbook_mondrian(columns_of(records), Requirement(k), relaxed=relaxed)
    expected = oracle.groups(records, [None, TREE], lambda part: len(part) >= k, relaxed=relaxed)
    assert parts_of(found) == {frozenset(part) for part in expected}


@settings(max_examples=40)
@given(records_, some.integers(1, 3), some.randoms(use_true_random=False))
def test_criteria_on_values_stop_cuts(records, k, random):
    values = np.array([random.randrange(3) for _ in records])
    criterion = EntropyLDiversity(2)
    limit = Requirement(k, values, lambda counts: criterion.met(criterion.level(counts)))

    def allowed(part):
        shares = [sum(values[i] == v for i in part) / len(part) for v in set(values[part].tolist())]
        return len(part) >= k and -sum(p * log(p) for p in shares) >= log(2) - 1e-12

    expected = oracle.groups(records, [None, TREE], allowed)
    assert parts_of(textbook_mondrian(columns_of(records), limit)) == {frozenset(part) for part in expected}


@pytest.mark.parametrize("k", [2, 5])
def test_relaxed_groups_stay_below_twice_k(k):
    random = np.random.default_rng(k)
    columns = [QuasiColumn.numeric(f"c{j}", random.random(500)) for j in range(3)]
    sizes = np.bincount(textbook_mondrian(columns, Requirement(k), relaxed=True))
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
