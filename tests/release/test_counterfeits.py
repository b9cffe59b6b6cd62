"""Counterfeits: their values are published, they are no persons, and files must agree about them."""

import shutil

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import Release, read_release
from showthrough.errors import ReleaseError
from tests.release.alike import alike, refused
from tests.saying import refusing

ROLES = {"id": "id", "sensitive": "disease", "group": "group"}
ROWS = {
    "id": ["a", "b", None, "c", "", "d"],
    "zip": ["1", "2", "9", "3", None, "4"],
    "group": [1, 1, 1, 2, 2, 2],
    "disease": ["Flu", "HIV", "Flu", "Flu", "HIV", "Flu"],
}
RECORDS = {"id": list("abcd"), "zip": list("1234"), "group": [1, 1, 2, 2]}
VALUES = {"group": [1, 1, 2, 2], "disease": ["Flu", "HIV", "Flu", "HIV"], "count": [2, 1, 2, 1]}
FAKE = {1: 1, 2: 1}


def rows(counterfeits, **changed):
    return Release.bucketized({**ROWS, **changed}, counterfeits=counterfeits, **ROLES)


def pair(counterfeits, **changed):
    return Release.bucketized(RECORDS, values={**VALUES, **changed}, counterfeits=counterfeits, **ROLES)


@pytest.mark.parametrize("make", [rows, pair])
@pytest.mark.parametrize(
    "given",
    [
        FAKE,
        {"1": 1, "2": 1},
        {"group": [2, 1], "count": [1, 1]},
        {"group": ["2", "1"], "n": ["1", "1"]},
        pl.DataFrame({"group": [1, 2], "n": [1, 1]}),
    ],
)
def test_their_values_count_and_they_are_no_persons(make, given):
    release = make(given)
    assert release.counterfeits.rows() == [(1, 1), (2, 1)]
    assert release.counts().rows() == [(1, "Flu", 2), (1, "HIV", 1), (2, "Flu", 2), (2, "HIV", 1)]
    assert release.members == 4
    assert release.sizes().rows() == [(1, 3), (2, 3)]
    assert release.groups().rows() == [("a", 1), ("b", 1), ("c", 2), ("d", 2)]
    assert release.records["zip"].to_list() == ["1", "2", "3", "4"]
    assert repr(release) == "<bucketized release: 4 persons, 2 groups, 2 values, 2 counterfeits>"
    if make is pair:
        assert release.to_frame().rows() == [("a", "1", 1), ("b", "2", 1), ("c", "3", 2), ("d", "4", 2)]
    assert release.form.by_record(release).rows() == [
        ("a", "1", 1, "Flu"),
        ("b", "2", 1, "Flu"),
        (None, None, 1, "HIV"),
        ("c", "3", 2, "Flu"),
        ("d", "4", 2, "Flu"),
        (None, None, 2, "HIV"),
    ]


def test_releases_without_counterfeits_say_so():
    release = Release.bucketized(RECORDS, values={**VALUES, "count": [1, 1, 1, 1]}, **ROLES)
    assert release.counterfeits.rows() == []
    assert release.counterfeits.schema == {"group": pl.Int64, "n": pl.Int64}
    assert release.members == 4
    for nothing in ({}, {"group": [], "count": []}, {1: 0}):
        same = Release.bucketized(RECORDS, values={**VALUES, "count": [1] * 4}, counterfeits=nothing, **ROLES)
        assert same.counterfeits.equals(release.counterfeits)


def test_without_counterfeits_every_row_needs_an_id():
    assert "row 3 has no id" in refused(lambda: rows(None))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({1: 1}, "group 2 has 1 rows without an id (column 'id') but 0 counterfeits"),
        ({1: 1, 2: 2}, "group 2 has 1 rows without an id (column 'id') but 2 counterfeits"),
        ({1: 1, 2: 4}, "(counterfeits): group 2 lists 4 counterfeits but has 3 values."),
        ({1: 1, 3: 1}, "(counterfeits): group 3 is no group of the release."),
        ({1: -1}, "(counterfeits): row 1 has -1 in column 'n'; expected a whole number, 0 or more."),
        ({"group": [1, 1], "count": [1, 1]}, "(counterfeits): group 1 is listed more than once."),
        ({"group": [1, None], "count": [1, 1]}, "(counterfeits): row 2 names no group."),
        ({"group": [1], "count": ["x"]}, "row 1 has 'x' in column 'count'; expected a whole number"),
        ({"bucket": [1], "count": [1]}, "has no column 'group'"),
        ({"group": [1], "fakes": [1]}, "has no column 'count'"),
        (7, "Expected a frame"),
        ({1: 2**70}, "expected a whole number, 0 or more"),
    ],
)
def test_files_that_do_not_agree(given, message):
    assert message in refused(lambda: rows(given))


def test_pairs_that_do_not_fit():
    assert refused(lambda: pair({1: 1})) == "The release: group 2 has 2 persons but its counts add up to 3."
    assert refused(lambda: pair({1: 1, 2: 2})) == (
        "The release: group 2 has 2 persons and 2 counterfeits but its counts add up to 3."
    )


def test_a_group_of_counterfeits_alone():
    values = {"group": [1, 1, 2, 3], "disease": ["Flu", "HIV", "Flu", "x"], "count": [1, 1, 2, 2]}
    release = Release.bucketized(RECORDS, values=values, counterfeits={3: 2}, **ROLES)
    assert release.members == 4
    assert release.to_frame()["group"].to_list() == [1, 1, 2, 2]
    assert release.form.by_record(release).rows()[-2:] == [(None, None, 3, "x")] * 2
    assert "group 3 has values but no persons" in refused(lambda: Release.bucketized(RECORDS, values=values, **ROLES))


def test_rows_without_ids_do_not_tell_who_is_a_counterfeit():
    frame = {k: ROWS[k] for k in ("zip", "group", "disease")}
    release = Release.bucketized(frame, sensitive="disease", group="group", counterfeits=FAKE)
    assert release.records.columns == ["zip", "group"]
    assert release.records.height == 6
    assert release.members == 4
    with refusing(ReleaseError, match="publishes no ids"):
        release.groups()
    assert release.cells().rows() == [(1, "1"), (1, "2"), (1, "9"), (2, "3"), (2, None), (2, "4")]
    linked = release.with_link({"id": list("dcba"), "group": [2, 2, 1, 1]})
    assert linked.groups().rows() == [("a", 1), ("b", 1), ("c", 2), ("d", 2)]


def test_rows_without_ids_or_counterfeits():
    frame = {"zip": ["3", "1", "2"], "group": [2, 1, 1], "disease": ["Flu", "HIV", "Flu"]}
    release = Release.bucketized(frame, sensitive="disease", group="group")
    assert release.roles.id is None
    assert release.to_frame().rows() == [("1", 1, "Flu"), ("2", 1, "HIV"), ("3", 2, "Flu")]
    assert release.to_frame().equals(
        Release.bucketized({**frame, "disease": ["Flu", "Flu", "HIV"]}, sensitive="disease", group="group").to_frame()
    )


def no_ids(counterfeits, shape):
    if shape == "rows":
        frame = {k: ROWS[k] for k in ("zip", "group", "disease")}
        return Release.bucketized(frame, sensitive="disease", group="group", counterfeits=counterfeits)
    records = {k: RECORDS[k] for k in ("zip", "group")}
    return Release.bucketized(records, values=VALUES, sensitive="disease", group="group", counterfeits=counterfeits)


GENERALIZED = {"q": ["1*", "1*", "2*", "2*"], "v": list("abab")}


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: rows(FAKE),
        lambda: pair(FAKE),
        lambda: no_ids(FAKE, "rows"),
        lambda: no_ids(FAKE, "pair"),
        lambda: Release.generalized(GENERALIZED, sensitive="v", quasi="q", counterfeits={2: 1}),
        lambda: Release.generalized(GENERALIZED, sensitive=None, quasi="q", counterfeits={2: 1}),
        lambda: Release.generalized(
            GENERALIZED | {"n": [1.5, 1.5, 1e300, 1e300]}, sensitive="v", quasi="q", group="n", counterfeits={1e300: 2}
        ),
        lambda: Release.counted(
            {"count": ["x", "y"], "v": list("ab"), "k": [2, 3]},
            sensitive="v",
            group="count",
            count="k",
            counterfeits={"count": ["x"], "k": [1]},
        ),
        lambda: Release.microaggregated(
            {"q": [1.5, 1.5, 2], "v": list("abb")}, sensitive="v", quasi="q", counterfeits={1: 1}
        ),
    ],
)
def test_round_trip(tmp_path, format, make):
    release = make()
    assert release.counterfeits.height
    assert release.members == int(release.sizes()["n"].sum()) - int(release.counterfeits["n"].sum())
    release.save(tmp_path / "D", format=format)
    assert (tmp_path / "D" / f"counterfeits.{format}").exists()
    assert 'role = "counterfeits"' in (tmp_path / "D" / "release.toml").read_text()
    alike(release, read_release(tmp_path / "D"))
    release.save(tmp_path / "D", format=format, overwrite=True)


def test_tampered_counterfeits(tmp_path):
    pair(FAKE).save(tmp_path / "D")
    path = tmp_path / "D" / "counterfeits.csv"
    path.write_text(path.read_text().replace("2,1", "2,0"))
    assert "counterfeits.csv is not the file that was saved" in refused(lambda: read_release(tmp_path / "D"))


def test_plain_files(tmp_path):
    pl.DataFrame(RECORDS).write_csv(tmp_path / "r.csv")
    pl.DataFrame(VALUES).write_csv(tmp_path / "v.csv")
    (tmp_path / "fake.csv").write_text("group;count\n1;1\n2;1\n")
    release = read_release(tmp_path / "r.csv", tmp_path / "v.csv", counterfeits=tmp_path / "fake.csv", **ROLES)
    assert release.counterfeits.rows() == [("1", 1), ("2", 1)]
    release.save(tmp_path / "D")
    text = refused(lambda: read_release(tmp_path / "D", counterfeits=tmp_path / "fake.csv"))
    assert "is a release folder, which holds its own counterfeits" in text


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.booleans()), min_size=1, max_size=12),
    st.sampled_from(["rows", "pair"]),
    st.booleans(),
)
def test_any_counterfeits_come_back(tmp_path_factory, people, shape, parquet):
    home = tmp_path_factory.getbasetemp() / "fakes"
    shutil.rmtree(home, ignore_errors=True)
    table = [(None if fake else f"p{k}", g, v) for k, (g, v, fake) in enumerate(people)]
    frame = pl.DataFrame(table, schema={"id": pl.String, "group": pl.Int64, "disease": pl.String}, orient="row")
    fakes = {g: sum(f for h, _, f in people if h == g) for g in {g for g, *_ in people}}
    real = frame.filter(pl.col("id").is_not_null())
    if shape == "pair" and not real.height:
        return
    if shape == "rows":
        release = Release.bucketized(frame, counterfeits=fakes, **ROLES)
    else:
        values = frame.group_by("group", "disease").agg(pl.len().alias("count"))
        release = Release.bucketized(real.drop("disease"), values=values, counterfeits=fakes, **ROLES)
    assert release.members == real.height
    assert sorted(release.groups().rows()) == sorted(real.select("id", "group").rows())
    assert release.counterfeits.rows() == sorted((g, n) for g, n in fakes.items() if n)
    rows = release.form.by_record(release)
    assert sorted(rows.select("group", "disease").rows()) == sorted((g, v) for _, g, v in table)
    release.save(home, format="parquet" if parquet else "csv")
    alike(release, read_release(home))
