from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import showthrough
from showthrough.anonymizers.group_loss import cost
from showthrough.anonymizers.mondrian import mondrian
from showthrough.anonymizers.outliers import mondrian_without_outliers
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from tests.anonymizers.satisfied import CRITERIA
from tests.anonymizers.tables import entropy_at_least, tables
from tests.oracles import groupings


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 4), st.sampled_from(list(CRITERIA)), st.integers(1, 8), st.booleans())
def test_groups_satisfy_and_the_limit_is_kept(table, k, criterion, limit, relaxed):
    columns, sensitive = table
    requirement = Requirement(k, sensitive, CRITERIA[criterion])
    try:
        found = mondrian_without_outliers(columns, requirement, limit=limit, relaxed=relaxed)
    except InputError:
        return
    assert np.count_nonzero(found.group < 0) <= limit
    for code, part in groupings.members(found.group).items():
        values = [int(sensitive[i]) for i in part]
        if code >= 0:
            assert len(part) >= k
            assert criterion != "entropy" or groupings.entropy(values) >= math.log(2) - 1e-9
            assert criterion != "t" or groupings.equal_distance(values, sensitive.tolist()) <= 0.3 + 1e-9
    again = mondrian_without_outliers(columns, requirement, limit=limit, relaxed=relaxed)
    assert np.array_equal(found.group, again.group)


@settings(max_examples=40, deadline=None)
@given(tables(least=6), st.integers(1, 3), st.integers(1, 6))
def test_never_loses_more_than_without(table, k, limit):
    columns, _ = table
    requirement = Requirement(k)
    some = mondrian_without_outliers(columns, requirement, limit=limit)
    assert cost(columns, some.group, k=k).gcp <= cost(columns, mondrian(columns, requirement).group, k=k).gcp + 1e-12


def test_one_record_far_away_is_left_out():
    ages = [*[20.0, 21.0] * 10, 90.0]
    columns = [QuasiColumn.numeric("age", ages), QuasiColumn.categorical("sex", ["f"] * 20 + ["m"])]
    found = mondrian_without_outliers(columns, Requirement(10), limit=1)
    assert np.flatnonzero(found.group < 0).tolist() == [20]
    assert cost(columns, found.group, k=10).gcp == pytest.approx(1 / 21)


def test_a_value_too_frequent_for_the_table_is_thinned():
    column = QuasiColumn.numeric("age", [float(n) for n in range(12)])
    sensitive = np.array([0] * 8 + [1] * 4, dtype=np.int32)
    requirement = Requirement(1, sensitive, entropy_at_least(2))
    found = mondrian_without_outliers([column], requirement, limit=4)
    assert np.count_nonzero(found.group < 0) == 4
    with pytest.raises(InputError, match="at most 3"):
        mondrian_without_outliers([column], requirement, limit=3)


@pytest.mark.parametrize("method", ["mondrian", "mondrian-relaxed", "local-recoding"])
def test_anonymize_passes_the_limit_on(method):
    frame = {"age": [*range(20, 32), 95], "illness": ["a", "b"] * 6 + ["a"]}
    release = showthrough.anonymize(
        frame, method=method, sensitive="illness", criteria=[showthrough.KAnonymity(4)], suppression_limit=1
    )
    assert release.made.suppressed <= 1
    assert all(check.holds for check in release.made.checks)
