"""A suppressed row may be anybody's: it fits everybody, in every kind of release and from every source."""

import polars as pl
import pytest

from showthrough import Register, Release, infer, read_release
from showthrough.errors import ReleaseError

PEOPLE = pl.DataFrame({"id": [1, 2, 3, 4], "age": [21, 22, 30, 50], "zip": ["11", "11", "12", "12"]})
TREES = {
    "age": [["21", "20-29", "all"], ["22", "20-29", "all"], ["30", "30-59", "all"], ["50", "30-59", "all"]],
    "zip": [["11", "1x", "anywhere"], ["12", "1x", "anywhere"]],
}
MARKS = ["*", "*****", "", "NA", None]
ROLES = {"sensitive": "v", "quasi": ["age", "zip"], "name": "G"}


def rows(age: str, mark: str | None, **more) -> pl.DataFrame:
    return pl.DataFrame({"age": [age, age, mark], "zip": ["11", "11", mark], "v": ["a", "b", "c"], **more})


def published(kind: str, mark: str | None) -> tuple[pl.DataFrame, dict]:
    """A frame with two rows for 1 and 2 and a suppressed one, and how it is read."""
    match kind:
        case "generalized":
            return rows("2*", mark), ROLES | {"kind": kind}
        case "counted":
            return rows("2*", mark, count=[1, 1, 1]), ROLES | {"kind": kind, "count": "count"}
        case "bucketized":
            frame = rows("21", mark, g=[1, 1, 2])
            frame = frame.with_columns(pl.Series("age", ["21", "22", mark]))
            return frame, ROLES | {"kind": kind, "group": "g"}
        case _:
            how = {"spread": {"age": "width"}, "locate": "within", "nominal": ["zip"]}
            return rows("21.5", mark, width=["1", "1", None]), ROLES | {"kind": "microaggregated"} | how


def read(frame: pl.DataFrame, how: dict, source: str, home) -> Release:
    """The release from a frame, from a CSV file or from a release folder."""
    if source == "frame":
        return getattr(Release, how["kind"])(frame, **{k: v for k, v in how.items() if k != "kind"})
    frame.write_csv(home / "G.csv")
    found = read_release(home / "G.csv", **how)
    if source == "file":
        return found
    found.save(home / "folder")
    return read_release(home / "folder", name="G")


@pytest.mark.parametrize("source", ["frame", "file", "folder"])
@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("kind", ["generalized", "counted", "bucketized", "within"])
def test_a_suppressed_row_fits_everybody_and_contradicts_nobody(kind, mark, source, tmp_path):
    release = read(*published(kind, mark), source, tmp_path)
    post = infer([release], register=PEOPLE)
    assert set(post.ids) == {1, 2, 3, 4}
    assert post.of(3) == pytest.approx({"c": 2 / 3, "a": 1 / 6, "b": 1 / 6})  # or 4, or either is elsewhere
    fits = post.groups_of("G").filter(pl.col("group").is_not_null())
    assert fits["id"].value_counts().sort("id")["count"].to_list() == [2, 2, 1, 1]
    known = infer([release], register=Register.of(PEOPLE, present={"G": [1, 2, 3]}))
    assert known.of(3) == {"c": 1.0}
    assert known.of(1) == pytest.approx({"a": 0.5, "b": 0.5})
    assert known.explain(3, "c").verify([release], register=Register.of(PEOPLE, present={"G": [1, 2, 3]}))
    told = Release.bucketized({"id": [1, 3], "g": [1, 1], "v": ["a", "c"]}, id="id", sensitive="v", group="g", name="D")
    assert infer([release, told], register=PEOPLE).of(1) == pytest.approx({"a": 1.0})


def test_the_top_of_a_hierarchy_fits_everybody(tmp_path):
    frame = pl.DataFrame({"age": ["20-29", "20-29", "all"], "zip": ["1x", "1x", "anywhere"], "v": ["a", "b", "c"]})
    for source in ("frame", "file", "folder"):
        release = read(frame, ROLES | {"kind": "generalized", "hierarchies": TREES}, source, tmp_path)
        known = infer([release], register=Register.of(PEOPLE, present={"G": [1, 2, 4]}))
        assert known.of(4) == {"c": 1.0}


@pytest.mark.parametrize("mark", MARKS)
def test_a_suppressed_record_among_nearest_centroids(mark):
    frame = rows("21.5", mark).with_columns(pl.Series("zip", ["11", "11", mark]))
    release = Release.microaggregated(frame, **ROLES, nominal=["zip"])
    post = infer([release], register=PEOPLE)
    assert post.groups_of("G").filter(pl.col("group") == 2)["id"].to_list() == [1, 2, 3, 4]
    hidden = Release.microaggregated(rows(mark, mark).with_columns(zip=pl.lit(None, pl.String)), **ROLES)
    assert set(infer([hidden], register=PEOPLE).of(4)) == {"a", "b", "c"}


def test_part_of_a_centroid_is_no_centroid():
    frame = rows("21.5", "*").with_columns(pl.lit("11").alias("zip"))
    with pytest.raises(ReleaseError, match="a centroid is missing in column 'age', although its group shows others"):
        infer([Release.microaggregated(frame, **ROLES, nominal=["zip"])], register=PEOPLE)


def test_columns_may_be_called_as_anything():
    people = PEOPLE.rename({"age": "^q$", "zip": "*"})
    roles = {"sensitive": "v", "quasi": ["^q$", "*"], "name": "G"}
    cells = rows("2*", "*").rename({"age": "^q$", "zip": "*"})
    middle = rows("21.5", "*").rename({"age": "^q$", "zip": "*"})
    for release in (Release.generalized(cells, **roles), Release.microaggregated(middle, **roles, nominal=["*"])):
        assert set(infer([release], register=people).ids) == {1, 2, 3, 4}
    strange = Release.generalized(cells.with_columns(cells["*"].replace({"11": "99"}).alias("*")), **roles)
    (found,) = infer([strange], register=people).unfilled()
    assert (found.column, found.rows) == ("*", 2)
