"""Every kind of release gives the counts that its rows give, with its cells as names of the groups."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as some

from showthrough.criteria.dissimilarity import Dissimilarity
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.levels import levels
from showthrough.criteria.population import KMap
from showthrough.criteria.published import of_release
from showthrough.criteria.risk import risk
from showthrough.criteria.t_closeness import TCloseness
from showthrough.errors import InputError
from showthrough.release.release import Release
from showthrough.table.hierarchy import Hierarchy
from tests.criteria.releases import QUICK

ROW = some.tuples(
    some.sampled_from(["130**", "148**", "*"]),
    some.sampled_from(["<30", "3*", "*"]),
    some.sampled_from(["flu", "gout"]),
)
NAMES = ["zip", "age", "disease"]


def slow(rows, quasi, *, mark=None):
    """Groups as dictionaries: cells to how often each value occurs."""
    found = {}
    for row in rows:
        cells = tuple(row[NAMES.index(c)] for c in quasi)
        if mark is None or any(cell != mark for cell in cells):
            of_group = found.setdefault(cells, {})
            of_group[row[2]] = of_group.get(row[2], 0) + 1
    return found


def told(counted):
    cells = counted.labelled(np.arange(counted.counts.groups)).rows()
    counts, names = counted.counts, counted.counts.labels.to_list()
    return {
        cell: {names[counts.value[e]]: int(counts.count[e]) for e in range(counts.start[g], counts.start[g + 1])}
        for g, cell in enumerate(cells)
    }


def kinds(rows):
    frame = pl.DataFrame(rows, schema=NAMES, orient="row")
    tally = frame.group_by(NAMES, maintain_order=True).agg(pl.len().alias("count"))
    yield Release.generalized(frame, sensitive="disease", quasi=NAMES[:2])
    yield Release.counted(tally, sensitive="disease", quasi=NAMES[:2])
    yield Release.microaggregated(frame, sensitive="disease", quasi=NAMES[:2], nominal=NAMES[:2])


@QUICK
@given(some.lists(ROW, min_size=1, max_size=14))
def test_groups_values_and_names(rows):
    for release in kinds(rows):
        assert told(of_release(release)) == slow(rows, ["zip", "age"])
        assert told(of_release(release, quasi=["age"])) == slow(rows, ["age"])
        turned = [(row[0], row[2], row[1]) for row in rows]
        assert told(of_release(release, "age", ["zip"])) == slow(turned, ["zip"])
        if any(row[:2] != ("*", "*") for row in rows):
            hidden = of_release(release, suppressed="*")
            assert told(hidden) == slow(rows, ["zip", "age"], mark="*")
            assert hidden.suppressed == sum(row[:2] == ("*", "*") for row in rows)
            assert hidden.counts.total.sum() == len(rows)


@QUICK
@given(some.lists(ROW, min_size=1, max_size=14))
def test_levels_are_those_of_the_rows(rows):
    frame = pl.DataFrame(rows, schema=NAMES, orient="row")
    expected = levels(frame, sensitive="disease")
    for release in kinds(rows):
        assert levels(release).equals(expected)
        both = levels(release, sensitive=["disease", "age"])
        assert both.equals(levels(frame, sensitive=["disease", "age"]))


FRAME = pl.DataFrame(
    [("130**", "<30", "flu"), ("130**", "<30", "gout"), ("148**", "3*", "flu")], schema=NAMES, orient="row"
)


def test_a_release_without_values_has_sizes():
    release = Release.generalized(FRAME, sensitive=None, quasi=["zip", "age"])
    assert levels(release)["level"].to_list() == [1.0]
    assert KAnonymity(2).check(release).worst.row(0) == ("148**", "3*", 1, 1.0)
    people = FRAME.with_columns(who=pl.Series(["a", "b", "c"]))
    named = Release.generalized(people, id="who", sensitive=None, quasi=["zip"])
    assert KAnonymity(2).check(named).worst["zip"].to_list() == ["148**", "130**"]


def test_a_group_column_names_groups_too():
    frame = FRAME.with_columns(g=pl.Series([1, 2, 3]))
    release = Release.generalized(frame, sensitive="disease", quasi=["zip", "age"], group="g")
    worst = KAnonymity(2).check(release).worst
    assert worst.columns == ["zip", "age", "g", "persons", "level"]
    assert KAnonymity(2).check(release, quasi=["zip"]).worst.columns == ["zip", "persons", "level"]
    only = Release.counted(
        frame.select("g", "disease", count=pl.lit(2)), sensitive="disease", group="g", quasi=[], count="count"
    )
    assert KAnonymity(3).check(only).worst.columns == ["group", "persons", "level"]
    with pytest.raises(InputError, match="no column 'zap'"):
        KAnonymity(2).check(release, quasi=["zap"])


def test_large_counts_need_no_rows():
    tally = FRAME.with_columns(count=pl.Series([10**12, 1, 10**12]))
    release = Release.counted(
        pl.concat([tally, tally[:1].with_columns(zip=pl.lit("*"), age=pl.lit("*"))]), sensitive="disease"
    )
    found = of_release(release, suppressed="*")
    assert (found.suppressed, found.counts.size.tolist()) == (10**12, [10**12 + 1, 10**12])


def test_counterfeits_count_as_published_and_are_told():
    release = Release.generalized(FRAME, sensitive="disease", quasi=["zip", "age"], counterfeits={1: 1})
    counted = of_release(release)
    assert (counted.counts.size.tolist(), counted.real.tolist()) == ([2, 1], [1, 1])
    sentence = "The smallest group has 1 published record; without the 1 counterfeit of this release"
    assert sentence in levels(release)["sentence"][0]
    assert sentence in str(KAnonymity(2).check(release))
    assert of_release(release, quasi=["age"]).real.tolist() == [1, 1]
    people = FRAME[1:].drop("disease")  # one of the first group's records is nobody's
    assert KMap(1, population=people).check(release).level == 1
    with pytest.raises(InputError, match="must hold everybody"):
        KMap(1, population=people).check(Release.generalized(FRAME, sensitive="disease", quasi=["zip", "age"]))


def test_population_and_wildcards_by_the_cells_of_a_release():
    release = Release.generalized(FRAME, sensitive="disease", quasi=["zip", "age"])
    people = pl.concat([FRAME, FRAME]).drop("disease")
    assert KMap(2, population=people).check(release).level == 2
    found = risk(release, population=people, suppressed_cells="wildcard")
    assert (found.uniques, found.journalist.highest) == (1, 0.5)


@pytest.mark.parametrize("given_as", ["object", "file", "dict"])
def test_hierarchies_in_every_spelling(given_as, tmp_path):
    nested = {"lung": ["asthma", "flu"], "joint": ["gout"]}
    (tmp_path / "h.csv").write_text("asthma;lung;*\nflu;lung;*\ngout;joint;*\n")
    tree = {"object": Hierarchy.from_tree(nested), "file": tmp_path / "h.csv", "dict": nested}[given_as]
    frame = pl.DataFrame({"g": [1, 1, 2, 2], "d": ["flu", "asthma", "gout", "gout"]})
    assert TCloseness(1, tree).check(frame, sensitive="d").level == pytest.approx(0.5)
    assert Dissimilarity(0.5, 0, 1, metric=tree).check(frame, sensitive="d").level == 1
    assert Dissimilarity(0.4, 0, 1, metric=tree).check(frame[:2], sensitive="d").level == 0
    named = dict(levels(frame, sensitive="d", hierarchies={"d": tree}).select("criterion", "level").iter_rows())
    assert named["t-closeness (hierarchical)"] == pytest.approx(0.5)
    release = Release.generalized(frame, sensitive="d", quasi=["g"], hierarchies={"d": tree})
    assert "t-closeness (hierarchical)" in levels(release)["criterion"].to_list()
    with pytest.raises(InputError, match="not in the hierarchy"):
        TCloseness(1, tree).check(frame.with_columns(d=pl.lit("hiv")), sensitive="d")


def test_several_columns_as_one_value():
    frame = pl.DataFrame({"g": [1, 1], "x": [0, 3], "y": [0, 4]})
    found = levels(frame, sensitive=["x", "y"], quasi=["g"], others="together")
    assert found["sensitive"].unique().to_list() == ["x and y"]
    assert "m-uniqueness" in found["criterion"].to_list()
