"""m-invariance against its definitions, and against the inference core."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import infer
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.errors import InputError
from showthrough.republishing.m_invariance import m_invariant
from tests.oracles.m_invariance import balanced_in_turn, broken, eligible, fewest, is_halving
from tests.republishing.dynamic import Publisher, present, release
from tests.saying import refusing

TENS = [[f"{k}.0", "low" if k < 5 else "high", "*"] for k in range(10)]
MOST = st.integers(0, 2**32 - 1)


def new(count):
    """Rows with so many records of each value, nobody published before."""
    value = np.repeat(np.arange(len(count)), count).astype(np.int32)
    return value, np.full(len(value), -1, dtype=np.int32)


@settings(max_examples=30, deadline=None)
@given(m=st.integers(1, 5), values=st.integers(5, 9), persons=st.integers(20, 150), seed=MOST, split=st.booleans())
def test_dynamic_tables_over_twelve_releases(m, values, persons, seed, split):
    generator = np.random.default_rng(seed)
    publisher = Publisher(generator.integers(0, values, persons).astype(np.int32), m)
    place = generator.integers(0, 10, (2, persons)).astype(float)
    series = []
    for round_, there in enumerate(present(generator, persons=persons, releases=12)):
        columns = None
        if split and len(there):
            columns = [
                QuasiColumn.numeric("x", place[0, there]),
                QuasiColumn.categorical("y", place[1, there].astype(str)),
                QuasiColumn.categorical("z", place[1, there].astype(str)).with_hierarchy(TENS),
            ]
        before = dict(publisher.of_person)
        result = publisher.publish(there, seed=round_, hold_back=True, columns=columns)
        shown = result.group >= 0
        records = list(zip(there[shown], publisher.value[there[shown]], result.group[shown], strict=True))
        fakes = list(zip(result.counterfeit_group.tolist(), result.counterfeit_value.tolist(), strict=True))
        series.append((records, fakes))
        assert np.array_equal(result.held, np.flatnonzero(~shown))
        assert all(int(p) not in before for p in there[~shown])  # who was published before is never held back
        assert result.groups == len({int(g) for _, _, g in records})
        assert result.counterfeits == len(fakes)
        for group, text in enumerate(result.group_signature):
            found = [v for _, v, g in records if g == group] + [v for g, v in fakes if g == group]
            assert sorted(found) == list(result.signatures[text])
    assert broken(series, m) == []


def test_the_checker_finds_what_is_wrong():
    right = ([("a", 0, 0), ("b", 1, 0)], [])
    assert broken([right, ([("a", 0, 0)], [(0, 1)])], 2) == []
    assert len(broken([right, ([("a", 0, 0)], [(0, 2)])], 2)) == 1
    assert len(broken([right, ([], []), ([("a", 0, 0), ("c", 2, 0)], [])], 2)) == 1
    assert len(broken([([("a", 0, 0), ("b", 0, 0)], [])], 2)) == 1
    assert len(broken([right], 3)) == 1
    assert len(broken([([], [(0, 0), (0, 1)])], 2)) == 1


@settings(max_examples=12, deadline=None)
@given(m=st.integers(2, 4), persons=st.integers(12, 45), seed=MOST)
def test_the_joint_posterior_of_every_prefix_is_at_most_one_in_m(m, persons, seed):
    generator = np.random.default_rng(seed)
    publisher = Publisher(generator.integers(0, m + 3, persons).astype(np.int32), m)
    releases = []
    for round_, there in enumerate(present(generator, persons=persons, releases=10)):
        result = publisher.publish(there, seed=round_, hold_back=True)
        if not result.groups:
            continue
        fakes = result.counterfeit_group, result.counterfeit_value
        releases.append(release(there, publisher.value[there], result.group, fakes=fakes, name=f"r{round_}"))
        posterior = infer(releases)
        assert posterior.to_frame()["p"].max() <= 1 / m + posterior.certificate.error_bar + 1e-12
        assert posterior.proven().filter(fact="certain").is_empty()


def test_forgetting_who_comes_back_would_give_a_person_away():
    value = np.array([0, 1, 2], dtype=np.int32)
    publisher = Publisher(value, 2)
    first = publisher.publish(np.array([0, 1]), seed=0)
    kept = publisher.publish(np.array([0, 2]), seed=0, hold_back=True)
    assert kept.group.tolist() == [0, -1]  # the newcomer alone cannot be published
    assert kept.counterfeit_value.tolist() == [1]
    forgotten = m_invariant(value[[0, 2]], 2, signature=np.array([-1, -1]))
    posterior = infer([release([0, 1], value[:2], first.group), release([0, 2], value[[0, 2]], forgotten.group)])
    assert posterior.of("p0") == {"v0": 1.0}


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 6), st.lists(st.integers(0, 40), min_size=1, max_size=12), MOST)
def test_eligible_batches_never_fail(m, count, seed):
    value, nobody = new(count)
    if not eligible(count, m):
        with pytest.raises(InputError, match=f"not {m}-eligible"):
            m_invariant(value, m, signature=nobody, seed=seed)
        return
    result = m_invariant(value, m, signature=nobody, seed=seed)
    assert (result.group >= 0).all()
    assert result.counterfeits == 0
    groups = Counter(zip(result.group.tolist(), value.tolist(), strict=True))
    assert set(groups.values()) <= {1}
    assert min(np.bincount(result.group), default=m) >= m


@settings(max_examples=150, deadline=None)
@given(
    m=st.integers(1, 3),
    available=st.lists(st.integers(0, 3), min_size=4, max_size=4),
    rows=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=8),
    seed=MOST,
)
def test_the_fewest_are_held_back_and_the_fewest_are_counterfeits(m, available, rows, seed):
    signatures = ((0, 1, 2), (1, 2, 3), (0, 1, 2, 3))
    known = [(s, v) for s, v in rows if v in signatures[s]]
    count = Counter(known)
    most = {s: max((count[s, v] for v in signatures[s]), default=0) for s in range(3)}
    lacking = [v for s in range(3) for v in signatures[s] for _ in range(most[s] - count[s, v])]
    wanted = [lacking.count(v) for v in range(4)]
    fresh, nobody = new(available)
    value = np.concatenate([np.array([v for _, v in known], dtype=np.int32), fresh])
    signature = np.concatenate([np.array([s for s, _ in known], dtype=np.int32), nobody])
    result = m_invariant(value, m, signature=signature, signatures=signatures, seed=seed, hold_back=True)
    assert (len(result.held), result.counterfeits) == fewest(available, wanted, m)
    if eligible(available, m):
        assert result.counterfeits <= balanced_in_turn(dict(enumerate(available)), lacking, m)
        assert not len(result.held)


@settings(max_examples=25, deadline=None)
@given(q=st.integers(2, 4), rounds=st.integers(1, 13), axes=st.integers(1, 3), seed=MOST)
def test_the_split_is_the_recursive_halving(q, rounds, axes, seed):
    generator = np.random.default_rng(seed)
    value = generator.permutation(np.repeat(np.arange(q), rounds)).astype(np.int32)
    place = np.stack([generator.permutation(len(value)) * 1.0 for _ in range(axes)])
    columns = [QuasiColumn.numeric(f"x{a}", place[a]) for a in range(axes)]
    signature = np.zeros(len(value), dtype=np.int32)
    result = m_invariant(value, q, signature=signature, signatures=(tuple(range(q)),), columns=columns)
    points = {v: [(int(i), tuple(place[:, i])) for i in np.flatnonzero(value == v)] for v in range(q)}
    groups = {frozenset(np.flatnonzero(result.group == g).tolist()) for g in range(result.groups)}
    width = [float(np.ptp(axis)) for axis in place]
    assert is_halving(groups, points, width)


def test_a_random_split_is_no_halving():
    value, place = np.repeat(np.arange(2), 8).astype(np.int32), np.random.default_rng(0).random(16)
    group = m_invariant(value, 2, signature=np.zeros(16, dtype=np.int32), signatures=((0, 1),)).group
    points = {v: [(int(i), (float(place[i]),)) for i in np.flatnonzero(value == v)] for v in range(2)}
    assert not is_halving({frozenset(np.flatnonzero(group == g).tolist()) for g in range(8)}, points, [1.0])


def test_a_split_by_columns_has_smaller_extents_than_a_random_one():
    generator = np.random.default_rng(1)
    value = generator.integers(0, 6, 3000).astype(np.int32)
    column = QuasiColumn.numeric("x", generator.random(3000))
    nobody = np.full(3000, -1)
    extents = []
    for columns in (None, [column]):
        group = m_invariant(value, 3, signature=nobody, columns=columns).group
        assert column.values is not None
        x = column.values[column.codes]
        extents.append(np.mean([np.ptp(x[group == g]) for g in range(group.max() + 1)]))
    assert extents[1] < extents[0] / 10


def test_a_value_too_frequent_among_the_new_may_fit_into_old_groups():
    signature = np.array([0, 0, -1, -1], dtype=np.int32)
    result = m_invariant(np.array([0, 0, 1, 1]), 2, signature=signature, signatures=((0, 1),))
    assert result.counterfeits == 0
    assert sorted(result.group.tolist()) == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("value", "signature", "m", "message"),
    [
        ([0, 0, 0, 1], [-1] * 4, 2, "value code 0 exceeds what can be published by 2 .3 of the 4 new records have it"),
        ([0, 1], [-1] * 2, 3, "only 2 different values occur among the 2 new records"),
        ([2, 1], [0, 0], 2, "1 person has a value that is not in their signature, first in row 1"),
        ([0, 1], [0, 0], 3, "published with 2 values, fewer than m = 3"),
        ([0, 1], [0, 2], 2, "numbered from 0 to 1"),
        ([0, 1], [0], 2, "2 values but 1 signatures"),
        ([-1, 1], [0, 0], 2, "0 or more"),
        ([0, 1], [0, 0], 0, "m must be at least 1"),
    ],
)
def test_refused(value, signature, m, message):
    with refusing(InputError, match=message):
        m_invariant(np.array(value), m, signature=np.array(signature), signatures=((0, 1), (0, 2)))


@pytest.mark.parametrize("text", [(1, 0), (0, 0), (-1, 0)])
def test_signatures_are_sorted_sets(text):
    with pytest.raises(InputError, match="ascending order"):
        m_invariant(np.array([0]), 2, signature=np.array([0]), signatures=(text,))


def test_an_empty_table_and_columns_that_do_not_fit():
    nothing = np.zeros(0, dtype=np.int32)
    assert m_invariant(nothing, 2, signature=nothing).groups == 0
    column = QuasiColumn.numeric("x", [1.0])
    with pytest.raises(InputError, match="have 1 rows, the values 2"):
        m_invariant(np.array([0, 1]), 2, signature=np.array([-1, -1]), columns=[column])


def test_equal_signatures_share_a_bucket_and_seeds_decide():
    value = np.array([0, 1, 0, 1], dtype=np.int32)
    signature, signatures = np.array([0, 1, 1, 0]), ((0, 1), (0, 1))
    result = m_invariant(value, 2, signature=signature, signatures=signatures)
    assert (result.groups, result.counterfeits) == (2, 0)
    value, nobody = new([50] * 6)
    one, same, other = (m_invariant(value, 3, signature=nobody, seed=s).group for s in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
