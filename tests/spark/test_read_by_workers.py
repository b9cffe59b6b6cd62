"""Release folders, CSV and Parquet files, and registers: read by workers alone, with the figures of one machine."""

from contextlib import contextmanager

import polars as pl
import pytest

from showthrough.errors import FileError
from showthrough.requests import audit_pieces
from showthrough.requests.audit import AuditRequest, run_audit
from showthrough.requests.audit_pieces import run_audit_in_pieces
from tests.requests.folders_of_histories import request_of


@pytest.fixture(autouse=True)
def on_the_cluster(engine, monkeypatch):
    @contextmanager
    def given(_request):
        yield engine

    monkeypatch.setattr(audit_pieces, "_engine", given)


def refuse(*_given, **_options):
    raise AssertionError("the driver read a file")


@contextmanager
def blind():
    """This process reads no table: only workers, who are other processes, can."""
    with pytest.MonkeyPatch.context() as patched:
        for name in ("table.files", "release.folder", "register.history_file"):
            patched.setattr(f"showthrough.{name}.read_bytes", refuse)
        for name in ("read_parquet", "read_csv"):
            patched.setattr(pl, name, refuse)
        patched.setattr("showthrough.report.origin.sha256_of", refuse)
        yield


def same(request):
    with blind():
        there = run_audit_in_pieces(request)
    here = run_audit(request)
    names = ("persons", "certain", "newly_certain", "impossible_by_sets", "impossible_by_counts", "answered")
    assert [getattr(there.audit.joint, n) for n in names] == [getattr(here.audit.joint, n) for n in names]
    assert there.audit.joint.entropy_nats == pytest.approx(here.audit.joint.entropy_nats, abs=1e-9)
    assert there.made.files == here.made.files
    assert [r.groups for r in there.audit.releases] == [r.groups for r in here.audit.releases]


def test_release_folders_with_ids(tmp_path, engine):
    same(request_of(31_215, tmp_path))
    assert not list(engine.folder.glob("showthrough-read-*"))


def test_releases_without_ids_beside_a_register(tmp_path):
    same(request_of(31_226, tmp_path))


def test_a_csv_file_beside_a_parquet_file(tmp_path):
    first = pl.DataFrame({"who": ["1", "2", "3", "4"], "g": [1, 1, 2, 2], "v": ["a", "b", "a", "c"]})
    second = pl.DataFrame({"who": [1, 2, 3, 5], "g": ["x", "y", "x", "y"], "v": ["a", "b", "a", "c"]})
    first.write_csv(tmp_path / "D1.csv")
    second.write_parquet(tmp_path / "D2.parquet")
    files = [{"file": str(tmp_path / name)} for name in ("D1.csv", "D2.parquet")]
    asked = {"release": files, "id": "who", "sensitive": "v", "group": "g", "engine": "spark"}
    same(AuditRequest.from_dict(asked))


def test_a_file_that_was_changed_is_told_by_the_worker_that_read_it(tmp_path, engine):
    request = request_of(31_215, tmp_path)
    path = next((tmp_path / "R1").glob("rows.*"))
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(FileError, match=r"is not the file that was saved: its SHA-256 differs"):
        run_audit_in_pieces(request)
    assert not list(engine.folder.glob("showthrough-read-*"))


def test_kinds_without_ids_beside_ids_leave_nothing_laid_down(tmp_path, engine):
    """What was laid down in vain is gone, and one worker reads all of it."""
    first = pl.DataFrame({"who": ["1", "2", "3"], "g": [1, 1, 1], "v": ["a", "b", "a"]})
    first.write_csv(tmp_path / "D1.csv")
    pl.DataFrame({"zip": ["1*", "1*"], "v": ["a", "b"]}).write_csv(tmp_path / "D2.csv")
    roles = {"file": str(tmp_path / "D1.csv"), "id": "who", "group": "g"}
    second = {"file": str(tmp_path / "D2.csv"), "quasi": ["zip"], "kind": "generalized"}
    there = set(engine.folder.iterdir())  # what broken runs of other tests go on from
    same(AuditRequest.from_dict({"release": [roles, second], "sensitive": "v", "engine": "spark"}))
    assert set(engine.folder.iterdir()) == there
