"""What was published, as JSON: the same verdict as the exit code, and nothing of the table."""

import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from tests.cli.running import run

SCHEMA = Draft202012Validator(json.loads((files("showthrough.report") / "publish.schema.json").read_text("utf-8")))
TABLE = "pid,age,zip,disease\n" + "".join(f"p{k},{20 + k},{1000 + k % 3},{'xyz'[k % 3]}sick\n" for k in range(12))


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TABLE)
    return tmp_path


OPTIONS = ["publish", "t.csv", "--id", "pid", "--sensitive", "disease", "--k", "3"]


def test_json_beside_the_folder_and_on_stdout(home):
    done = run(*OPTIONS, "-o", "R1", "--json", "out.json")
    told = json.loads((home / "out.json").read_text())
    assert done.code == 0
    assert done.out
    printed = json.loads(run(*OPTIONS, "-o", "R2", "--json", "-").out)
    for found in (told, printed):
        SCHEMA.validate(found)
        assert found["verdict"] == "pass"
        assert found["made"]["files"][0]["name"] == "t.csv"
        assert not any(word in json.dumps(found) for word in ("p11", "xsick", str(home)))


def test_a_failing_criterion_is_told(home):
    done = run(*OPTIONS, "--distinct-l", "3", "--k", "12", "--t", "0", "-o", "R1", "--accept-violations", "--json", "-")
    if done.code == 2:  # no such release
        assert not done.out
        return
    found = json.loads(done.out)
    assert (done.code, found["verdict"]) == ((0, "pass") if all(c["holds"] for c in found["checks"]) else (1, "block"))


def test_strategies_compared(home):
    assert run(*OPTIONS, "-o", "R1").code == 0
    done = run(
        *OPTIONS, "--history", "R1", "--max-posterior", "0.9", "--strategy", "guarded", "--dry-run", "--json", "-"
    )
    found = json.loads(done.out)
    assert found["schema"] == "showthrough.compare"
    assert len(found["strategies"]) == 4


def test_the_table_is_not_written_over(home):
    assert run(*OPTIONS, "-o", "R1", "--json", "t.csv").code == 2
    assert (home / "t.csv").read_text() == TABLE
