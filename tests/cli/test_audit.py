"""``showthrough audit``: files in, figures, JSON and people out, exit codes."""

import json
import os
import stat
import subprocess
import sys

import polars as pl
import pytest

from showthrough import audit as run_audit
from showthrough.examples import figure1
from showthrough.report.content import PROOFS
from tests.cli.running import ROLES, persons, run, table
from tests.histories import FIGURE1


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, groups in zip(("D1", "D2"), FIGURE1, strict=True):
        frame = table([(persons(*map(int, ids)), values) for ids, values in groups])
        frame.write_csv(f"{name}.csv")
        frame.write_parquet(f"{name}.parquet")
        frame.drop("disease").write_csv(f"{name}-records.csv")
        counts = frame.group_by("group", "disease").agg(pl.len().alias("n"))
        counts.write_csv(f"{name}-values.csv")
    return tmp_path


def files(home) -> set[str]:
    return {p.name for p in home.iterdir()}


def test_figures_for_everybody(home):
    before = files(home)
    done = run("audit", "D1.csv", "D2.csv", *ROLES)
    assert (done.code, done.err) == (0, "")
    assert "certain about 3 persons of 15; any one of them alone about nobody" in " ".join(done.out.split())
    first = " ".join(done.out.split())
    assert first.startswith(
        "FOUND 3 of 15 persons are certain (3 more than before); no release alone makes anybody certain "
        "at least 90 %: 3 (+3) at least 50 %: 15 (+11) figures: exact since D1 nobody D2 3 sure 50 % [#"
    )
    assert "nats" not in done.out.split("Numerics")[0]
    assert "zq" not in done.out
    assert "--audience internal shows ids and proofs" in done.out
    assert files(home) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["D1.csv", "D2.csv", *ROLES],
        ["D1.parquet", "D2.parquet", *ROLES],
        ["D1.csv", "D2.parquet", *ROLES],
        [
            "D1-records.csv",
            "D2-records.csv",
            "--values",
            "D1-values.csv",
            "--values",
            "D2-values.csv",
            "--count",
            "n",
            *ROLES,
        ],
    ],
)
def test_every_kind_of_file_gives_the_same_figures(home, arguments):
    done = run("audit", *arguments, "--json", "-")
    found = json.loads(done.out)
    assert done.code == 0
    assert found["together"]["certain"] == 3
    assert found["together"]["entropy_nats"] == pytest.approx(9.704061, abs=1e-6)


def test_release_folders(home):
    for release in figure1.releases():
        release.save(release.name)
    done = run("audit", "D1", "D2/", "--json", "-")
    assert json.loads(done.out)["together"]["newly_certain"] == 3
    mixed = run("audit", "D1", "D2.csv", *ROLES, "--json", "-")
    assert json.loads(mixed.out)["together"]["persons"] == 13 + 12


def test_json_on_stdout_is_one_object_and_nothing_else(home):
    done = run("audit", "D1.csv", "D2.csv", *ROLES, "--json", "-")
    found = json.loads(done.out)
    assert done.err == ""
    assert found["audience"] == "shareable"
    assert "people" not in found
    assert "zq" not in done.out
    assert [r["name"] for r in found["releases"]] == ["D1", "D2"]


def test_json_is_utf_8_whatever_the_terminal_speaks(home):
    table([(["a", "b"], ["Hämatom", "−5 °C"])]).write_csv("D3.csv")
    done = run("audit", "D3.csv", *ROLES, "--json", "-", "--audience", "internal", encoding="latin-1")
    assert json.loads(done.out.encode("latin-1"))["people"][0]["value"] in ("Hämatom", "−5 °C")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_terminals_without_our_characters(home, encoding):
    done = run("audit", "D1.csv", "D2.csv", *ROLES, "--audience", "internal", encoding=encoding)
    assert done.code == 0
    assert "zq-person-10: Lung Cancer" in done.out


def test_json_in_a_file(home):
    done = run("audit", "D1.csv", "D2.csv", *ROLES, "--json", "a.json", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert json.loads((home / "a.json").read_text())["together"]["certain"] == 3
    assert stat.S_IMODE((home / "a.json").stat().st_mode) == 0o666 & ~_umask()


def test_internal_json_is_private(home):
    run("audit", "D1.csv", "D2.csv", *ROLES, "--json", "a.json", "--audience", "internal")
    assert stat.S_IMODE((home / "a.json").stat().st_mode) == 0o600
    found = json.loads((home / "a.json").read_text())
    assert {p["id"] for p in found["people"] if p["newly_certain"]} == set(persons(7, 10, 13))
    assert len(found["facts"]) == 3 + 8 + 12
    assert found["facts"][0]["proof"].endswith("Therefore zq-person-7 has Diabetes.")


def test_internal_tables(home):
    done = run("audit", "D1.csv", "D2.csv", *ROLES, "--audience", "internal")
    assert done.code == 0
    assert "  zq-person-10: Lung Cancer\n" in done.out
    assert "zq-person-14 and zq-person-15: Flu" in done.out


def test_people_file(home):
    done = run("audit", "D1.csv", "D2.csv", *ROLES, "--people", "people.csv")
    assert (done.code, done.err) == (0, "")
    assert "zq" not in done.out
    assert stat.S_IMODE((home / "people.csv").stat().st_mode) == 0o600
    people = pl.read_csv("people.csv")
    assert people.columns == ["id", "value", "p", "fact", "by", "proof"]
    truth = run_audit(figure1.releases()).posterior
    rows = {(i.removeprefix("zq-person-"), v): (p, fact, by) for i, v, p, fact, by, _ in people.rows()}
    assert len(rows) == people.height == truth.to_frame().height + 8 + 12
    for person, value, p in truth.to_frame().iter_rows():
        assert rows[person, value][0] == pytest.approx(p)
    for person, value, fact, by in truth.proven().iter_rows():
        assert rows[person, value][1:] == (fact, by)
    assert people.filter(pl.col("fact").is_null()).height == truth.to_frame().height - 3
    assert people.filter(pl.col("fact").is_not_null())["proof"].null_count() == 0
    ten = people.filter((pl.col("id") == "zq-person-10") & (pl.col("value") == "Lung Cancer"))["proof"][0]
    assert ten.endswith("Therefore zq-person-10 has Lung Cancer.")
    best = people.group_by("id", maintain_order=True).agg(pl.col("p").max())
    assert sorted(best["id"]) == sorted(persons(*range(1, 16)))
    assert best["p"].is_sorted(descending=True)  # the most exposed first


def test_people_file_without_facts(home):
    table([(persons(1, 2), ["a", "b"])]).write_csv("D3.csv")
    assert run("audit", "D3.csv", *ROLES, "--people", "p.csv").code == 0
    frame = pl.read_csv("p.csv")
    assert frame.columns == ["id", "value", "p", "fact", "by", "proof"]
    assert frame["p"].to_list() == [0.5] * 4


def test_many_facts(home):
    n = PROOFS + 25
    groups = [(persons(k), ["Flu"]) for k in range(n)]
    table(groups).write_csv("D3.csv")
    done = run("audit", "D3.csv", *ROLES, "--people", "p.csv", "--audience", "internal")
    assert "… and 185 more facts: --people FILE writes them all." in done.out
    assert done.out.count("zq-person-") <= 40
    assert done.err == "p.csv: 25 facts carry no proof; in Python, Posterior.explain gives any of them.\n"
    frame = pl.read_csv("p.csv")
    assert frame["fact"].to_list() == ["certain"] * n
    assert frame["proof"].null_count() == 25
    assert run("audit", "D3.csv", *ROLES, "--people", "p.csv", "--quiet").err == ""
    internal = json.loads(run("audit", "D3.csv", *ROLES, "--json", "-", "--audience", "internal").out)
    assert len(internal["facts"]) == n
    assert sum("proof" in fact for fact in internal["facts"]) == PROOFS


def test_help_tells_how_many_proofs_are_written():
    words = " ".join(run("audit", "--help").out.replace("│", " ").split())
    assert f"The first {PROOFS} facts carry a proof, unless it takes more than 30 steps" in words


def test_changed_split(home):
    table([(persons(1, 2), ["a", "b"])]).write_csv("A.csv")
    table([(persons(1, 2), ["c", "b"]), (persons(3), ["a"])]).write_csv("B.csv")
    refused = run("audit", "A.csv", "B.csv", *ROLES, "--changed", "refuse", "--contradictions", "refuse")
    assert refused.code == 2
    table([(persons(1), ["c"]), (persons(2, 3), ["b", "a"])]).write_csv("B.csv")
    done = run("audit", "A.csv", "B.csv", *ROLES, "--changed", "split", "--people", "p.csv", "--json", "-",
               "--audience", "internal")  # fmt: skip
    assert done.code == 0
    frame = pl.read_csv("p.csv")
    assert frame.columns == ["id", "release", "value", "p", "fact", "by", "proof"]
    parts = frame.filter(pl.col("id") == "zq-person-1").select("release", "value", "p").rows()
    assert ("B", "c", 1.0) in parts
    assert {r for r, _, _ in parts} == {"A", "B"}
    assert {p["release"] for p in json.loads(done.out)["people"]} == {None, "A", "B"}


def test_values_of_many_types(home):
    import datetime as dt
    from decimal import Decimal

    days = [dt.datetime(2020, 1, k, tzinfo=dt.UTC) for k in (1, 2, 3)]
    for ids, values in ((days, [Decimal("1.5"), Decimal("2.5"), Decimal("2.5")]), ([1.5, 2.5, 3.5], [dt.time(1)] * 3)):
        frame = pl.DataFrame({"pseudonym": ids, "group": [True, True, False], "disease": values})
        frame.write_parquet("D3.parquet")
        done = run(
            "audit", "D3.parquet", "D3.parquet", *ROLES, "--people", "p.csv", "--json", "-", "--audience", "internal"
        )
        assert done.code == 0, done.err
        assert pl.read_csv("p.csv")["fact"].count() >= 1
        assert json.loads(done.out)["facts"]


def test_infinite_values_are_json(home):
    pl.DataFrame({"pseudonym": [1], "group": [1], "disease": [float("inf")]}).write_parquet("D3.parquet")
    done = run("audit", "D3.parquet", *ROLES, "--json", "-", "--audience", "internal")
    found = json.loads(done.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert found["facts"][0]["value"] == "inf"


@pytest.mark.parametrize("name", ["[bold]x", "[/red]", "[red]D1[/red]", "{0}", "a b"])
def test_odd_file_names(home, name):
    os.rename("D1.csv", f"{name.replace('/', '')}.csv")
    done = run("audit", f"{name.replace('/', '')}.csv", "D2.csv", *ROLES, "--audience", "internal", columns=120)
    assert done.code == 0
    assert f"{name.replace('/', '')} alone" in done.out


@pytest.mark.parametrize(("columns", "width"), [(None, 80), (0, 80), (60, 60), (200, 200)])
def test_piped_output_is_as_wide_as_columns_says(home, columns, width):
    done = run("audit", "D1.csv", "D2.csv", *ROLES, "--audience", "internal", columns=columns)
    assert width - 20 < max(map(len, done.out.splitlines())) <= width


def test_control_characters_do_not_reach_the_terminal(home):
    table([(persons(1), ["\x1b[2Jevil\u202e"])]).write_csv("D3.csv")
    done = run("audit", "D3.csv", *ROLES, "--audience", "internal")
    assert "\\x1b[2Jevil\\u202e" in done.out
    assert "\x1b" not in done.out
    table([(persons(1), ["\x1b[2Jevil"])]).write_csv("A.csv")
    table([(persons(1), ["b"])]).write_csv("B.csv")
    done = run("audit", "A.csv", "B.csv", *ROLES, "--changed", "refuse", "--audience", "internal")
    assert done.code == 2
    assert "\\x1b[2Jevil" in done.err
    assert "\x1b" not in done.err
    assert "evil" not in run("audit", "A.csv", "B.csv", *ROLES, "--changed", "refuse").err


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_as_a_command(home):
    command = [sys.executable, "-m", "showthrough", "audit", "D1.csv", "D2.csv", *ROLES, "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["together"]["certain"] == 3


@pytest.mark.parametrize("more", [[], ["--json", "-"]])
def test_a_reader_that_left_is_not_a_failed_limit(home, more):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "showthrough", "audit", "D1.csv", *ROLES, *more]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False, timeout=300)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")
