from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.anonymizers.group_loss import cost, group_losses, merge_alike
from showthrough.anonymizers.local_recoding import local_recoding
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from tests.anonymizers.satisfied import CRITERIA, assert_every_group_satisfies
from tests.anonymizers.tables import adult, entropy_at_least, tables


@settings(max_examples=70, deadline=None)
@given(tables(), st.integers(1, 5), st.sampled_from(list(CRITERIA)), st.integers(0, 3))
def test_every_group_satisfies(table, k, criterion, passes):
    assert_every_group_satisfies(partial(local_recoding, passes=passes), table, k=k, criterion=criterion)


@settings(max_examples=40, deadline=None)
@given(tables(least=6, most=60), st.integers(2, 4))
def test_passes_never_lose_more_and_the_loss_is_what_it_says(table, k):
    columns, _ = table
    found = local_recoding(columns, Requirement(k), passes=4)
    size, losses = group_losses(columns, found.group)
    assert found.loss <= found.start_loss + 1e-6
    assert found.loss == pytest.approx(float(size @ losses.sum(axis=1)), abs=1e-6)
    again = local_recoding(columns, Requirement(k), passes=4)
    assert np.array_equal(found.group, again.group)


def test_frequent_records_stay_exact():
    ages = [20.0] * 5 + [30.0] * 5 + [40.0, 41.0, 42.0]
    column = QuasiColumn.numeric("age", ages)
    found = local_recoding([column], Requirement(3))
    assert found.exact == 10
    assert sorted(np.bincount(found.group).tolist()) == [3, 5, 5]
    assert cost([column], found.group, k=3).gcp == pytest.approx(3 * (2 / 22) / 13)


def test_two_hundred_columns():
    generator = np.random.default_rng(0)
    columns = [QuasiColumn.numeric(f"q{j}", generator.integers(0, 4, 60).astype(float)) for j in range(200)]
    found = local_recoding(columns, Requirement(3), passes=2)
    assert np.bincount(found.group).min() >= 3


def test_a_table_that_cannot_satisfy():
    column = QuasiColumn.numeric("age", [1.0, 2.0, 3.0])
    sensitive = np.zeros(3, dtype=np.int32)
    with pytest.raises(InputError, match="as one group"):
        local_recoding([column], Requirement(1, sensitive, entropy_at_least(2)))


@pytest.mark.parametrize(
    ("shown", "age", "passes", "gcp"),
    [("label", "range", 5, 0.0310), ("label", "label", None, 0.0356), ("set", "range", 0, 0.0205)],
)
def test_adult_loses_less_than_arx(shown, age, passes, gcp):
    columns, _ = adult(shown=shown, age=age)
    found = local_recoding(columns, Requirement(5), passes=passes)
    seen = merge_alike(columns, found.group)
    measured = cost(columns, seen, k=5)
    assert measured.gcp < gcp
    assert measured.average_group < 1.909
    assert np.bincount(seen).min() >= 5


def test_adult_with_entropy_loses_less_than_arx():
    columns, sensitive = adult(shown="label")
    requirement = Requirement(5, sensitive, entropy_at_least(3))
    found = local_recoding(columns, requirement, passes=0)
    assert requirement.met(found.group, found.groups).all()
    assert cost(columns, found.group, k=5).gcp < 0.0688
