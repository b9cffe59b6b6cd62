"""Releases without ids on the command line: what is published, what ties it, and what is said where nothing does."""

import json
from pathlib import Path

import polars as pl
import pytest

import showthrough as st
from tests.cli.running import run
from tests.republishing.changing import raw_tables

ROLES = ["--id", "id", "--sensitive", "value", "--quasi", "age,zip"]
ANATOMY = [*ROLES, "--method", "anatomy", "--frequency-l", "2"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k, table in enumerate(raw_tables(9, persons=40, releases=3, turnover=0.4), start=1):
        table.with_columns(pl.concat_str(pl.lit("zq-"), "id").alias("id")).write_csv(f"t{k}.csv")
    return tmp_path


def published(home) -> str:
    return "".join(p.read_text() for folder in home.iterdir() if folder.is_dir() for p in folder.iterdir())


@pytest.mark.parametrize(
    "options",
    [
        [*ROLES, "--method", "anatomy", "--frequency-l", "2"],
        [*ROLES, "--k", "3", "--kind", "bucketized"],
        [*ANATOMY, "--strategy", "m-invariance"],
        [*ANATOMY, "--strategy", "guarded", "--max-posterior", "0.5"],
    ],
)
def test_bucketized_releases_are_two_tables(home, options):
    done = run("publish", "t1.csv", *options, "-o", "R")
    assert done.code == 0, done.err
    assert {"records.csv", "values.csv"} <= {p.name for p in Path("R").iterdir()}
    assert "rows.csv" not in {p.name for p in Path("R").iterdir()}
    assert "zq-" not in published(home) + done.out + done.err
    assert pl.read_csv("R/records.csv").columns == ["age", "zip", "group"]
    assert Path("R.link.csv").stat().st_mode & 0o777 == 0o600
    assert run("publish", "t1.csv", *options, "--publish-ids", "-o", "S").code == 0
    assert not Path("S.link.csv").exists()
    assert "zq-" in Path("S/records.csv").read_text()


def test_an_audit_reads_links_and_says_so(home):
    for k in (1, 2):
        assert run("publish", f"t{k}.csv", *ANATOMY, "-o", f"R{k}").code == 0
    done = run("audit", "R1", "R2", "--json", "-")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert [r["tied_by"] for r in told["releases"]] == ["link", "link"]
    assert any("R1 and R2 are read with the private link" in line for line in told["summary"])
    assert any("for a reader who knows everybody's group" in line for line in told["summary"])
    assert "zq-" not in done.out + done.err
    published_ids = [st.read_release(f"R{k}") for k in (1, 2)]
    same = st.audit([r.with_link(r.groups()) for r in published_ids])
    assert told["together"]["certain"] == same.joint.certain
    assert told["together"]["entropy_nats"] == pytest.approx(same.joint.entropy_nats)
    assert run("audit", "R1", "R2", "--people", "p.csv", "--quiet").code == 0
    assert "zq-" in Path("p.csv").read_text()


@pytest.mark.parametrize("way", ["--no-link", "removed", "other pseudonyms"])
def test_where_nothing_ties_releases_an_audit_is_inconclusive(home, way):
    for k in (1, 2):
        assert run("publish", f"t{k}.csv", *ANATOMY, "-o", f"R{k}").code == 0
    options = []
    if way == "removed":
        Path("R1.link.csv").unlink()
        Path("R2.link.csv").unlink()
    elif way == "--no-link":
        options = ["--no-link"]
    else:
        other = pl.read_csv("t2.csv").with_columns(pl.col("id") + "-other")
        other.write_csv("t2.csv")
        assert run("publish", "t2.csv", *ANATOMY, "--overwrite", "-o", "R2").code == 0
    done = run("audit", "R1", "R2", *options)
    assert done.code == 4
    assert "nothing ties the persons" in " ".join((done.out + done.err).split())
    assert "certain about nobody of" not in " ".join(done.out.split()).split("Inconclusive")[0]
    assert run("audit", "R1", *options).code == 0  # of one release there is nothing to tie


def test_one_loose_release_among_others_is_enough(home):
    for k in (1, 2, 3):
        assert run("publish", f"t{k}.csv", *ANATOMY, "-o", f"R{k}").code == 0
    assert run("audit", "R1", "R2", "R3").code == 0
    Path("R2.link.csv").unlink()
    done = run("audit", "R1", "R2", "R3", "--json", "-")
    assert done.code == 4
    assert [r["tied"] for r in json.loads(done.out)["releases"]] == [True, False, True]


def test_a_register_says_what_the_reader_has(home):
    for k in (1, 2):
        assert run("publish", f"t{k}.csv", *ANATOMY, "-o", f"R{k}").code == 0
    everybody = pl.concat([pl.read_csv("t1.csv"), pl.read_csv("t2.csv")]).unique("id")
    everybody.select("id", "age", "zip").write_csv("people.csv")
    command = ["audit", "R1", "R2", "--register", "people.csv", "--id", "id", "--json", "-"]
    located = json.loads(run(*command).out)
    assert {r["tied_by"] for r in located["releases"]} == {"register"}
    linked = json.loads(run(*command, "--link").out)
    assert {r["tied_by"] for r in linked["releases"]} == {"membership"}


@pytest.mark.parametrize("strategy", ["history-guided", "m-invariance", "guarded"])
def test_strategies_go_on_from_folders_and_links(home, strategy):
    guard = ["--max-posterior", "0.5", "--hold-back"] if strategy == "guarded" else ["--hold-back"]
    base = [*ANATOMY, "--strategy", strategy, *guard]
    history = []
    for k in (1, 2, 3):
        done = run("publish", f"t{k}.csv", *base, *[x for h in history for x in ("--history", h)], "-o", f"R{k}")
        assert done.code in ((0, 1) if strategy == "history-guided" else (0,)), done.err
        assert (
            "read with private links or a register: for a reader who knows everybody's group"
            in " ".join(done.out.split())
        ) == (k > 1)
        history.append(f"R{k}")
    assert "zq-" not in published(home)
    if strategy != "history-guided":
        found = st.infer([st.read_release(h) for h in history])
        assert found.to_frame()["p"].max() <= 0.5 + 2e-5
    Path("R1.link.csv").unlink()
    refused = run("publish", "t3.csv", *base, "--history", "R1", "-o", "R4")
    assert refused.code == 2
    assert "private link" in refused.err


def test_tables_find_their_ids_by_the_link(home):
    rows = pl.DataFrame(
        {"p id": [f"q{k}" for k in range(8)], "zip": [str(k // 2) for k in range(8)], "v": list("abcdabcd")}
    )
    rows.write_csv("t.csv")
    made = ("--id", "p id", "--sensitive", "v", "--quasi", "zip", "--method", "anatomy", "--distinct-l", "2")
    for name in ("A", "B"):
        assert run("publish", "t.csv", *made, "-o", name).code == 0
    assert st.read_release("A").link_id == "p id"
    done = run("audit", "A", "B", "--tables", "t.csv", "t.csv", "--json", "-")
    assert done.code == 0, done.err
    for name in ("A", "B"):  # as earlier versions wrote it
        first, rest = Path(f"{name}.link.csv").read_text().split("\n", 1)
        Path(f"{name}.link.csv").write_text(first.replace(', "column": "p id"', "") + "\n" + rest)
    assert st.read_release("A").link_id is None
    done = run("audit", "A", "B", "--tables", "t.csv", "t.csv")
    assert done.code == 2
    assert "name it with --id COLUMN" in done.err
    assert run("audit", "A", "B", "--tables", "t.csv", "t.csv", "--id", "p id").code == 0
