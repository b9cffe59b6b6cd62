from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.anonymizers.anatomy import _create, anatomy, surplus, too_frequent
from showthrough.errors import InputError
from tests.oracles import groupings


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(1, 5), st.integers(0, 3))
def test_groups_of_different_values(values, l, seed):
    sensitive = np.array(values, dtype=np.int32)
    eligible = all(values.count(v) * l <= len(values) for v in values)
    assert eligible == (len(too_frequent(sensitive, l)) == 0)
    if not eligible:
        with pytest.raises(InputError, match=r"eligible|different|larger"):
            anatomy(sensitive, l, seed=seed)
        return
    found = anatomy(sensitive, l, seed=seed)
    groups = groupings.members(found.group)
    assert sum(map(len, groups.values())) == len(values)
    assert len(groups) == found.groups == len(values) // l
    assert found.residues == len(values) % l
    for part in groups.values():
        assert len(part) >= l
        assert len({values[i] for i in part}) == len(part)
    again = anatomy(sensitive, l, seed=seed)
    assert np.array_equal(found.group, again.group)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 25), min_size=1, max_size=8), st.integers(1, 5))
def test_every_group_takes_the_largest_lists(counts, l):
    counts = np.array(counts, dtype=np.int64)
    if np.count_nonzero(counts) < l:
        return
    value, group = _create(counts, l, np.random.default_rng(0))
    left = counts.copy()
    for picks in np.split(value, np.flatnonzero(np.diff(group)) + 1):
        assert len(set(picks.tolist())) == l
        others = np.delete(left, picks)
        assert left[picks].min() >= max(1, others.max(initial=0))
        left[picks] -= 1
    assert np.count_nonzero(left) < l


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=4, max_size=40), st.integers(2, 4))
def test_surplus_is_the_least_that_makes_the_table_eligible(values, l):
    sensitive = np.array(values, dtype=np.int32)
    count = np.bincount(sensitive)
    drop = surplus(sensitive, l)
    kept = count - drop
    assert kept.max() * l <= kept.sum()
    # keeping one more of the capped values breaks eligibility
    cap = kept.max() + 1
    more = np.minimum(count, cap)
    assert np.array_equal(more, count) or more.max() * l > more.sum()
    if 0 < drop.sum() < len(values):
        found = anatomy(sensitive, l, suppression_limit=len(values))
        assert np.count_nonzero(found.group < 0) == found.suppressed == drop.sum()
        for part in groupings.members(found.group).values():
            assert len({values[i] for i in part}) == len(part) >= l


def test_the_refusal_names_the_value_and_what_would_do():
    with pytest.raises(InputError, match=r"value code 1 has 3 of 5: at most 2 .* Lower l to 1") as refused:
        anatomy(np.array([0, 1, 1, 1, 2]), 2)
    assert "1 suppressed" in str(refused.value)
