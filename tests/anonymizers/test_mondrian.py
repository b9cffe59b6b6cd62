from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.anonymizers.group_loss import cost
from showthrough.anonymizers.mondrian import mondrian
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from tests.anonymizers.satisfied import CRITERIA, assert_every_group_satisfies
from tests.anonymizers.tables import adult, entropy_at_least, tables
from tests.oracles import groupings


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=2, max_size=40),
    st.integers(1, 6),
    st.booleans(),
)
def test_strict_is_the_recursion(rows, k, diverse):
    values = [a % 3 for a, _ in rows]
    if len(rows) < k or (diverse and groupings.entropy(values) < math.log(2) - 1e-12):
        return
    columns = [QuasiColumn.numeric(f"q{j}", [float(row[j]) for row in rows]) for j in range(2)]
    sensitive = np.array(values, dtype=np.int32)
    requirement = Requirement(k, sensitive, entropy_at_least(2)) if diverse else Requirement(k)

    def fine(part):
        return not diverse or groupings.entropy([values[i] for i in part]) >= math.log(2) - 1e-12

    found = mondrian(columns, requirement)
    expected = {frozenset(part) for part in groupings.mondrian_strict(rows, k, fine)}
    assert {frozenset(part) for part in groupings.members(found.group).values()} == expected


@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(1, 5), st.booleans(), st.sampled_from(list(CRITERIA)))
def test_every_group_satisfies(table, k, relaxed, criterion):
    assert_every_group_satisfies(partial(mondrian, relaxed=relaxed), table, k=k, criterion=criterion)


@settings(max_examples=100, deadline=None)
@given(tables(least=4))
def test_cells_hold_their_rows_and_strict_cells_do_not_overlap(table):
    columns, _ = table
    found = mondrian(columns, Requirement(2))
    place = np.stack([column.rank[column.codes] for column in columns], axis=1)
    low, high = found.cell_low[found.group], found.cell_high[found.group]
    assert np.all((low <= place) & (place <= high))
    for one in range(found.groups):
        for other in range(one):
            apart = (found.cell_low[one] > found.cell_high[other]) | (found.cell_low[other] > found.cell_high[one])
            assert apart.any()


@settings(max_examples=100, deadline=None)
@given(tables(least=4), st.integers(1, 5))
def test_relaxed_groups_are_small_unless_equal(table, k):
    columns, sensitive = table
    ordered = [column for column in columns if column.shown == "range"]
    if not ordered or len(sensitive) < k:
        return
    found = mondrian(ordered, Requirement(k), relaxed=True)
    for part in groupings.members(found.group).values():
        equal = len({tuple(int(column.codes[i]) for column in ordered) for i in part}) == 1
        assert len(part) <= 2 * k - 1 or equal


def test_a_heavier_column_is_cut_first():
    a = QuasiColumn.numeric("a", [0.0, 0.0, 1.0, 1.0], weight=1.0)
    b = QuasiColumn.numeric("b", [0.0, 1.0, 0.0, 1.0], weight=2.0)
    group = mondrian([a, b], Requirement(2)).group
    assert group[0] == group[2] != group[1] == group[3]


def test_two_hundred_columns_and_a_constant_one():
    generator = np.random.default_rng(0)
    columns = [QuasiColumn.numeric(f"q{j}", generator.integers(0, 4, 300).astype(float)) for j in range(199)]
    columns.append(QuasiColumn.numeric("same", np.ones(300)))
    found = mondrian(columns, Requirement(5))
    assert np.bincount(found.group).min() >= 5


def test_refusals():
    with pytest.raises(InputError, match="larger than the table"):
        mondrian([QuasiColumn.numeric("a", [1.0])], Requirement(2))
    with pytest.raises(InputError, match="missing"):
        QuasiColumn.numeric("a", [1.0, float("nan")])


def test_adult_sets_lose_less_than_anonypy():
    columns, _ = adult(shown="set")
    found = mondrian(columns, Requirement(5))
    measured = cost(columns, found.group, k=5)
    assert measured.gcp <= 0.0264
    assert np.bincount(found.group).min() >= 5
