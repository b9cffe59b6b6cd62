"""The paper's ten patients by exact arithmetic, and what is called guaranteed and impossible beside all groupings."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from showthrough.anonymizers.table import Shape, prepare
from showthrough.anonymizers.xcolor import allowed_neighbours
from showthrough.experiments.colouring_grid import GUARANTEED, IMPOSSIBLE, REACHED, ColouringGrid, _Colourings
from showthrough.experiments.proximity_examples import PUBLISHED, ProximityExample, best, distance, edges, in_class
from showthrough.experiments.study_data import ID, StudyData
from showthrough.progress import Progress


def test_the_graphs_of_table_one():
    first, second = edges(1), edges(2)
    assert (len(first), len(second)) == (19, 36)
    everybody = (0,) * 10
    assert in_class(first, everybody) == [2, 4, 6, 6, 3, 5, 4, 2, 5, 1]
    assert in_class(second, everybody) == [7, 7, 7, 8, 4, 8, 8, 7, 9, 7]
    assert [max(in_class(near, PUBLISHED)) for near in (first, second)] == [3, 4]
    assert [best(near) for near in (first, second)] == [2, 4]


def test_distances_of_table_one():
    told = {"12": 2, "13": 1, "14": 2, "15": 7, "23": 1, "24": 2, "25": 5, "34": 1, "35": 6, "45": 7}
    assert {pair: distance(int(pair[0]) - 1, int(pair[1]) - 1) for pair in told} == told


def test_exchanges_reach_what_all_halves_allow():
    found = ProximityExample().run(StudyData.synthetic(), Progress(), 0)
    graph = found.tables[0].frame
    assert (graph["by_exchanges"] >= graph["best_of_all_halves"]).all()
    assert graph["by_exchanges"].to_list() == [2, 4]
    assert all(claim.holds is not False and claim.within is not False for claim in found.claims)


def colourings(values):
    frame = pl.DataFrame({ID: [str(k) for k in range(len(values))], "q": ["x"] * len(values), "v": values})
    shape = Shape.of(None, None, None, None, "refuse")
    table = prepare(frame, id=ID, sensitive="v", quasi=["q"], shape=shape)
    return _Colourings("t", table, np.array(values, dtype=float))


@settings(max_examples=40, deadline=None)
@given(
    some.lists(some.integers(0, 6), min_size=6, max_size=7),
    some.sampled_from([0.3, 0.8, 1.5]),
    some.sampled_from([0.3, 0.6]),
)
def test_guaranteed_and_impossible_beside_all_groupings(values, epsilon, delta):
    if len(set(values)) == 1:
        return
    own, k = colourings(values), 3
    row = own.coloured(epsilon, delta, k, 0)
    reach, allowed = row["epsilon"] + 1e-9, allowed_neighbours(len(values), k, delta)
    cut = len(values) - len(values) // 2

    def near(row, group):
        return sum(abs(values[row] - values[other]) <= reach for other in group if other != row)

    possible = any(
        all(near(row, half) <= allowed for half in (order[:cut], order[cut:]) for row in half)
        for order in permutations(range(len(values)))
        if list(order[:cut]) == sorted(order[:cut]) and list(order[cut:]) == sorted(order[cut:])
    )
    if row["outcome"] == IMPOSSIBLE:
        assert not possible
    if row["outcome"] in (GUARANTEED, REACHED):
        assert possible
        assert row["left"] == 0


def test_the_map_has_every_setting_and_loss_is_measured_for_both():
    figure = ColouringGrid.quick()
    found = figure.run(StudyData.synthetic(), Progress(), 3)
    settings_ = len(figure.tables) * len(figure.epsilons) * len(figure.deltas) * len(figure.ks)
    tables = {table.name: table.frame for table in found.tables}
    assert tables["settings"].height == settings_
    assert set(tables["utility"]["method"]) == {"xcolor", "mondrian"}
    assert tables["utility"].filter(pl.col("method") == "xcolor")["in_groups_too_near"].to_list() == pytest.approx(
        [0.0] * (len(figure.tables) * len(figure.ks))
    )
