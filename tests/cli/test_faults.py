"""Every fault is a sentence and an exit code, writes nothing, and tells no id to those who may not know it."""

import gzip
import os

import polars as pl
import pytest

import showthrough.auditing.audit
import showthrough.report.terminal
from showthrough.errors import InternalError, NotConvergedError
from tests.cli.running import ROLES, persons, run, table

P = persons(*range(10))


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table([(P[:2], ["Flu", "HIV"]), (P[2:4], ["Flu", "Flu"])]).write_csv("good.csv")
    return tmp_path


def write(text: str | bytes) -> None:
    with open("bad.csv", "wb") as stream:
        stream.write(text if isinstance(text, bytes) else text.encode())


def write_values(text: str) -> list[str]:
    write("pseudonym,group\n" + "".join(f"{p},1\n" for p in P[:3]))
    with open("values.csv", "w") as stream:
        stream.write(text)
    return ["bad.csv", "--values", "values.csv", *ROLES]


def two(first, second) -> list[str]:
    table(first).write_csv("A.csv")
    table(second).write_csv("B.csv")
    return ["A.csv", "B.csv", *ROLES, "--changed", "refuse", "--contradictions", "refuse"]


def rows(*lines: str, header: str = "pseudonym,group,disease") -> list[str]:
    write("\n".join([header, *lines]) + "\n")
    return ["good.csv", "bad.csv", *ROLES]


def parquet(**columns) -> list[str]:
    pl.DataFrame(columns).write_parquet("bad.parquet")
    return ["good.csv", "bad.parquet", *ROLES]


def raw(content: bytes) -> list[str]:
    write(content)
    return ["bad.csv", *ROLES]


def damaged_parquet() -> list[str]:
    table([(P, ["Flu"] * 10)]).write_parquet("whole.parquet", compression="uncompressed")
    with open("whole.parquet", "rb") as stream:
        return raw(stream.read()[:-30])


def folder() -> list[str]:
    os.mkdir("folder")
    return ["folder", *ROLES]


def with_options(*options: str) -> list[str]:
    return ["good.csv", *ROLES, *options]


HEADER = "pseudonym,group,disease"
COUNTS = "group,disease,count"
THREE = (P[:3], ["a", "a", "b"]), (P[:3], ["a", "b", "b"])
LATIN = f"{HEADER}\n{P[1]}é,1,Flu\n".encode("latin-1")
COLUMNS = "bad.csv has no column 'pseudonym'. Its columns are: 'id', 'group', 'disease'."

# how the files are made and audit is called; part of the message; ids in the message for the internal audience
FAULTS = {
    "person twice": (lambda: rows(f"{P[1]},1,Flu", f"{P[2]},1,Flu", f"{P[1]},2,Flu"), "stands in rows 1 and 3", P[1:2]),
    "changed value": (lambda: two([(P[:2], ["a", "b"])], [(P[:2], ["c", "d"])]), "no value is in all", P[:1]),
    "no member can": (
        lambda: two([(P[:2], ["a", "b"])], [(P[:1], ["a"]), (P[1:3], ["a", "c"])]),
        "1 time, but each of the 2 persons",
        P[:2],
    ),
    "counts clash": (lambda: two([THREE[0]], [THREE[1]]), "no assignment of values to persons fits", P[:3]),
    "no group": (lambda: rows(f"{P[1]},,Flu"), "bad.csv: the person in row 1 has no group", []),
    "no id": (lambda: rows(f"{P[1]},1,Flu", ",1,Flu"), "bad.csv: row 2 has no id", []),
    "no value": (lambda: rows(f'{P[1]},1,""'), "bad.csv: row 1 has no value", []),
    "missing column": (lambda: rows(f"{P[1]},1,Flu", header="id,group,disease"), COLUMNS, []),
    "no header": (lambda: rows(f"{P[2]},1,Flu", header=f"{P[1]},1,Flu"), "bad.csv has no column 'pseudonym'", P[1:2]),
    "no header, same cells": (lambda: rows("x,x,y", header=f"{P[1]},{P[1]},Flu"), "more than once", P[1:2]),
    "ragged": (lambda: rows(f"{P[1]},1,Flu", f"{P[2]},1"), "bad.csv, line 3: 2 fields where the header has 3", []),
    "mixed separators": (lambda: rows(f"{P[1]};1;Flu"), "that line by semicolons", []),
    "stray quote": (lambda: rows(f'{P[1]}",1,Flu'), "line 2: a double quote stands in the middle", []),
    "open quote": (lambda: rows(f'"{P[1]},1,Flu'), "opens a quote in the row at line 2", []),
    "not utf-8": (lambda: raw(LATIN), "is not utf-8 text", []),
    "no such encoding": (lambda: with_options("--encoding", "klingon"), "no text encoding called 'klingon'", []),
    "empty": (lambda: raw(b""), "bad.csv is empty", []),
    "header only": (lambda: raw(HEADER.encode()), "it has a header but no rows", []),
    "zip": (lambda: raw(b"PK\x03\x04" + P[1].encode()), "is a ZIP or Excel file", []),
    "gzip": (lambda: raw(gzip.compress(P[1].encode() * 99, mtime=0)[:-4]), "is a damaged gzip file", []),
    "parquet": (damaged_parquet, "is a damaged Parquet file", []),
    "missing file": (lambda: ["none.csv", *ROLES], "There is no file none.csv.", []),
    "folder": (folder, "folder is a folder without release.toml", []),
    "name too long": (lambda: ["x" * 300, *ROLES], "There is no file", []),
    "missing roles": (lambda: ["good.csv"], "name its columns with --id, --sensitive, --group.", []),
    "role twice": (lambda: with_options("--group", "pseudonym"), "The column 'pseudonym' is named twice", []),
    "counts do not fit": (lambda: write_values(f"{COUNTS}\n1,Flu,2\n"), "has 3 persons but its counts add up to 2", []),
    "no persons": (lambda: write_values(f"{COUNTS}\n1,Flu,3\n2,Flu,1\n"), "has values but no persons", []),
    "ids as counts": (lambda: write_values(f"{COUNTS}\n1,Flu,{P[1]}\n"), "expected a whole number", P[1:2]),
    "values missing": (
        lambda: [*write_values(f"{COUNTS}\n1,Flu,3\n"), "good.csv"],
        "2 releases but 1 tables of values",
        [],
    ),
    "two kinds": (lambda: parquet(pseudonym=[1.5], group=[1], disease=["x"]), "The ids are of different types", []),
    "lists": (lambda: parquet(pseudonym=[P[:2]], group=[1], disease=["x"]), "holds List(String)", []),
    "unwritable json": (lambda: with_options("--json", "none/a.json"), "none/a.json cannot be written", []),
    "unwritable people": (lambda: with_options("--people", "good.csv/p"), "good.csv/p cannot be written", []),
    "json is a folder": (lambda: with_options("--json", "."), "is a folder, expected the name of a file", []),
    "json over the input": (lambda: with_options("--json", "./good.csv"), "what this command reads", []),
    "one file for both": (lambda: with_options("--json", "x", "--people", "./x"), "is named for two outputs", []),
}


def contents(home) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in home.iterdir() if p.is_file()}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(home, name):
    make, message, named = FAULTS[name]
    arguments = make()
    outputs = [] if "--json" in arguments or "--people" in arguments else ["--json", "a.json", "--people", "p.csv"]
    before = contents(home)
    for audience in ("shareable", "internal"):
        done = run("audit", *arguments, *outputs, "--audience", audience)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("Error: ")
        assert message in done.err
        assert contents(home) == before
        if audience == "shareable":
            assert "zq" not in done.err
            assert done.err.count("\n") == 1
            assert done.err.endswith(("(--audience internal tells more.)\n", ".\n", "?\n"))
        else:
            assert all(person in done.err for person in named)


def test_unwritable_targets_are_told_before_the_work(home, monkeypatch):
    done = run("audit", "none.csv", *ROLES, "--json", "none/a.json")
    assert "none/a.json cannot be written" in done.err
    done = run("audit", "none.csv", *ROLES, "--people", "none/p.csv")
    assert "none/p.csv cannot be written" in done.err


def test_output_inside_a_release_folder(home):
    from showthrough.examples import figure1

    figure1.releases()[0].save("D1")
    done = run("audit", "D1", "--json", "D1/audit.json")
    assert (done.code, "what this command reads" in done.err) == (2, True)
    assert not os.path.exists("D1/audit.json")


def test_not_converged_is_inconclusive(home, monkeypatch):
    def fail(*_, **__):
        raise NotConvergedError("The numbers could not be certified.", posterior=None)

    monkeypatch.setattr(showthrough.auditing.audit, "audit", fail)
    before = {p.name for p in home.iterdir()}
    done = run("audit", "good.csv", *ROLES, "--json", "a.json", "--people", "p.csv")
    assert (done.code, done.out) == (4, "")
    assert done.err == "Inconclusive: The numbers could not be certified.\n"
    assert {p.name for p in home.iterdir()} == before


@pytest.mark.parametrize("bug", [RuntimeError("zq-person-1"), InternalError("zq-person-1"), KeyError("zq-person-1")])
@pytest.mark.parametrize("where", [(showthrough.auditing.audit, "audit"), (showthrough.report.terminal, "show_audit")])
def test_a_bug_of_ours(home, monkeypatch, bug, where):
    def fail(*_, **__):
        raise bug

    monkeypatch.setattr(*where, fail)
    monkeypatch.delenv("SHOWTHROUGH_DEBUG", raising=False)
    before = {p.name for p in home.iterdir()}
    done = run("audit", "good.csv", *ROLES, "--json", "a.json", "--people", "p.csv", "--audience", "internal")
    assert (done.code, done.out) == (70, "")
    assert done.err.startswith("This is a bug in showthrough ")
    assert type(bug).__name__ in done.err
    assert "zq" not in done.err
    assert {p.name for p in home.iterdir()} == before


@pytest.mark.parametrize("where", [(showthrough.auditing.audit, "audit"), (showthrough.report.terminal, "show_audit")])
def test_interruption(home, monkeypatch, where):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(*where, stop)
    before = {p.name for p in home.iterdir()}
    done = run("audit", "good.csv", *ROLES, "--json", "a.json", "--people", "p.csv")
    assert (done.code, done.out, done.err) == (130, "", "Interrupted: no result was written.\n")
    assert {p.name for p in home.iterdir()} == before


def test_both_files_or_none(home, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_csv", full)
    before = {p.name for p in home.iterdir()}
    done = run("audit", "good.csv", *ROLES, "--json", "a.json", "--people", "p.csv", "--quiet")
    assert done.code == 2
    assert done.err == "Error: p.csv cannot be written: no space left on device.\n"
    assert {p.name for p in home.iterdir()} == before


@pytest.mark.parametrize(
    "arguments", [["audit"], ["audit", "good.csv", "--changed", "no"], ["frobnicate"], ["audit", "--x"]]
)
def test_bad_usage(home, arguments):
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err
