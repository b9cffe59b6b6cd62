"""``showthrough compare``: groups and noise side by side."""

import json
import xml.etree.ElementTree as ET

import pytest

from tests.cli.running import run
from tests.comparing.tables import people

ROLES = ["--id", "id", "--sensitive", "ill", "--quasi", "age,sex,town"]
QUICK = ["--releases", "1,2", "--queries", "20"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people(120).write_csv("raw.csv")
    return tmp_path


def test_a_table_a_plot_and_json(home):
    done = run(
        "compare", "raw.csv", *ROLES, *QUICK, "--epsilon", "2", "-o", "plot.svg", "--json", "out.json", columns=150
    )
    assert done.code == 0, done.out + done.err
    for words in ("mondrian, k = 5", "anatomy, l = 3", "noise, ε = 2", "after 2", "as exact as", "beliefs"):
        assert words in " ".join((done.out + done.err).split())
    assert "p17" not in (done.out + done.err)
    told = json.loads((home / "out.json").read_text())
    assert told["schema"] == "showthrough.options"
    options = {row["option"]: row for row in told["options"]}
    assert options["noise, ε = 2"]["epsilon"] == 2
    assert {row["releases"] for row in told["course"]} == {1, 2}
    assert {row["total_epsilon"] for row in told["course"] if row["option"] == "noise, ε = 2"} == {2, 4}
    drawn = ET.parse(home / "plot.svg").getroot()
    assert drawn.tag.endswith("svg")
    assert "anatomy, l = 3" in "".join(drawn.itertext())


def test_json_on_stdout_and_silence(home):
    done = run("compare", "raw.csv", *ROLES, *QUICK, "--no-match", "--method", "mdav", "--epsilon", "1", "--json", "-")
    told = json.loads(done.out)
    assert [row["option"] for row in told["options"]] == ["mdav, k = 5", "noise, ε = 1"]
    quiet = run("compare", "raw.csv", *ROLES, *QUICK, "--no-match", "--quiet", "--method", "anatomy", "--epsilon", "1")
    assert quiet.out == ""
    assert sorted(p.name for p in home.iterdir()) == ["raw.csv"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--releases", "1,two"], "--releases takes whole numbers with commas"),
        (["--releases", "0"], "from 1 to"),
        (["--quasi", "hair"], "hair"),
        (["--share", "0"], "above 0"),
        (["-o", "raw.csv"], "raw.csv"),
        (["--epsilon", "-1"], "epsilon is a number above 0"),
        (["-o", "plot.txt"], "--output names the plot, an SVG: its name ends in .svg"),
    ],
)
def test_bad_input_is_a_sentence_and_writes_nothing(home, options, words):
    done = run("compare", "raw.csv", *ROLES, *QUICK, "--no-match", "--method", "anatomy", "--epsilon", "1", *options)
    assert done.code == 2
    assert words in " ".join((done.out + done.err).split())
    assert "Traceback" not in (done.out + done.err)
    assert sorted(p.name for p in home.iterdir()) == ["raw.csv"]
