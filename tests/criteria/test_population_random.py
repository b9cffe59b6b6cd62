"""k-map and δ-presence against their definitions on random tables and populations."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import DeltaPresence, KMap
from showthrough.errors import InputError

CELL = st.sampled_from(["a", "b", "*"])
ROWS = st.lists(st.tuples(CELL, CELL), min_size=1, max_size=12)


def frame(rows):
    return pl.DataFrame(rows, schema=["q", "r"], orient="row")


@settings(max_examples=150, deadline=None)
@given(ROWS, ROWS)
def test_k_map_counts_the_population_of_every_group(rows, others):
    population = frame(rows + others)
    people = Counter(rows + others)
    fewest = min(people[cells] for cells in set(rows))
    check = KMap(3, population=population).check(frame(rows), quasi=["q", "r"])
    assert check.level == fewest
    assert check.holds == (fewest >= 3)
    assert check.failing_groups == sum(people[cells] < 3 for cells in set(rows))


@settings(max_examples=150, deadline=None)
@given(ROWS, ROWS, st.booleans())
def test_presence_is_the_share_of_every_class_that_is_in_the_release(rows, others, everywhere):
    people, inside = Counter(rows + others), Counter(rows)
    shares = {cells: inside[cells] / people[cells] for cells in people if everywhere or inside[cells]}
    criterion = DeltaPresence(0.2, 0.7, population=frame(rows + others), everywhere=everywhere)
    check = criterion.check(frame(rows), quasi=["q", "r"])
    assert check.holds == all(0.2 - 1e-9 <= share <= 0.7 + 1e-9 for share in shares.values())


@settings(max_examples=50, deadline=None)
@given(ROWS)
def test_a_population_without_somebody_of_the_release_is_refused(rows):
    with pytest.raises(InputError, match="population"):
        KMap(1, population=frame(rows[1:]) if rows[1:] else frame([("c", "c")])).check(frame(rows), quasi=["q", "r"])
