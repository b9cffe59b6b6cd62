"""``showthrough publish``: a raw table in, a release folder out that the other commands read."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import showthrough as st
from tests.cli.running import run

TREE = "n1;n;*\nn2;n;*\ns1;s;*\ns2;s;*\n"
ROLES = ["--id", "pseudonym", "--sensitive", "disease"]
ROWS = 40


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    raw().write_csv("raw.csv")
    (tmp_path / "place.csv").write_text(TREE)
    return tmp_path


def raw(rows: int = ROWS) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "pseudonym": [f"zq-person-{n}" for n in range(rows)],
            "age": [18 + (n * 7) % 50 for n in range(rows)],
            "place": [("n1", "n2", "s1", "s2")[(n * n) % 4] for n in range(rows)],
            "disease": [("flu", "gout", "asthma", "mumps", "rubella")[n % 5] for n in range(rows)],
        }
    )


def publish(*options):
    return run("publish", "raw.csv", *ROLES, *options)


def left(home) -> set[str]:
    return {entry.name for entry in home.iterdir()} - {"raw.csv", "place.csv"}


@pytest.mark.parametrize(
    ("method", "limits"),
    [
        ("mondrian", ["--k", 4, "--distinct-l", 2]),
        ("mondrian-relaxed", ["--k", 4, "--t", 0.5]),
        ("local-recoding", ["--k", 4, "--entropy-l", 2]),
        ("full-domain", ["--k", 4, "--recursive", "3,2"]),
        ("anatomy", ["--frequency-l", 3]),
        ("mdav", ["--k", 4]),
    ],
)
def test_every_method_makes_what_check_confirms(home, method, limits):
    done = publish("--method", method, *limits, "--hierarchy", "place=place.csv", "-o", "D1")
    assert done.code == 0, done.err
    assert "holds" in done.out
    checked = run("check", "D1", *limits)
    assert checked.code == 0, checked.out + checked.err
    release = st.read_release("D1")
    assert release.members == ROWS
    for file in Path("D1").iterdir():
        assert "zq-person" not in file.read_text()
    assert (home / "D1" / "plan.json").exists() == (release.kind == "generalized")


def test_xcolor(home):
    numbers = raw().with_columns(disease=pl.Series([n % 10 for n in range(ROWS)]))
    numbers.write_csv("raw.csv")
    wanted = ["--method", "xcolor", "--dissimilarity", "0.5,0.5,4"]
    assert publish(*wanted, "-o", "D1").code == 0
    assert run("check", "D1", "--dissimilarity", "0.5,0.5,4").code == 0
    numbers.with_columns(disease=pl.Series([1] * 39 + [9])).write_csv("raw.csv")
    refused = publish(*wanted, "-o", "D2")
    assert refused.code == 2
    assert "--accept-violations" in refused.err
    assert not Path("D2").exists()
    accepted = publish(*wanted, "-o", "D2", "--accept-violations")
    assert accepted.code == 1
    assert "does not hold" in accepted.out
    assert run("check", "D2", "--dissimilarity", "0.5,0.5,4").code == 1


def test_two_releases_are_audited_together(home):
    assert publish("--method", "anatomy", "--distinct-l", 3, "-o", "D1").code == 0
    assert publish("--method", "anatomy", "--distinct-l", 3, "--seed", 1, "-o", "D2").code == 0
    done = run("audit", "D1", "D2", "--json", "-")
    assert done.code == 0, done.err
    assert {"D1", "D2"} <= set(json.dumps(json.loads(done.out)).replace('"', " ").split())


def test_the_link_is_private_and_beside_the_folder(home):
    assert publish("--k", 4, "-o", "D1", "--no-link").code == 0
    assert left(home) == {"D1"}
    done = publish("--k", 4, "-o", "D2")
    assert done.code == 0
    assert left(home) == {"D1", "D2", "D2.link.csv"}
    assert "D2.link.csv says who is in which group" in " ".join(done.out.split())
    assert not any("link" in f.name for f in Path("D2").iterdir())
    assert st.read_release("D2").groups().height == ROWS
    assert Path("D2.link.csv").stat().st_mode & 0o777 == 0o600
    assert run("publish", "raw.csv", "--quasi", "age,place", "--k", 4, "-o", "D3", "--link").code == 2
    assert not Path("D3").exists()


def test_a_plan_recodes_the_next_table(home):
    assert publish("--k", 4, "--method", "full-domain", "--hierarchy", "place=place.csv", "-o", "D1").code == 0
    again = publish("--k", 4, "--hierarchy", "place=place.csv", "--plan", "D1/plan.json", "-o", "D2")
    assert again.code == 0, again.err
    assert "The plan fits all but 0 rows" in again.out
    assert st.read_release("D1").to_frame().equals(st.read_release("D2").to_frame())


def test_same_seed_same_bytes(home):
    for folder in ("a/D", "b/D"):
        Path(folder).parent.mkdir()
        assert publish("--k", 4, "--method", "local-recoding", "--seed", 5, "-o", folder).code == 0
    for file in Path("a/D").iterdir():
        assert file.read_bytes() == (Path("b/D") / file.name).read_bytes()


def test_coding_gaps_and_populations(home):
    assert publish("--k", 4, "--coding", "age=25:60", "-o", "D1").code == 0
    cells = " ".join(st.read_release("D1").to_frame()["age"])
    assert "<=" in cells
    assert ">=" in cells
    gaps = raw().with_columns(age=pl.when(pl.col("age") > 60).then(None).otherwise(pl.col("age")))
    gaps.write_csv("raw.csv")
    assert publish("--k", 4, "-o", "D2").code == 2
    done = publish("--k", 4, "--missing", "suppress", "-o", "D2")
    assert done.code == 0
    assert "rows with empty cells were left out" in done.out
    raw(30).write_csv("raw.csv")
    raw().write_csv("people.csv")
    done = publish("--k-map", 5, "--population", "people.csv", "-o", "D3")
    assert done.code == 0, done.err
    assert "5-map holds" in done.out


def test_several_sensitive_columns(home):
    raw().with_columns(pl.Series("pay", [("low", "mid", "high")[n % 3] for n in range(ROWS)])).write_csv("raw.csv")
    both = ["--sensitive", "disease", "--sensitive", "pay"]
    roles = ["--id", "pseudonym", *both]
    limits = ["--k", 4, "--distinct-l", 2, "--on", "pay:t=0.4", "--on", "disease:recursive=3,2"]
    done = run("publish", "raw.csv", *roles, *limits, "-o", "D1")
    assert done.code == 0, done.err
    told = " ".join(done.out.split())
    for words in ("distinct 2-diversity of disease", "distinct 2-diversity of pay", "all rows) of pay", "of disease"):
        assert words in told
    assert pl.read_csv("D1/rows.csv").columns == ["age", "place", "disease", "pay"]
    done = run("check", "D1", *both, "--k", 4, "--distinct-l", 2)
    assert done.code == 0, done.err
    audits = [run("audit", "D1", *more, "--json", "-") for more in ([], ["--sensitive", "pay"])]
    assert audits[0].out != audits[1].out, audits[0].err
    done = run("publish", "raw.csv", *roles, "--k", 4, "--on", "pay=3", "-o", "D2")
    assert done.code == 2
    assert "COLUMN:LIMIT=VALUE" in done.err


def test_levels_and_objectives(home):
    tree = ["--hierarchy", "place=place.csv", "--k", 4]
    done = publish(*tree, "--method", "local-recoding", "--level", "place=1:1", "-o", "D1")
    assert done.code == 0, done.err
    assert set(pl.read_csv("D1/rows.csv")["place"]) == {"n"}
    done = publish(
        *tree, "--method", "full-domain", "--level", "place=:1", "--objective", "average-class-size", "-o", "D2"
    )
    assert done.code == 0, done.err
    assert "average-class-size is" in " ".join(done.out.split())


def test_quiet_prints_nothing(home):
    done = publish("--k", 4, "-o", "D1", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_an_existing_folder_is_kept(home):
    Path("D1").mkdir()
    (home / "D1" / "note.txt").write_text("mine")
    done = publish("--k", 4, "-o", "D1")
    assert done.code == 2
    assert (home / "D1" / "note.txt").read_text() == "mine"
    assert [f.name for f in Path("D1").iterdir()] == ["note.txt"]
    assert publish("--k", 4, "-o", "D2").code == 0
    before = st.read_release("D2").to_frame()
    assert publish("--k", 8, "-o", "D2").code == 2
    assert st.read_release("D2").to_frame().equals(before)
    assert publish("--k", 8, "-o", "D2", "--overwrite").code == 0
    assert not st.read_release("D2").to_frame().equals(before)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--k", 4], "-o FOLDER"),
        (["--k", 4, "-o", "D1", "--dry-run"], "--dry-run"),
        (["-o", "D1"], "Say what the release must satisfy"),
        (["--k", 400, "-o", "D1"], "k = 400 is larger than the table (40 rows)"),
        (["--k", 4, "--method", "magic", "-o", "D1"], "The method is one of mondrian"),
        (["--k", 4, "--method", "anatomy", "-o", "D1"], "anatomy cannot enforce 4-anonymity"),
        (["--distinct-l", 9, "-o", "D1"], "5 different values"),
        (["--distinct-l", 9, "--method", "anatomy", "-o", "D1"], "needs at least 9 different sensitive values"),
        (["--k", 4, "--hierarchy", "place=nothing.csv", "-o", "D1"], "nothing.csv"),
        (["--k", 4, "--hierarchy", "zip=place.csv", "-o", "D1"], "'zip' is none of the quasi-identifiers"),
        (["--k", 4, "--hierarchy", "age=place.csv", "-o", "D1"], "hierarchy of column 'age'"),
        (["--k", 4, "--quasi", "zip", "-o", "D1"], "'zip'"),
        (["--k", 4, "--coding", "age", "-o", "D1"], "COLUMN=LOW:HIGH"),
        (["--k", 4, "--coding", "place=1:2", "-o", "D1"], "holds no numbers"),
        (["--k-map", 4, "-o", "D1"], "--population"),
        (["--k", 4, "--missing", "guess", "-o", "D1"], "refuse, value, suppress"),
        (["--k", 4, "--plan", "nothing.json", "-o", "D1"], "nothing.json"),
        (["--k", 4, "--format", "xlsx", "-o", "D1"], "--format is csv or parquet"),
        (["--k", 4, "--kind", "pdf", "-o", "D1"], "output is one of"),
        (["--k", 4, "--max-posterior", 0.5, "-o", "D1"], "--strategy guarded"),
        (["--k", 4, "--cells", "wide", "-o", "D1"], "tight, recursion"),
    ],
)
def test_faults_are_sentences_and_leave_nothing(home, options, says):
    done = publish(*options)
    assert done.code == 2, done.out + done.err
    assert says in " ".join(done.err.split())
    assert left(home) == set()


def test_dry_run_compares_and_writes_nothing(home):
    done = publish("--k", 4, "--distinct-l", 2, "--dry-run")
    assert done.code == 0, done.err
    assert "independent" in done.out
    assert left(home) == set()


def test_interruption_leaves_nothing(home):
    table = pl.concat([raw(2000).with_columns(pseudonym=pl.col("pseudonym") + f"-{n}") for n in range(3)])
    table.with_columns(age=pl.int_range(table.height) * 7919 % 10007).write_csv("raw.csv")
    begin = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # may be ignored where tests run
    script = f"{begin}; from showthrough.cli.main import main; main()"
    command = [sys.executable, "-c", script, "publish", "raw.csv", *ROLES, "--k", "9", "--t", "0.1"]
    started = subprocess.Popen(
        [*command, "--method", "local-recoding", "--passes", "10000", "-o", "D1"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with pytest.raises(subprocess.TimeoutExpired):
        started.wait(5)
    started.send_signal(signal.SIGINT)
    assert started.wait(60) == 130
    assert "Interrupted" in started.stderr.read()
    started.stderr.close()
    assert left(home) == set()
