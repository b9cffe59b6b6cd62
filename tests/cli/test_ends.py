"""However a command ends: an exit code, one sentence, and nothing of what libraries say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.cli.running import ROLES, persons, run, table

P = persons(*range(6))


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table([(P[:2], ["Flu", "HIV"]), (P[2:4], ["Flu", "Asthma"])]).write_csv("good.csv")
    frame = pl.DataFrame({"pid": P, "zip": list("112233"), "disease": ["Flu", "HIV"] * 3})
    frame.write_csv("raw.csv")
    return tmp_path


def started(code: str, *arguments: str, stdout=subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """A process that runs ``code`` and then the command."""
    script = (
        f"{code}\nimport sys\nfrom showthrough.cli.main import main\nsys.argv = ['showthrough', *{arguments!r}]\nmain()"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    reset = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # may be ignored where tests run
    )
    return subprocess.run(
        [sys.executable, "-c", reset + script],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=env,
        timeout=120,
    )


INTERRUPT = """
import os, signal, sys
from showthrough.cli import main as _loaded
left = {at}
def hook(event, arguments):
    global left
    if event == "import":
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(hook)
"""


@pytest.mark.parametrize("at", [2, 3, 10, 60, 150, 250, 300, 400, 700, 1100])
def test_an_interruption_before_the_program_is_ready(home, at):
    """The signal comes at an import, as the program loads: each of them is a moment of its own."""
    done = started(INTERRUPT.format(at=at), "check", "good.csv", "--k", "2", "--quasi", "group", "--json", "out.json")
    assert "Traceback" not in done.stderr
    assert (done.returncode == 130) == done.stderr.startswith("Interrupted: "), done.stderr
    assert done.returncode in (130, 0)  # 0: fewer imports than that
    assert done.returncode == 130 or at > 1000
    assert not Path("out.json").exists() or done.returncode == 0


PANIC = """
import os, showthrough.requests.check as check
class PanicException(BaseException):
    pass
def panic(*_, **__):
    os.write(2, b"thread '<unnamed>' panicked: zq-person-1 is out of range")
    raise PanicException("zq-person-1")
check.run_check = panic
"""


def test_a_panic_is_a_bug_of_ours_and_quotes_nothing(home):
    done = started(PANIC, "check", "good.csv", "--k", "2", "--quasi", "group")
    assert (done.returncode, done.stdout) == (70, "")
    assert re.fullmatch(
        r"This is a bug in showthrough [\d.]+: PanicException in check\.py, line \d+\. .*\n", done.stderr
    )
    assert "zq" not in done.stderr


def test_what_was_hidden_is_shown_for_debugging(home, monkeypatch):
    monkeypatch.setenv("SHOWTHROUGH_DEBUG", "1")
    done = started(PANIC, "check", "good.csv", "--k", "2", "--quasi", "group")
    assert done.returncode == 70
    assert "zq-person-1 is out of range" in done.stderr


COMMANDS = {
    "check": ["check", "good.csv", "--k", "2", "--quasi", "group", "--json", "out.json"],
    "audit": ["audit", "good.csv", *ROLES, "--json", "out.json", "--people", "people.csv"],
    "publish": ["publish", "raw.csv", "--id", "pid", "--sensitive", "disease", "--k", "2", "-o", "out"],
    "help": ["publish", "--help"],
}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("name", COMMANDS)
def test_output_that_nobody_gets_leaves_nothing_behind(home, name):
    before = sorted(path.name for path in home.iterdir())
    with open("/dev/full", "w") as full:
        done = started("", *COMMANDS[name], stdout=full)
    assert (done.returncode, done.stderr) == (
        2,
        "Error: the output cannot be written: no space left on device; no result was written.\n",
    )
    assert sorted(path.name for path in home.iterdir()) == before


def test_bad_usage_is_one_sentence_too(home):
    for arguments in (["check", "good.csv", "--k", "x\x1b[2J"], ["chek"], ["audit", "--nothing"], ["audit"]):
        done = run(*arguments)
        assert (done.code, done.out) == (2, "")
        assert re.fullmatch(r"Error: [^\x1b\n]*\n", done.err), done.err


def test_a_path_stays_on_its_line(home):
    done = run("audit", "a\nb\x1b[2J.csv", *ROLES)
    assert (done.code, done.err) == (2, "Error: There is no file a\\nb\\x1b[2J.csv.\n")


def test_names_in_a_manifest_do_not_reach_the_terminal_raw(home):
    assert run(*COMMANDS["publish"], "--no-link").code == 0
    text = Path("out/release.toml").read_text()
    Path("out/release.toml").write_text(text.replace('name = "out"', r'name = "\u001b[2Jx\ny\u202e"', 1))
    for arguments in (["check", "out", "good.csv", "--k", "1"], ["audit", "out"]):
        done = run(*arguments, columns=300)
        assert not set("\x1b\u202e") & set(done.out + done.err)
        assert r"\x1b[2Jx\ny\u202e" in done.out


def test_cells_that_a_spreadsheet_would_run_are_text(home):
    ids = ["=1+1", "+1", "-1", "@a", "\tb", "'=c", "'d", "e"]
    table([(ids, ["=HYPERLINK()", "ok"] * 4)]).write_csv("formulas.csv")
    assert run("audit", "formulas.csv", *ROLES, "--people", "safe.csv").code == 0
    assert run("audit", "formulas.csv", *ROLES, "--people", "raw_people.csv", "--raw").code == 0
    safe, raw = (pl.read_csv(name, infer_schema=False) for name in ("safe.csv", "raw_people.csv"))
    assert set(raw["id"]) == set(ids)
    assert set(safe["id"]) == {"'=1+1", "'+1", "'-1", "'@a", "'\tb", "''=c", "'d", "e"}
    assert set(safe["value"]) == {"'=HYPERLINK()", "ok"}
    assert safe["p"].to_list() == raw["p"].to_list()
    assert safe["id"].str.replace(r"^'('*[=+\-@\t\r])", "${1}").to_list() == raw["id"].to_list()


def test_what_libraries_log_of_an_interruption_is_not_told(home):
    """Py4J logs one that reaches it while it waits for Java, and logging itself then begins to write to stderr."""
    code = (
        "import logging\nfrom showthrough.cli import check\n"
        "from showthrough.cli import ending\nwhole = ending._code\n"
        "def logged(*a, **o):\n    logging.exception('while sending zq-person-1')\n    return whole(*a, **o)\n"
        "ending._code = logged"
    )
    done = started(code, "check", "good.csv", "--k", "2", "--quasi", "group")
    assert done.returncode == 0
    assert done.stderr == ""
