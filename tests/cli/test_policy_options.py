"""Policies on the command line: files and plain options, formats, exit codes, snippets for pipelines."""

import json
import shlex
from xml.etree import ElementTree as ET

import pytest
import typer

from showthrough.cli.app import app
from showthrough.examples import figure1
from tests.architecture.plain_yaml import read
from tests.cli.running import run

ROLES = ["D1.csv", "D2.csv", "--id", "pseudonym", "--sensitive", "disease", "--group", "group"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    figure1.write(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "code", "verdict"),
    [
        (["--max-posterior", "0.5"], 1, "block"),
        (["--certain", "3"], 0, "pass"),
        (["--certain", "3", "--max-posterior", "0.5", "--over-posterior", "3"], 0, "pass"),
        (["--certain", "3", "--max-posterior", "0.5", "--over-posterior", "0.1"], 1, "block"),
        (["--certain", "3", "--max-gain", "0.1"], 1, "block"),
        (["--certain", "3", "--min-anonymity", "2"], 1, "block"),
        (["--certain", "3", "--impossible", "0"], 1, "block"),
        (["--certain", "3", "--k", "4"], 1, "block"),
        (["--certain", "3", "--k", "3", "--distinct-l", "2", "--entropy-l", "1.5", "--t", "0.9"], 0, "pass"),
        (["--policy", "review.toml"], 3, "review"),
        (["--policy", "review.toml", "--certain", "2"], 1, "block"),
        (["--certain", "3", "--seconds", "0"], 4, "inconclusive"),
    ],
)
def test_verdicts_end_the_command(home, options, code, verdict):
    (home / "review.toml").write_text("[block]\ncertain = 3\n[review]\nmax_posterior = 0.9\n")
    done = run(
        "audit", *ROLES, *options, "--junit", "a.xml", "--sarif", "a.sarif", "--markdown", "a.md", "--json", "a.json"
    )
    assert done.code == code, done.err
    assert done.out.split()[0] == verdict.upper()
    assert json.loads((home / "a.json").read_text())["decision"]["verdict"] == verdict
    assert ET.parse(home / "a.xml").find("testsuite/properties/property[@name='verdict']").get("value") == verdict
    assert json.loads((home / "a.sarif").read_text())["runs"][0]["properties"]["verdict"] == verdict
    assert verdict.upper() in (home / "a.md").read_text()


@pytest.mark.parametrize("format", ["json", "junit", "sarif", "markdown"])
def test_a_format_is_printed_and_nothing_else(home, format, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(home / "summary.md"))
    done = run("audit", *ROLES, "--max-posterior", "0.5", "--format", format, "--audience", "internal")
    assert done.code == 1
    assert done.out[0] in "{<#"
    assert "BLOCK" in (home / "summary.md").read_text()
    if format != "json":
        for value in ("Pneumonia", "Lung Cancer", "HIV", "Flu"):
            assert value not in done.out + (home / "summary.md").read_text()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--format", "junit"], "junit tells what became of limits: set some, such as --policy FILE"),
        (["--sarif", "a.sarif"], "sarif tells what became of limits"),
        (["--max-posterior", "0.5", "--json", "-", "--format", "junit"], "--json - and --format junit both print"),
        (["--policy", "none.toml"], "none.toml"),
        (["--policy", "bad.toml"], "bad.toml, line 2, [block]: certian is unknown: did you mean certain?"),
        (["--over-posterior", "many"], "--over-posterior takes a number of persons (5) or a share (0.01)."),
        (["--max-posterior", "0.5", "--integral", "maybe"], "--integral is one of no, checked, required"),
        (["--max-posterior", "0.5", "--junit", "D1.csv"], "is, or is in, what this command reads"),
        (["--policy", "bad.toml", "--junit", "bad.toml"], "is, or is in, what this command reads"),
    ],
)
def test_faults_are_one_sentence_before_any_work(home, options, told):
    (home / "bad.toml").write_text("[block]\ncertian = 0\n")
    done = run("audit", *ROLES, *options)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert done.err.count("\n") == 1


def test_a_history_file_names_its_policy(home):
    (home / "sub").mkdir()
    (home / "sub" / "p.toml").write_text("[block]\ncertain = 3\n")
    roles = 'id = "pseudonym"\nsensitive = "disease"\ngroup = "group"\npolicy = "sub/p.toml"\n'
    (home / "h.toml").write_text(roles + '[[release]]\nfile = "D1.csv"\n[[release]]\nfile = "D2.csv"\n')
    assert run("audit", "h.toml").code == 0
    assert run("audit", "h.toml", "--certain", "0").code == 1


def test_check_in_other_formats(home):
    options = ["D1.csv", *ROLES[2:], "--k", "4", "--distinct-l", "2"]
    done = run("check", *options, "--format", "junit", "--sarif", "c.sarif")
    cases = ET.fromstring(done.out).findall("testsuite/testcase")
    assert done.code == 1
    assert [len(case) for case in cases] == [1, 0, 0]
    assert [r["kind"] for r in json.loads((home / "c.sarif").read_text())["runs"][0]["results"]] == ["fail", "pass"]
    assert run("check", *options[:-4], "--format", "junit").code == 2


def test_policy_init_and_explain(home):
    for preset in ("strict", "research", "internal"):
        assert run("policy", "init", "--preset", preset, "-o", f"{preset}.toml").code == 0
        done = run("policy", "explain", f"{preset}.toml")
        assert done.code == 0
        assert "exit code 4" in " ".join(done.out.split())
        assert run("audit", *ROLES, "--policy", f"{preset}.toml", "--quiet").code in (1, 3)
        assert run("policy", "init", "--preset", preset).out == (home / f"{preset}.toml").read_text()
    assert "is there already" in run("policy", "init", "-o", "strict.toml").err
    assert run("policy", "init", "-o", "strict.toml", "--overwrite").code == 0
    assert run("policy", "explain", "none.toml").code == 2


@pytest.mark.parametrize(
    ("limit", "line"),
    [(["--certain", "0"], "Block: 3 persons are certain; the policy allows nobody.\n"), (["--certain", "3"], "")],
)
def test_quiet_is_one_line_where_something_fails(home, limit, line):
    done = run("audit", *ROLES, *limit, "--quiet")
    assert (done.out, done.err) == ("", line)


def test_a_quiet_check_is_one_line_where_a_limit_fails(home):
    roles = ["--id", "pseudonym", "--sensitive", "disease", "--group", "group", "--quiet"]
    done = run("check", "D1.csv", *roles, "--k", "3")
    assert (done.code, done.out, done.err) == (0, "", "")
    done = run("check", "D1.csv", *roles, "--k", "9")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Block: D1: ")
    assert done.err.count("\n") == 1


def test_choices_are_listed(home):
    for words, first, last in (
        (["ci", "foo"], "'github'", "'dbt'"),
        (["ci"], "github", "dbt"),
        (["audit", "D1.csv", "--format", "xml"], "'text'", "'markdown'"),
    ):
        done = run(*words)
        assert done.code == 2
        for word in (first, last):
            assert word in done.err
        for word in ("Value error", "\\n", "\\t"):
            assert word not in done.err


def test_faults_of_toml_say_what_and_where(home):
    (home / "bad.toml").write_text("[block]\ncertain = 0\nmax_posterior == 0.5\n")
    for words in (["policy", "explain", "bad.toml"], ["audit", *ROLES, "--policy", "bad.toml"]):
        assert "bad.toml is not valid TOML: Invalid value (at line 3, column" in run(*words).err
    (home / "twice.toml").write_text('[block]\n"zq-secret" = 1\n"zq-secret" = 2\n')
    told = run("audit", *ROLES, "--policy", "twice.toml").err
    assert "line 3" in told
    assert "zq" not in told
    (home / "open.toml").write_text("[block\ncertain = 0\n")
    assert "Expected ']'" in run("audit", *ROLES, "--policy", "open.toml").err


def test_an_exception_from_a_limit_that_is_not_set_is_said_to_be_idle(home):
    excuse = '[[exceptions]]\nrule = "max_gain"\nreason = "r"\nowner = "o"\nexpires = 2999-01-01\n'
    (home / "p.toml").write_text("[block]\ncertain = 3\n" + excuse)
    assert "It excuses nothing: this limit is not set." in " ".join(run("policy", "explain", "p.toml").out.split())
    done = run("audit", *ROLES, "--policy", "p.toml")
    assert done.code == 0
    assert "The exception from max_gain excuses nothing: this limit is not set." in " ".join(done.out.split())
    (home / "p.toml").write_text("[block]\ncertain = 3\nmax_gain = 1.0\n" + excuse)
    assert "excuses nothing" not in run("policy", "explain", "p.toml").out


def test_an_explanation_wraps_under_itself(home):
    run("policy", "init", "--preset", "strict", "-o", "p.toml")
    lines = run("policy", "explain", "p.toml").out.splitlines()
    bullets = [k for k, line in enumerate(lines) if line.startswith("  •")]
    inside = [line for k, line in enumerate(lines) if any(b < k < b + 3 for b in bullets) and line[:3] == "   "]
    assert inside, lines
    assert not [line for k, line in enumerate(lines[1:]) if k in bullets and line.strip() and line[0] != " "]
    assert "Never a value" not in "".join(lines)


def test_what_to_type_is_what_was_typed(home, monkeypatch):
    monkeypatch.setenv("SHOWTHROUGH_COMMAND", "python3 run.py")
    assert "Use it: python3 run.py audit ... --policy q.toml" in run("policy", "init", "-o", "q.toml").err


def test_limits_of_both_kinds_count(home):
    (home / "p.toml").write_text("[block]\ncertain = 0\n[review]\nmax_posterior = 0.4\nimpossible = 0\n")
    assert "2 more limits are over." in run("audit", *ROLES, "--policy", "p.toml", "--quiet").err


def commands(found):
    """Every command line of ours in a parsed snippet."""
    if isinstance(found, dict):
        return [line for entry in found.values() for line in commands(entry)]
    if isinstance(found, list):
        return [line for entry in found for line in commands(entry)]
    return [found] if isinstance(found, str) and found.startswith("showthrough ") else []


@pytest.mark.parametrize("name", ["github", "gitlab", "pre-commit", "airflow", "dbt"])
def test_snippets_are_understood_and_run(home, name, monkeypatch):
    text = run("ci", name, "--history", "data/h.toml", "--policy", "p.toml").out
    assert "allow_failure:" not in "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    if name == "airflow":
        compile(text, "dag.py", "exec")
        lines = [part for part in text.split('"') if part.startswith("showthrough ")]
    else:
        lines = commands(read(text))
    assert len(lines) == 1
    (home / "data").mkdir()
    (home / "target").mkdir()
    entries = 'id = "pseudonym"\nsensitive = "disease"\ngroup = "group"\n'
    (home / "data" / "h.toml").write_text(
        entries + '[[release]]\nfile = "../D1.csv"\n[[release]]\nfile = "../D2.csv"\n'
    )
    for limit, code in ((0, 1), (3, 0)):
        (home / "p.toml").write_text(f"[block]\ncertain = {limit}\n")
        words = [word.replace("/tmp/", str(home) + "/") for word in shlex.split(lines[0])[1:]]
        assert run(*words).code == code
    assert run("ci", name, "--history", "a b; rm").code == 2


def test_every_command_is_listed():
    names = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    assert names == {
        "demo", "audit", "check", "compare", "dp", "publish", "explain", "attack", "ci", "policy",
        "reproduce", "data", "release", "ledger", "gate", "cluster",
    }  # fmt: skip
    assert isinstance(app, typer.Typer)
