"""Histories that workers read: figures and page are those of a history that this process reads."""

import os
from contextlib import contextmanager

import polars as pl
import pytest

from showthrough.engines.local import Local
from showthrough.errors import EngineError, FileError, ReleaseError
from showthrough.progress import Progress
from showthrough.requests import audit_pieces, read_history, read_there
from showthrough.requests.audit import AuditRequest, run_audit
from showthrough.requests.audit_pieces import run_audit_in_pieces
from showthrough.requests.read_there import cut_history, lay_release
from showthrough.storage.taking_up import ANEW
from tests.requests.folders_of_histories import request_of, told


@pytest.fixture(autouse=True)
def shared(tmp_path, monkeypatch):
    """An engine whose only worker is this process, which leaves its folder where it is told."""
    home = tmp_path / "shared"
    home.mkdir()

    @contextmanager
    def engine(_request):
        found = Local()
        found.folder = home
        yield found

    monkeypatch.setattr(audit_pieces, "_engine", engine)
    return home


@pytest.mark.parametrize("seed", range(31_000, 31_030))
def test_random_histories_in_folders(seed, tmp_path, shared, monkeypatch):
    request = request_of(seed, tmp_path, report=True)
    if request is None:
        return
    there, page = told(run_audit_in_pieces, request)
    monkeypatch.setattr(audit_pieces, "by_workers", read_history.here)
    here, other = told(run_audit_in_pieces, request)
    assert page == other
    if isinstance(here, type):
        assert there is here
        return
    timeless = [{k: v for k, v in one.as_dict().items() if k != "certificate"} for one in (there, here)]
    assert timeless[0] == timeless[1]
    assert not list(shared.iterdir())
    one = run_audit(request).audit
    assert one.joint.certain == there.joint.certain
    assert one.joint.entropy_nats == pytest.approx(there.joint.entropy_nats, abs=1e-9)


def test_what_is_told_of_a_release_holds_no_person(tmp_path):
    for seed in range(31_100, 31_110):
        home = tmp_path / str(seed)
        home.mkdir()
        request = request_of(seed, home)
        if request is None:
            continue
        found = told(run_audit_in_pieces, request)[0]
        if isinstance(found, type):
            continue
        assert all(release.records.height == 0 for release in found.sources)
        assert all(release.link is None or release.link.height == 0 for release in found.sources)
        register = found.posterior.reader.register
        assert register is None or len(register) == 0


def test_an_error_brings_no_cell_back(tmp_path, shared):
    (tmp_path / "twice.csv").write_text("who,g,v\nann,1,a\nann,1,b\n")
    asked = {"release": [{"file": str(tmp_path / "twice.csv")}], "id": "who", "sensitive": "v", "group": "g"}
    with pytest.raises(ReleaseError, match="the same id stands in rows 1 and 2") as caught:
        run_audit_in_pieces(AuditRequest.from_dict({**asked, "engine": "spark"}))
    assert "ann" not in caught.value.internal
    assert not list(shared.iterdir())


def test_a_worker_that_does_not_see_a_file_is_told(tmp_path):
    """The driver has looked for it before; here the worker is asked at once."""
    asked = {"release": [{"file": str(tmp_path / "only-there.csv")}], "id": "who", "sensitive": "v", "group": "g"}
    request = AuditRequest.from_dict({**asked, "engine": "spark"})
    for read in (lay_release, cut_history):
        with pytest.raises(EngineError, match=r"does not see .*only-there\.csv, which workers read: put it on storage"):
            read(request, str(tmp_path))
    with pytest.raises(FileError, match=r"^There is no file .*only-there\.csv\.$"):
        run_audit_in_pieces(request)


@pytest.mark.parametrize("change", ["version", "file"])
def test_what_was_laid_down_before_an_upgrade_or_of_other_files_is_not_read(tmp_path, shared, monkeypatch, change):
    """A run that was broken off is followed by one that begins anew, says so, and leaves nothing of the first."""
    pl.DataFrame({"who": [1, 2, 3, 4], "g": [1, 1, 2, 2], "v": ["a", "b", "a", "c"]}).write_csv(tmp_path / "D1.csv")
    roles = {"id": "who", "sensitive": "v", "group": "g"}
    request = AuditRequest.from_dict({"release": [{"file": str(tmp_path / "D1.csv")}], **roles, "engine": "spark"})
    read, told = read_history.by_workers(request), []
    with audit_pieces._engine(request) as engine:
        engine.session = "there"  # so that releases with ids are laid down
        for _ in range(2):
            read(engine, Progress.of(told.append))
        (home,) = shared.iterdir()
        if change == "version":
            monkeypatch.setattr(read_there, "__version__", "99.0")
        else:
            path = tmp_path / "D1.csv"
            of = path.stat()
            path.write_text(path.read_text().replace("c", "d"))
            os.utime(path, ns=(of.st_atime_ns, of.st_mtime_ns))
        read(engine, Progress.of(told.append))
    assert told == [ANEW]
    (after,) = shared.iterdir()
    assert after != home
    values = pl.read_parquet(after / "values" / "part.parquet")["value"]
    assert set(values) == ({"a", "b", "c"} if change == "version" else {"a", "b", "d"})
