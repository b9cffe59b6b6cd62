"""``showthrough explain``: one person in sentences, in a table and as JSON."""

import json
import os
import stat

import pytest

from tests.cli.running import ROLES, persons, run, table
from tests.histories import FIGURE1


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, groups in zip(("D1", "D2"), FIGURE1, strict=True):
        table([(persons(*map(int, ids)), values) for ids, values in groups]).write_csv(f"{name}.csv")
    return tmp_path


def said(done):
    return " ".join(done.out.split())


def test_somebody_who_is_certain(home):
    done = run("explain", "zq-person-10", "D1.csv", "D2.csv", *ROLES)
    assert (done.code, done.err) == (0, "")
    told = said(done)
    assert "A reader of both releases can be certain: zq-person-10 has Lung Cancer." in told
    assert "Since D2 a reader is certain; before it was 33 %." in told
    assert "It takes both releases: no fewer tell as much." in told
    assert "Therefore zq-person-10 has Lung Cancer." in told
    assert "Keep it private" in told


def test_a_value_that_is_asked_for(home):
    told = said(run("explain", "zq-person-11", "Flu", "D1.csv", "D2.csv", *ROLES))
    assert "Flu is impossible for zq-person-11." in told
    assert "Therefore zq-person-11 cannot have Flu." in told
    told = said(run("explain", "zq-person-11", "HIV", "D1.csv", "D2.csv", *ROLES))
    assert "HIV has a probability of 50 %." in told
    assert "nothing to prove" in told
    os.mkdir("Flu")  # now the word is a folder
    assert (
        said(run("explain", "zq-person-11", "D1.csv", "D2.csv", "--value", "Flu", *ROLES)).count("Flu is impossible")
        == 1
    )


def test_one_release_alone(home):
    told = said(run("explain", "zq-person-11", "D1.csv", *ROLES))
    assert "A reader of the release finds" in told
    assert "Since" not in told
    assert "It takes" not in told


def test_as_json_and_private(home):
    done = run("explain", "zq-person-10", "D1.csv", "D2.csv", *ROLES, "--json", "p.json", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    told = json.loads((home / "p.json").read_text())
    assert told["person"]["values"][0]["fact"] == "certain"
    assert told["person"]["needed"] == ["D1", "D2"]
    assert stat.S_IMODE(os.stat("p.json").st_mode) == 0o600
    printed = run("explain", "zq-person-10", "D1.csv", "D2.csv", *ROLES, "--json", "-")
    assert json.loads(printed.out) == told


def test_a_history_file_names_the_rest(home):
    (home / "h.toml").write_text(
        'id = "pid"\nsensitive = "disease"\ngroup = "group"\nseconds = 60\n'
        '[[release]]\nfile = "D1.csv"\n[[release]]\nfile = "D2.csv"\n'.replace(
            '"pid"', f'"{ROLES[ROLES.index("--id") + 1]}"'
        )
    )
    assert "zq-person-10 has Lung Cancer" in said(run("explain", "zq-person-10", "h.toml"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nobody", "D1.csv", "D2.csv"], "No release holds a person 'nobody'."),
        (["zq-person-10", "Flux", "D1.csv", "D2.csv"], "No release publishes the value 'Flux'."),
        (["zq-person-10", "D3.csv"], "D3.csv is no file or folder: name the releases after the id (and the value)."),
        (["zq-person-10", "Flu", "D3.csv"], "There is no file D3.csv."),
        (["", "D1.csv"], "person is empty: name the id of somebody."),
    ],
)
def test_what_cannot_be_explained_is_said(home, words, sentence):
    done = run("explain", *words, *ROLES)
    assert done.code == 2
    assert sentence in done.err
    assert not done.out
