"""``audit -o report.html``: the page beside the other files, all or none, and what it says of where it comes from."""

import hashlib
import stat
import subprocess
import sys

import pytest

from showthrough.examples import figure1
from tests.cli.running import run

ROLES = ("--id", "pseudonym", "--sensitive", "disease", "--group", "group")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure1.write(tmp_path)
    return tmp_path


def audit(*words):
    return run("audit", "D1.csv", "D2.csv", *ROLES, *words)


def test_the_page_is_written_with_the_other_files(home):
    done = audit("-o", "r.html", "--json", "a.json", "--people", "p.csv")
    assert (done.code, done.err) == (0, "")
    assert "Report: r.html (shareable, counts only)" in done.out
    assert {p.name for p in home.iterdir()} == {"D1.csv", "D2.csv", "r.html", "a.json", "p.csv"}
    text = (home / "r.html").read_text("utf-8")
    assert "SHAREABLE" in text
    assert "person 10" not in text


def test_it_says_how_it_was_made(home):
    audit("-o", "r.html")
    text = (home / "r.html").read_text("utf-8")
    assert "showthrough audit D1.csv D2.csv --id pseudonym" in text
    for name in ("D1.csv", "D2.csv"):
        assert hashlib.sha256((home / name).read_bytes()).hexdigest()[:16] in text


def test_internal_pages_are_for_their_owner(home):
    done = audit("-o", "r.html", "--audience", "internal")
    assert done.code == 0
    assert stat.S_IMODE((home / "r.html").stat().st_mode) == 0o600
    text = (home / "r.html").read_text("utf-8")
    assert "INTERNAL" in text
    assert "only person 10 can have it" in text


@pytest.mark.parametrize("words", [("-o", "nowhere/r.html"), ("-o", "D1.csv"), ("-o", "a.json"), ("-o", ".")])
def test_pages_that_cannot_be_written_leave_nothing(home, words):
    done = audit("--json", "a.json", *words)
    assert done.code == 2
    assert done.err.startswith("Error: ")
    assert {p.name for p in home.iterdir()} == {"D1.csv", "D2.csv"}


def test_a_dry_run_writes_no_page(home):
    assert audit("-o", "r.html", "--dry-run").code == 0
    assert not (home / "r.html").exists()


def test_quiet_says_nothing(home):
    done = audit("-o", "r.html", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (home / "r.html").exists()


def test_json_alone_goes_to_stdout(home):
    done = audit("-o", "r.html", "--json", "-")
    assert done.out.startswith("{")
    assert done.out.rstrip().endswith("}")


def test_without_the_library_it_says_so_before_it_works(home, monkeypatch):
    from showthrough.report import html

    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    html.environment.cache_clear()
    try:
        done = audit("-o", "r.html", "--json", "a.json")
    finally:
        html.environment.cache_clear()
    assert done.code == 2
    assert done.err == 'Error: The report needs Jinja2, which is not installed: pip install "showthrough[report]".\n'
    assert not (home / "a.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit on Windows")
def test_little_room_leaves_out_the_charts(home):
    """The library that draws would end the process with a signal."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (24 << 30, 24 << 30))"
    words = ["audit", "D1.csv", "D2.csv", *ROLES, "-o", "small.html", "--quiet"]
    code = f"{limit}; import sys; sys.argv = {['showthrough', *words]!r}; from showthrough.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    page = (home / "small.html").read_text()
    assert "Charts are left out" in page
    assert "ulimit -v" in page
