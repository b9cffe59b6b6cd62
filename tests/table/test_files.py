"""Reading files that are not there, or are no tables."""

import io

import polars as pl
import pytest

from showthrough.errors import FileError
from showthrough.table.files import parse_table, read_table
from tests.saying import refusing


def test_missing_file(tmp_path):
    with refusing(FileError, match=r"^There is no file .*none\.csv\.$"):
        read_table(tmp_path / "none.csv")


def test_folder_instead_of_a_file(tmp_path):
    with refusing(FileError, match="is a folder, expected a file"):
        read_table(tmp_path)


def test_file_inside_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    with refusing(FileError, match="cannot be read: not a directory"):
        read_table(tmp_path / "file" / "d.csv")


def test_name_too_long(tmp_path):
    with refusing(FileError, match="cannot be read: file name too long"):
        read_table(tmp_path / ("x" * 300))


def test_parquet_keeps_its_types(tmp_path):
    frame = pl.DataFrame({"id": [1, 2], "zip": ["02139", None], "day": [None, 1.5]})
    frame.write_parquet(tmp_path / "d.anything")
    assert read_table(tmp_path / "d.anything").equals(frame)


def test_parquet_without_rows(tmp_path):
    pl.DataFrame(schema={"id": pl.Int64}).write_parquet(tmp_path / "d.parquet")
    with refusing(FileError, match=r"d\.parquet is empty: it has columns but no rows\.$"):
        read_table(tmp_path / "d.parquet")


def test_any_truncated_parquet_is_a_sentence():
    stream = io.BytesIO()
    pl.DataFrame({"id": [f"zq-person-{k}" for k in range(9)]}).write_parquet(stream, compression="uncompressed")
    whole = stream.getvalue()
    for end in range(4, len(whole), 7):
        with refusing(FileError, match=r"^d is a damaged Parquet file") as caught:
            parse_table(whole[:end], "d")
        assert caught.value.shareable == "d is a damaged Parquet file."


def test_a_panic_of_the_reader_is_a_sentence(monkeypatch):
    def panic(_):
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(pl, "read_parquet", panic)
    with refusing(FileError, match="is a damaged Parquet file"):
        parse_table(b"PAR1", "d")


def test_two_readers_that_disagree_are_not_believed(monkeypatch):
    monkeypatch.setattr(pl, "read_csv", lambda *_, **__: pl.DataFrame({"a": ["1"]}))
    with refusing(FileError, match="2 rows were expected, 1 were read"):
        parse_table(b"a\n1\n2\n", "d")


def test_what_the_parser_quotes_is_not_shared(monkeypatch):
    def fail(*_, **__):
        raise pl.exceptions.ComputeError("could not parse `zq-person-17` as text\nmore")

    monkeypatch.setattr(pl, "read_csv", fail)
    with pytest.raises(FileError) as caught:
        parse_table(b"a\n1\n2\n", "d")
    assert caught.value.internal == "d cannot be read as CSV (could not parse `zq-person-17` as text)."
    assert caught.value.shareable == "d cannot be read as CSV."
