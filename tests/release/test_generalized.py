"""Generalized releases: groups are equal cells, or a published column within which cells are equal."""

import datetime as dt
import random
import shutil
from dataclasses import replace
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import Hierarchy, Release, read_release
from showthrough.errors import FileError, InputError, ReleaseError
from tests.release.alike import CELLS, VALUES, alike, blank_is_none, refused, slow_groups, slow_tally
from tests.saying import refusing

# a table in the manner of Ganta, Kasiviswanathan and Smith (KDD 2008), Table 1(a)
ROWS = {
    "zip": ["130**", "130**", "148**", "130**", "148**", None],
    "age": ["<30", "<30", "≥40", "<30", "≥40", " "],
    "condition": ["AIDS", "Flu", "Cancer", "Flu", "Flu", "Cancer"],
}
ROLES = {"sensitive": "condition", "quasi": ["zip", "age"]}
TALLY = [(1, "AIDS", 1), (1, "Flu", 2), (2, "Cancer", 1), (2, "Flu", 1), (3, "Cancer", 1)]


def make(**more):
    return Release.generalized(ROWS, **{**ROLES, **more})


def test_groups_are_equal_cells():
    release = make(name="H1")
    assert release.kind == "generalized"
    assert release.counts().rows() == TALLY
    assert release.labels.to_list() == [1, 2, 3]
    assert release.labels.dtype == pl.Int64
    assert release.records.rows() == [("130**", "<30"), ("148**", "≥40"), (None, None)]
    assert release.records.columns == ["zip", "age"]
    assert release.cells().rows() == [(1, "130**", "<30"), (2, "148**", "≥40"), (3, None, None)]
    assert release.sizes().rows() == [(1, 3), (2, 2), (3, 1)]
    assert release.members == 6
    assert release.roles.id is None
    assert release.roles.group is None
    assert repr(release) == "<generalized release 'H1': 6 persons, 3 groups, 3 values>"
    assert release.to_frame().columns == ["zip", "age", "condition"]
    assert release.to_frame().rows()[:3] == [
        ("130**", "<30", "AIDS"),
        ("130**", "<30", "Flu"),
        ("130**", "<30", "Flu"),
    ]


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table, dict])
def test_frames_of_every_library(library):
    assert Release.generalized(library(ROWS), **ROLES).counts().rows() == TALLY


def test_a_published_group_column_tells_equal_cells_apart():
    frame = {**ROWS, "class": ["b", "b", "c", "a", "c", "d"]}
    release = Release.generalized(frame, group="class", **ROLES)
    assert release.labels.to_list() == ["a", "b", "c", "d"]
    assert release.records["zip"].to_list() == ["130**", "130**", "148**", None]
    assert release.counts().rows()[:3] == [("a", "Flu", 1), ("b", "AIDS", 1), ("b", "Flu", 1)]
    assert release.to_frame().columns == ["zip", "age", "class", "condition"]


def test_a_group_shows_the_same_cells():
    with pytest.raises(ReleaseError) as caught:
        Release.generalized({**ROWS, "class": ["b", "b", "b", "a", "c", "d"]}, group="class", **ROLES)
    assert caught.value.internal == (
        "The release: group 'b' shows more than one cell in column 'zip' ('130**', '148**'): the rows of a group must "
        "show the same."
    )
    assert "130" not in caught.value.shareable
    text = refused(lambda: Release.generalized({**ROWS, "class": list("bbcacc")}, group="class", **ROLES))
    assert "('148**' and nothing)" in text


def test_a_group_column_alone():
    release = Release.generalized({**ROWS, "class": list("bbcacd")}, group="class", quasi=[], sensitive="condition")
    assert release.cells().rows() == [("a",), ("b",), ("c",), ("d",)]
    assert release.to_frame().columns == ["class", "condition"]
    assert refused(lambda: make(quasi=[])) == (
        "The release names neither quasi-identifiers nor a group column: nothing tells its groups apart."
    )


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ([28, 30], ["28", "30"]),
        ([28.0, 30.0], ["28", "30"]),
        ([0.1, 1 / 3], ["0.1", "0.3333333333333333"]),
        ([2**62 + 1, 2**70], [str(2**62 + 1), str(2**70)]),
        ([Decimal("1.50"), Decimal("2.00")], ["1.50", "2.00"]),
        ([dt.date(2020, 1, 2), None], ["2020-01-02", None]),
        ([True, False], ["true", "false"]),
        (pl.Series(["x", ""], dtype=pl.Categorical), ["x", None]),
    ],
)
def test_cells_become_text_without_losing_digits(cells, text):
    frame = {"q": pl.Series(cells, strict=False) if not isinstance(cells, pl.Series) else cells, "v": ["a", "b"]}
    assert Release.generalized(frame, sensitive="v", quasi="q").records["q"].to_list() == text


def test_without_values_it_acts_as_a_register():
    release = Release.generalized(ROWS, sensitive=None, quasi=["zip", "age"])
    assert release.sensitive is None
    assert release.counts().height == 0
    assert release.counts().columns == ["group", "value", "n"]
    assert release.sizes().rows() == [(1, 3), (2, 2), (3, 1)]
    assert release.to_frame().rows() == [("130**", "<30")] * 3 + [("148**", "≥40")] * 2 + [(None, None)]
    assert repr(release) == "<generalized release: 6 persons, 3 groups, no values>"
    assert "has no values to rename" in refused(lambda: release.recoded({}))


def test_a_register_may_publish_ids():
    frame = {**ROWS, "person": list("fedcba")}
    release = Release.generalized(frame, sensitive=None, quasi=["zip", "age"], id="person")
    assert release.records.columns == ["person", "zip", "age"]
    assert release.records.height == 6
    assert release.groups().rows() == [("f", 1), ("e", 1), ("d", 2), ("c", 1), ("b", 2), ("a", 3)]
    assert release.cells().rows() == [(1, "130**", "<30"), (2, "148**", "≥40"), (3, None, None)]
    assert release.to_frame()["person"].to_list() == list("cefbda")
    with refusing(ReleaseError, match="the same id"):
        Release.generalized({**frame, "person": list("aedcba")}, sensitive=None, quasi=["zip"], id="person")
    with refusing(ReleaseError, match="row 2 has no id"):
        Release.generalized({**frame, "person": ["a", "", *"bcde"]}, sensitive=None, quasi=["zip"], id="person")
    with refusing(InputError, match="does not publish ids beside values"):
        Release.generalized(frame, sensitive="condition", quasi=["zip"], id="person")


def test_ids_are_known_only_through_a_private_link():
    release = make(name="H1")
    assert refused(release.groups, ReleaseError).startswith("H1 publishes no ids: who is in which group is known only")
    link = {"id": list("fedcba"), "group": ["1", "1", "1", "2", "2", "3"]}
    assert release.with_link(link).groups().rows() == [("d", 1), ("e", 1), ("f", 1), ("b", 2), ("c", 2), ("a", 3)]
    assert release.link is None
    for changed, message in (
        ({"group": ["1", "1", "1", "2", "2", "2"]}, "group 2 has 2 persons in the release but 3 persons in the link"),
        ({"group": ["1", "1", "1", "2", "2", "9"]}, "group '9' is no group of the release"),
        ({"id": list("ffdcba")}, "the same id"),
        ({"id": ["f", None, *"dcba"]}, "row 2 has no id"),
        ({"group": ["1", "1", " ", "2", "2", "3"]}, "row 3 has no group"),
    ):
        assert message in refused(lambda changed=changed: release.with_link({**link, **changed}))
    assert "has no column 'group'" in refused(lambda: release.with_link({"id": ["a"]}))


def test_the_link_stands_beside_the_folder(tmp_path):
    release = make().with_link({"id": range(6), "group": [1, 1, 1, 2, 2, 3]})
    release.save(tmp_path / "public", link=False)
    assert {p.name for p in (tmp_path / "public").iterdir()} == {"release.toml", "rows.csv"}
    assert {p.name for p in tmp_path.iterdir()} == {"public"}
    assert read_release(tmp_path / "public").link is None
    release.save(tmp_path / "D")
    assert {p.name for p in (tmp_path / "D").iterdir()} == {"release.toml", "rows.csv"}
    path = tmp_path / "D.link.csv"
    assert path.stat().st_mode & 0o777 == 0o600
    assert "link" not in (tmp_path / "D" / "release.toml").read_text()
    assert read_release(tmp_path / "D").groups().rows() == list(enumerate([1, 1, 1, 2, 2, 3]))
    with refusing(ReleaseError, match="carries no private link: nothing was written"):
        make().save(tmp_path / "none", link=True)
    assert not (tmp_path / "none").exists()


def test_folders_of_earlier_versions_hold_the_link_inside(tmp_path):
    make().save(tmp_path / "D")
    (tmp_path / "D" / "link.csv").write_text("id,group\na,1\nb,1\nc,1\nd,2\ne,2\nf,3\n")
    assert read_release(tmp_path / "D").groups()["id"].to_list() == list("abcdef")
    (tmp_path / "D" / "link.csv").write_text("id,group\n1,7\n")
    assert "link.csv: group '7' is no group of the release" in refused(lambda: read_release(tmp_path / "D"))
    make().save(tmp_path / "D", overwrite=True)
    assert not (tmp_path / "D" / "link.csv").exists()


def test_gaps_in_values_and_groups():
    assert refused(lambda: make(sensitive="zip", quasi=["age"])).startswith("The release: row 6 has no value (column ")
    frame = {**ROWS, "g": [1, 1, 2, 1, 2, None]}
    text = refused(lambda: Release.generalized(frame, group="g", **ROLES))
    assert text == "The release: row 6 has no group (column 'g' is empty)."


def test_empty_and_missing_columns():
    assert refused(lambda: Release.generalized(pl.DataFrame(ROWS).clear(), **ROLES)) == (
        "The release is empty: it has no rows."
    )
    assert "has no column 'town'" in refused(lambda: make(quasi=["town"]))
    assert "The column 'zip' is named twice (quasi and sensitive)" in refused(lambda: make(sensitive="zip"))


def test_recoded():
    coarse = make().recoded({"AIDS": "viral", "Flu": "viral", "Cancer": "other", "unused": "x"})
    assert coarse.counts().rows() == [(1, "viral", 3), (2, "other", 1), (2, "viral", 1), (3, "other", 1)]
    assert coarse.sizes().equals(make().sizes())
    with pytest.raises(ReleaseError) as caught:
        make().recoded({"Flu": "viral"})
    assert (
        "the value map has no entry for 'AIDS', 'Cancer'. It must name every published value" in caught.value.internal
    )
    with refusing(ReleaseError, match="gives 'Cancer' an empty value"):
        make().recoded({"AIDS": "x", "Flu": "x", "Cancer": " "})
    numbers = Release.generalized({"q": ["a", "a"], "v": [1, 2]}, quasi="q", sensitive="v")
    assert numbers.recoded({"1": "one", 2: "two"}).counts().rows() == [(1, "one", 1), (1, "two", 1)]


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["plain", "group", "register", "register with ids"])
def test_round_trip(tmp_path, format, kind):
    frame = {**ROWS, "g": [2, 2, 7, 2, 7, 1], "person": list("fedcba")}
    more = {
        "plain": {},
        "group": {"group": "g"},
        "register": {"sensitive": None},
        "register with ids": {"sensitive": None, "id": "person"},
    }[kind]
    release = Release.generalized(frame, **{**ROLES, **more}, name="H", date="2007", parameters={"k": 3})
    release.save(tmp_path / "H", format=format)
    back = read_release(tmp_path / "H")
    alike(release, back)
    assert (back.name, back.date, dict(back.parameters)) == ("H", "2007", {"k": 3})


@settings(deadline=None, max_examples=120)
@given(st.lists(st.tuples(CELLS, CELLS, VALUES), min_size=1, max_size=8), st.booleans(), st.booleans())
def test_any_cells_come_back(tmp_path_factory, rows, parquet, with_values):
    home = tmp_path_factory.getbasetemp() / "generalized"
    shutil.rmtree(home, ignore_errors=True)
    frame = pl.DataFrame(rows, schema={"*": pl.String, "n": pl.String, "value": pl.String}, orient="row")
    release = Release.generalized(frame, sensitive="value" if with_values else None, quasi=["*", "n"])
    kept = [(blank_is_none(a), blank_is_none(b), v) for a, b, v in rows]
    labels, cells = slow_groups(kept, [0, 1])
    assert release.records.rows() == cells
    assert release.counts().rows() == (slow_tally(labels, [v for *_, v in rows]) if with_values else [])
    assert release.sizes().rows() == [(g, labels.count(g)) for g in range(1, len(cells) + 1)]
    try:
        release.save(home, format="parquet" if parquet else "csv")
    except FileError:  # rows of nothing but gaps are no rows to a CSV file
        assert not parquet
        assert not with_values
        assert (None, None) in release.records.rows()
        return
    alike(release, read_release(home))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("abc")), min_size=1, max_size=10), st.integers(0, 2**32)
)
def test_the_published_rows_do_not_tell_the_order_inside_a_group(people, seed):
    table = sorted(people)
    other = random.Random(seed).sample(table, len(table))
    other.sort(key=lambda row: row[0])  # groups first appear in the same order

    def published(rows):
        frame = pl.DataFrame(rows, schema=["q", "v"], orient="row")
        return Release.generalized(frame, sensitive="v", quasi="q").to_frame()

    assert published(table).equals(published(other))
    assert published(table).rows() == table


def test_hierarchies_and_the_declared_domain_are_saved_with_the_release(tmp_path):
    tree = Hierarchy.from_tree({"*": {"130**": ["13012", "13053"], "140**": ["14012"]}})
    rows = {"zip": ["130**", "130**", "14012"], "v": ["a", "b", "a"]}
    release = Release.generalized(rows, sensitive="v", quasi=["zip"], hierarchies={"zip": tree}, name="G")
    replace(release, domain=("a", "b", "c")).save(tmp_path / "G")
    back = read_release(tmp_path / "G")
    assert back.domain == ("a", "b", "c")
    assert back.hierarchies["zip"].levels == tree.levels
    (tmp_path / "G" / "hierarchies.json").write_text("{}")
    with refusing(FileError, match="SHA-256"):
        read_release(tmp_path / "G")
