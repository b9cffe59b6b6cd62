"""Several targets, several runs: one unit, one winner, and nobody reads what is half written."""

import errno
import multiprocessing
import os
import stat
import threading
from pathlib import Path

import pytest

from showthrough.errors import FileError
from showthrough.storage import claim, leftovers, outcome, system
from showthrough.storage.claim import BusyError
from showthrough.storage.leftovers import settle, steady
from showthrough.storage.unit import Unit

ROUNDS = 8
SPAWN = multiprocessing.get_context("spawn")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def write(text: str, *, folder: str = "D", replace: bool = True) -> None:
    with Unit() as unit:
        home = unit.folder(folder, replace=replace)
        for name in ("a", "b", "c"):
            system.write_bytes(home / name, text.encode())
        unit.file(f"{folder}.link", private=True).write(text.encode())
        unit.commit()


def held(folder: str = "D") -> set[str]:
    """The texts of all files of a unit: one, unless it is a mixture."""
    return {path.read_text() for path in (*Path(folder).iterdir(), Path(f"{folder}.link"))}


@pytest.fixture(autouse=True, params=[True, False], ids=["exchange", "no exchange"])
def home(tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    if not request.param:
        monkeypatch.setattr(system, "renamed", lambda *_: False)
    return tmp_path


def names(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if not path.is_dir())


def test_a_unit_appears_and_is_replaced_as_a_whole(home):
    for text in ("old", "new"):
        write(text)
        assert held() == {text}
    assert names(home) == ["D.link", "D/a", "D/b", "D/c"]
    assert mode(home / "D.link") == 0o600
    assert mode(home / "D" / "a") == 0o666 & ~current_umask()


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_without_a_commit_nothing_happened(home):
    write("old")
    with Unit() as unit:
        (unit.folder("D", replace=True) / "a").write_text("new")
        unit.file("D.link").write(b"new")
        unit.remove("D/a")
    assert held() == {"old"}
    assert sorted(p.name for p in home.iterdir()) == ["D", "D.link"]


def test_what_is_removed_goes_with_the_unit(home):
    Path("gone").write_text("x")
    with Unit() as unit:
        unit.remove("gone")
        unit.remove("never")
        unit.file("new").write(b"y")
        assert Path("gone").exists()
        unit.commit()
    assert names(home) == ["new"]


def test_an_existing_target_is_not_replaced_unasked(home):
    write("old")
    with pytest.raises(FileError, match=r"^D exists already: nothing was written"):
        write("new", replace=False)
    assert held() == {"old"}


def test_a_target_that_appears_meanwhile_is_not_replaced_unasked(home):
    with Unit() as unit:
        unit.folder("D")
        Path("D").mkdir()
        with pytest.raises(FileError, match="D exists already: nothing was written"):
            unit.commit()
    assert [p.name for p in home.iterdir()] == ["D"]


def test_a_last_look_may_refuse(home):
    write("old")

    def refuse() -> None:
        raise FileError("somebody put notes into it")

    with Unit() as unit:
        unit.folder("D", replace=True, still=refuse)
        with pytest.raises(FileError, match="notes"):
            unit.commit()
    assert held() == {"old"}


def test_the_other_is_told(home, monkeypatch):
    monkeypatch.setattr(claim, "_PATIENCE", 0.1)
    monkeypatch.setattr(claim.claim, "__kwdefaults__", {"patience": 0.1})
    with Unit() as unit:
        unit.folder("D")
        with pytest.raises(BusyError, match=r"^Another run is writing D: nothing was written"):
            write("other")
        write("elsewhere", folder="E")
        unit.commit()
    assert list(Path("D").iterdir()) == []
    assert held("E") == {"elsewhere"}


def test_a_link_to_a_folder_stays_one(home):
    (home / "place").mkdir()
    write("old", folder="place/real")
    (home / "D").symlink_to("place/real")
    with Unit() as unit:
        system.write_bytes(unit.folder("D", replace=True) / "a", b"new")
        unit.commit()
    assert (home / "D").is_symlink()
    assert names(home / "place" / "real") == ["a"]


def test_names_of_any_length_and_bytes(home):
    for name in ("x" * 255, "é" * 120, os.fsdecode(b"\xff\xfe"), ".showthrough", "a b\n"):
        for text in (b"old", b"new"):
            with Unit() as unit:
                unit.file(name).write(text)
                unit.file("beside").write(text)
                unit.commit()
        assert Path(name).read_bytes() == b"new"
        Path(name).unlink()
    assert names(home) == ["beside"]


def test_a_name_that_is_too_long_for_one_part_refuses_all(home):
    """The folder's name fits, that of the link beside it does not."""
    with pytest.raises(FileError, match="cannot be written: file name too long"):
        write("new", folder="x" * 252)
    assert list(home.iterdir()) == []


def test_what_cannot_be_moved_later_is_refused_at_once(home, monkeypatch):
    """Others would have moved already, and a unit that cannot be finished would stay half for ever."""
    write("old")
    (home).chmod(0o1777)
    monkeypatch.setattr(os, "geteuid", lambda: (home / "D.link").stat().st_uid + 1)
    with pytest.raises(FileError, match="cannot be written: operation not permitted"), Unit() as unit:
        unit.file("D.link")
    monkeypatch.undo()
    monkeypatch.chdir(home)
    lstat = os.lstat

    def elsewhere(path, **options):
        found = list(lstat(path, **options))
        found[2] += os.fspath(path).endswith("D.link")  # the device, as where something is mounted
        return os.stat_result(found)

    monkeypatch.setattr(os, "lstat", elsewhere)
    with pytest.raises(FileError, match="cannot be written: device or resource busy"), Unit() as unit:
        unit.file("D.link")
    monkeypatch.undo()
    monkeypatch.chdir(home)
    assert held() == {"old"}
    assert sorted(path.name for path in home.iterdir()) == ["D", "D.link"]


@pytest.mark.parametrize("problem", [errno.EROFS, errno.EACCES])
def test_whoever_may_only_read_reads_beside_what_a_killed_run_left(home, monkeypatch, problem):
    write("old")
    (home / ".showthrough.D" / "new").mkdir(parents=True, mode=0o700)
    (home / ".showthrough.D" / "lock").write_bytes(b"")

    def refused(*_):
        raise OSError(problem, os.strerror(problem))

    monkeypatch.setattr(system, "lock", refused)
    assert steady("D", lambda: held()) == {"old"}


def test_a_folder_that_is_not_ours_is_left_alone(home):
    (home / ".showthrough.D").mkdir()
    (home / ".showthrough.D" / "diary").write_text("dear")
    settle("D")
    with pytest.raises(FileError, match=r"D cannot be written: .showthrough.D beside it is of another user or program"):
        write("new")
    assert names(home) == [".showthrough.D/diary"]


def test_what_cannot_be_removed_is_told(home, monkeypatch):
    (home / ".showthrough.D").mkdir()
    (home / ".showthrough.D" / "new").write_text("x")
    monkeypatch.setattr(claim.Claim, "release", claim.Claim.leave)
    with pytest.raises(FileError, match=r"D cannot be written: what a run that was killed left in .*"):
        write("new")


def test_a_journal_that_somebody_made_up_reaches_no_other_file(home):
    (home / "mine.txt").write_text("mine")
    work = home / "bundle" / ".showthrough.D"
    work.mkdir(parents=True)
    (home / "bundle" / "D").write_text("x")
    (work / "unit").write_bytes(claim.as_json({"target": "D", "first": "", "token": "t"}))
    parts = [{"target": t, "kind": k, "digest": None} for t, k in (("D", "file"), ("../mine.txt", "gone"))]
    (work / "journal").write_bytes(claim.as_json({"version": 1, "token": "t", "parts": parts}))
    settle("bundle/D")
    assert (home / "mine.txt").read_text() == "mine"
    assert not work.exists()


def test_what_was_written_is_told(home):
    outcome.begin()
    assert outcome.what_was_written() == "no result was written"
    write("new")
    assert outcome.what_was_written() == "D and D.link were written"


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"version": 1, "parts": 3}', b"[" * 100000])
def test_a_damaged_journal_undoes_nothing_and_is_swept(home, text):
    write("old")
    (home / ".showthrough.D").mkdir()
    (home / ".showthrough.D" / "journal").write_bytes(text)
    assert steady("D", held) == {"old"}
    assert names(home) == ["D.link", "D/a", "D/b", "D/c"]


def publisher(home: str, name: str, replace: bool, exchange: bool, told: "multiprocessing.Queue") -> None:
    os.chdir(home)
    rounds = ROUNDS if replace else 1
    if not exchange:
        system.renamed = lambda *_: False
    for n in range(rounds):
        try:
            write(f"{name}{n}", replace=replace)
            told.put(f"{name}{n}")
        except FileError as refused:
            told.put(str(refused))


@pytest.mark.parametrize("replace", [True, False])
def test_publishers_and_a_reader_never_meet_a_mixture(home, replace, request):
    told = SPAWN.Queue()
    rounds, exchange = ROUNDS if replace else 1, "no exchange" not in request.node.name
    others = [SPAWN.Process(target=publisher, args=(str(home), name, replace, exchange, told)) for name in "xyz"]
    for one in others:
        one.start()
    mixtures = []
    while any(one.is_alive() for one in others):
        if Path("D").exists() and len(found := steady("D", read_through)) != 1:
            mixtures.append(found)
    for one in others:
        one.join()
    said = [told.get(timeout=10) for _ in range(rounds * 3)]
    assert not mixtures
    assert len(held()) == 1
    wrote = [text for text in said if " " not in text]
    if not replace:
        assert len(wrote) == 1
        assert held() == set(wrote)
    assert all("nothing was written" in text for text in said if text not in wrote)
    assert names(home) == ["D.link", "D/a", "D/b", "D/c"]


def read_through() -> set[str]:
    try:
        return held()
    except OSError as gone:
        raise FileError(str(gone)) from None


def test_a_thread_is_another_run(home):
    write("old")
    wrong: list[object] = []

    def again(n: int) -> None:
        try:
            write(f"t{n}")
        except FileError as refused:
            wrong.append(refused)

    threads = [threading.Thread(target=again, args=(n,)) for n in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(held()) == 1
    assert all(isinstance(e, BusyError) for e in wrong)


def test_patience_has_an_end(home, monkeypatch):
    monkeypatch.setattr(leftovers, "_PATIENCE", 0.05)
    with Unit() as unit:
        unit.folder("D")
        (home / ".showthrough.D" / "journal").write_text("{}")
        with pytest.raises(FileError, match="D is being replaced by another run: try again when it has ended"):
            steady("D", held)
