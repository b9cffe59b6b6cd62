"""``showthrough audit`` with persons located by a register: examples, options, and whatever a file may hold."""

import json
import random
import shutil
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import showthrough.examples
from tests.cli.running import run

QUASI = ["--sensitive", "condition", "--quasi", "zip,age,nationality"]
HOSPITALS = ["H1.csv", "H2.csv", *QUASI, "--register", "people.csv"]
SECRET = ("Alice", "13012", "Irish", "Milan", "13025")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in (Path(showthrough.examples.__path__[0]) / "hospitals").glob("*.csv"):
        shutil.copy(file, tmp_path)
    for file in (Path(__file__).parents[1] / "release" / "fixtures").glob("*.csv"):
        shutil.copy(file, tmp_path)
    return tmp_path


def test_the_hospitals_of_the_composition_paper(home):
    done = run("audit", *HOSPITALS, "--people", "out.csv", "--json", "a.json")
    assert (done.code, done.err) == (0, "")
    shown = done.out + (home / "a.json").read_text()
    assert not any(word in shown for word in SECRET)
    found = json.loads((home / "a.json").read_text())
    assert found["together"]["persons"] == 16
    assert [row["persons"] for row in found["locatability"] if row["fits"] == "one group"] == [16, 16]
    people = pl.read_csv("out.csv")
    assert people["id"].n_unique() == 16
    assert people.filter((pl.col("id") == "Alice") & (pl.col("p") == 1))["value"].to_list() == ["AIDS"]


def test_internal_output_names_persons_but_never_their_quasi_identifiers(home):
    done = run("audit", *HOSPITALS, "--audience", "internal", "--bounds", "0.9", "--people", "out.csv")
    assert done.code == 0
    assert "Alice: AIDS" in done.out
    assert not any(word in done.out + (home / "out.csv").read_text() for word in ("13012", "Irish", "13025"))


def test_a_dry_run_tells_how_cells_were_read_and_infers_nothing(home):
    done = run("audit", *HOSPITALS, "--dry-run", "--audience", "internal")
    assert done.code == 0
    assert "5 characters as in 130**" in done.out
    assert "Nothing was inferred" in done.out


def test_a_dry_run_shows_cells_to_internal_readers_alone(home):
    done = run("audit", *HOSPITALS, "--dry-run")
    assert done.code == 0
    assert "different cells" in done.out
    assert "130**" not in done.out
    assert "--audience internal" in done.out
    assert "Nothing was inferred" in done.out
    assert not any(word in done.out for word in SECRET)


@pytest.mark.parametrize(
    "arguments",
    [
        ["arx.csv", "--sensitive", "salary", "--quasi", "age,zip,sex,marital"],
        ["sdcmicro.csv", "--sensitive", "roof", "--quasi", "age,walls"],
        ["anjana.csv", "--sensitive", "hours", "--quasi", "age,education,native-country"],
        ["anonypy.csv", "--sensitive", "balance", "--quasi", "age,sex,workclass", "--count", "count"],
    ],
)
def test_files_as_other_programs_write_them(home, arguments):
    if arguments[0] == "sdcmicro.csv":  # a value may not be missing
        text = (home / "sdcmicro.csv").read_text()
        (home / "sdcmicro.csv").write_text(text.replace(",NA,", ',"9",'))
    assert run("audit", *arguments, "--dry-run").code == 0
    assert run("audit", *arguments).code == 0


def test_presence_lists_and_the_register_of_another_name(home):
    (home / "ids.txt").write_text("Alice\nBoris\n")
    done = run("audit", *HOSPITALS, "--present", "H1=ids.txt", "--json", "-")
    assert json.loads(done.out)["releases"][0]["persons"] == 2
    people = pl.read_csv("people.csv", infer_schema=False).rename({"id": "pid"})
    people.with_columns(pl.lit("x").alias("note")).write_csv("named.csv")
    named = run("audit", *HOSPITALS[:-1], "named.csv", "--id", "pid", "--json", "-")
    assert json.loads(named.out)["together"]["certain"] == 7


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--present", "H9=people.csv"], "--present names an unknown one"),
        (["--present", "H1"], "--present takes NAME=FILE"),
        (["--present", "H1=no.txt"], "There is no file no.txt"),
        (["--present", "H1=H2.csv"], "None of the 13 ids said to be in H1"),
        (["--hierarchy", "nope=zip.csv"], "--hierarchy names an unknown one"),
        (["--hierarchy", "zip=no.csv"], "There is no file no.csv"),
        (["--value-map", "X=map.csv"], "--value-map names an unknown one"),
        (["--value-map", "H1=people.csv"], "a value map has two"),
        (["--people", "people.csv"], "what this command reads"),
        (["--kind", "pram"], "not covered"),
        (["--kind", "other"], "this showthrough reads"),
        (["--bounds", "0.5"], "--people"),
        (["--values", "H1.csv"], "1 tables of values"),
        (["--encoding", "utf-99"], "no text encoding"),
        (["--count", "nope"], "no column 'nope'"),
        (["--group", "nope"], "say with --kind"),
        (["--register", "no.csv"], "There is no file no.csv"),
        (["--register", "."], "is a folder"),
        (["--register", "H1.csv"], "stands there already|no column 'id'"),
        (["--register", "stranger.csv"], "nobody to audit"),
        (["--register", "other.csv"], "knows none of the quasi-identifiers"),
        (["--quasi", ""], "nothing tells its groups apart"),
        (["--quasi", "zip,zip"], "named twice"),
        (["--quasi", "nope"], "no column 'nope'"),
        (["--sensitive", "zip"], "named twice"),
    ],
)
def test_wrong_options_are_one_sentence(home, arguments, words):
    (home / "zip.csv").write_text("13012;130**;*\n")
    (home / "map.csv").write_text("a,b\nAIDS,x\n")
    (home / "stranger.csv").write_text("id,zip,age,nationality\nZed,99999,5,x\n")
    (home / "other.csv").write_text("id,colour\nZed,red\n")
    done = run("audit", *HOSPITALS, *arguments)
    assert done.code == 2
    assert pl.Series([" ".join(done.err.split())]).str.contains(words)[0], done.err
    assert done.out == ""
    assert not any(word in done.err for word in SECRET)


def test_a_history_file_is_never_written_over(home):
    text = "".join(f'[[release]]\nfile="H{k}.csv"\nsensitive="condition"\nquasi=["zip","age"]\n' for k in (1, 2))
    (home / "h.toml").write_text(f'{text}[register]\nfile = "people.csv"\n')
    before = (home / "people.csv").read_bytes()
    for target in ("people.csv", "H1.csv", "h.toml"):
        assert run("audit", "h.toml", "--people", target).code == 2
    assert (home / "people.csv").read_bytes() == before
    assert run("audit", "h.toml", "--people", "out.csv").code == 0
    for more in (["H1.csv"], ["--sensitive", "condition"], ["--encoding", "latin-1"], ["--present", "H1=people.csv"]):
        done = run("audit", "h.toml", *more)
        assert (done.code, done.out) == (2, "")
        assert "is a history file" in done.err


CELLS = ["*", "", "NA", "130**", "<30", "≥35", "[1, 2", "{a, b}", "1e400", "-", "nan", "13012", "28", "x\0y", '"', "\n"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), binary=st.binary(max_size=60))
def test_whatever_the_files_hold_there_is_a_sentence(home, seed, binary):
    rng = random.Random(seed)
    target = rng.choice(["H1.csv", "people.csv", "H2.csv"])
    source = Path(showthrough.examples.__path__[0]) / "hospitals" / target
    raw = bytearray(source.read_bytes())
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(raw))
        lines = raw.decode(errors="replace").splitlines()
        match rng.randrange(5):
            case 0:
                raw[at:at] = binary
            case 1:
                del raw[at : at + rng.randint(1, 30)]
            case 2:
                raw[at] = rng.randrange(256)
            case 3:
                k = rng.randrange(len(lines))
                parts = lines[k].split(",")
                parts[rng.randrange(len(parts))] = rng.choice(CELLS)
                lines[k] = ",".join(parts)
                raw = bytearray("\n".join(lines).encode())
            case _:
                rng.shuffle(lines)
                raw = bytearray("\n".join(lines).encode())
        raw = raw or bytearray(b",")
    (home / target).write_bytes(raw)
    extra = rng.choice([[], ["--dry-run"], ["--audience", "internal"], ["--json", "-"], ["--changed", "split"]])
    done = run("audit", *HOSPITALS, *extra)
    assert done.code in (0, 2, 4), done.err
    assert (done.code == 2) == done.err.startswith("Error: ")
    shutil.copy(source, home / target)


def test_marks_of_missing_cells_can_be_named(home):
    text = (home / "H1.csv").read_text().replace("130**,<30,*,AIDS", "130**,<30,?,AIDS")
    (home / "H1.csv").write_text(text)
    assert run("audit", *HOSPITALS).code == 2  # nobody has the nationality ?, but four are known to be there
    done = run("audit", *HOSPITALS, "--json", "-", "--missing", "?")
    assert done.code == 0
    several = [row for row in json.loads(done.out)["locatability"] if row["fits"] == "several groups"]
    assert [row["persons"] for row in several] == [6, 0]  # everybody below 30 fits the row with the mark, too


def test_centroids_with_their_spread(home):
    (home / "M.csv").write_text("age,sd,v\n25,3,a\n25,3,b\n45,5,a\n45,5,c\n")
    (home / "who.csv").write_text("id,age\n1,24\n2,27\n3,44\n4,48\n")
    options = ["--kind", "microaggregated", "--sensitive", "v", "--quasi", "age", "--register", "who.csv"]
    done = run("audit", "M.csv", *options, "--spread", "age=sd", "--locate", "within", "--json", "-")
    assert json.loads(done.out)["together"]["persons"] == 4
    done = run("audit", "M.csv", *options, "--spread", "age=sd", "--locate", "afar")
    assert (done.code, "nearest, within" in done.err) == (2, True)
