"""Rows that nobody of the register fits are said once, with the cells for internal readers and a guess at the cause."""

import polars as pl
import pytest

from showthrough import Register, Release, audit, infer
from showthrough.errors import InputError, ReleaseError
from showthrough.report.content import content
from tests.cli.running import run
from tests.histories import release

VALUES = ["Bachelors", "Masters", "HS-grad", "9th", "10th", "Doctorate"]
PEOPLE = pl.DataFrame({"id": range(6), "education": VALUES, "age": [30, 31, 32, 33, 34, 35]})
TREE = [
    ["Bachelors", "Higher", "Graduate", "*"],
    ["Masters", "Higher", "Graduate", "*"],
    ["Doctorate", "Higher", "Graduate", "*"],
    ["HS-grad", "School", "Compulsory", "*"],
    ["9th", "School", "Compulsory", "*"],
    ["10th", "School", "Compulsory", "*"],
]


def published(cells: list[str], column: str = "education", name: str = "G", **more) -> Release:
    frame = pl.DataFrame({column: cells, "v": (["a", "b", "c"] * len(cells))[: len(cells)]})
    return Release.generalized(frame, sensitive="v", quasi=[column], name=name, **more)


def said(one: Release, *before: Release, people: pl.DataFrame = PEOPLE):
    """The only remark on the last of the releases."""
    (found,) = [rows for rows in infer([*before, one], register=people).unfilled() if rows.release == one.name]
    return found


def test_a_forgotten_hierarchy_is_guessed_and_its_cells_are_for_internal_readers():
    found = said(published(["Graduate", "Graduate", "Compulsory", "Compulsory", "Compulsory", "*"]))
    assert (found.release, found.column, found.rows, found.all_rows) == ("G", "education", 5, 6)
    assert found.cells == (("Compulsory", 3), ("Graduate", 2))
    assert found.sentence() == (
        "5 of the 6 rows of G fit nobody of the register and count as persons whom it does not know. In column "
        "'education' 2 different cells fit nobody. The column looks like a level of a hierarchy: give it with "
        "hierarchies={'education': FILE}."
    )
    assert "fit nobody (the commonest: 'Compulsory' in 3, 'Graduate' in 2 rows)" in found.sentence(internal=True)


def test_the_level_is_told_where_another_release_has_the_hierarchy():
    known = published(["Higher"] * 3 + ["School"] * 3, name="H", hierarchies={"education": TREE})
    found = said(published(["Graduate"] * 3 + ["Compulsory"] * 3), known)
    assert "looks like level 2 of a hierarchy that another release has: give it with hierarchies=" in found.guess
    with_tree = published(["Graduate"] * 3 + ["Compulsory"] * 3, hierarchies={"education": TREE})
    assert infer([known, with_tree], register=PEOPLE).unfilled() == ()


@pytest.mark.parametrize(
    ("cells", "guess"),
    [
        (["bachelors", "MASTERS", "HS grad", "9th", "10th"], "differ from values of the register only in case, blanks"),
        (["Bachelors", "Masters", "Preschool"], ""),
        (["Bachelors", "Bachelors", "9th"], None),
    ],
)
def test_other_causes(cells, guess):
    if guess is None:
        assert infer([published(cells)], register=PEOPLE).unfilled() == ()
        return
    found = said(published(cells))
    assert guess in found.guess
    assert bool(guess) == bool(found.guess)


def test_leading_zeros_and_values_that_the_hierarchy_lacks():
    people = pl.DataFrame({"id": [1, 2, 3], "zip": ["1234", "2345", "98"]})
    assert "leading zeros" in said(published(["01234", "02345", "00098"], "zip"), people=people).guess
    few = published(["Graduate"] * 3, hierarchies={"education": TREE})
    others = pl.DataFrame({"id": [1, 2], "education": ["HS-grad", "Preschool"]})
    assert said(few, people=others).guess == "1 of the register's 2 values are not in its hierarchy."


def test_of_many_cells_the_three_commonest_are_shown():
    cells = [text for k, text in enumerate("uvwxyz", start=1) for _ in range(k)]
    found = said(published(cells))
    assert found.different == 6
    assert found.cells == (("z", 6), ("y", 5), ("x", 4))


def test_cells_that_fit_somebody_each_but_nobody_together():
    frame = pl.DataFrame({"education": ["Masters", "9th"], "age": ["30", "33"], "v": ["a", "b"]})
    one = Release.generalized(frame, sensitive="v", quasi=["education", "age"], name="G")
    found = said(one)
    assert (found.column, found.rows, found.cells) == (None, 1, ())
    assert found.sentence() == (
        "1 of the 2 rows of G fits nobody of the register and counts as a person whom it does not know."
    )


def test_exact_rows_and_persons_of_unknown_value():
    frame = pl.DataFrame({"education": ["Masters", "Law", "Law"], "g": [1, 1, 2], "v": ["a", "b", "c"]})
    rows = Release.bucketized(frame, sensitive="v", group="g", name="B")
    assert said(rows).cells == (("Law", 2),)
    unknown = PEOPLE.with_columns(pl.when(pl.col("id") == 0).then(None).otherwise("education").alias("education"))
    assert infer([rows], register=unknown).unfilled() == ()


LIKE = {"id": [0, 1], "education": ["9th", "9th"]}


def test_strangers_are_said_too():
    told = release([([0, 1], ["a", "c"])], "D")
    post = infer([told, published(["9th", "9th"])], register=pl.DataFrame(LIKE))
    (found,) = post.unfilled()
    assert found.sentence().startswith("1 of the 2 rows of G fits nobody of the register")
    assert "other releases leave these values to none of those" in found.guess


def test_reports_say_it_once_and_cells_only_to_internal_readers():
    found = audit([published(["Graduate", "Masters", "Compulsory"]), published(["9th"], name="H")], register=PEOPLE)
    shareable = " ".join(content(found).summary)
    assert shareable.count("fit nobody of the register") == 1
    assert "Graduate" not in shareable
    assert "'Graduate' in 1" in " ".join(content(found, audience="internal").summary)


def test_nobody_to_audit_says_why():
    with pytest.raises(InputError, match=r"nobody to audit.*hierarchies=.'education': FILE.") as caught:
        audit([published(["Graduate", "Compulsory"])], register=PEOPLE)
    assert "Graduate" in caught.value.internal
    assert "Graduate" not in caught.value.shareable


def test_a_label_among_numbers_asks_for_the_hierarchy():
    with pytest.raises(ReleaseError, match=r"label of a hierarchy, give that with hierarchies=.'age': FILE.") as caught:
        infer([published(["young", "old"], "age")], register=Register.of(PEOPLE))
    assert caught.value.parameters == ("hierarchies", "totals")


def test_the_command_names_its_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_csv("people.csv")
    published(["Graduate", "Graduate", "Masters", "Compulsory"]).to_frame().write_csv("G.csv")
    options = ["--sensitive", "v", "--quasi", "education", "--register", "people.csv"]
    done = run("audit", "G.csv", *options)
    words = " ".join(done.out.split())
    assert "give it with --hierarchy education=FILE." in words
    assert "Graduate" not in words
    dry = " ".join(run("audit", "G.csv", *options, "--dry-run", "--audience", "internal").out.split())
    assert "'Graduate' in 2" in dry
    (tmp_path / "tree.csv").write_text("\n".join(";".join(row) for row in TREE))
    done = run("audit", "G.csv", *options, "--hierarchy", "education=tree.csv")
    assert "fit nobody" not in " ".join(done.out.split())
