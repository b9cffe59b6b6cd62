"""Nearest centroids and spreads against plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.errors import InputError
from showthrough.register import centroids as module
from showthrough.register.centroids import Measure, nearest, share_correct, within_spreads
from showthrough.register.linking import Candidates
from tests.oracles.linking import nearest_of, within_of
from tests.register.instances import lists


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(["numeric", "ordinal", "nominal"]), min_size=1, max_size=4))
    scales = [draw(st.sampled_from([1.0, 2.5, 4.0])) for _ in kinds]
    value = st.integers(0, 5).map(float)
    row = st.tuples(*[value for _ in kinds])
    unknown = draw(st.booleans())
    person = st.tuples(*[st.one_of(value, st.just(math.nan)) if unknown else value for _ in kinds])
    people = draw(st.lists(person, min_size=1, max_size=10))
    middle = draw(st.lists(row, min_size=1, max_size=8))
    spread = st.tuples(*[st.sampled_from([0.0, 0.5, 1.0, 2.0, math.inf]) for _ in kinds])
    spreads = draw(st.lists(spread, min_size=len(middle), max_size=len(middle)))
    return kinds, scales, people, middle, spreads


def measures_of(kinds, scales):
    return [Measure(kind, scale) for kind, scale in zip(kinds, scales, strict=True)]


@settings(max_examples=200, deadline=None)
@given(tables(), st.sampled_from([0, 20]), st.sampled_from([3, 2**22]))
def test_nearest(table, dimensions, pairs):
    """By tree and by comparing, in one piece and in pieces."""
    kinds, scales, people, middle, _ = table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DIMENSIONS", dimensions)
        patch.setattr(module, "PAIRS", pairs)
        patch.setattr(module, "POINTS", pairs)
        found = nearest(np.array(people), np.array(middle), measures=measures_of(kinds, scales))
    assert lists(found) == [nearest_of(person, middle, kinds, scales) for person in people]


@settings(max_examples=200, deadline=None)
@given(tables())
def test_within(table):
    kinds, scales, people, middle, spreads = table
    found = within_spreads(
        np.array(people), np.array(middle), spreads=np.array(spreads), measures=measures_of(kinds, scales)
    )
    assert lists(found) == [within_of(person, middle, spreads, kinds) for person in people]


def test_a_spread_reaches_its_end_in_spite_of_rounding():
    found = within_spreads(
        np.array([[0.3], [0.30001]]), np.array([[0.1]]), spreads=np.array([[0.2]]), measures=[Measure("numeric")]
    )
    assert lists(found) == [[0], []]


def test_shares():
    found = Candidates(np.array([0, 1, 3, 4, 4]), np.array([0, 0, 1, 1], dtype=np.int32))
    assert share_correct(found, np.array([0, 1, 0, -1])) == (1 / 3, 2 / 3)
    with pytest.raises(InputError, match="No person is in any group"):
        share_correct(found, np.full(4, -1))


def test_nobody_and_nothing():
    one = [Measure("numeric")]
    assert lists(nearest(np.empty((0, 1)), np.ones((1, 1)), measures=one)) == []
    assert lists(nearest(np.ones((2, 1)), np.empty((0, 1)), measures=one)) == [[], []]


def test_bad_input_is_a_sentence():
    one = [Measure("numeric")]
    with pytest.raises(InputError, match="same attributes"):
        nearest(np.ones((1, 2)), np.ones((1, 1)), measures=one)
    with pytest.raises(InputError, match="missing or infinite"):
        nearest(np.ones((1, 1)), np.array([[np.nan]]), measures=one)
    with pytest.raises(InputError, match="some are infinite"):
        nearest(np.array([[np.inf]]), np.ones((1, 1)), measures=one)
    with pytest.raises(InputError, match="spread of 0 or more"):
        within_spreads(np.ones((1, 1)), np.ones((1, 1)), spreads=np.array([[-1.0]]), measures=one)
    with pytest.raises(InputError, match="above 0"):
        Measure("ordinal", 0.0)
    with pytest.raises(InputError, match="numeric, ordinal or nominal"):
        Measure("text")
    with pytest.raises(InputError, match="at most 3 pairs"):
        nearest(np.ones((2, 1)), np.ones((2, 1)), measures=one, at_most=3)
