"""Lists of different lengths in flat arrays, against lists of lists."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.table import ragged

sizes = st.lists(st.integers(0, 4), max_size=8)


def lists_of(lengths):
    """0, 1, 2, … in lists of these lengths."""
    number = iter(range(sum(lengths)))
    return [[next(number) for _ in range(n)] for n in lengths]


def array(numbers):
    return np.array(numbers, dtype=np.int64)


@settings(deadline=None)
@given(sizes)
def test_where_lists_start_and_whose_items_are(lengths):
    start = ragged.starts(array(lengths))
    lists = lists_of(lengths)
    assert [list(range(a, b)) for a, b in pairwise(start.tolist())] == lists
    assert ragged.owners(start).tolist() == [k for k, own in enumerate(lists) for _ in own]
    assert ragged.offsets(array(lengths)).tolist() == [at for own in lists for at in range(len(own))]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 50), st.integers(0, 4)), max_size=8))
def test_ranges(pairs):
    first, length = array([p[0] for p in pairs]), array([p[1] for p in pairs])
    expected = [n for begin, size in pairs for n in range(begin, begin + size)]
    assert ragged.ranges(first, length).tolist() == expected


@settings(deadline=None)
@given(sizes.filter(bool), st.data())
def test_items_of_chosen_lists(lengths, data):
    chosen = data.draw(st.lists(st.integers(0, len(lengths) - 1), max_size=6))
    at, found = ragged.items_of(ragged.starts(array(lengths)), array(chosen))
    lists = lists_of(lengths)
    assert at.tolist() == [item for k in chosen for item in lists[k]]
    assert found.tolist() == [lengths[k] for k in chosen]


@settings(deadline=None)
@given(st.lists(st.integers(-3, 3), max_size=8), st.sampled_from([np.int64, np.float64, np.uint8, bool]))
def test_running_sums(numbers, kind):
    weights = np.abs(array(numbers)).astype(kind)
    total = ragged.running(weights)
    assert total.tolist() == [sum(weights[:k].tolist()) for k in range(weights.size + 1)]
    assert total.dtype == (np.float64 if kind is np.float64 else np.int64)


@settings(deadline=None)
@given(st.lists(st.booleans(), max_size=8))
def test_ranks_of_the_marked(marked):
    expected = [sum(marked[:k]) if flag else -1 for k, flag in enumerate(marked)]
    assert ragged.ranks(np.array(marked, dtype=bool)).tolist() == expected


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=8), st.booleans())
def test_lists_that_are_alike(given_lists, collide):
    start = ragged.starts(np.array([len(own) for own in given_lists], dtype=np.int64))
    items = np.array([v for own in given_lists for v in own], dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(ragged, "_scrambled", lambda numbers: np.zeros(numbers.size, dtype=np.uint64))
        first, which = ragged.alike(start, items)
    order = list(dict.fromkeys(map(tuple, given_lists)))
    assert which.tolist() == [order.index(tuple(own)) for own in given_lists]
    assert [tuple(given_lists[k]) for k in first] == order
