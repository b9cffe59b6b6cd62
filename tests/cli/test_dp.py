"""``dp meaning`` and ``dp after``: what an ε means, alone and on top of a history."""

import json
import math
import stat
from pathlib import Path

import polars as pl
import pytest

import showthrough as st
from tests.cli.running import ROLES, run, table

GROUPS = [(["1", "2"], ["Flu", "HIV"]), (["3", "4", "5"], ["Flu", "HIV", "Gout"])]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table(GROUPS).write_csv("D1.csv")
    return tmp_path


def flat(text: str) -> str:
    return " ".join(text.split())


def test_meaning_is_that_of_python():
    told = json.loads(run("dp", "meaning", "--epsilon", "0.5", "--json", "-").out)
    paper, tight = told["bounds"]
    assert paper["moves"] == pytest.approx(math.exp(0.5) - 1)
    assert tight["moves"] == pytest.approx(math.tanh(0.25))
    (half,) = [own for own in told["informed"] if own["before"] == 0.5]
    assert half["high"] == pytest.approx(st.dp.posterior_interval(0.5, epsilon=0.5, changed=1).high)
    told = json.loads(run("dp", "meaning", "--epsilon", "0.1", "--delta", "1e-9", "--persons", "50", "--json", "-").out)
    own = st.dp.semantic(0.1, 1e-9, n=50)
    assert [(b["moves"], b["except"]) for b in told["bounds"]] == [(own.paper, own.delta), (own.tight, own.tight_delta)]
    twice = json.loads(run("dp", "meaning", "--epsilon", "0.5", "--neighbours", "add-remove", "--json", "-").out)
    assert twice["bounds"][1]["moves"] == pytest.approx(math.tanh(0.5))
    assert json.loads(run("dp", "meaning", "--epsilon", "1e6", "--json", "-").out)["bounds"][0]["moves"] is None


def test_meaning_in_words():
    said = flat(run("dp", "meaning", "--epsilon", "0.5").out)
    assert "Proposition 15" in said
    assert "ends up between 37.8% and 62.2% sure of each" in said
    assert "differ by at most 0.245" in said
    assert "says nothing" in run("dp", "meaning", "--epsilon", "0.5", "--delta", "1e-12", "--persons", "1000").out


def test_after_counts_records_that_are_tied(home):
    told = json.loads(run("dp", "after", "D1.csv", *ROLES, "--epsilon", "1.2", "--json", "-").out)
    post = st.infer([st.read_release("D1.csv", id="pseudonym", sensitive="disease", group="group")])
    people = st.dp.after(post, epsilon=1.2).people
    assert told["persons"] == 5
    assert told["most_changed"] == 2
    assert told["levels"][1] == {
        "probability": 0.9,
        "before": 0,
        "after": people.filter(pl.col("high") >= 0.9)["id"].n_unique(),
    }
    assert told["levels"][1]["after"] == 2  # the pair, to 91.7 %; of three, to 84.6 %
    assert "people" not in told
    assert told["by"] == {"worlds": 5}


def test_shareable_output_names_nobody(home):
    pl.read_csv("D1.csv", infer_schema_length=0).with_columns(pseudonym="zz" + pl.col("pseudonym")).write_csv("D1.csv")
    done = run("dp", "after", "D1.csv", *ROLES, "--epsilon", "1", "--people", "people.csv", "--json", "a.json")
    assert done.code == 0, done.err
    assert "zz" not in done.out + done.err + Path("a.json").read_text()
    assert "HIV" not in done.out + Path("a.json").read_text()
    people = pl.read_csv("people.csv")
    assert people.columns == ["id", "value", "p", "by", "changed", "low", "high"]
    assert people.height == 13
    assert stat.S_IMODE(Path("people.csv").stat().st_mode) == 0o600
    inside = run("dp", "after", "D1.csv", *ROLES, "--epsilon", "1", "--audience", "internal", "--json", "b.json")
    assert "zz1" in inside.out
    assert len(json.loads(Path("b.json").read_text())["people"]) == 13
    assert stat.S_IMODE(Path("b.json").stat().st_mode) == 0o600


def test_noisy_releases_of_the_history(home):
    people = pl.DataFrame({"pseudonym": list("12345"), "sex": list("fmfmf")})
    people.write_csv("people.csv")
    cells = [(sex, ill, 1) for sex in "fm" for ill in ("Flu", "HIV", "Gout")]
    frame = pl.DataFrame(cells, schema=["sex", "disease", "count"], orient="row")
    for name in ("N1", "N2"):
        st.Release.noisy(
            frame, sensitive="disease", mechanism="geometric", scale=2.0, neighbours="replace-one", name=name
        ).save(name)
    Path("history.toml").write_text(
        'release = [{file = "D1.csv", id = "pseudonym", sensitive = "disease", group = "group"}, {file = "N1"}, '
        '{file = "N2"}]\n[register]\nfile = "people.csv"\nid = "pseudonym"\n'
    )
    given = ["history.toml"]
    one = run("dp", "after", *given, "--promised-by", "N1", "--json", "-")
    assert one.code == 0, one.err
    told = json.loads(one.out)
    assert told["epsilon"] == 1.0
    assert any("1 noisy release more" in line for line in told["words"])
    new = json.loads(run("dp", "after", *given, "--epsilon", "2", "--json", "-").out)
    assert any("2 noisy releases more" in line for line in new["words"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["meaning", "--epsilon", "0"], "number above 0"),
        (["meaning", "--epsilon", "nan"], "number above 0"),
        (["meaning", "--epsilon", "1", "--delta", "1", "--persons", "3"], "below 1"),
        (["meaning", "--epsilon", "1", "--delta", "1e-6"], "--persons is missing"),
        (["meaning", "--epsilon", "1", "--persons", "0"], "--persons is at least 1"),
        (["meaning", "--epsilon", "1", "--neighbours", "x"], "replace-one or add-remove"),
        (["after", "D1.csv", *ROLES], "--epsilon says what the noisy release promises"),
        (["after", "D1.csv", *ROLES, "--epsilon", "1", "--promised-by", "N"], "give one of the two"),
        (["after", "D1.csv", *ROLES, "--promised-by", "N"], "is no noisy release of the history"),
        (["after", "D1.csv", *ROLES, "--epsilon", "-1"], "number above 0"),
        (["after", "D1.csv", *ROLES, "--epsilon", "1", "--delta", "1"], "below 1"),
        (["after", "D1.csv", *ROLES, "--epsilon", "1", "--failure", "0"], "between 0 and 1"),
        (["after", "D9.csv", *ROLES, "--epsilon", "1"], "There is no file D9.csv"),
        (["after", "D1.csv", *ROLES, "--epsilon", "1", "--people", "D1.csv"], "what this command reads"),
    ],
)
def test_bad_input_is_a_sentence(home, arguments, message):
    done = run("dp", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in flat(done.err)
