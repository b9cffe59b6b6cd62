"""Reading files that are not there, and writing files that appear whole or not at all."""

import io
import os
import stat

import polars as pl
import pytest

from showthrough.errors import FileError
from showthrough.table.files import check_writable, parse_table, read_table, written_whole
from tests.saying import refusing


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


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


@pytest.mark.parametrize("private", [True, False])
def test_permissions(tmp_path, private):
    old = os.umask(0o027)
    try:
        with written_whole(tmp_path / "out", private=private) as stream:
            stream.write(b"new")
            assert mode(next(tmp_path.iterdir())) == 0o600
    finally:
        os.umask(old)
    assert mode(tmp_path / "out") == (0o600 if private else 0o640)
    assert (tmp_path / "out").read_bytes() == b"new"


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
def test_a_fault_leaves_the_old_file_and_nothing_else(tmp_path, fault):
    def half_written() -> None:
        with written_whole(tmp_path / "out") as stream:
            stream.write(b"new")
            raise fault

    (tmp_path / "out").write_text("old")
    with pytest.raises(fault):
        half_written()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "old"


def test_a_full_disk_is_a_sentence(tmp_path):
    with (
        refusing(FileError, match=r"out cannot be written: no space left on device\.$"),
        written_whole(tmp_path / "out"),
    ):
        raise OSError(28, "No space left on device")
    assert not list(tmp_path.iterdir())


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with written_whole(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_device_is_not_replaced(tmp_path):
    null = tmp_path / "null"
    try:
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        null.open("wb").close()
    except OSError:
        null.unlink(missing_ok=True)
        os.mkfifo(null)
    kind = stat.S_IFMT(null.stat().st_mode)
    reader = os.open(null, os.O_RDONLY | os.O_NONBLOCK)
    check_writable(null)
    with written_whole(null) as stream:
        stream.write(b"gone")
    os.close(reader)
    assert stat.S_IFMT(null.stat().st_mode) == kind
    assert [p.name for p in tmp_path.iterdir()] == ["null"]


@pytest.mark.parametrize("check", [check_writable, lambda path: written_whole(path).__enter__()])
def test_unwritable_targets(tmp_path, check):
    (tmp_path / "file").write_text("x")
    with refusing(FileError, match="cannot be written: not a directory"):
        check(tmp_path / "file" / "out")
    with refusing(FileError, match="cannot be written: no such file or directory"):
        check(tmp_path / "none" / "out")


def test_unwritable_names(tmp_path):
    with refusing(FileError, match="is a folder, expected the name of a file to write"):
        check_writable(tmp_path)
    with refusing(FileError, match="cannot be written: file name too long"):
        check_writable(tmp_path / ("x" * 300))


def test_checking_leaves_nothing_behind(tmp_path):
    (tmp_path / "out").write_text("old")
    check_writable(tmp_path / "out")
    check_writable(tmp_path / "new")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "old"
