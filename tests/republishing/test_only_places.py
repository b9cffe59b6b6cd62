"""Who has one place in every assignment of persons to the places of groups, beside enumeration."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showthrough import Register, Release
from showthrough.republishing.naming import named
from showthrough.republishing.only_places import only_places


def by_enumeration(fits, members):
    """[persons] the group that everybody has in all assignments that fill all places, or −1."""
    ways = [way for way in product(*fits) if np.array_equal(np.bincount(way, minlength=len(members)), members)]
    return [own[0] if own and len(set(own)) == 1 else -1 for own in ([w[k] for w in ways] for k in range(len(fits)))]


@st.composite
def fitting(draw):
    """Groups that each of a few persons fits, and places: as many as persons, mostly."""
    groups, persons = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    some = st.sets(st.integers(0, groups - 1), min_size=1).map(sorted)
    fits = draw(st.lists(some, min_size=persons, max_size=persons))
    truth = [draw(st.sampled_from(own)) for own in fits]
    members = np.bincount(truth, minlength=groups)
    return fits, members if draw(st.integers(0, 9)) else members + np.eye(groups, dtype=int)[0]


@given(fitting())
def test_as_by_enumeration(case):
    fits, members = case
    person = np.repeat(np.arange(len(fits)), [len(own) for own in fits])
    group = np.array([g for own in fits for g in own])
    assert only_places(person, group, len(fits), members).tolist() == by_enumeration(fits, members)


@pytest.fixture
def people():
    return pl.DataFrame({"id": [f"p{k}" for k in range(9)], "age": [20, 21, 22, 30, 31, 32, 40, 41, 42]})


def published(rows):
    frame = pl.DataFrame(rows, schema=["age", "value"], orient="row")
    return Release.generalized(frame, quasi=["age"], sensitive="value")


def test_a_suppressed_row_leaves_only_those_untied_who_may_be_it(people):
    cells = ["20-22"] * 3 + ["30-32"] * 3 + ["40-42"] * 2 + ["*"]
    release = published([(cell, "xyz"[k % 3]) for k, cell in enumerate(cells)])
    tied, untied = named(release, "R1", Register.of(people, id="id", quasi=["age"]))
    link = dict(tied.groups().select("id", "group").iter_rows())
    assert untied.several == 3
    known = {k: v for k, v in link.items() if "unnamed" not in k}
    assert set(known) == {f"p{k}" for k in range(6)}
    assert len({known[f"p{k}"] for k in range(3)}) == 1 != len(set(known.values()))


def test_where_somebody_may_be_missing_nobody_is_tied_by_counting(people):
    cells = ["20-22"] * 3 + ["30-32"] * 3 + ["*"]  # of whom 40-42 one or none is there
    _, untied = named(published([(c, "x") for c in cells]), "R1", Register.of(people, id="id", quasi=["age"]))
    assert untied.several == 9
