"""``showthrough publish`` beside a history: what it prints, writes, refuses and leaves alone."""

import hashlib
import re

import polars as pl
import pytest

from showthrough import infer, read_release
from showthrough.republishing import guarded
from tests.cli.running import run
from tests.republishing.changing import raw_tables

ROLES = ["--id", "id", "--sensitive", "value", "--quasi", "age,zip"]
ANATOMY = ["--method", "anatomy", "--frequency-l", "2"]
GUARD = [*ROLES, *ANATOMY, "--strategy", "guarded", "--max-posterior", "0.5", "--hold-back"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k, table in enumerate(raw_tables(9, persons=40, releases=3, turnover=0.4), start=1):
        table.with_columns(pl.concat_str(pl.lit("zq-"), "id").alias("id")).write_csv(f"t{k}.csv")
    return tmp_path


def digest(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_three_guarded_releases(home):
    history = []
    for k in (1, 2, 3):
        before = {h: digest(home / h) for h in history}
        done = run("publish", f"t{k}.csv", *GUARD, *[x for h in history for x in ("--history", h)], "-o", f"R{k}")
        assert (done.code, done.err) == (0, "")
        text = " ".join(done.out.split())
        assert "Independent release → guarded: GCP of the groups" in text
        assert "counting queries off by" in text
        assert "The policy holds for everybody: exact" in text
        assert "zq-" not in done.out
        assert {h: digest(home / h) for h in history} == before
        history.append(f"R{k}")
        releases = [read_release(h) for h in history]
        assert infer(releases).to_frame()["p"].max() <= 0.5 + 2e-5


def test_exposed_persons_are_named_to_internal_eyes_only(home):
    for k in (1, 2):
        assert run("publish", f"t{k}.csv", *ROLES, *ANATOMY, "-o", f"R{k}").code == 0
    command = ["publish", "t3.csv", *GUARD, "--history", "R1", "--history", "R2", "-o", "R3"]
    done = run(*command)
    assert done.code == 2
    assert "Earlier releases already put" in done.err
    assert "zq-" not in done.err + done.out
    assert not (home / "R3").exists()
    assert "Concerned: zq-" in run(*command, "--audience", "internal").err
    done = run(*command, "--accept-exposed", "--seconds", "5")
    assert done.code == 0, done.err
    assert "persons are exposed: --audience internal names them" in done.out
    assert "zq-" not in done.out
    done = run(*command, "--accept-exposed", "--seconds", "5", "--audience", "internal", "--overwrite")
    assert "Exposed: zq-" in done.out


def told_limit(err, words):
    """The weaker limit that a refusal names as an option."""
    said = " ".join(err.split())
    assert "olicy" not in said.replace("keeps the policy", ""), said
    return re.search(rf"--max-posterior (\S+) {words}", said)[1]


def test_the_least_limit_that_the_past_keeps_is_an_option(home):
    table = pl.read_csv("t1.csv")
    often = pl.col("value") == table["value"][0]
    old = pl.concat([table.filter(often).head(2), table.filter(~often).head(1)])  # one group: two thirds have a value
    old.select("id", "value", group=pl.lit(1)).write_csv("old.csv")
    command = ["publish", "t1.csv", *GUARD, "--history", "old.csv", "--group", "group", "-o", "R1"]
    done = run(*command)
    assert (done.code, done.out) == (2, "")
    least = told_limit(done.err, "is the least limit that earlier releases keep for everybody. --accept-exposed")
    assert least == "0.667"
    assert "zq-" not in done.err
    done = run(*command, "--max-posterior", "0.666")
    assert "--max-posterior 0.667 is the least limit" in " ".join(done.err.split())
    done = run(*command, "--max-posterior", least)
    assert done.code == 0, done.err


def test_a_weaker_limit_is_told_as_an_option_with_what_it_takes(home):
    table = pl.DataFrame({"id": ["zq-1", "zq-2", "zq-3"], "age": [1, 2, 3], "zip": ["z"] * 3})
    table.with_columns(value=pl.Series(["zv1", "zv1", "zv2"])).write_csv("t.csv")
    guard = ["--strategy", "guarded", "--max-posterior", "0.5", "--method", "mondrian", "--frequency-l", "1"]
    done = run("publish", "t.csv", *ROLES, *guard, "-o", "R1")
    assert (done.code, done.out) == (2, "")
    assert "This would do: --hold-back (with 1 record held back), or --max-posterior" in " ".join(done.err.split())
    limit = told_limit(done.err, r"\(kept with 0 records held back, GCP of the groups [\d.]+, counting queries off by")
    assert not re.search(r"zq-|zv\d", done.err)
    done = run("publish", "t.csv", *ROLES, *guard, "--max-posterior", limit, "-o", "R1")
    assert done.code == 0, done.err
    assert "records withheld 0 → 0" in " ".join(done.out.split())


@pytest.mark.parametrize("kind", ["bucketized", "generalized"])
def test_dry_run_compares_all_strategies_on_a_page(home, kind):
    first = ["publish", "t1.csv", *ROLES, *ANATOMY, "--strategy", "m-invariance", "--kind", kind, "-o", "R1"]
    assert run(*first).code == 0
    names = {p.name for p in home.iterdir()}
    done = run("publish", "t2.csv", *GUARD, "--kind", kind, "--history", "R1", "--dry-run")
    assert done.code == 0, done.err
    for strategy in ("independent", "history-guided", "m-invariance", "guarded"):
        assert strategy in done.out
    table = [line for line in done.out.splitlines() if "│" in line or "┃" in line]
    assert max(map(len, table)) <= 80
    rows = {cells[0]: cells[1:] for cells in ([c.strip() for c in line[1:-1].split("│")] for line in table[1:])}
    assert len(table) == 1 + len(rows)  # no cell needs a second line
    assert rows["persons made certain"][3] == rows["persons over limit"][3] == "0"  # guarded
    assert float(rows["joint entropy (nats)"][3]) > float(rows["joint entropy (nats)"][0])
    assert {p.name for p in home.iterdir()} == names


def test_history_guided_names_who_left(home):
    assert run("publish", "t2.csv", *ROLES, *ANATOMY, "-o", "R1").code == 0
    command = ["publish", "t3.csv", *ROLES, *ANATOMY, "--strategy", "history-guided", "--history", "R1"]
    done = run(*command, "-o", "R2")
    assert done.code == 1, done.err  # groups with an empty slot hold fewer values than asked for
    assert "can be told from them: choose a repair" in " ".join(done.out.split())
    assert "zq-" not in done.out
    done = run(*command, "-o", "R2", "--overwrite", "--audience", "internal")
    named = done.out.split("Exposed: ")[1].split("\n")[0].rstrip(" …").split(", ")
    here = set(pl.read_csv("t3.csv")["id"])
    assert len(named) == 2  # the third slot was filled
    assert not here & set(named)
    assert "Exposed" not in run(*command, "-o", "R3", "--repair", "counterfeits", "--audience", "internal").out


def test_generalized_output_reports_located_readers(home):
    command = ["publish", "t1.csv", *ROLES, "--m-unique", "2", "--strategy", "m-invariance", "--kind", "generalized"]
    done = run(*command, "-o", "R1")
    assert done.code == 0, done.err
    assert "Located by quasi-identifiers instead of ids" in " ".join(done.out.split())
    command[1] = "t2.csv"
    done = run(*command, "--history", "R1", "--merge-overlaps", "--hold-back", "-o", "R2")
    assert done.code == 0, done.err
    assert "by merging those with overlapping extents" in " ".join(done.out.split())


def test_a_history_without_ids_or_link_is_refused_in_words(home):
    base = [*ROLES, "--m-unique", "2", "--strategy", "m-invariance", "--kind", "generalized"]
    assert run("publish", "t1.csv", *base, "--no-link", "-o", "R1").code == 0
    done = run("publish", "t2.csv", *base, "--history", "R1", "-o", "R2")
    assert done.code == 2
    assert "private link" in done.err


def test_an_interruption_writes_nothing(home, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(guarded, "_final", interrupted)
    names = {p.name for p in home.iterdir()}
    done = run("publish", "t1.csv", *GUARD, "-o", "R1")
    assert done.code == 130
    assert "no result was written" in done.err
    assert {p.name for p in home.iterdir()} == names


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--max-posterior", "0.5", "-o", "R"], "kept by --strategy guarded"),
        (["--strategy", "guarded", "--proximity", "x", "-o", "R"], "--proximity takes EPS,LIMIT"),
        (["--strategy", "guarded", "--proximity", "1,0.5", "-o", "R"], "needs numbers"),
        (["--strategy", "magic", "-o", "R"], "The strategy is one of"),
        (["--audience", "press", "-o", "R"], "--audience is shareable or internal"),
        (["--strategy", "guarded", "--prefer", "x", "-o", "R"], "prefer is lasting or useful"),
        (["--strategy", "m-invariance", "--merge-overlaps", "-o", "R"], "--merge-overlaps is for generalized output"),
        ([], "names the release folder to write"),
    ],
)
def test_bad_options_are_sentences(home, options, part):
    done = run("publish", "t1.csv", *ROLES, *ANATOMY, *options)
    assert done.code == 2
    assert part in done.err
