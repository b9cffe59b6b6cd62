"""Release folders that somebody changed, or that reach out of themselves, and two publishers of one folder."""

import multiprocessing
import os
from pathlib import Path

import pytest

from showthrough import read_release
from showthrough.anonymizers.plan import read_plan
from showthrough.errors import FileError
from showthrough.storage.unit import Unit
from tests.cli.running import run

ROLES = ("--id", "id", "--sensitive", "disease", "--quasi", "zip,age")
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"p{i},130{i % 3}{i % 2},{20 + 7 * i % 40},{'abcd'[i % 4]}" for i in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(["id,zip,age,disease", *rows]) + "\n")
    assert run("publish", "t.csv", *ROLES, "--k", 2, "-o", "D").code == 0
    return tmp_path


def test_the_plan_is_hashed_in_the_manifest(home):
    assert read_plan("D") == read_plan("D/plan.json")
    (home / "D" / "plan.json").write_text((home / "D" / "plan.json").read_text() + " ")
    for read in (lambda: read_release("D"), lambda: read_plan("D"), lambda: read_plan("D/plan.json")):
        with pytest.raises(FileError, match=r"plan\.json is not the file that was saved: its SHA-256 differs"):
            read()
    (home / "D" / "plan.json").unlink()
    with pytest.raises(FileError, match=r"There is no file .*plan\.json"):
        read_release("D")


def test_folders_of_earlier_versions_do_not_hash_the_plan(home):
    (home / "D.link.csv").unlink(missing_ok=True)  # those versions had none there
    manifest = home / "D" / "release.toml"
    text = manifest.read_text()
    start = text.index("[plan]")
    manifest.write_text(text[:start] + text[text.index("[[files]]") :])
    (home / "D" / "plan.json").write_text('{"version": 1, "quasi": [], "levels": {}}')
    assert read_release("D").name == "D"
    assert read_plan("D")["levels"] == {}


@pytest.mark.parametrize("entry", ["plan = 3", '[plan]\nname = "x.json"\nsha256 = "0"', '[plan]\nname = "plan.json"'])
def test_entries_of_a_plan_that_say_nothing(home, entry):
    manifest = home / "D" / "release.toml"
    text = manifest.read_text()
    start, end = text.index("[plan]"), text.index("[[files]]")
    manifest.write_text(f"{entry}\n{text[:start]}{text[end:]}" if "=" in entry.split("\n")[0] else
                        f"{text[:start]}{entry}\n{text[end:]}")  # fmt: skip
    with pytest.raises(FileError, match=r"\[plan\] must give name = 'plan.json' and its sha256"):
        read_release("D")


@pytest.mark.parametrize("name", ["rows.csv", "plan.json", "release.toml"])
@pytest.mark.parametrize("relative", [True, False])
def test_links_out_of_a_release_folder_are_refused(home, name, relative):
    path = home / "D" / name
    path.rename(home / "outside")
    path.symlink_to("../outside" if relative else home / "outside")
    with pytest.raises(FileError, match=f"{name} is a link out of the release folder: put the file itself there"):
        read_release("D")


@pytest.mark.parametrize("name", ["rows.csv", "plan.json", "release.toml"])
@pytest.mark.timeout(60)
def test_pipes_in_a_release_folder_are_refused(home, name):
    """Whoever opens one waits for ever."""
    (home / "D" / name).unlink()
    os.mkfifo(home / "D" / name)
    with pytest.raises(FileError, match=f"{name} is a pipe or a device"):
        read_release("D")


@pytest.mark.timeout(60)
def test_a_pipe_is_no_link(home):
    (home / "D.link.csv").unlink(missing_ok=True)
    os.mkfifo(home / "D.link.csv")
    with pytest.raises(FileError, match="has the name of a private link but is none"):
        read_release("D")


@pytest.mark.parametrize("name", ["../t.csv", "/etc/hostname", "sub/rows.csv"])
def test_a_manifest_reaches_no_other_folder(home, name):
    manifest = home / "D" / "release.toml"
    manifest.write_text(manifest.read_text().replace('"rows.csv"', f'"{name}"'))
    with pytest.raises(FileError, match=r"release\.toml"):
        read_release("D")


def test_links_inside_a_release_folder_and_to_it_are_fine(home):
    (home / "D" / "rows.csv").rename(home / "D" / "real")
    (home / "D" / "rows.csv").symlink_to("real")
    (home / "L").symlink_to("D")
    assert read_release("D").fingerprint() == read_release("L").fingerprint()


def test_overwriting_by_a_link_replaces_what_it_leads_to(home):
    (home / "place").mkdir()
    (home / "D").rename(home / "place" / "D")
    (home / "D").symlink_to("place/D")
    assert run("publish", "t.csv", *ROLES, "--k", 4, "-o", "D", "--overwrite").code == 0
    assert (home / "D").is_symlink()
    assert "4-anonymity" in run("check", "place/D", "--k", 4).out
    assert sorted(p.name for p in home.rglob(".showthrough*")) == []


def test_who_comes_second_is_told_before_the_work(home, monkeypatch):
    with Unit() as unit:
        unit.folder("E")
        done = run("publish", "none.csv", *ROLES, "--k", 2, "-o", "E")
    assert (done.code, done.err) == (2, "Error: Another run is writing E: nothing was written.\n")


def test_an_existing_folder_is_told_before_the_work(home):
    done = run("publish", "none.csv", *ROLES, "--k", 2, "-o", "D")
    assert (done.code, "D exists already: nothing was written." in done.err) == (2, True)


def publisher(home: str, k: int, words: tuple[str, ...], told: "multiprocessing.Queue") -> None:
    os.chdir(home)
    done = run("publish", "t.csv", *ROLES, "--k", k, "-o", "E", *words)
    told.put((k, done.code, done.err))


@pytest.mark.parametrize("words", [(), ("--overwrite",)])
def test_two_publishers_of_one_folder(home, words):
    told = SPAWN.Queue()
    both = [SPAWN.Process(target=publisher, args=(str(home), k, words, told)) for k in (2, 4)]
    for one in both:
        one.start()
    said = [told.get(timeout=300) for _ in both]
    for one in both:
        one.join()
    won = [k for k, code, _ in said if code == 0]
    assert won
    assert all("nothing was written" in err for _, code, err in said if code)
    assert words or len(won) == 1
    found = {p.name: p.read_bytes() for p in Path("E").iterdir()}
    alone = []
    for k in won:
        assert run("publish", "t.csv", *ROLES, "--k", k, "-o", f"alone{k}/E".replace("/", "-"), "--name", "E").code == 0
        alone.append({p.name: p.read_bytes() for p in Path(f"alone{k}-E").iterdir()})
    assert found in alone
    assert not list(home.rglob(".showthrough*"))
