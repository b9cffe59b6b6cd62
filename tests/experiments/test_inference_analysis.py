"""Figures 2 to 5 of the inference analysis: what must hold whatever the data, and what slow counts say."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from showthrough.criteria.l_diversity import FrequencyLDiversity
from showthrough.experiments.expected import Band, bands
from showthrough.experiments.growing_records import PAPER, counts_of, explaining
from showthrough.experiments.independent_releases import IndependentReleases, where
from showthrough.experiments.study_data import StudyData
from showthrough.experiments.two_releases import anatomized, draw, eligible, guided, independent_pair, together
from tests.oracles.entropy import maximum_entropy

RESULTS = Path(__file__).parents[2] / "docs" / "results"
TABLE = StudyData.synthetic().table("adult")


@pytest.mark.parametrize(("records", "overlap"), [(100, 0), (100, 30), (100, 100)])
def test_two_tables_share_what_they_should(records, overlap):
    rows = draw(1000, records, overlap, seed=3)
    assert len(set(rows.first)) == len(set(rows.second)) == records
    assert len(set(rows.first) & set(rows.second)) == overlap
    assert rows.second.tolist() == draw(1000, records, 0, seed=3).second.tolist(), "the second table stays"


def test_a_single_release_leaves_n_ln_l():
    for l in (2, 3, 5):
        found = together(independent_pair(TABLE, "occupation", l, overlap=0, records=600, seed=1), of=1)
        assert found.single == pytest.approx(600 * math.log(l), rel=1e-9)
        assert found.both == pytest.approx(found.single, rel=1e-12)
        assert found.certain == 0


@pytest.mark.parametrize("seed", range(4))
def test_entropies_beside_a_slow_oracle(seed):
    releases = independent_pair(TABLE, "occupation", 3, overlap=14, records=18, seed=seed)
    history = []
    for release in releases:
        groups = {group: ([], []) for group in release.groups()["group"].unique()}
        for person, group in release.groups().iter_rows():
            groups[group][0].append(person)
        for group, value, n in release.counts().select("group", "value", "n").iter_rows():
            groups[group][1].extend([value] * n)
        history.append(list(groups.values()))
    slow = maximum_entropy(history)
    here = set(releases[1].groups()["id"])
    found = together(releases, of=1)
    assert found.both == pytest.approx(
        -sum(p * math.log(p) for (i, _), p in slow.items() if i in here and p > 0), abs=1e-6
    )
    certain = [i for (i, _), p in slow.items() if p > 1 - 1e-9]
    assert found.certain == sum(i in here for i in certain)
    total = -sum(p * math.log(p) for p in slow.values() if p > 0)
    assert found.mean * len({i for i, _ in slow}) == pytest.approx(total, abs=1e-6)


def test_education_cannot_be_5_diverse():
    assert eligible(TABLE["education"], 3)
    assert not eligible(TABLE["education"], 5)
    assert eligible(TABLE["occupation"], 5)


def test_a_draw_with_a_value_too_often_loses_few_records():
    short = []
    for seed in range(20):
        made = anatomized(TABLE[draw(TABLE.height, 720, 0, seed).second], "education", 3, name="D", seed=seed)
        assert FrequencyLDiversity(3).check(made).holds
        short.append(720 - made.groups().height)
    assert 0 < max(short) < 0.2 * 720
    assert min(short) == 0


def test_more_common_records_leave_less_and_small_groups_least():
    def drop(l, overlap):
        return together(independent_pair(TABLE, "occupation", l, overlap=overlap, records=600, seed=2), of=1).drop

    falls = {(l, n): drop(l, n) for l in (2, 5) for n in (200, 400)}
    assert 0 < falls[5, 200] < falls[5, 400] < falls[2, 400]
    assert falls[5, 200] < falls[2, 200] < falls[2, 400]


@pytest.mark.parametrize("l", [2, 4])
def test_counterfeits_tell_nothing(l):
    rows = draw(TABLE.height, 400, 200, seed=l)
    first, _ = independent_pair(TABLE, "occupation", l, overlap=200, records=400, seed=l)
    for repair, safe in (("counterfeits", True), ("report", False)):
        second = guided(TABLE[rows.second], "occupation", first, l=l, repair=repair, seed=0)
        found = together([first, second], of=0)
        assert (abs(found.drop) < 1e-9) == safe
        assert (found.certain_here_only == 0) or not safe


def test_variables_and_constraints_by_slow_counting():
    releases = independent_pair(TABLE, "occupation", 3, overlap=60, records=90, seed=5)
    sets = {}
    rows = buckets = 0
    for release in releases:
        values = {}
        for group, value in release.counts().select("group", "value").iter_rows():
            values.setdefault(group, set()).add(value)
        rows, buckets = rows + sum(map(len, values.values())), buckets + len(values)
        for person, group in release.groups().iter_rows():
            sets[person] = sets[person] & values[group] if person in sets else values[group]
    assert counts_of(releases) == {
        "persons": len(sets),
        "buckets": buckets,
        "variables": sum(map(len, sets.values())),
        "constraints": len(sets) + rows,
    }


def test_where_a_fall_is_reached():
    grid = pl.DataFrame({"sensitive": ["a"] * 3, "l": [2] * 3, "overlap": [1000, 500, 0], "drop": [0.24, 0.1, 0.0]})
    found = where(grid, Band(0.17, 0.25)).row(0, named=True)
    assert found["least_overlap"] == pytest.approx(750)
    assert found["most_overlap"] is None, "beyond the grid"


def test_shares_that_would_give_the_papers_counts():
    sizes = pl.DataFrame({"l": [5, 5], "records": [7200, 7200], "overlap": [4800, 6000], "variables": [38000, 30000]})
    found = explaining(sizes, (7200,)).row(0, named=True)
    share = found["constraints_5"]
    assert 2 * 7200 * (1 - 1 / 5) + (2 - share) * 7200 == pytest.approx(PAPER[7200][3])
    assert found["variables_5"] * 7200 == pytest.approx(4800 + 1200 * (38000 - PAPER[7200][2]) / 8000)


def test_the_whole_grid_that_is_committed_lies_in_its_bands():
    grid, known = pl.read_csv(RESULTS / "inference-analysis-figure-2-grid.csv"), bands("inference-analysis", "2")
    default = IndependentReleases()
    assert grid.height == 5 * len(default.overlaps)
    for column, l, overlap, fall in grid.select("sensitive", "l", "overlap", "drop").iter_rows():
        if overlap:
            assert fall in known[f"{column} {l} {overlap}"], (column, l, overlap)
        else:
            assert fall == pytest.approx(0, abs=1e-12)
    assert grid["exact"].all()
    figure = pl.read_csv(RESULTS / "inference-analysis-figure-4.csv").sort("overlap", descending=True)
    for column in figure.columns[1:]:
        assert (np.diff(figure[column].to_numpy()) > 0).all()
