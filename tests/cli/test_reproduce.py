"""``showthrough reproduce``: what it prints, writes and refuses."""

import json
import xml.etree.ElementTree as ET

import pytest

from showthrough.experiments import EXPERIMENTS
from tests.cli.running import run

QUICK = ["reproduce", "partition-models", "--quick"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHOWTHROUGH_DATA", raising=False)
    return tmp_path


def test_the_list_names_every_figure(home):
    done = run("reproduce", "--list", columns=200)
    assert done.code == 0
    for name, one in EXPERIMENTS.items():
        assert name in done.out
        assert all(figure.title.split()[0] in done.out for figure in one.figures.values())
    assert not list(home.iterdir())
    narrow = run("reproduce", "--list", columns=60)
    assert all(f"\n{name}\n" in f"\n{narrow.out}" for name in EXPERIMENTS)  # as it is typed, in one piece
    told = json.loads(run("reproduce", "--list", "--json", "-").out)
    assert len(told["figures"]) == sum(len(one.figures) for one in EXPERIMENTS.values())
    assert {row["experiment"] for row in told["figures"]} == set(EXPERIMENTS)


def test_claims_on_the_terminal_and_files_in_the_folder(home):
    done = run(*QUICK, "-o", "out", columns=160)
    assert done.code == 0, done.err
    assert "0.46, 0, 0.54" in done.out
    assert "0.465278, 0, 0.534722" in done.out
    assert "does not hold" in done.out
    names = {path.name for path in (home / "out").iterdir()}
    assert {f"partition-models.{kind}" for kind in ("csv", "svg", "html", "md")} <= names
    assert not [name for name in names if name.startswith(".")]
    page = (home / "out" / "partition-models.html").read_text("utf-8")
    assert "<script" not in page
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in page
    assert "showthrough reproduce partition-models --quick -o out" in page
    assert str(home) not in page
    assert ET.parse(home / "out" / "partition-models.svg").getroot().tag.endswith("svg")
    told = (home / "out" / "partition-models.md").read_text("utf-8")
    assert told.count("\n## ") == 1
    assert str(home) not in told


def test_json_and_the_same_again(home):
    once, again = (run(*QUICK, "--json", "-", "-o", folder, "--seed", "3") for folder in ("a", "b"))
    told, other = json.loads(once.out), json.loads(again.out)
    assert told["schema"] == "showthrough.reproduction"
    assert told["seed"] == 3
    assert told["quick"] is True
    (figure,) = told["figures"]
    assert figure["claims"][0].keys() >= {"what", "paper", "ours", "holds", "band", "within", "why"}
    assert figure["tables"] == other["figures"][0]["tables"]
    for path in (home / "a").glob("*.csv"):
        assert path.read_bytes() == (home / "b" / path.name).read_bytes()


def test_silence(home):
    done = run(*QUICK, "--quiet", "--json", "told.json")
    assert done.out == done.err == ""
    assert (home / "told.json").is_file()
    assert (home / "reproduced" / "partition-models.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduce"], "--list names them"),
        (["reproduce", "alchemy"], "Error: Experiment is one of inference-analysis"),
        (["reproduce", "inference-analysis", "--figure", "7"], "has the figures 2, 3, 4, 5"),
        (["reproduce", "partition-models", "--figure", "1"], "has no numbered figures"),
        (["reproduce", "inference-analysis", "--figure", "4"], "showthrough data fetch adult downloads it"),
        (
            ["reproduce", "inference-analysis", "--figure", "4", "--data", "there"],
            "There is no adult/adult_kdd08.csv.gz",
        ),
        ([*QUICK, "-o", "file/under"], "file"),
    ],
)
def test_what_cannot_be_run_is_a_sentence(home, arguments, words):
    (home / "file").write_text("")
    done = run(*arguments)
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1
    assert sorted(path.name for path in home.iterdir()) == ["file"]


def test_an_interruption_leaves_nothing(home, monkeypatch):
    from showthrough.experiments.partition_models import PartitionModels

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(PartitionModels, "run", interrupted)
    done = run(*QUICK)
    assert done.code == 130
    assert "Interrupted: nothing was written." in done.err or "no result was written" in done.err
    assert not list(home.iterdir())
