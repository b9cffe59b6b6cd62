"""Microaggregated releases: centroids of numbers, ordered levels and names, with published spread."""

import datetime as dt
import shutil
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import Release, read_release
from showthrough.errors import FileError, InputError, ReleaseError
from tests.release.alike import VALUES, alike, refused, slow_groups, slow_tally
from tests.saying import refusing

ROWS = {
    "age": [28.5, 28.5, 40.0, 40.0],
    "school": ["low", "low", "high", "high"],
    "town": ["02139", "02139", "10001", "10001"],
    "width": [1.5, 1.5, 0.0, 0.0],
    "disease": ["Flu", "HIV", "Flu", "Flu"],
}
LEVELS = {"school": ["low", "middle", "high"]}
ROLES = {"sensitive": "disease", "quasi": ["age", "school", "town"], "spread": {"age": "width"}, "ordinal": LEVELS}


def make(frame=None, **more):
    return Release.microaggregated({**ROWS, **(frame or {})}, **{**ROLES, **more})


def test_centroids_keep_their_kinds():
    release = make(name="M", locate="within")
    assert release.records.columns == ["age", "school", "town", "width"]
    assert release.records.rows() == [(28.5, "low", "02139", 1.5), (40.0, "high", "10001", 0.0)]
    assert release.records.dtypes == [pl.Float64, pl.String, pl.String, pl.Float64]
    assert release.cells().columns == ["group", "age", "school", "town"]
    assert release.counts().rows() == [(1, "Flu", 1), (1, "HIV", 1), (2, "Flu", 2)]
    assert dict(release.roles.spread) == {"age": "width"}
    assert dict(release.ordinal) == {"school": ("low", "middle", "high")}
    assert release.locate == "within"
    assert release.to_frame().columns == ["age", "school", "town", "width", "disease"]
    assert repr(release) == "<microaggregated release 'M': 4 persons, 2 groups, 2 values>"


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (["28.5", " 28.50 ", "40", "4e1"], [28.5, 40.0]),
        ([1, 1, 2, 2], [1, 2]),
        ([Decimal("1.5"), Decimal("1.5"), Decimal("2.0"), Decimal("2.0")], [1.5, 2.0]),
        ([0.0, -0.0, 0.5, 0.5], [0.0, 0.5]),
        (["", "", "3.5", "3.5"], [None, 3.5]),
        (["NA", "nan", "3.5", "3.5"], [None, 3.5]),
        (["NA", "NA", "x", "x"], ["NA", "x"]),
        ([None, float("nan"), 3.5, 3.5], [None, 3.5]),
        (["01", "01", "2", "2"], ["01", "2"]),
        ([True, True, False, False], ["true", "false"]),
        (["a", "a", None, " "], ["a", None]),
    ],
)
def test_what_a_column_of_centroids_means(cells, kept):
    assert make({"age": cells}).records["age"].to_list() == kept


def test_numbers_that_are_names():
    frame = {"town": ["13053", "13053", "10001", "10001"]}
    assert make(frame).records["town"].to_list() == [13053, 10001]
    assert make(frame, nominal=["town"]).records["town"].to_list() == ["13053", "10001"]


def test_levels_may_be_numbers():
    release = make({"school": [1, 1, 3, 3]}, ordinal={"school": [1, 2, 3]})
    assert release.records["school"].to_list() == ["1", "3"]
    assert release.ordinal["school"] == ("1", "2", "3")


def test_a_group_column_tells_equal_centroids_apart():
    release = make({"age": [28.5] * 4, "school": ["low"] * 4, "town": ["x"] * 4, "g": [7, 7, 3, 3]}, group="g")
    assert release.labels.to_list() == [3, 7]
    assert release.records["width"].to_list() == [0.0, 1.5]


def test_spread_is_constant_within_a_group():
    text = refused(lambda: make({"width": [1.5, 2, 0, 0]}))
    assert text.startswith("The release: group 1 shows more than one spread in column 'width' (1.5, 2.0): ")
    assert make({"width": ["1.5", "1.5", "", None]}).records["width"].to_list() == [1.5, None]


@pytest.mark.parametrize(
    ("frame", "more", "message"),
    [
        ({"width": [-1, -1, 0, 0]}, {}, "column 'width' holds a negative number"),
        ({"width": ["x", "x", "0", "0"]}, {}, "column 'width' holds 'x'; expected the spread of the group"),
        ({"width": [True, True, True, True]}, {}, "column 'width' holds Boolean; expected the spread"),
        ({"age": ["inf", "inf", "1", "1"]}, {}, "column 'age' holds a number that is not finite"),
        ({"age": [float("inf")] * 4}, {}, "column 'age' holds a number that is not finite"),
        ({"age": ["1", "1", "n/a", "n/a"]}, {}, "column 'age' holds numbers and also 'n/a'"),
        ({"age": [dt.date(2020, 1, 1)] * 4}, {}, "give the centroids of dates and times as numbers"),
        ({"school": ["low", "low", "phd", "phd"]}, {}, "column 'school' holds 'phd', which is none of its levels"),
        ({}, {"locate": "far"}, "persons are located by one of nearest, within, not 'far'"),
        ({}, {"locate": "within", "spread": None}, 'locate="within" needs the published spread'),
        ({}, {"spread": {"weight": "width"}}, "spread names 'weight', which is none of the quasi-identifiers"),
        ({}, {"spread": {"age": "town"}}, "The column 'town' is named twice (quasi and spread)"),
        ({}, {"ordinal": {"x": ["a", "b"]}}, "ordinal names 'x', which is none of the quasi-identifiers"),
        ({}, {"ordinal": {"school": ["low", "low"]}}, "the levels of 'school' must be a list of two or more"),
        ({}, {"ordinal": {"school": "low"}}, "the levels of 'school' must be a list of two or more"),
        ({}, {"nominal": ["school"]}, "either ordinal or nominal, not both"),
        ({}, {"nominal": "town"}, "nominal is a list of columns"),
        ({}, {"nominal": ["x"]}, "nominal names 'x'"),
        ({}, {"spread": {"age": "gone"}}, "has no column 'gone'"),
    ],
)
def test_refusals(frame, more, message):
    assert message in refused(lambda: make(frame, **more))


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("town", [["13053", "13053", "1", "1"], ["x", "x", "y", "y"], ["02139", None, None, "1"]])
@pytest.mark.parametrize("more", [{}, {"locate": "within"}, {"sensitive": None}, {"nominal": ["town"]}])
def test_round_trip(tmp_path, format, town, more):
    release = make({"town": town}, **more)
    release.save(tmp_path / "M", format=format)
    alike(release, read_release(tmp_path / "M"))


def test_foreign_manifests(tmp_path):
    make(locate="within").save(tmp_path / "M")
    path = tmp_path / "M" / "release.toml"
    before = path.read_text()
    for old, new, message in (
        ('locate = "within"', "locate = 3", "must list quasi under [columns], and name columns by text"),
        ('locate = "within"', 'locate = "far"', "persons are located by one of"),
        ('spread = {age = "width"}', "spread = {age = 3}", "every entry of [columns.spread] must be text"),
        ('spread = {age = "width"}', "spread = 3", "expected a table [columns.spread]"),
        ('ordinal = {school = ["low", "middle", "high"]}', "ordinal = {school = 3}", "must be a list of levels"),
        ('ordinal = {school = ["low", "middle", "high"]}', 'ordinal = {school = ["a", "b"]}', "none of its levels"),
        ("id = false", "id = true", "id under [columns] must be the name of a column, or false"),
        ("group = false", "group = 3", "group under [columns] must be the name of a column, or false"),
        ('quasi = ["age"', 'quasi = [3, "age"', "must list quasi under [columns]"),
        ('role = "rows"', 'role = "records"', "must name one file of rows."),
        ("microaggregated", "pram", "describes a release of kind 'pram': randomized releases (PRAM"),
        (
            "microaggregated",
            "odd",
            "describes a release of kind 'odd'; this showthrough reads: bucketized, generalized",
        ),
    ):
        assert old in before
        path.write_text(before.replace(old, new))
        with pytest.raises(InputError) as caught:
            read_release(tmp_path / "M")
        assert message in caught.value.internal


NUMBERS = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-5, 5).map(float))


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(NUMBERS, st.sampled_from(["a", "b", "é", None]), VALUES), min_size=1, max_size=7),
    st.booleans(),
)
def test_any_centroids_come_back_exactly(tmp_path_factory, rows, parquet):
    home = tmp_path_factory.getbasetemp() / "micro"
    shutil.rmtree(home, ignore_errors=True)
    schema = {"x": pl.Float64, "town": pl.String, "v": pl.String}
    release = Release.microaggregated(
        pl.DataFrame(rows, schema=schema, orient="row"), sensitive="v", quasi=["x", "town"]
    )
    labels, cells = slow_groups(rows, [0, 1])
    assert release.records.rows() == cells
    assert release.counts().rows() == slow_tally(labels, [r[2] for r in rows])
    try:
        release.save(home, format="parquet" if parquet else "csv")
    except FileError:
        pytest.fail("numbers and names come back from every format")
    alike(release, read_release(home))


def test_ids_do_not_stand_beside_centroids(tmp_path):
    make().save(tmp_path / "M")
    path = tmp_path / "M" / "release.toml"
    path.write_text(path.read_text().replace("id = false", 'id = "age"'))
    with refusing(InputError, match="does not publish ids"):
        read_release(tmp_path / "M")
    with refusing(ReleaseError, match="publishes no ids"):
        make().groups()
