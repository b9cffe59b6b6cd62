from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.anonymizers.mdav import Feature, centroids, coordinates, mdav
from showthrough.errors import InputError
from tests.anonymizers.tables import data
from tests.oracles import groupings

EIA = ["UTILITYID", "RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES"]
EIA += ["OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES"]


@pytest.mark.parametrize(
    ("name", "columns", "losses"),
    [
        ("census", None, {3: 5.6922, 4: 7.4947, 5: 9.0884, 10: 14.1559}),
        ("tarragona", None, {3: 16.9326, 4: 19.5460, 5: 22.4619, 10: 33.1929}),
        ("eia", EIA, {3: 0.4829, 4: 0.6713, 5: 1.6667, 10: 3.8397}),
    ],
)
def test_the_losses_of_the_literature(name, columns, losses):
    frame = pl.read_csv(data(f"casc/{name}.csv"))
    features = [Feature(c, frame[c].cast(pl.Float64).to_numpy()) for c in columns or frame.columns]
    for k, loss in losses.items():
        found = mdav(features, k)
        assert round(found.loss, 4) == loss
        size = np.bincount(found.group)
        assert k <= size.min() <= size.max() <= 2 * k - 1


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 30), st.integers(1, 5), st.integers(0, 10_000))
def test_mixed_columns_group_as_the_book_says(rows, k, seed):
    if rows < k:
        return
    generator = np.random.default_rng(seed)
    features = [
        Feature("number", generator.normal(size=rows)),
        Feature("rank", generator.integers(0, 5, rows).astype(np.int32), "ordinal", weight=0.7),
        Feature("name", generator.integers(0, 3, rows).astype(np.int32), "nominal", weight=1.3),
    ]
    found = mdav(features, k)
    expected = groupings.mdav_groups(coordinates(features).tolist(), k)
    assert {frozenset(p) for p in groupings.members(found.group).values()} == {frozenset(p) for p in expected}


def test_different_nominal_values_lie_at_distance_one():
    points = coordinates([Feature("name", np.array([0, 1, 2], dtype=np.int32), "nominal")])
    assert np.allclose([np.sum((points[i] - points[j]) ** 2) for i in range(3) for j in range(i)], 1.0)


def test_many_equal_records():
    found = mdav([Feature("same", np.ones(17)), Feature("name", np.zeros(17, dtype=np.int32), "nominal")], 3)
    assert np.bincount(found.group).tolist() == [3, 3, 3, 3, 5]
    assert found.loss == 0.0


def test_what_a_group_publishes():
    group = np.array([0, 0, 0, 1, 1])
    assert centroids(Feature("n", np.array([1.0, 2.0, 6.0, 4.0, 4.0])), group).tolist() == [3.0, 4.0]
    assert centroids(Feature("o", np.array([4, 0, 1, 3, 2], dtype=np.int32), "ordinal"), group).tolist() == [1, 2]
    assert centroids(Feature("c", np.array([2, 1, 2, 1, 0], dtype=np.int32), "nominal"), group).tolist() == [2, 0]


def test_refusals():
    with pytest.raises(InputError, match="larger than the table"):
        mdav([Feature("a", np.zeros(0))], 1)
    with pytest.raises(InputError, match="same number"):
        mdav([Feature("a", np.ones(2)), Feature("b", np.ones(3))], 1)
    with pytest.raises(InputError, match="larger than the table"):
        mdav([Feature("a", np.ones(2))], 3)
    with pytest.raises(InputError, match="missing"):
        Feature("a", np.array([1.0, np.nan]))
