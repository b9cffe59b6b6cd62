"""From files to releases."""

import os

import polars as pl
import pytest

from showthrough import read_release
from showthrough.errors import FileError, InputError, ReleaseError
from tests.release.test_bucketized import RECORDS, ROLES, ROWS, TALLY, VALUES


@pytest.fixture
def home(tmp_path):
    pl.DataFrame(ROWS).write_csv(tmp_path / "D1.csv")
    pl.DataFrame(ROWS).write_parquet(tmp_path / "D1.parquet")
    pl.DataFrame(RECORDS).write_csv(tmp_path / "records.csv")
    pl.DataFrame(VALUES).write_csv(tmp_path / "values.csv")
    pl.DataFrame(VALUES).write_parquet(tmp_path / "values.parquet")
    return tmp_path


def test_csv_is_text(home):
    release = read_release(home / "D1.csv", **ROLES)
    assert release.name == "D1"
    assert release.counts().rows() == [(str(g), v, n) for g, v, n in TALLY]
    assert release.records["zip"].to_list() == ["02139", "02138", None, "1"]


def test_parquet_keeps_its_types(home):
    assert read_release(str(home / "D1.parquet"), **ROLES).counts().rows() == TALLY


@pytest.mark.parametrize("values", ["values.csv", "values.parquet"])
def test_pairs(home, values):
    release = read_release(home / "records.csv", home / values, **ROLES)
    assert release.shape == "pair"
    assert release.counts()["n"].to_list() == [1, 1, 2]


def test_names(home):
    os.link(home / "D1.csv", home / "D2.csv.gz")
    assert read_release(home / "D2.csv.gz", **ROLES).name == "D2"
    assert read_release(home / "D1.csv", name="May", date="2020", **ROLES).name == "May"


def test_a_file_name_that_is_no_text(home):
    odd = os.fsencode(home) + b"/D\xff.csv"
    os.link(home / "D1.csv", odd)
    assert read_release(os.fsdecode(odd), **ROLES).name == "D\ufffd"


def test_missing_roles(home):
    with pytest.raises(
        InputError, match=r"is a plain file without a release\.toml: name its columns with --id, --group\."
    ):
        read_release(home / "D1.csv", sensitive="disease")


def test_missing_file_comes_before_missing_roles(home):
    with pytest.raises(FileError, match=r"^There is no file .*D9\.csv\.$"):
        read_release(home / "D9.csv")


def test_messages_name_the_file(home):
    (home / "sub").mkdir()
    (home / "sub" / "D1.csv").write_text("id,group,disease\n1,,Flu\n")
    with pytest.raises(ReleaseError, match=r"sub/D1\.csv: the person in row 1 has no group"):
        read_release(home / "sub" / "D1.csv", **ROLES)
    (home / "values.csv").write_text("group,disease,count\n1,Flu,x\n")
    with pytest.raises(ReleaseError, match=r"values\.csv: row 1 has 'x' in column 'count'"):
        read_release(home / "records.csv", home / "values.csv", **ROLES)


def test_a_release_folder_holds_its_own_values(home):
    read_release(home / "D1.csv", **ROLES).save(home / "folder")
    with pytest.raises(InputError, match="is a release folder, which holds its own values"):
        read_release(home / "folder", home / "values.csv")


def test_encoding_is_for_both_tables(home):
    text = (home / "values.csv").read_text().replace("HIV", "Häm")
    (home / "values.csv").write_text(text, encoding="latin-1")
    with pytest.raises(FileError, match=r"values\.csv is not utf-8 text"):
        read_release(home / "records.csv", home / "values.csv", **ROLES)
    release = read_release(home / "records.csv", home / "values.csv", encoding="latin-1", **ROLES)
    assert "Häm" in release.counts()["value"].to_list()
