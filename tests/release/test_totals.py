"""Totals of count tables: which rows are sums of which, and what contradicts."""

from __future__ import annotations

import polars as pl
import pytest

from showthrough import Release, read_release
from showthrough.errors import InputError, ReleaseError
from showthrough.release.ranged import layers
from tests.saying import refusing

TABLE = [
    ("A", "f", "Flu", "5"),
    ("A", "m", "Flu", "c"),
    ("B", "f", "Flu", "c"),
    ("B", "m", "Flu", "3"),
    ("A", "f", "HIV", "c"),
    ("A", "m", "HIV", "2"),
    ("Total", "f", "Flu", "7"),
    ("Total", "Total", "Flu", "12"),
    ("A", "Total", "Total", "10"),
    ("Total", "Total", "Total", "15"),
]


def made(rows=TABLE, totals=("Total",), **others):
    frame = pl.DataFrame(rows, schema=["region", "sex", "disease", "count"], orient="row")
    options = {"suppressed": {"c": (1, 4)}, "totals": totals, "name": "T", **others}
    return Release.counted(frame, sensitive="disease", **options)


def shown(layer):
    """Rows of a layer by the cells of their groups: (cells, value) → (low, high)."""
    at = {label: k for k, label in enumerate(layer.labels)}
    rows = zip(layer.tally.iter_rows(), layer.upper, strict=True)
    return {(layer.records.row(at[g]), v): (low, high) for (g, v, low), high in rows}


def test_leaves_and_margins():
    leaves, *margins = layers(made())
    assert shown(leaves)[(("A", "m"), "Flu")] == (1, 4)
    assert leaves.counts().filter(pl.col("group") == 1).rows() == [(1, "Flu", 5, 5, 5), (1, "HIV", None, 1, 4)]
    assert leaves.size.to_list() == [9, 6, 4, 3]
    found = {m.name: shown(m) for m in margins}
    over = ["region", "sex, disease", "region, sex", "region, sex, disease"]
    assert set(found) == {f"T: totals over {columns}" for columns in over}
    # HIV of all women is not listed: any number that the leaves allow
    assert found["T: totals over region"] == {(("Total", "f"), "Flu"): (7, 7), (("Total", "f"), "HIV"): (0, 4)}
    assert found["T: totals over sex, disease"] == {(("A", "Total"), "Total"): (10, 10)}
    by_sex = next(m for m in margins if m.name == "T: totals over region")
    assert by_sex.part_of.group.tolist() == [0, -1, 0, -1]  # nothing is published of all men
    assert next(m for m in margins if "disease" in m.name).covers == {"Total": ("Flu", "HIV")}


def test_a_total_without_parts_hides_them():
    rows = [("A", "f", "Flu", "5"), ("A", "m", "Flu", "1"), ("B", "Total", "Flu", "9"), ("A", "f", "HIV", "2")]
    leaves = layers(made(rows))[0]
    assert shown(leaves)[(("B", "f"), "Flu")] == (0, 9)
    assert shown(leaves)[(("B", "m"), "Flu")] == (0, 9)


def test_sub_totals_by_their_parts():
    rows = [(r, "f", "Flu", n) for r, n in (("A", "c"), ("B", "3"), ("C", "4"), ("North", "5"), ("Total", "9"))]
    north, everybody = layers(made(rows, totals={"North": ["A", "B"], "Total": None}))[1:]
    assert north.part_of.group.tolist() == [0, 0, -1]
    assert everybody.part_of.group.tolist() == [0, 0, 0]
    nested = made(rows, totals={"North": ["A", "B"], "Total": ["North", "C"]})
    assert [m.part_of.group.tolist() for m in layers(nested)[1:]] == [[0, 0, -1], [0, 0, 0]]


def test_a_column_of_totals_alone_tells_nothing():
    rows = [("Total", "f", "Flu", "c"), ("Total", "m", "Flu", "3")]
    release = made(rows)
    assert release.records["region"].to_list() == [None, None]
    assert not release.margins


def test_top_coded_counts_need_an_end():
    rows = [("A", "f", "Flu", "100+"), ("B", "f", "Flu", "7")]
    with refusing(ReleaseError, match="counts 100 or more, and nothing says how many at most"):
        made(rows)
    assert made([*rows, ("Total", "f", "Flu", "150")]).counts()["upper"].to_list() == [150, 7]
    assert made(rows, suppressed={"100+": (100, 250)}).counts()["upper"].to_list() == [250, 7]


@pytest.mark.parametrize(
    ("total", "said"),
    [
        ("5", "row 3 is a total of 5, but its 2 parts add up to 6 to 9"),
        ("12", "row 3 is a total of 12, but its 2 parts add up to 6 to 9"),
        ("3", "row 1 counts at least 5, but a total over it counts at most 3"),
    ],
)
def test_totals_that_contradict(total, said):
    rows = [("A", "f", "Flu", "5"), ("B", "f", "Flu", "c"), ("Total", "f", "Flu", total)]
    with refusing(ReleaseError, match=said):
        made(rows)


def test_rounded_totals_need_not_add_up():
    rows = [("A", "f", "Flu", "5"), ("B", "f", "Flu", "5"), ("Total", "f", "Flu", "15")]
    assert shown(layers(made(rows, rounding=5))[1]) == {(("Total", "f"), "Flu"): (13, 14)}
    with refusing(ReleaseError, match="rounding= does not say so"):
        made(rows)


def test_the_same_total_twice():
    with refusing(ReleaseError, match="rows 7 and 11 are the same total"):
        made([*TABLE, ("Total", "f", "Flu", "7")])


@pytest.mark.parametrize(
    ("totals", "said"),
    [
        ("Total", "lists the labels of totals"),
        ({"North": "A"}, "are a list of labels"),
        ({"North": ["South"], "South": ["North"]}, "is a part of itself"),
        ({"Total": None, "North": ["Total"]}, "a total over everything"),
    ],
)
def test_wrong_totals_get_a_sentence(totals, said):
    with refusing(InputError, match=said):
        made(totals=totals)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_folder_keeps_what_was_printed(tmp_path, format):
    first = made(rounding=None, population="P")
    first.save(tmp_path / "T", format=format)
    again = read_release(tmp_path / "T")
    assert again.to_frame().equals(first.to_frame())
    assert set(again.to_frame().rows()) == set(TABLE)
    assert again.fingerprint() == first.fingerprint()
    assert again.options["population"] == "P"
    assert [shown(a) for a in layers(again)] == [shown(b) for b in layers(first)]
    other = made(suppressed={"c": (0, 4)}, population="P")
    assert other.fingerprint() != first.fingerprint()


@pytest.mark.parametrize("rounding", [5, (5, "random"), "10:up"])
def test_a_folder_keeps_rounding(tmp_path, rounding):
    rows = [("A", "f", "Flu", "20"), ("B", "f", "Flu", "10"), ("North", "f", "Flu", "30")]
    first = made(rows, totals={"North": ["A", "B"]}, rounding=rounding)
    first.save(tmp_path / "T")
    again = read_release(tmp_path / "T")
    assert again.options["rounding"] == first.options["rounding"]
    assert [shown(a) for a in layers(again)] == [shown(b) for b in layers(first)]


def test_what_needs_exact_counts_says_so():
    with refusing(InputError, match="hides or rounds counts, or has totals"):
        made().recoded({"Flu": "a", "HIV": "b"})


def test_totals_by_label_of_a_group_column():
    frame = pl.DataFrame({"g": ["x", "y", "Total"], "v": ["a", "a", "a"], "count": ["3", "c", "5"]})
    release = Release.counted(frame, sensitive="v", group="g", quasi=[], suppressed={"c": (1, 4)}, totals=["Total"])
    leaves, margin = layers(release)
    assert leaves.labels.to_list() == ["x", "y"]
    assert margin.labels.to_list() == ["Total"]
    assert margin.part_of.group.tolist() == [0, 0]
