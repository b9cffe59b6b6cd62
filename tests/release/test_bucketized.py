"""Both shapes of bucketized releases, what is refused, and what the published rows tell."""

import datetime as dt
import random
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import Release, infer
from showthrough.errors import InputError, ReleaseError
from tests.saying import refusing

ROLES = {"id": "id", "sensitive": "disease", "group": "group"}
ROWS = {
    "id": ["a", "b", "c", "d"],
    "zip": ["02139", "02138", None, "1"],
    "group": [1, 1, 2, 2],
    "disease": ["Flu", "HIV", "Flu", "Flu"],
}
RECORDS = {k: ROWS[k] for k in ("id", "zip", "group")}
VALUES = {"group": [2, 1, 1], "disease": ["Flu", "HIV", "Flu"], "count": [2, 1, 1]}
TALLY = [(1, "Flu", 1), (1, "HIV", 1), (2, "Flu", 2)]


def rows(**changed):
    return Release.bucketized({**ROWS, **changed}, **ROLES)


def pair(records=None, **changed):
    return Release.bucketized({**RECORDS, **(records or {})}, values={**VALUES, **changed}, **ROLES)


def refused(make, kind=ReleaseError) -> str:
    with pytest.raises(kind) as caught:
        make()
    assert type(caught.value) is kind
    return caught.value.internal


@pytest.mark.parametrize("make", [rows, pair])
def test_both_shapes_are_the_same_release(make):
    release = make()
    assert release.counts().rows() == TALLY
    assert release.groups().rows() == [("a", 1), ("b", 1), ("c", 2), ("d", 2)]
    assert release.roles.quasi == ("zip",)
    shown = ["id", "zip", "group", *(["disease"] if make is rows else [])]  # no value beside a record of a pair
    every = [("a", "02139", 1, "Flu"), ("b", "02138", 1, "HIV"), ("c", None, 2, "Flu"), ("d", "1", 2, "Flu")]
    assert release.to_frame().columns == shown
    assert release.to_frame().rows() == [row[: len(shown)] for row in every]
    assert repr(release) == "<bucketized release: 4 persons, 2 groups, 2 values>"


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table, dict])
def test_frames_of_every_library(library):
    release = Release.bucketized(library(RECORDS), values=library(VALUES), **ROLES)
    assert release.counts().rows() == TALLY


def test_arguments_are_not_changed():
    frame, values = pl.DataFrame(RECORDS), pl.DataFrame(VALUES)
    copies = frame.clone(), values.clone()
    Release.bucketized(frame, values=values, **ROLES)
    assert frame.equals(copies[0])
    assert values.equals(copies[1])


def test_columns_named_by_numbers():
    frame = pd.DataFrame([["a", 1, "Flu"], ["b", 1, "HIV"]])
    assert Release.bucketized(frame, id=0, group=1, sensitive=2).counts().height == 2


def test_quasi_may_be_one_name_or_none():
    assert Release.bucketized(ROWS, quasi="zip", **ROLES).roles.quasi == ("zip",)
    assert Release.bucketized(ROWS, quasi=[], **ROLES).records.columns == ["id", "group"]


DAY = dt.datetime(2020, 5, 17, 1, 2, 3, 4)
KINDS = {
    "text": ["x", "y", "z"],
    "whole": [3, -1, 2**62],
    "number": [0.5, -1e300, float("inf")],
    "date": [dt.date(2020, 1, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31)],
    "moment": [DAY, DAY + dt.timedelta(seconds=1), DAY + dt.timedelta(days=1)],
    "zoned": [m.replace(tzinfo=dt.UTC) for m in (DAY, DAY + dt.timedelta(1), DAY + dt.timedelta(2))],
    "time": [dt.time(1), dt.time(2), dt.time(3, 4, 5, 6)],
    "span": [dt.timedelta(1), dt.timedelta(2), dt.timedelta(3)],
    "decimal": [Decimal("1.50"), Decimal("2.50"), Decimal("0.01")],
    "huge": [2**70, 2**71, 5],
    "category": pl.Series(["x", "y", "z"], dtype=pl.Categorical),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["rows", "pair"])
def test_ids_groups_and_values_of_many_types(kind, shape):
    one, two, three = KINDS[kind]
    frame = {"id": [one, two, three], "group": [one, one, two], "disease": [two, three, three], "q": [one, None, two]}
    values = {"group": [one, one, two], "disease": [two, three, three], "count": [1, 1, 1]}
    release = Release.bucketized(frame, values=values if shape == "pair" else None, **ROLES)
    assert release.counts()["n"].to_list() == [1, 1, 1]
    post = infer([release, release])
    ids = release.groups()["id"].to_list()
    group = dict(release.groups().rows())
    assert group[ids[0]] == group[ids[1]] != group[ids[2]]
    assert sorted(post.of(ids[0]).values()) == pytest.approx([0.5, 0.5])
    assert list(post.of(ids[2]).values()) == [1.0]
    facts = post.proven()
    assert facts["id"].to_list() == [ids[2]]
    for person, value in facts.select("id", "value").iter_rows():
        assert post.explain(person, value).verify([release, release])


def test_truth_values():
    frame = {"id": [True, False], "group": [True, True], "disease": [False, True]}
    release = Release.bucketized(frame, **ROLES)
    assert release.counts().rows() == [(True, False, 1), (True, True, 1)]


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=12),
    st.integers(0, 2**32),
    st.booleans(),
)
def test_the_published_rows_do_not_tell_who_has_what(people, seed, as_pair):
    chance = random.Random(seed)
    table = [(f"p{k}", f"zip{k}", group, value) for k, (group, value) in enumerate(people)]
    shuffled = chance.sample(table, len(table))
    for group in range(4):  # give each member of a group the value of another
        at = [k for k, row in enumerate(shuffled) if row[2] == group]
        values = chance.sample([shuffled[k][3] for k in at], len(at))
        for k, value in zip(at, values, strict=True):
            shuffled[k] = (*shuffled[k][:3], value)

    def published(table):
        frame = pl.DataFrame(table, schema=["id", "zip", "group", "disease"], orient="row")
        if not as_pair:
            return Release.bucketized(frame, **ROLES).to_frame()
        counts = frame.group_by("group", "disease").agg(pl.len().alias("count"))
        release = Release.bucketized(frame.drop("disease"), values=counts, **ROLES)
        assert "disease" not in release.to_frame().columns
        return release.form.by_record(release)

    first = published(table)
    assert first.equals(published(shuffled))
    assert sorted(first.drop("disease").rows()) == sorted(row[:3] for row in table)
    assert sorted(first.select("group", "disease").rows()) == sorted(row[2:] for row in table)


@pytest.mark.parametrize("role", ["id", "group", "sensitive"])
@pytest.mark.parametrize("make", [rows, pair])
def test_missing_columns_name_the_existing_ones(role, make):
    roles = {**ROLES, role: "gone"}
    table = ROWS if make is rows else RECORDS
    values = None if make is rows else VALUES
    text = refused(lambda: Release.bucketized(table, values=values, name="D1", **roles), InputError)
    assert "has no column 'gone'." in text
    assert "Its columns are: 'id', 'zip', 'group'" in text or "Its columns are: 'group', 'disease', 'count'" in text


def test_missing_count_column():
    text = refused(lambda: Release.bucketized(RECORDS, values=VALUES, count="n", **ROLES), InputError)
    assert text == ("The release (table of values) has no column 'n'. Its columns are: 'group', 'disease', 'count'.")


def test_missing_quasi_identifier():
    assert "has no column 'age'" in refused(lambda: Release.bucketized(ROWS, quasi=["age"], **ROLES), InputError)


def test_person_twice():
    with pytest.raises(ReleaseError) as caught:
        rows(id=["zq-1", "b", "zq-1", "b"])
    assert caught.value.internal == (
        "The release: the same id ('zq-1') stands in rows 1 and 3 (column 'id'). A person may be in a release only "
        "once. 2 ids are repeated in all."
    )
    assert caught.value.shareable == caught.value.internal.replace("('zq-1') ", "")


@pytest.mark.parametrize("kind", KINDS)
def test_person_twice_of_many_types(kind):
    one, two, _ = KINDS[kind]
    text = refused(lambda: rows(id=pl.Series([two, one, one, one], strict=False)))
    assert "stands in rows 2 and 3" in text
    assert "repeated in all" not in text


@pytest.mark.parametrize("gap", [None, "", "  ", "\t"])
def test_gaps(gap):
    assert refused(lambda: rows(group=["1", gap, "2", "2"])) == (
        "The release: the person in row 2 has no group (column 'group' is empty)."
    )
    assert refused(lambda: rows(id=["a", "b", gap, "d"])) == "The release: row 3 has no id (column 'id' is empty)."
    assert refused(lambda: rows(disease=["a", "b", "c", gap])).startswith(
        "The release: row 4 has no value (column 'disease' is empty). If that is how an unknown value was published"
    )
    table = "The release (table of values)"
    assert refused(lambda: pair(disease=["Flu", gap, "Flu"])) == f"{table}: row 2 is empty in column 'disease'."
    assert refused(lambda: pair({"group": list("1122")}, group=["2", "1", gap])) == (
        f"{table}: row 3 is empty in column 'group'."
    )


def test_numbers_that_are_none_are_gaps():
    assert "row 2 has no group" in refused(lambda: rows(group=pl.Series([1.0, float("nan"), 2.0, 2.0])))


@pytest.mark.parametrize("name", ["{0}", "{row}", "{", "}{", "%s"])
def test_names_with_braces(name):
    frame = {"id": ["a", None], name: [1, None], "v": ["x", "y"]}
    with refusing(ReleaseError, match="row 2 has no id"):
        Release.bucketized(frame, id="id", group=name, sensitive="v", name=name)
    frame["id"] = ["a", "b"]
    with refusing(ReleaseError, match="the person in row 2 has no group"):
        Release.bucketized(frame, id="id", group=name, sensitive="v", name=name)


def test_empty():
    empty = pl.DataFrame(ROWS).clear()
    assert refused(lambda: Release.bucketized(empty, **ROLES)) == "The release is empty: it has no rows."
    text = refused(lambda: Release.bucketized(RECORDS, values=pl.DataFrame(VALUES).clear(), **ROLES))
    assert text == "The release (table of values) is empty: it has no rows."


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"count": [2, 1, 2]}, "group 1 has 2 persons but its counts add up to 3."),
        ({"count": [1, 1, 1]}, "group 2 has 2 persons but its counts add up to 1."),
        ({"group": [3, 1, 1]}, "group 2 has 2 persons but no values."),
        ({"count": [0, 1, 1]}, "group 2 has 2 persons but no values."),
        (
            {"group": [2, 1, 1, 7], "disease": ["Flu", "HIV", "Flu", "Flu"], "count": [2, 1, 1, 1]},
            "group 7 has values but no persons.",
        ),
    ],
)
def test_counts_that_do_not_fit(values, message):
    assert refused(lambda: pair(**values)) == f"The release: {message}"


def test_one_person_is_told_as_one():
    assert "group 2 has 1 person but" in refused(lambda: pair({"group": [1, 1, 2, 3]}))


def test_counts_of_zero_do_not_matter():
    release = pair(group=[2, 1, 1, 2, 9], disease=["Flu", "HIV", "Flu", "HIV", "Flu"], count=[2, 1, 1, 0, 0])
    assert release.counts().rows() == TALLY


@pytest.mark.parametrize(
    "count",
    [
        [2.0, 1.0, 1.0],
        ["2", "1", " 1 "],
        [Decimal("2.00"), Decimal("1.00"), Decimal("1.00")],
        pl.Series([2, 1, 1], dtype=pl.UInt8),
        pl.Series(["2", "1", "1"], dtype=pl.Categorical),
    ],
)
def test_counts_as_text_or_decimal_numbers(count):
    assert pair(count=count).counts().rows() == TALLY


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        ([2, -1, 1], "-1"),
        (["2", "zq-person-17", "1"], "'zq-person-17'"),
        (["2", "1.5", "1"], "'1.5'"),
        ([2, 1.5, 1], "1.5"),
        ([2, None, 1], "None"),
        ([Decimal("2.00"), Decimal("1.50"), Decimal("1.00")], "1.50"),
        ([2.0, 1e300, 1.0], "1e+300"),
        (["2", "", "1"], "''"),
    ],
)
def test_counts_that_are_none(count, shown):
    with pytest.raises(ReleaseError) as caught:
        pair(count=count)
    lead, tail = "The release (table of values): row 2 has", "in column 'count'; expected a whole number, 0 or more."
    assert caught.value.internal == f"{lead} {shown} {tail}"
    assert caught.value.shareable == f"{lead} no count {tail}"


@pytest.mark.parametrize("count", [[True, True, True], [dt.date(1970, 1, 2)] * 3, [dt.timedelta(1)] * 3])
def test_counts_of_another_kind(count):
    assert "expected a whole number, 0 or more." in refused(lambda: pair(count=count))


def test_the_same_value_twice():
    assert refused(lambda: pair(group=[2, 1, 1], disease=["Flu", "HIV", "HIV"])) == (
        "The release (table of values): group 1 lists the value 'HIV' more than once."
    )


def test_groups_of_two_kinds():
    assert pair(group=["2", "1", "1"]).counts()["group"].to_list() == ["1", "1", "2"]
    text = refused(lambda: pair(group=[dt.date(2020, 1, 1)] * 3), InputError)
    assert text.startswith("The groups of records and values are of different types (records: Int64; values: Date)")


@pytest.mark.parametrize("quasi", [["disease"], ["zip", "zip"], ["id"], ["group"]])
def test_a_column_plays_one_part(quasi):
    text = refused(lambda: Release.bucketized(ROWS, quasi=quasi, **ROLES), InputError)
    assert text.startswith(f"The column {quasi[0]!r} is named twice (")
    raw = {**RECORDS, "disease": ["Flu", "HIV", "Flu", "Flu"]}
    assert refused(lambda: Release.bucketized(raw, values=VALUES, quasi=quasi, **ROLES), InputError) == text


@pytest.mark.parametrize("twice", [("id", "group"), ("id", "sensitive"), ("group", "sensitive")])
def test_roles_are_different_columns(twice):
    roles = {**ROLES, **dict.fromkeys(twice, "group")}
    assert "The column 'group' is named twice (" in refused(lambda: Release.bucketized(ROWS, **roles), InputError)


def test_the_count_is_a_column_of_its_own():
    with refusing(InputError, match=r"The column 'group' is named twice \(group and count\)"):
        Release.bucketized(RECORDS, values=VALUES, count="group", **ROLES)


def test_values_beside_the_records_of_a_pair_are_left_out():
    release = Release.bucketized({**RECORDS, "disease": ["HIV", "Flu", "Flu", "Flu"]}, values=VALUES, **ROLES)
    assert "disease" not in release.records.columns
    assert release.to_frame().equals(pair().to_frame())


@pytest.mark.parametrize("entries", [[[1]] * 4, [b"x"] * 4, [object()] * 4])
@pytest.mark.parametrize("column", ["id", "zip", "group", "disease"])
def test_columns_that_are_no_scalars(column, entries):
    assert "expected text, whole numbers" in refused(lambda: rows(**{column: entries}), InputError)
