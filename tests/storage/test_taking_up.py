"""Folders that a later run goes on from: only what this user wrote, and of the same things."""

import os
import shutil
import sys

import pytest

from showthrough.errors import FileError
from showthrough.storage.taking_up import named, states_of, taken_up


def folder(home, made_of, question="all"):
    return home / f"showthrough-{named(question, made_of)}"


def test_the_same_is_taken_up_and_something_else_begins_anew(tmp_path):
    first, other = folder(tmp_path, ["1.0"]), folder(tmp_path, ["1.1"])
    assert not taken_up(first)
    (first / "step").touch()
    assert not taken_up(first)
    assert (first / "step").exists()
    assert not taken_up(folder(tmp_path, ["1.0"], "something else"))
    assert taken_up(other)
    assert not first.exists()
    assert not list(other.iterdir())


def test_an_answer_that_somebody_may_still_read_stays(tmp_path):
    first, other = folder(tmp_path, ["1.0"]), folder(tmp_path, ["1.1"])
    taken_up(first, "complete")
    (first / "complete").touch()
    assert not taken_up(other, "complete")
    assert first.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="owners and modes")
def test_nothing_is_read_that_others_may_have_written(tmp_path, monkeypatch):
    open_to_all = folder(tmp_path, ["1.0"])
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    with pytest.raises(FileError, match="others own it or may write in it, so nothing is read from it"):
        taken_up(open_to_all)
    open_to_all.chmod(0o700)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    link = folder(tmp_path, ["1.1"])
    link.symlink_to(elsewhere)
    with pytest.raises(FileError, match="nothing is read"):
        taken_up(link)
    link.unlink()
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    with pytest.raises(FileError, match="nothing is read"):
        taken_up(open_to_all)


def test_a_file_that_was_put_in_place_of_another_with_its_size_and_time_is_seen(tmp_path):
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "part.parquet"
    path.write_bytes(b"one")
    before, of = states_of(tmp_path / "data"), path.stat()
    path.write_bytes(b"two")
    os.utime(path, ns=(of.st_atime_ns, of.st_mtime_ns))
    assert states_of(tmp_path / "data") != before
    shutil.rmtree(tmp_path / "data")
    assert states_of(tmp_path / "data") == []
