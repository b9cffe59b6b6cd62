"""The commands as a user runs them: exit codes, sentences, nothing private."""

from __future__ import annotations

import json
from importlib.resources import files

import polars as pl
import pytest
from jsonschema import Draft202012Validator

import showthrough as st
from tests.cli.running import run
from tests.ledger.cases import figure1, pair, safe

ROLES = ("--id", "id", "--sensitive", "value", "--group", "group")
PRIVATE = ("Diabetes", "Pneumonia", "Lung Cancer", "p0", "Ulcer")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for one in (*figure1(), safe("safe"), *pair()):
        one.to_frame().write_csv(f"{one.name}.csv")
    (tmp_path / "policy.toml").write_text("version = 1\n[block]\ncertain = 0\n")
    return tmp_path


def test_the_whole_way(home, place):
    where = ("--ledger", place)
    assert run("ledger", "init", place).code == 0
    assert run("ledger", "add", "D1.csv", *ROLES, *where).out == "Recorded D1 (event 2).\n"
    again = run("ledger", "add", "D1.csv", *ROLES, *where)
    assert again.code == 0
    assert "already, as D1 since event 2" in again.err
    blocked = run("gate", "D2.csv", *ROLES, *where, "--policy", "policy.toml", "--json", "gate.json")
    assert blocked.code == 1
    told = json.loads((home / "gate.json").read_text())
    assert told["gate"]["verdict"] == told["decision"]["verdict"] == "block"
    schema = json.loads((files("showthrough.report") / "audit.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(told)
    assert (told["gate"]["before"]["certain"], told["gate"]["after"]["certain"]) == (0, 3)
    excepted = ("--exception", "court order", "--owner", "review board", "--until", "2099-01-31")
    assert run("ledger", "add", "D2", *excepted, *where).code == 0
    outputs = [blocked.out + blocked.err]
    for words in (["list"], ["show", "D2"], ["log"], ["log", "--json", "-"], ["verify"]):
        done = run("ledger", *words, *where)
        assert done.code == 0, done.err
        outputs.append(done.out + done.err)
    assert not [word for word in PRIVATE for text in outputs if word in text]
    head = json.loads(outputs[4])["head"]
    assert run("ledger", "verify", "--expect", head, *where).code == 0
    assert run("ledger", "verify", "--expect", "0" * 64, *where).code == 1
    assert "Lung" not in run("ledger", "show", "D1", *where).out
    assert "group" in run("ledger", "show", "D1", "--audience", "internal", *where).out
    assert run("ledger", "withdraw", "D2", "--why", "typo", *where).out == "D2: withdrawn, readers may have it.\n"
    assert run("ledger", "export", "out", *where).code == 0
    assert (home / "out" / "0001-D1" / "published" / "D1.csv").read_bytes() == (home / "D1.csv").read_bytes()


def test_an_exception_for_a_file_reads_it_as_the_gate_did(home):
    excepted = ("--exception", "court order", "--owner", "board", "--until", "2099-01-31")
    run("ledger", "init")
    run("ledger", "add", "D1.csv", *ROLES)
    assert run("gate", "D2.csv", *ROLES, "--name", "next", "--policy", "policy.toml").code == 1
    assert "gate it first" in run("ledger", "add", "D2.csv", *ROLES, *excepted).err
    assert "one by one" in run("ledger", "add", "D1.csv", "D2.csv", *ROLES, *excepted).err
    done = run("ledger", "add", "D2.csv", *ROLES, "--name", "next", *excepted)
    assert (done.code, done.out) == (0, "Recorded next with its exception (event 6).\n")


def test_a_pipeline_that_runs_again_passes_again(home):
    run("ledger", "init")
    asked = ("gate", "safe.csv", *ROLES, "--policy", "policy.toml")
    assert run(*asked).code == 0
    again = run(*asked)
    assert (again.code, again.out) == (0, "")
    assert "nothing was recorded" in again.err
    assert run(*asked, "-o", "page.html").err.endswith("nothing was recorded. No file was written.\n")
    assert run("gate", "safe.csv", *ROLES, "--certain", "5").code == 2, "another policy has not let it pass"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gate", "safe.csv", *ROLES], "--policy is missing"),
        (["gate", "safe.csv", *ROLES, "--certain", "0", "--ledger", "none.db"], "There is no ledger none.db"),
        (["gate", "safe.csv", *ROLES, "--certain", "0", "--ledger", "ftp://x"], "this address begins otherwise"),
        (["gate", "none.csv", *ROLES, "--certain", "0"], "There is no file none.csv"),
        (["gate", "safe.csv", *ROLES, "--certain", "0", "--keep-register"], "--keep-register keeps a register"),
        (["ledger", "show", "D9"], "There is no release D9"),
        (["ledger", "withdraw", "D9", "--why", "x"], "There is no release D9"),
        (["ledger", "withdraw", "D9", "--why", " "], "why is missing"),
        (["ledger", "add", "D9", "--exception", "x", "--owner", "y", "--until", "2099-01-01"], "gate it first"),
        (["ledger", "add", "D9", "--exception", "x", "--owner", "y"], "is a day such as"),
        (["ledger", "add", "safe.csv", "D1.csv", "--name", "x", *ROLES], "--name is for one release"),
        (["ledger", "init", "--key-file", "k"], "--key-file is the key of ids that are hashed"),
        (["ledger", "init"], "exists already"),
        (["ledger", "list", "--ledger", "safe.csv"], "safe.csv is no ledger"),
    ],
)
def test_bad_input_is_a_sentence(home, words, said):
    run("ledger", "init")
    done = run(*words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_publish_goes_through_the_gate(home):
    rows = [f"{k},{20 + k % 30},{('Flu', 'HIV', 'Ulcer', 'Gout')[k % 4]}" for k in range(48)]
    (home / "t1.csv").write_text("\n".join(["pid,age,ill", *rows]) + "\n")
    (home / "t2.csv").write_text("\n".join(["pid,age,ill", *rows[3:]]) + "\n")
    run("ledger", "init")
    asked = (
        "--id",
        "pid",
        "--sensitive",
        "ill",
        "--quasi",
        "age",
        "--k",
        "4",
        "--distinct-l",
        "2",
        "--ledger",
        "ledger.db",
    )
    assert run("publish", "t1.csv", *asked, "--policy", "policy.toml", "-o", "P1").code == 0
    (home / "no.toml").write_text("version = 1\n[block]\nmax_posterior = 0.01\n")
    refused = run("publish", "t2.csv", *asked, "--policy", "no.toml", "-o", "P2")
    assert (refused.code, (home / "P2").exists()) == (1, False)
    assert "Nothing was written." in refused.err
    with st.Ledger.open("ledger.db") as ledger:
        assert [r.name for r in ledger.history()] == ["P1"]
        assert ledger.history()[0].fingerprint() == st.read_release("P1").fingerprint()
        assert ledger.history()[0].groups().height == 48
        assert ledger.verify()
    both = run("publish", "t2.csv", *asked, "--policy", "policy.toml", "--history", "P1", "-o", "P3")
    assert (both.code, "--history is what the ledger holds" in both.err) == (2, True)


def test_hashed_ids_from_the_command(home):
    run("ledger", "init", "--hash-ids", "--key-file", "key")
    assert "give the key, --key-file" in run("ledger", "add", "safe.csv", *ROLES).err
    assert run("ledger", "add", "safe.csv", *ROLES, "--key-file", "key").code == 0
    assert run("gate", "one.csv", *ROLES, "--certain", "0", "--key-file", "key").code == 0
    assert b"p0" not in (home / "ledger.db").read_bytes()
    assert run("ledger", "verify").code == 0


@pytest.mark.parametrize("keep", [(), ("--hash-ids", "--key-file", "key")], ids=["as given", "hashed"])
def test_private_links_say_who_is_where_as_in_an_audit(home, keep):
    table = pl.DataFrame(
        {"id": [f"PERSON{k}" for k in range(24)], "age": [20 + k % 12 for k in range(24)], "d": ["a", "b", "c"] * 8}
    )
    table.select("id", "age").write_csv("people.csv")
    for name, rows in (("N1", table[:18]), ("N2", table[6:])):
        st.anonymize(rows, id="id", sensitive="d", quasi=["age"], criteria=[st.KAnonymity(3)], name=name).save(name)
    where, beside = ("--ledger", "links.db", *keep[1:]), ("--register", "people.csv", "--policy", "policy.toml")
    assert run("ledger", "init", "links.db", *keep).code == 0
    assert run("ledger", "add", "N1", *where).code == 0
    gated = run("gate", "N2", *where, *beside, "--link", "--json", "-")
    audited = run("audit", "N1", "N2", *beside, "--link", "--json", "-")
    found, wanted = json.loads(gated.out), json.loads(audited.out)
    assert (gated.code, found["decision"]) == (audited.code, wanted["decision"])
    assert found["together"] == wanted["together"]
    located = json.loads(run("audit", "N1", "N2", *beside, "--no-link", "--json", "-").out)
    assert located["together"] != wanted["together"]  # the links say more than the ages
