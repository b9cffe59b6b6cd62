from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.anonymizers.group_loss import cost
from showthrough.anonymizers.lattice import NODES, Lattice
from showthrough.anonymizers.lattice_sweep import Sweep, lattice_sweep
from showthrough.anonymizers.left_over_records import settle
from showthrough.anonymizers.local_recoding import local_recoding
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.anonymizers.regrow import Records
from showthrough.anonymizers.requirement import Requirement
from showthrough.anonymizers.trimming import trimmed
from showthrough.errors import Cancelled, InputError
from showthrough.progress import Progress
from tests.anonymizers.satisfied import CRITERIA
from tests.anonymizers.tables import adult, entropy_at_least, equal_distance_at_most, tables
from tests.oracles import groupings

SWEEPS = [Sweep(0.01), Sweep(0.01, 0.1), Sweep(0.05, 0.3, relative=True), Sweep(0.1, by_values=True)]


def satisfied(group, sensitive, *, k: int, criterion: str) -> None:
    """Every group, by the oracle."""
    for code, part in groupings.members(group).items():
        if code < 0:
            continue
        values = [int(sensitive[i]) for i in part]
        assert len(part) >= k
        if criterion == "entropy":
            assert groupings.entropy(values) >= math.log(2) - 1e-9
        if criterion == "t":
            assert groupings.equal_distance(values, sensitive.tolist()) <= 0.3 + 1e-9


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5), st.sampled_from(list(CRITERIA)), st.sampled_from(SWEEPS))
def test_what_a_sweep_fixes_satisfies(table, k, criterion, sweep):
    columns, sensitive = table
    requirement = Requirement(k, sensitive, CRITERIA[criterion])
    group = lattice_sweep(Lattice(columns), requirement, sweep, Progress())
    satisfied(group, sensitive, k=k, criterion=criterion)
    assert np.array_equal(group, lattice_sweep(Lattice(columns), requirement, sweep, Progress()))


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5), st.sampled_from(list(CRITERIA)), st.integers(0, 6))
def test_at_most_as_many_are_suppressed_as_allowed(table, k, criterion, limit):
    columns, sensitive = table
    if len(sensitive) < k:
        return
    requirement = Requirement(k, sensitive, CRITERIA[criterion])
    run = partial(local_recoding, columns, requirement, passes=0, suppression_limit=limit)
    try:
        found = run()
    except InputError:
        assert criterion == "entropy"
        assert groupings.entropy(sensitive.tolist()) < math.log(2)
        return
    assert found.suppressed == np.count_nonzero(found.group < 0) <= limit
    assert found.groups == int(found.group.max()) + 1
    satisfied(found.group, sensitive, k=k, criterion=criterion)
    assert np.array_equal(found.group, run().group)


@settings(max_examples=60, deadline=None)
@given(tables(least=4), st.sampled_from(["entropy", "t"]), st.integers(0, 3))
def test_left_over_records_keep_the_requirement(table, criterion, limit):
    columns, sensitive = table
    requirement = Requirement(2, sensitive, CRITERIA[criterion])
    group = lattice_sweep(Lattice(columns), requirement, Sweep(0.01, 0.1), Progress())
    settled = settle(columns, Records.of(columns, requirement), group, limit=limit)
    if settled is None:
        return
    assert np.count_nonzero(settled < 0) <= limit
    assert sorted(set(settled[settled >= 0].tolist())) == list(range(int(settled.max()) + 1))
    satisfied(settled, sensitive, k=2, criterion=criterion)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4), st.booleans())
def test_what_is_kept_of_a_class_satisfies_and_is_part_of_it(classes, relative):
    dense = np.array([counts for counts in classes if sum(counts)] or [[1, 1, 1]])
    group, value = np.nonzero(dense)
    start = np.searchsorted(group, np.arange(len(dense) + 1))
    sensitive = np.repeat([0, 1, 2], dense.sum(axis=0) + 1).astype(np.int32)
    requirement = Requirement(2, sensitive, entropy_at_least(2))
    kept = trimmed(requirement, start, value, dense[group, value], relative=relative)
    assert (kept <= dense[group, value]).all()
    for i in range(len(dense)):
        values = np.repeat(value[group == i], kept[group == i]).tolist()
        assert not values or (len(values) >= 2 and groupings.entropy(values) >= math.log(2) - 1e-9)


def test_a_class_of_mostly_one_value_keeps_what_the_others_balance():
    sensitive = np.repeat([0, 1], [12, 3]).astype(np.int32)
    requirement = Requirement(2, sensitive, entropy_at_least(2))
    kept = trimmed(requirement, np.array([0, 2]), np.array([0, 1]), np.array([12, 3]), relative=False)
    assert kept.tolist() == [3, 3]


def test_a_large_lattice_is_seen_along_chains():
    generator = np.random.default_rng(0)
    columns = [QuasiColumn.numeric(f"q{j}", generator.integers(0, 8, 200).astype(float)) for j in range(20)]
    nodes = Lattice(columns).nodes
    assert len(nodes) <= NODES
    assert nodes[0].tolist() == [0] * 20
    assert nodes[-1].tolist() == [3] * 20
    assert np.array_equal(nodes, Lattice(columns).nodes)


def test_a_sweep_can_be_cancelled():
    columns, _ = adult(shown="label")
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        lattice_sweep(Lattice(columns), Requirement(5), Sweep(0.01), progress)


def test_adult_close_to_the_table_loses_less_than_arx_without_suppressing():
    columns, sensitive = adult(shown="label", age="label")
    requirement = Requirement(5, sensitive, equal_distance_at_most(0.4))
    group = lattice_sweep(Lattice(columns), requirement, Sweep(0.01, 0.1, relative=True), Progress())
    settled = settle(columns, Records.of(columns, requirement), group)
    assert settled is not None
    assert settled.min() == 0
    assert cost(columns, settled, k=5).gcp < 0.15
