"""Count tables: group or cells, value, n."""

import shutil

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import Release, read_release
from showthrough.errors import FileError, InputError, ReleaseError
from tests.release.alike import CELLS, alike, blank_is_none, refused, slow_groups, slow_tally
from tests.saying import refusing

ROWS = {
    "zip": ["130**", "148**", "130**", "150**"],
    "condition": ["Flu", "Flu", "AIDS", "Flu"],
    "count": [2, 3, 1, 0],
}


def make(**more):
    return Release.counted(ROWS, **{"sensitive": "condition", **more})


def test_cells_tell_the_groups():
    release = make(name="C")
    assert release.roles.quasi == ("zip",)
    assert release.counts().rows() == [(1, "AIDS", 1), (1, "Flu", 2), (2, "Flu", 3)]
    assert release.cells().rows() == [(1, "130**"), (2, "148**")]  # nobody is in 150**
    assert release.members == 6
    assert repr(release) == "<counted release 'C': 6 persons, 2 groups, 2 values>"
    assert release.to_frame().rows() == [("130**", "AIDS", 1), ("130**", "Flu", 2), ("148**", "Flu", 3)]
    assert release.to_frame().columns == ["zip", "condition", "count"]


def test_groups_that_hold_nobody_leave_no_gap_in_the_labels():
    release = Release.counted({**ROWS, "count": [0, 3, 0, 1]}, sensitive="condition")
    assert release.cells().rows() == [(1, "148**"), (2, "150**")]
    assert release.counts().rows() == [(1, "Flu", 3), (2, "Flu", 1)]


def test_a_group_column():
    frame = {**ROWS, "g": ["x", "y", "x", "z"]}
    release = Release.counted(frame, sensitive="condition", group="g")
    assert release.labels.to_list() == ["x", "y"]
    assert release.to_frame().columns == ["zip", "g", "condition", "count"]
    alone = Release.counted(frame, sensitive="condition", group="g", quasi=[])
    assert alone.records.width == 0
    assert alone.cells().rows() == [("x",), ("y",)]
    assert alone.to_frame().rows() == [("x", "AIDS", 1), ("x", "Flu", 2), ("y", "Flu", 3)]
    with refusing(ReleaseError, match=r"group 'x' shows more than one cell in column 'zip'"):
        Release.counted({**frame, "g": ["x", "x", "y", "z"]}, sensitive="condition", group="g")


def test_refusals():
    assert refused(lambda: Release.counted({**ROWS, "condition": ["Flu"] * 4}, sensitive="condition")) == (
        "The release: group 1 ('130**') lists the value 'Flu' more than once."
    )
    assert refused(lambda: Release.counted({**ROWS, "count": [0] * 4}, sensitive="condition")) == (
        "The release: every count is 0, so nobody is in this release."
    )
    assert "has no column 'n'" in refused(lambda: make(count="n"))
    assert "named twice (quasi and count)" in refused(lambda: make(quasi=["zip", "count"]))
    assert "row 1 is empty in column 'condition'" in refused(
        lambda: Release.counted({**ROWS, "condition": ["", "Flu", "AIDS", "Flu"]}, sensitive="condition")
    )
    assert "neither quasi-identifiers nor a group column" in refused(lambda: make(quasi=[]))
    with refusing(InputError, match="needs a sensitive column"):
        Release.counted(ROWS, sensitive=None)


@pytest.mark.parametrize("count", [["2", "3", "1", "0"], [2.0, 3.0, 1.0, 0.0]])
def test_counts_as_text_or_numbers(count):
    assert Release.counted({**ROWS, "count": count}, sensitive="condition").counts().equals(make().counts())


@pytest.mark.parametrize("count", [[-1, 1, 1, 1], ["x", "1", "1", "1"], [0.5, 1, 1, 1], [None, 1, 1, 1]])
def test_counts_that_are_none(count):
    with refusing(ReleaseError, match=r"row 1 has .* in column 'count'; expected a whole number, 0 or more\."):
        Release.counted({**ROWS, "count": count}, sensitive="condition")


def test_counts_beyond_all_tables():
    with refusing(ReleaseError, match=r"add up to more than 9007199254740992"):
        Release.counted({**ROWS, "count": [2**62, 2**62, 2**62, 1]}, sensitive="condition")


def test_recoded_counts_are_added_up():
    assert make().recoded({"Flu": "x", "AIDS": "x"}).counts().rows() == [(1, "x", 3), (2, "x", 3)]


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.tuples(CELLS, CELLS, st.integers(-2, 3), st.integers(0, 3)),
        min_size=1,
        max_size=8,
        unique_by=lambda r: (blank_is_none(r[0]), blank_is_none(r[1]), r[2]),
    ),
    st.booleans(),
)
def test_any_counts_come_back(tmp_path_factory, rows, parquet):
    home = tmp_path_factory.getbasetemp() / "counted"
    shutil.rmtree(home, ignore_errors=True)
    schema = {"count": pl.String, "^g": pl.String, "": pl.Int64, "n": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    kept = [(blank_is_none(a), blank_is_none(b), v, n) for a, b, v, n in rows]
    if not sum(n for *_, n in rows):
        with refusing(ReleaseError, match="every count is 0"):
            Release.counted(frame, sensitive="", count="n")
        return
    release = Release.counted(frame, sensitive="", count="n")
    full = {row[:2] for row in kept if sum(r[3] for r in kept if r[:2] == row[:2])}
    kept = [row for row in kept if row[:2] in full]
    labels, cells = slow_groups(kept, [0, 1])
    assert release.records.rows() == cells
    assert release.counts().rows() == slow_tally(labels, [r[2] for r in kept], [r[3] for r in kept])
    try:
        release.save(home, format="parquet" if parquet else "csv")
    except FileError:
        assert not parquet
        return
    alike(release, read_release(home))
