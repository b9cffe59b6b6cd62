"""Numbers that the papers and slides print, or that follow from them by hand."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.dissimilarity import Dissimilarity
from showthrough.criteria.ground import close_by, decimals
from showthrough.criteria.l_diversity import EntropyLDiversity, RecursiveLDiversity
from showthrough.criteria.negation import recursive_after
from showthrough.criteria.published import of_release
from showthrough.criteria.t_closeness import TCloseness

# Wang and Liu, table I: allergy, asthma, myocarditis
SYNDROMES = [
    (0.8, 0.0, 0.0), (0.6, 0.4, 0.4), (0.7, 0.1, 0.1), (1.0, 0.2, 0.2), (0.1, 0.9, 0.9),
    (0.2, 0.5, 0.2), (0.8, 0.1, 0.9), (0.4, 0.3, 0.5), (0.6, 0.9, 0.3), (1.0, 0.7, 0.7),
]  # fmt: skip
NAMES = ["allergy", "asthma", "myocarditis"]
TABLE1 = pl.DataFrame(SYNDROMES, schema=NAMES, orient="row").with_columns(gid=pl.Series([1] * 5 + [2] * 5))


def group(*counts: int) -> GroupCounts:
    m = len(counts)
    return GroupCounts(np.array([0, m]), np.arange(m, dtype=np.int32), np.array(counts), np.array(counts))


@pytest.mark.parametrize(
    ("counts", "l", "least"),
    [
        ((100, 6, 5, 3), 2, 100 / 14), ((100, 6, 5, 3), 3, 12.5), ((100, 6, 5, 3), 4, 100 / 3),
        ((7, 6, 5, 3), 2, 0.5), ((7, 6, 5, 3), 3, 0.875), ((7, 6, 5, 3), 4, 7 / 3), ((7, 6, 5, 3), 5, np.inf),
    ],
)  # fmt: skip
def test_slides_recursive(counts, l, least):
    assert RecursiveLDiversity(1, l).level(group(*counts))[0] == pytest.approx(least)


@pytest.mark.parametrize(
    ("counts", "l", "holds"),
    [
        ((7, 6, 5, 3, 1, 1), 3, True), ((7, 6, 5, 3, 1, 1), 4, False),
        ((7, 5, 3, 1, 1), 2, True), ((7, 5, 3, 1, 1), 3, False), ((7, 6, 5, 3, 1), 3, True),
    ],
)  # fmt: skip
def test_slides_recursive_with_c_1(counts, l, holds):
    criterion = RecursiveLDiversity(1, l)
    assert criterion.met(criterion.level(group(*counts))).tolist() == [holds]


def test_slides_one_negation_costs_one_l():
    counts = group(7, 6, 5, 3, 1, 1)
    for l in (2, 3, 4):
        assert recursive_after(counts, 1, l=l) == RecursiveLDiversity(1, l + 1).level(counts)
    assert recursive_after(counts, 1, l=2)[0] < 1 < recursive_after(counts, 1, l=3)[0]


def test_c_itself_is_not_above():
    assert not RecursiveLDiversity(0.3, 2).met(RecursiveLDiversity(0.3, 2).level(group(3, 3, 3, 3, 1)))[0]
    assert RecursiveLDiversity(0.31, 2).met(RecursiveLDiversity(0.31, 2).level(group(3, 3, 3, 3, 1)))[0]


@pytest.mark.parametrize("n", [1, 2, 5, 7, 1000])
@pytest.mark.parametrize("l", range(1, 60))
def test_equally_frequent_values_reach_exactly_l(l, n):
    level = EntropyLDiversity(l).level(group(*[n] * l))
    assert level.tolist() == [l]
    assert EntropyLDiversity(l).met(level).all()
    assert not EntropyLDiversity(l + 1e-6).met(level).any()


def test_entropy_of_unequal_shares_that_make_a_whole_number():
    assert EntropyLDiversity(4).level(group(4, 1, 1, 1, 1)).tolist() == [4]  # ½·1 + ½·3 = 2 bits


def test_salaries_of_the_t_closeness_paper():
    salaries = list(range(3000, 12000, 1000))
    groups = [[3000, 4000, 5000], [6000, 8000, 11000], [7000, 9000, 10000]]
    frame = pl.DataFrame({"group": np.repeat([0, 1, 2], 3), "salary": np.concatenate(groups)})
    assert sorted(frame["salary"].to_list()) == salaries
    for kind in (pl.Int64, pl.Float64, pl.String):  # as text, 10000 comes after 9000, too
        check = TCloseness(0.2, "ordered").check(frame.with_columns(pl.col("salary").cast(kind)), sensitive="salary")
        assert (check.holds, check.level) == (False, pytest.approx(0.375))
        assert check.worst["level"].to_list()[0] == pytest.approx(0.375)
        worst = dict(zip(check.worst["group"], check.worst["level"], strict=True))
        assert worst[1] == pytest.approx(1 / 6)


def distance(i: int, j: int) -> float:
    return round(min(abs(a - b) for a, b in zip(SYNDROMES[i], SYNDROMES[j], strict=True)), 10)


def near(epsilon: float):
    labels = pl.DataFrame(SYNDROMES, schema=NAMES, orient="row").to_struct("value")
    close = close_by("min", labels, epsilon, 10)
    pairs = np.array(list(combinations(range(10), 2)), dtype=np.int32)
    return pairs, close(pairs[:, 0], pairs[:, 1])


def test_xcolor_distances():
    first = {(i + 1, j + 1): distance(i, j) for i, j in combinations(range(5), 2)}
    expected = {(1, 2): 0.2, (1, 3): 0.1, (1, 4): 0.2, (1, 5): 0.7, (2, 3): 0.1, (2, 4): 0.2, (2, 5): 0.5}
    assert first == expected | {(3, 4): 0.1, (3, 5): 0.6, (4, 5): 0.7}


@pytest.mark.parametrize(
    ("epsilon", "edges", "degrees"),
    [(0.1, 19, [2, 4, 6, 6, 3, 5, 4, 2, 5, 1]), (0.2, 36, [7, 7, 7, 8, 4, 8, 8, 7, 9, 7])],
)
def test_xcolor_whole_graph(epsilon, edges, degrees):
    pairs, close = near(epsilon)
    assert close.sum() == edges
    assert np.bincount(pairs[close].ravel(), minlength=10).tolist() == degrees


def test_xcolor_edges_inside_the_published_groups():
    pairs, close = near(0.1)
    inside = [(int(a) + 1, int(b) + 1) for a, b in pairs[close] if (a < 5) == (b < 5)]
    assert inside == [(1, 3), (2, 3), (3, 4), (6, 9)]
    for epsilon, most in ((0.1, 3), (0.2, 4)):
        found = of_release(TABLE1, NAMES, ["gid"])
        assert Dissimilarity(epsilon, 0, 1, metric="min").degree(found.counts).max() == most
        vectors = TABLE1.select("gid", syndrome=pl.concat_list(NAMES))
        same = of_release(vectors, "syndrome", ["gid"])
        assert Dissimilarity(epsilon, 0, 1, metric="min").degree(same.counts).max() == most


@pytest.mark.parametrize(("delta", "strict", "floor"), [(0.2, True, True), (0.25, False, True), (0.26, False, False)])
def test_xcolor_which_delta_group_1_satisfies(delta, strict, floor):
    first = TABLE1.filter(gid=1)
    for reading, holds in ((True, strict), (False, floor)):
        criterion = Dissimilarity(0.1, delta, 5, metric="min", strict=reading)
        assert criterion.check(first, sensitive=NAMES, quasi=["gid"]).holds is holds
    assert not Dissimilarity(0.1, 0.1, 6, metric="min").check(first, sensitive=NAMES, quasi=["gid"]).holds


def test_decimals_become_whole_numbers_where_they_can():
    whole, reach = decimals(np.array([0.8, 0.7, 12.25]), 0.1)
    assert (whole.tolist(), whole.dtype.kind, reach) == ([80, 70, 1225], "i", 10)
    third, reach = decimals(np.array([1 / 3, 2 / 3]), 1 / 3)
    assert third.tolist() == [1 / 3, 2 / 3]
    assert 1 / 3 < reach < 1 / 3 + 1e-15


def test_decimals_are_compared_as_written():
    frame = pl.DataFrame({"g": [1] * 3, "x": [0.8, 0.7, 0.0]})
    assert 0.8 - 0.7 > 0.1  # what binary numbers say
    for kind in (pl.Float64, pl.String):
        found = of_release(frame.with_columns(pl.col("x").cast(kind)), "x", ["g"])
        assert Dissimilarity(0.1, 0, 1).degree(found.counts).tolist() == [1]
        assert Dissimilarity(0.1, 0, 1, metric=lambda a, b: abs(float(a) - float(b))).degree(found.counts).tolist() == [
            1
        ]
        assert Dissimilarity(0.0999, 0, 1).degree(found.counts).tolist() == [0]
