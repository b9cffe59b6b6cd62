"""``showthrough demo`` and the options of the command itself."""

import re
import shlex
import stat

import pytest

from showthrough import __version__
from showthrough.examples import figure1, shipped
from tests.cli.running import run


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_demo(home):
    done = run("demo")
    assert (done.code, done.err) == (0, "")
    assert {str(p.relative_to(home)) for p in home.rglob("*")} == {
        "demo", "demo/D1.csv", "demo/D2.csv", "demo/report.html",
    }  # fmt: skip
    words = " ".join(done.out.split())
    for part in (
        "1, 2, 3 and 4",
        "certain about 3 persons of 15; any one of them alone about nobody",
        "10: Lung Cancer Group 3 of D1 publishes 1 × Lung Cancer, and only person 10 can have it",
        "14 and 15: Flu Group 1 of D1 publishes 2 × Flu.",
        (home / "demo" / "report.html").as_uri(),
    ):
        assert part in words
    assert len(done.out.splitlines()) <= 48, "two screens"
    assert done.out.count("Group 3 of D1 publishes") == 1, "every proof once"


def test_the_report_of_the_demo_proves_everybody(home):
    run("demo")
    text = (home / "demo" / "report.html").read_text("utf-8")
    for person, value in (("7", "Diabetes"), ("10", "Lung Cancer"), ("13", "Diabetes")):
        assert f"1 × {value}, and only person {person} can have it" in text
    assert stat.S_IMODE((home / "demo" / "report.html").stat().st_mode) == 0o600


@pytest.mark.parametrize("folder", ["demo", "a folder [bold]", "quote'd"])
def test_the_command_it_prints_works(folder):
    out = run("demo", "--folder", folder).out
    command = re.search(r"^ {2}(showthrough audit .*)$", out, re.MULTILINE)
    done = run(*shlex.split(command[1])[1:])
    assert done.code == 0
    assert "10: Lung Cancer" in done.out


def test_demo_twice():
    assert run("demo").code == 0
    assert run("demo").code == 0


@pytest.mark.parametrize("name", ["D1.csv", "D2.csv", "report.html"])
@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_files_of_others_stay(home, name, kind):
    (home / "demo").mkdir()
    target = home / "demo" / name
    if kind == "file":
        target.write_text("mine")
    elif kind == "folder":
        target.mkdir()
    else:
        target.symlink_to("nowhere")
    done = run("demo")
    assert (done.code, done.out) == (2, "")
    assert (
        done.err == f"Error: demo/{name} exists and is not the example: nothing was written. Choose another --folder.\n"
    )
    assert [p.name for p in (home / "demo").iterdir()] == [name]


def test_unwritable_folder(home):
    (home / "demo").write_text("a file")
    done = run("demo")
    assert (done.code, done.out, done.err) == (2, "", "Error: demo cannot be written: file exists.\n")
    assert run("demo", "--folder", "demo/x").err == "Error: demo/x cannot be written: not a directory.\n"


def test_the_files_are_the_shipped_ones(home):
    assert [p.read_bytes() for p in figure1.write(home / "x")] == [
        shipped.raw("figure1", "D1.csv"),
        shipped.raw("figure1", "D2.csv"),
    ]


def test_version():
    assert run("--version") == run("--version").__class__(0, f"showthrough {__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["audit", "--help"], ["demo", "--help"]])
def test_help(arguments):
    done = run(*arguments)
    assert (done.code, done.err) == (0, "")
    assert "Usage: showthrough" in done.out


def test_without_a_command():
    done = run()
    assert done.code == 2
    assert "audit" in done.out + done.err
