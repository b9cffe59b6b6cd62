"""Cells for tables of counts."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as some

from showthrough.comparing.bins import joint, marginals
from showthrough.comparing.option import ToCompare
from showthrough.release.cells import covers, read_cells
from showthrough.table.hierarchy import Hierarchy
from tests.comparing.tables import people
from tests.criteria.releases import QUICK


def asked(table, trees=None, quasi=("age", "sex", "town")):
    return ToCompare(table, "id", "ill", tuple(quasi), trees or {})


@QUICK
@given(
    rows=some.integers(2, 300),
    seed=some.integers(0, 1000),
    least=some.sampled_from([0.1, 1.0, 4.0, 30.0]),
    broken=some.booleans(),
    make=some.sampled_from([joint, marginals]),
)
def test_every_row_has_one_of_the_cells_and_cells_are_few(rows, seed, least, broken, make):
    table = people(rows, seed)
    if broken:
        table = table.with_columns(pl.col("age") / 7)
    found = make(asked(table), least)
    assert sorted(name for own in found.tables for name in own) == sorted(found.quasi)
    assert len(found.tables) == (1 if make is joint else len(found.quasi))
    for own in found.tables:
        cells = int(np.prod([len(found.domain[name]) for name in own]))
        assert cells == 1 or cells * table["ill"].n_unique() * least <= rows
    for name, own in found.domain.items():
        assert len(own) == len(set(own)) > 1
        assert set(found.table[name]) <= set(own)
    if "age" in found.domain:  # what a cell says covers the value of each row in it, and no two cells overlap
        values = table["age"].cast(pl.String).unique()
        read = read_cells(pl.Series(found.domain["age"]), name="age", where="here", domain=values)
        cover = covers(read, values)
        hit = [set(values[cover.code[a:b]]) for a, b in zip(cover.start, cover.start[1:], strict=False)]
        of = {cell: hit[read.codes[k]] for k, cell in enumerate(found.domain["age"])}
        assert sum(map(len, of.values())) == values.len()
        for age, cell in zip(table["age"].cast(pl.String), found.table["age"], strict=True):
            assert age in of[cell]


def test_hierarchies_are_climbed_level_by_level():
    towns = Hierarchy.from_rows([["north", "land", "*"], ["south", "land", "*"], ["west", "coast", "*"]])
    table = people(60)
    assert set(joint(asked(table, {"town": towns}, ["town"]), 0.1).domain["town"]) == {"north", "south", "west"}
    found = joint(asked(table, {"town": towns}, ["town"]), 60 / (2.5 * 5))
    assert set(found.domain["town"]) == {"land", "coast"}
    assert found.words == "town at level 1"
    assert joint(asked(table, {"town": towns}, ["town"]), 60).quasi == ()


@pytest.mark.parametrize("age", [[40] * 30, [1e9] * 29 + [-1e9]])
def test_odd_columns(age):
    table = people(30).with_columns(age=pl.Series(age))
    found = joint(asked(table), 0.01)
    assert ("age" in found.domain) == (len(set(age)) > 1)
