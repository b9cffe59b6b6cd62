"""``audit --engine``: the page, the tables of persons in their place or nowhere, and nothing of persons left behind."""

import errno
import json
import os
import shutil
import stat
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from showthrough.engines.local import Local
from showthrough.examples import figure1
from showthrough.inference.cluster.pieces import TABLES
from showthrough.requests import audit_pieces
from tests.cli.running import ROLES, run


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure1.write(tmp_path)
    (tmp_path / "shared").mkdir()
    return tmp_path


@pytest.fixture
def here(home, monkeypatch):
    """The work of an engine that leaves its folder where it is told, in this process."""

    @contextmanager
    def engine(_request):
        found = Local()
        found.folder = home / "shared"
        yield found

    monkeypatch.setattr(audit_pieces, "_engine", engine)


@pytest.fixture
def another_disk(monkeypatch):
    renamed = os.rename

    def rename(old, new):
        if Path(old).name in TABLES:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        renamed(old, new)

    monkeypatch.setattr(os, "rename", rename)


def audit(*words):
    return run("audit", "D1.csv", "D2.csv", *ROLES, *words)


def left(home):
    return {p.name for p in home.iterdir()} - {"D1.csv", "D2.csv"}


def test_the_page_of_an_audit_on_all_cores(home, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(home / "shared"))
    done = audit("--engine", "processes", "-o", "r.html", "--json", "a.json")
    assert (done.code, done.err) == (0, "")
    assert "Report: r.html (shareable, counts only)" in done.out
    assert "--audience internal" not in done.out
    assert left(home) == {"r.html", "a.json", "shared"}
    text = (home / "r.html").read_text("utf-8")
    assert "showthrough audit D1.csv D2.csv --id pseudonym" in text
    assert "Together, D1 and D2 let a reader be certain of the disease of 3 of 15 persons." in text
    assert json.loads((home / "a.json").read_text("utf-8"))["made"]["command"].startswith("showthrough audit D1.csv")
    assert not list((home / "shared").iterdir())


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("words", [(), ("-o", "r.html"), ("--people", "who"), ("-o", "r.html", "--people", "who")])
def test_nothing_is_left_in_the_work_folder(home, words):
    assert audit("--engine", "spark", "--work-folder", "shared", *words).code == 0
    assert not list((home / "shared").iterdir())
    assert left(home) == {"shared", *(word for word in words if not word.startswith("-"))}


@pytest.mark.usefixtures("here", "another_disk")
def test_tables_of_persons_go_to_another_file_system(home):
    assert audit("--engine", "processes", "--people", "who").code == 0
    found = sorted((home / "who").glob("*/*.parquet"))
    assert {path.parent.name for path in found} == set(TABLES)
    assert {stat.S_IMODE(path.stat().st_mode) for path in found} == {0o600}
    assert pl.read_parquet(home / "who" / "people" / "*.parquet").height == 15
    assert not list((home / "shared").iterdir())


@pytest.mark.usefixtures("here", "another_disk")
def test_a_full_disk_leaves_no_part_of_the_tables(home, monkeypatch):
    copied = shutil.copyfileobj

    def full(source, target, length):
        if TABLES[1] in source.name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        copied(source, target, length)

    monkeypatch.setattr(shutil, "copyfileobj", full)
    done = audit("--engine", "processes", "--people", "who", "-o", "r.html")
    assert done.code == 2
    assert "who" in done.err
    assert left(home) == {"shared"}
    assert not list((home / "shared").iterdir())


def test_the_internal_audience_is_refused(home):
    done = audit("--engine", "processes", "-o", "r.html", "--audience", "internal")
    assert done.code == 2
    assert "the internal audience is not worked out" in done.err
    assert left(home) == {"shared"}
