"""Codes of columns against plain dictionaries, for numbers near and far, and texts few and many."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.table import codes

near = st.integers(-20, 20)
far = st.integers(-(2**63), 2**63 - 1)
texts = st.text("ab ", max_size=3)
many = settings(max_examples=150, deadline=None, derandomize=True)


def columns(entry):
    return st.lists(st.lists(entry, max_size=30), min_size=1, max_size=4)


def series(lists, dtype):
    return [pl.Series("any", entries, dtype=dtype) for entries in lists]


@pytest.fixture(params=["as it is", "few is few"])
def few(request, monkeypatch):
    if request.param == "few is few":
        monkeypatch.setattr(codes, "_FEW", 0)


@pytest.mark.parametrize(("entry", "dtype"), [(near, pl.Int64), (far, pl.Int64), (texts, pl.String)])
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.usefixtures("few")
def test_codes_are_places_among_the_distinct_entries(entry, dtype, ordered):
    @many
    @given(columns(entry))
    def check(lists):
        distinct, found = codes.codes_of(series(lists, dtype), ordered=ordered)
        every = [e for own in lists for e in own]
        known = sorted(set(every)) if ordered else list(dict.fromkeys(every))
        assert distinct.to_list() == known
        assert distinct.dtype == dtype
        assert [own.tolist() for own in found] == [[known.index(e) for e in own] for own in lists]

    check()


@pytest.mark.parametrize(("entry", "dtype"), [(near, pl.Int64), (far, pl.Int64), (texts, pl.String)])
def test_positions_of_what_is_there_and_what_is_not(entry, dtype):
    @many
    @given(st.lists(entry | st.none(), max_size=30), st.lists(entry, max_size=20, unique=True))
    def check(asked, known):
        column, entries = pl.Series(asked, dtype=dtype), pl.Series(known, dtype=dtype)
        place = {e: k for k, e in enumerate(known)}
        assert codes.positions(column, entries).tolist() == [place.get(e, codes.NOWHERE) for e in asked]

    check()


def test_rows_of_more_columns_than_a_key_holds():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, (50, 4)) * 2**30
    first, which = codes.distinct(list(table.T))
    assert (table[first][which] == table).all()
    assert first.size == len({tuple(row) for row in table.tolist()})
