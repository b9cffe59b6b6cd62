"""Release folders: what is saved comes back, whole, or a sentence says why not."""

import datetime as dt
import hashlib
import os
import shutil
import stat
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import Release, infer, read_release
from showthrough.errors import FileError, InputError
from showthrough.release import folder
from showthrough.storage import system
from tests.release.test_bucketized import KINDS, RECORDS, ROLES, ROWS, VALUES
from tests.saying import refusing

CARRIED = {"text", "whole", "number", "date", "huge", "category", "span"}  # by CSV


def make(shape="rows", **more) -> Release:
    if shape == "rows":
        return Release.bucketized(ROWS, name="D1", **ROLES, **more)
    return Release.bucketized(RECORDS, values=VALUES, name="D1", **ROLES, **more)


def same(first: Release, second: Release) -> None:
    assert first.roles == second.roles
    assert first.shape == second.shape
    assert first.to_frame().equals(second.to_frame())
    assert first.to_frame().schema == second.to_frame().schema
    assert first.counts().equals(second.counts())
    assert sorted(first.groups().rows(), key=str) == sorted(second.groups().rows(), key=str)


def refused(act) -> str:
    with pytest.raises(FileError) as caught:
        act()
    return caught.value.internal


def edit(home: Path, old: str, new: str) -> None:
    manifest = home / "release.toml"
    text = manifest.read_text()
    assert old in text
    manifest.write_text(text.replace(old, new))


@pytest.mark.parametrize("shape", ["rows", "pair"])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_round_trip(tmp_path, shape, format):
    release = make(shape, date="2020-05-17", parameters={"k": 2, "note": 'a "b"\n', "levels": [0.5, 1e300]})
    release.save(tmp_path / "D1", format=format)
    back = read_release(tmp_path / "D1")
    same(release, back)
    assert (back.name, back.date) == ("D1", "2020-05-17")
    assert dict(back.parameters) == {"k": 2, "note": 'a "b"\n', "levels": [0.5, 1e300]}
    names = {"rows": {"rows"}, "pair": {"records", "values"}}[shape]
    assert {p.name for p in (tmp_path / "D1").iterdir()} == {"release.toml", *(f"{n}.{format}" for n in names)}
    assert [p.name for p in tmp_path.iterdir()] == ["D1"]


def test_hashes_are_those_of_the_files(tmp_path):
    make("pair").save(tmp_path / "D1")
    text = (tmp_path / "D1" / "release.toml").read_text()
    for name in ("records.csv", "values.csv"):
        assert hashlib.sha256((tmp_path / "D1" / name).read_bytes()).hexdigest() in text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["rows", "pair"])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_types_come_back_or_are_refused(tmp_path, kind, shape, format):
    one, two, three = KINDS[kind]
    frame = {"id": [one, two, three], "group": [one, one, two], "disease": [two, three, three], "q": [one, None, two]}
    values = {"group": [one, one, two], "disease": [two, three, three], "count": [1, 1, 1]}
    release = Release.bucketized(frame, values=values if shape == "pair" else None, **ROLES)
    if format == "csv" and kind not in CARRIED:
        text = refused(lambda: release.save(tmp_path / "D", format=format))
        assert text.startswith("Column 'id' is of type ")
        assert text.endswith('which CSV does not carry: nothing was written. Save with format="parquet".')
        assert not list(tmp_path.iterdir())
    else:
        release.save(tmp_path / "D", format=format)
        same(release, read_release(tmp_path / "D"))


@pytest.mark.parametrize("column", ["id", "group", "disease", "zip"])
def test_every_column_is_looked_at(tmp_path, column):
    frame = {**ROWS, column: [Decimal(f"{k}.5") for k in range(4)]}
    assert f"Column {column!r} is of type Decimal" in refused(
        lambda: Release.bucketized(frame, **ROLES).save(tmp_path / "D")
    )


def test_truth_values_with_gaps(tmp_path):
    release = Release.bucketized({**ROWS, "zip": [True, None, False, None]}, **ROLES)
    release.save(tmp_path / "D")
    same(release, read_release(tmp_path / "D"))


def test_a_quasi_identifier_called_like_the_count(tmp_path):
    records = {"id": ["a", "b"], "count": [True, False], "group": [1, 1]}
    values = {"group": [1, 1], "disease": ["x", "y"], "count": [1, 1]}
    release = Release.bucketized(records, values=values, **ROLES)
    release.save(tmp_path / "D")
    same(release, read_release(tmp_path / "D"))


TEXTS = st.text(
    alphabet=st.one_of(st.sampled_from('ab",;\n\r\t|\x7f\\ \ufeff'), st.characters(exclude_categories=["Cs"])),
    max_size=4,
)
FILLED = TEXTS.filter(lambda t: t.strip() and not pl.Series([t]).str.strip_chars().eq("").any())


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(FILLED, FILLED, FILLED, st.none() | TEXTS), min_size=1, max_size=5, unique_by=lambda r: r[0]),
    st.lists(TEXTS, min_size=4, max_size=4, unique=True),
    TEXTS,
    st.booleans(),
)
def test_any_text_comes_back_or_is_refused(tmp_path_factory, table, names, title, parquet):
    home = tmp_path_factory.getbasetemp() / "text"
    shutil.rmtree(home, ignore_errors=True)
    columns = zip(*table, strict=True)
    frame = {name: pl.Series(list(column), dtype=pl.String) for name, column in zip(names, columns, strict=True)}
    roles = {"id": names[0], "group": names[1], "sensitive": names[2]}
    release = Release.bucketized(frame, name=title, **roles)
    letters = "".join(names) + "".join(cell or "" for row in table for cell in row)
    if not parquet and ("\x00" in letters or names[0].startswith("\ufeff")):
        with pytest.raises(
            FileError, match="The release holds text that a csv file does not carry: nothing was written"
        ):
            release.save(home)
        assert not home.exists()
        return
    release.save(home, format="parquet" if parquet else "csv")
    same(release, read_release(home))
    assert read_release(home).name == (title or "text")


@pytest.mark.parametrize(
    "names", [["*", "^.*$", "value", "n"], ["group", "id", "^g", ""], ["n", "value", "*", "group"]]
)
@pytest.mark.parametrize("shape", ["rows", "pair"])
def test_names_that_mean_something_to_polars(tmp_path, names, shape):
    records = {names[0]: ["b", "a"], names[1]: [1, 1], names[3]: ["x", "y"]}
    values = {names[1]: [1], names[2]: ["Flu"], "count": [2]}
    roles = {"id": names[0], "group": names[1], "sensitive": names[2], "quasi": [names[3]]}
    if shape == "rows":
        release = Release.bucketized({**records, names[2]: ["Flu", "Flu"]}, **roles)
    else:
        release = Release.bucketized(records, values=values, **roles)
    assert release.groups().rows() == [("b", 1), ("a", 1)]
    value = ("Flu",) if shape == "rows" else ()
    assert release.to_frame().rows() == [("a", "y", 1, *value), ("b", "x", 1, *value)]
    release.save(tmp_path / "D")
    same(release, read_release(tmp_path / "D"))
    assert infer([release]).of("a") == {"Flu": 1.0}


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=6, unique=True))
def test_numbers_come_back_exactly(tmp_path_factory, numbers):
    home = tmp_path_factory.getbasetemp() / "numbers"
    shutil.rmtree(home, ignore_errors=True)
    numbers = [*{n + 0.0 for n in numbers if n != 0}, 0.5]
    frame = {"id": range(len(numbers)), "group": [1] * len(numbers), "disease": numbers}
    release = Release.bucketized({k: list(v) for k, v in frame.items()}, **ROLES)
    release.save(home)
    same(release, read_release(home))


def test_the_name_and_date_may_be_given_again(tmp_path):
    make(date="2020").save(tmp_path / "D")
    back = read_release(tmp_path / "D", name="other", date="2021")
    assert (back.name, back.date) == ("other", "2021")


def test_a_release_without_a_name_is_called_like_its_folder(tmp_path, monkeypatch):
    Release.bucketized(ROWS, **ROLES).save(tmp_path / "D7")
    assert read_release(tmp_path / "D7").name == "D7"
    monkeypatch.chdir(tmp_path / "D7")
    assert read_release(".").name == "D7"


def test_parameters_of_many_types(tmp_path):
    given = {
        "a b": dt.date(2020, 1, 2),
        "nested": {"x": [1, 2], "y.z": {"deep": True}},
        "float": np.float64(0.1),
        "whole": np.int64(3),
        "inf": float("inf"),
        "tuple": (1, "two"),
        "del": "\x7f\x00\x1f",
    }
    make(parameters=given).save(tmp_path / "D")
    assert dict(read_release(tmp_path / "D").parameters) == {**given, "tuple": [1, "two"]}


@pytest.mark.parametrize("value", [None, object(), {1, 2}])
def test_parameters_that_cannot_be_written(tmp_path, value):
    with refusing(InputError, match=r"^The parameter 'x' cannot be written to release\.toml: expected text"):
        make(parameters={"x": value}).save(tmp_path / "D")
    assert not list(tmp_path.iterdir())


def test_unknown_format(tmp_path):
    assert "one of csv, parquet, not 'xlsx'" in refused(lambda: make().save(tmp_path / "D", format="xlsx"))


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_tampered_file(tmp_path, format):
    make("pair").save(tmp_path / "D", format=format)
    for name in ("records", "values"):
        path = tmp_path / "D" / f"{name}.{format}"
        before = path.read_bytes()
        path.write_bytes(before + b"\n")
        assert refused(lambda: read_release(tmp_path / "D")).endswith(
            f"{name}.{format} is not the file that was saved: its SHA-256 differs from the one in release.toml."
        )
        path.write_bytes(before)


def test_missing_file(tmp_path):
    make().save(tmp_path / "D")
    (tmp_path / "D" / "rows.csv").unlink()
    assert refused(lambda: read_release(tmp_path / "D")).startswith("There is no file ")


def test_folder_without_manifest(tmp_path):
    assert "is a folder without release.toml: expected a file or a release folder." in refused(
        lambda: read_release(tmp_path)
    )


@pytest.mark.parametrize("text", [b"version = ", b"\xff", b"a = 1\na = 2", b"x = " + b"[" * 5000])
def test_broken_manifest(tmp_path, text):
    (tmp_path / "release.toml").write_bytes(text)
    why = "is not UTF-8 text" if text == b"\xff" else "is not valid TOML: "
    assert f"release.toml {why}" in refused(lambda: read_release(tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version = 1", "version = 2", "is of version 2; this showthrough reads version 1."),
        ("version = 1", "", "is of version None"),
        ('kind = "bucketized"', 'kind = "pram"', "describes a release of kind 'pram'"),
        ('id = "id"', "", "must name id, sensitive and group under [columns]"),
        ('id = "id"', "id = 3", "must name id, sensitive and group under [columns]"),
        ('quasi = ["zip"]', 'quasi = "zip"', "must name id, sensitive and group under [columns], and list quasi."),
        ('count = "count"', "count = []", "must name id, sensitive and group under [columns]"),
        ("[columns]", "columns = 3\n[other]", "expected a table [columns]."),
        ("[types]", "types = 3\n[other]", "must name"),
        ('zip = "text"', "zip = 3", "every entry of [types] must be text."),
        ('zip = "text"', 'zip = "colour"', "unknown type 'colour'."),
        ('zip = "text"', 'zip = "date"', "column 'zip' is not all of type date."),
        ('zip = "text"', 'zip = "boolean"', "column 'zip' is not all of type boolean."),
        ('id = "text"', 'id = "integer"', "column 'id' is not all of type integer."),
        (
            'role = "records"',
            'role = "rows"',
            "must name either one file of rows, or one of records and one of values.",
        ),
        ('role = "records"', 'role = "values"', "must name either one file of rows"),
        ('role = "records"', 'role = ["x"]', "must list its files with role, name and sha256."),
        ('name = "records.csv"', "", "must list its files with role, name and sha256."),
        ("[[files]]", "[[folders]]", "must list its files with role, name and sha256."),
        ('name = "records.csv"', 'name = "../records.csv"', "expected a plain name inside the release folder."),
        ('name = "records.csv"', 'name = "/etc/passwd"', "expected a plain name inside the release folder."),
        ('name = "records.csv"', 'name = ".."', "expected a plain name inside the release folder."),
        ('name = "records.csv"', 'name = ""', "expected a plain name inside the release folder."),
        ('name = "records.csv"', 'name = "sub\\\\x"', "expected a plain name inside the release folder."),
        ('name = "records.csv"', 'name = "x\\u0000"', "expected a plain name inside the release folder."),
        ('name = "records.csv"', 'name = "release.toml"', "is not the file that was saved"),
    ],
)
def test_foreign_manifests(tmp_path, old, new, message):
    make("pair").save(tmp_path / "D")
    shutil.copy(tmp_path / "D" / "records.csv", tmp_path / "records.csv")
    text = (tmp_path / "D" / "release.toml").read_text()
    if old == "[types]":
        text = text.replace("[columns]", new.split("\n")[0] + "\n[columns]").replace("[types]", "[other]")
        message = "expected a table [types]."
        (tmp_path / "D" / "release.toml").write_text(text)
    else:
        edit(tmp_path / "D", old, new)
    assert message in refused(lambda: read_release(tmp_path / "D"))


def test_a_manifest_that_names_a_missing_column(tmp_path):
    make().save(tmp_path / "D")
    edit(tmp_path / "D", 'quasi = ["zip"]', 'quasi = ["age"]')
    with refusing(InputError, match=r"rows\.csv has no column 'age'\. Its columns are: 'id', 'zip'"):
        read_release(tmp_path / "D")


def test_dates_and_names_of_other_types_in_a_manifest(tmp_path):
    make(date="x").save(tmp_path / "D")
    edit(tmp_path / "D", 'date = "x"', "date = 2020-01-02")
    edit(tmp_path / "D", 'name = "D1"', "name = 7")
    back = read_release(tmp_path / "D")
    assert (back.name, back.date) == ("7", "2020-01-02")


def test_existing_targets(tmp_path):
    make().save(tmp_path / "D")
    assert "exists already: nothing was written." in refused(lambda: make("pair").save(tmp_path / "D"))
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "loose").symlink_to("nowhere")
    for target in (tmp_path / "file", tmp_path / "empty", tmp_path / "loose"):
        assert "exists already" in refused(partial(make().save, target))
        assert "is not a release folder: nothing was written." in refused(partial(make().save, target, overwrite=True))
    assert (tmp_path / "file").read_text() == "x"
    same(read_release(tmp_path / "D"), make())


def test_overwrite(tmp_path):
    make().save(tmp_path / "D")
    make("pair").save(tmp_path / "D", format="parquet", overwrite=True)
    same(read_release(tmp_path / "D"), make("pair"))
    assert {p.name for p in (tmp_path / "D").iterdir()} == {"release.toml", "records.parquet", "values.parquet"}
    assert [p.name for p in tmp_path.iterdir()] == ["D"]


def test_overwrite_keeps_the_notes_of_others(tmp_path):
    make().save(tmp_path / "D")
    (tmp_path / "D" / "notes.txt").write_text("dear")
    assert "holds 'notes.txt', which is no part of a release: nothing was written." in refused(
        lambda: make().save(tmp_path / "D", overwrite=True)
    )
    assert (tmp_path / "D" / "notes.txt").read_text() == "dear"


def test_unwritable_parents(tmp_path):
    (tmp_path / "file").write_text("x")
    assert refused(lambda: make().save(tmp_path / "file" / "D")).endswith("D cannot be written: not a directory.")
    assert refused(lambda: make().save(tmp_path / "none" / "D")).endswith(
        f"D cannot be written: there is no folder {tmp_path / 'none'}. Make it first."
    )


def test_permissions_follow_the_umask(tmp_path):
    old = os.umask(0o077)
    try:
        make().save(tmp_path / "D")
    finally:
        os.umask(old)
    modes = {stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "D", *(tmp_path / "D").iterdir())}
    assert modes == {0o700, 0o600}


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt(), RuntimeError("x")])
@pytest.mark.parametrize(
    ("overwrite", "when"),
    [(o, w) for o in (True, False) for w in ("write", "manifest", "aside", "place") if o or w != "aside"],
)
def test_interruption_leaves_the_old_state(tmp_path, monkeypatch, fault, overwrite, when):
    if overwrite:
        make().save(tmp_path / "D")
    rename, moves = os.rename, []

    def fail(*_, **__):
        raise fault

    def fail_on_move(old, new):  # without the step in which the system exchanges two names
        moves.append(old)
        if len(moves) == (2 if when == "place" and overwrite else 1):
            raise fault
        return rename(old, new)

    if when == "write":
        monkeypatch.setattr(pl.DataFrame, "write_csv", fail)
    elif when == "manifest":
        monkeypatch.setattr(folder.manifest, "write", fail)
    else:
        monkeypatch.setattr(system, "renamed", lambda *_: False)
        monkeypatch.setattr(os, "rename", fail_on_move)
    with pytest.raises(FileError if isinstance(fault, OSError) else type(fault)) as caught:
        make("pair").save(tmp_path / "D", overwrite=overwrite)
    monkeypatch.undo()
    if isinstance(fault, OSError):
        assert caught.value.internal.endswith("D cannot be written: no space left on device.")
    assert [p.name for p in tmp_path.iterdir()] == (["D"] if overwrite else [])
    if overwrite:
        same(read_release(tmp_path / "D"), make())
