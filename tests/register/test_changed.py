"""Whose value changed: what is told, in which forms, and what the publisher's own tables say."""

import pandas as pd
import polars as pl
import pytest

from showthrough.errors import InputError
from showthrough.register.changed import Changed, changes_between


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([1, 2], {1: (), 2: ()}),
        (("a", "b"), {"a": (), "b": ()}),
        ({1}, {1: ()}),
        ([(1, "D2"), (1, "D4"), ("x", "D2"), (1, "D2")], {1: ("D2", "D4"), "x": ("D2",)}),
        ([(1, "D2"), 1], {1: ()}),
        (pl.Series([3, 4]), {3: (), 4: ()}),
        (pd.Series([3, 4]), {3: (), 4: ()}),
        (pl.Series([3, 4]).to_numpy(), {3: (), 4: ()}),
        (pl.DataFrame({"id": [3, 3], "release": ["D2", "D3"]}), {3: ("D2", "D3")}),
        (pd.DataFrame({"id": [3]}), {3: ()}),
        ({"id": ["x"], "release": ["D2"]}, {"x": ("D2",)}),
        ([], {}),
    ],
)
def test_every_form_of_telling(given, told):
    found = Changed.of(given, otherwise="tolerate")
    assert dict(found.told) == told
    assert found.otherwise == "tolerate"
    assert Changed.of(found) is found


@pytest.mark.parametrize("choice", ["refuse", "split", "tolerate"])
def test_a_word_is_a_choice(choice):
    assert Changed.of(choice) == Changed(otherwise=choice)
    assert Changed.of(choice).splits == (choice != "refuse")


@pytest.mark.parametrize("given", ["ann", 7, [(1, 2)], [(1, "D2", "D3")], [None], {"who": [1]}, object()])
def test_anything_else_is_refused(given):
    with pytest.raises(InputError):
        Changed.of(given)
    with pytest.raises(InputError):
        Changed.of([1], otherwise="ignore")


def test_a_change_shows_in_the_first_release_that_is_looked_at():
    told = Changed.of([(1, "B"), (2, "C"), (3, "A"), 4], otherwise="split")
    part = told.among(["A", "B", "C", "D"], [0, 2])
    assert dict(part.told) == {1: ("C",), 2: ("C",), 4: ()}
    assert (part.otherwise, part.strict) == ("split", False)
    assert dict(told.among(["A", "B", "C", "D"], [1]).told) == {4: ()}


def test_tables_tell_who_changed():
    tables = {
        "D1": pl.DataFrame({"pid": [1, 2, 3, 4], "ill": ["a", "b", "c", None]}),
        "D2": pd.DataFrame({"pid": [1, 3, 4], "ill": ["b", "c", "a"]}),
        "D3": {"pid": ["1", "2", "3"], "ill": ["b", "x", "y"]},
    }
    found = changes_between(tables, id="pid", sensitive="ill")
    assert sorted(found.rows()) == [("1", "D2"), ("2", "D3"), ("3", "D3")]
    assert dict(Changed.of(found).told) == {"1": ("D2",), "2": ("D3",), "3": ("D3",)}
    tables["D2"] = {"pid": [1, 2], "ill": pl.Series([None, None])}  # which tells nothing of anybody
    assert sorted(changes_between(tables, id="pid", sensitive="ill").rows()) == [("1", "D3"), ("2", "D3"), ("3", "D3")]


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        ({}, "no tables"),
        ({"D1": {"pid": [1, 1], "ill": ["a", "b"]}}, "more than once"),
        ({"D1": {"pid": [1, None], "ill": ["a", "b"]}}, "without an id"),
        ({"D1": {"pid": [1], "illness": ["a"]}}, "no column 'ill'"),
    ],
)
def test_tables_that_cannot_be_compared(tables, says):
    with pytest.raises(InputError, match=says):
        changes_between(tables, id="pid", sensitive="ill")
