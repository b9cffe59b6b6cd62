"""One file that appears whole or not at all."""

import os
import stat

import pytest

from showthrough.errors import FileError
from showthrough.storage.unit import check_writable, written_whole


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("private", [True, False])
def test_permissions(tmp_path, private):
    old = os.umask(0o027)
    try:
        with written_whole(tmp_path / "out", private=private) as stream:
            stream.write(b"new")
            (work,) = tmp_path.iterdir()
            assert mode(work) == 0o700
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
        pytest.raises(FileError, match=r"out cannot be written: no space left on device\.$"),
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
    with pytest.raises(FileError, match="cannot be written: not a directory"):
        check(tmp_path / "file" / "out")
    with pytest.raises(FileError, match=r"cannot be written: there is no folder .*none\. Make it first\."):
        check(tmp_path / "none" / "out")


def test_unwritable_names(tmp_path):
    with pytest.raises(FileError, match="is a folder, expected the name of a file to write"):
        check_writable(tmp_path)
    with pytest.raises(FileError, match="cannot be written: file name too long"):
        check_writable(tmp_path / ("x" * 300))


def test_checking_leaves_nothing_behind(tmp_path):
    (tmp_path / "out").write_text("old")
    check_writable(tmp_path / "out")
    check_writable(tmp_path / "new")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "old"
