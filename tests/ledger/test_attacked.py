"""Bad intentions and bad luck: nothing leaks, nothing ends in a traceback, nothing is taken for something else."""

from __future__ import annotations

import json
import random
import sqlite3
import time
from dataclasses import replace
from urllib.parse import quote

import polars as pl
import pytest

import showthrough as st
from showthrough.errors import InputError, LedgerError, RecordedError
from showthrough.ledger import schema
from showthrough.ledger import store as stores
from showthrough.ledger.events import Event, next_event
from showthrough.ledger.postgres_store import PostgresDatabase, without_password
from showthrough.ledger.recording import together
from showthrough.ledger.sqlite_store import fresh
from tests.cli.running import run
from tests.histories import release
from tests.ledger.cases import PERMISSIVE, STRICT, figure1, pair, safe
from tests.ledger.server import PASSWORD

ROLES = ("--id", "id", "--sensitive", "value", "--group", "group")
CREATED = next_event(None, "ledger created", {"ledger": "old", "ids": "as given"})


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u:secret@127.0.0.1:1/db", "postgresql://u:se/cret@h/db", "postgresql://u:se?cret@h/db",
        "postgresql://u:se#cret@h/db", "postgresql://u:x@secret@h/db", "postgresql://u:secret",
        "postgresql://h/db?password=secret", "postgresql://h/db password=secret", "postgresql://u:%zzsecret@h/db",
        "postgres://u:secret@127.0.0.1:99999/db", "POSTGRESQL://u:secret@h/db", "postgresql:u:secret@h/db",
        "host=h user=u password=secret dbname=d", "dbname = d password = secret", "mysql://u:secret@h/db",
    ],
)  # fmt: skip
def test_no_message_tells_a_password(address):
    pytest.importorskip("psycopg")
    with pytest.raises(LedgerError) as found:
        st.Ledger.open(address)
    assert "cret" not in found.value.internal


def test_addresses_as_they_are_printed():
    assert without_password("postgresql://ann:x@h1:1,[::1]:2/db?sslmode=require") == "postgresql://ann@h1:1,[::1]:2/db"
    assert without_password("postgresql://u:x y@h/db") == "postgresql://…"


def test_hosts_whose_names_sound_like_errors():
    pytest.importorskip("psycopg")
    with pytest.raises(LedgerError, match="cannot be reached"):
        st.Ledger.open("postgresql://u@password.invalid:1/db")


def test_reports_name_no_address(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = server.fresh()
    for one in figure1():
        one.to_frame().write_csv(f"{one.name}.csv")
    run("ledger", "init", place)
    run("ledger", "add", "D1.csv", *ROLES, "--ledger", place)
    asked = ("gate", "D2.csv", *ROLES, "--ledger", place, "--certain", "0")
    done = run(*asked, "-o", "page.html", "--json", "told.json", "--markdown", "told.md")
    assert done.code == 1
    told = json.loads((tmp_path / "told.json").read_text())
    assert "--ledger postgresql://… " in told["made"]["command"].replace("'", "")
    for text in (*(path.read_text() for path in tmp_path.glob("*.*") if path.suffix != ".csv"), done.out, done.err):
        assert not [word for word in (PASSWORD, quote(PASSWORD), server.home.name, "socket") if word in text]


def test_publishing_prints_no_password(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = server.fresh()
    pl.DataFrame({"pid": range(40), "age": range(40), "ill": list("abcd") * 10}).write_csv("t.csv")
    run("ledger", "init", place)
    asked = ("publish", "t.csv", "--id", "pid", "--sensitive", "ill", "--quasi", "age", "--k", "4", "--ledger", place)
    assert run(*asked, "-o", "P1").err.startswith("Error: --policy is missing: the ledger's gate needs limits")
    done = run(*asked, "--max-posterior", "0.9", "--strategy", "guarded", "-o", "P1", "--json", "told.json")
    assert "recorded as published in postgresql://keeper@/" in done.out
    for text in (done.out, done.err, (tmp_path / "told.json").read_text()):
        assert not [word for word in (PASSWORD, quote(PASSWORD), server.home.name) if word in text]


def old(place: str) -> None:
    """A ledger of version 1."""
    if "://" not in place:
        with open(place, "wb") as stream:
            stream.write(fresh(1, first=CREATED))
        return
    database = PostgresDatabase(place)
    for statement in schema.steps("postgresql", 0, 1):
        database.run(statement)
    stores.Session(database).append(CREATED)
    database.close()


def test_several_who_opened_an_old_ledger_bring_it_forward_once(place):
    old(place)
    with st.Ledger.open(place) as one, st.Ledger.open(place) as other:
        one.add(safe("D"))
        other.add(pair()[0])
        assert other.verify()
        assert [r.name for r in one.history()] == ["D", "one"]


def test_who_opened_a_ledger_before_it_became_newer_writes_no_more(place):
    with st.Ledger.create(place) as one, st.Ledger.open(place) as other:
        other._store.database.run(f"INSERT INTO {schema.table(other._store.database.kind, 'versions')} VALUES (3)")
        with pytest.raises(LedgerError, match="of version 3; this showthrough reads up to"):
            one.add(safe("D"))
        assert not [event for event in one.log() if event.kind == "release added"]


def test_settings_of_the_server_do_not_end_or_blind_a_gate(server):
    """A gate thinks inside its transaction, and has to see what others committed before it got the lock."""
    place = server.fresh()
    name = place.split("/")[-1].split("?")[0]
    for setting in ("idle_in_transaction_session_timeout = 40", "default_transaction_isolation = 'serializable'"):
        server.run(f"ALTER DATABASE {name} SET {setting}")
    with st.Ledger.create(place) as ledger, ledger._recording() as recording:
        found = recording.session._run("SHOW transaction_isolation") + recording.session._run("SELECT pg_sleep(0.1)")
        assert found[0][0] == "read committed"
        time.sleep(0.2)
        recording.session._run("SELECT 1")


def forged(place: str, change) -> None:
    """Write the chain anew with other words, as whoever can write to the database can."""
    with st.Ledger.open(place) as ledger:
        events, run_ = ledger.log(), ledger._store.database.run
        own = "showthrough." if "://" in place else ""
        told = [] if own else run_("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        for name, _ in told:
            run_(f"DROP TRIGGER {name}")
        if own:
            run_("ALTER TABLE showthrough.events DISABLE TRIGGER USER")
        run_(f"DELETE FROM {own}events")
        last: Event | None = None
        for event in events:
            last = next_event(last, event.kind, change(event), time=event.time)
            run_(f"INSERT INTO {own}events VALUES (?, ?, ?, ?, ?, ?)", last.row)
        for _, sql in told:
            run_(sql)
        if own:
            run_("ALTER TABLE showthrough.events ENABLE TRIGGER USER")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("ledger created", []), ("release added", {}), ("release added", {"name": "D"}), ("audit made", "text"),
        ("verdict given", {"candidate": {"name": 1}}), ("exception granted", {"until": "never"}),
    ],
)  # fmt: skip
def test_a_chain_of_other_words_is_a_sentence(place, kind, told):
    with st.Ledger.create(place) as ledger:
        ledger.add(figure1()[0])
        ledger.gate(figure1()[1], policy=STRICT)
        ledger.add("D2", exception="x", owner="y", until="2099-01-01")
    forged(place, lambda event: told if event.kind == kind else event.told)
    for words in (["list"], ["log"], ["show", "D1"], ["withdraw", "D1", "--why", "x"]):
        done = run("ledger", *words, "--ledger", place)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "does not say what such an event says" in done.err
    done = run("ledger", "verify", "--ledger", place)
    assert done.code == 1
    assert "does not say what such an event says" in done.out


def _spoilt(told, rng: random.Random):
    if isinstance(told, dict) and told and rng.random() < 0.9:
        key = rng.choice(sorted(told))
        rest = {name: one for name, one in told.items() if name != key}
        return rest if rng.random() < 0.25 else {**rest, key: _spoilt(told[key], rng)}
    return rng.choice([None, 0, -1, "", "x", [], {}, 1e300, True, "../../x", 10**30, [1], {"a": 1}, "2024-13-45"])


@pytest.mark.parametrize("seed", range(25))
def test_forged_events_never_end_in_a_traceback(tmp_path, seed):
    place, rng = str(tmp_path / "ledger.db"), random.Random(seed)
    with st.Ledger.create(place) as ledger:
        ledger.add(figure1()[0])
        ledger.gate(figure1()[1], policy=STRICT)
        ledger.add("D2", exception="x", owner="y", until="2099-01-01")
    at = rng.randrange(1, 7)
    forged(place, lambda event: _spoilt(event.told, rng) if event.number == at else event.told)
    safe("N").to_frame().write_csv(tmp_path / "N.csv")
    for words in (["list"], ["log"], ["show", "D2"], ["verify"], ["export", tmp_path / "out"]):
        assert run("ledger", *words, "--ledger", place).code in (0, 1, 2)
    assert run("gate", tmp_path / "N.csv", *ROLES, "--certain", "9", "--ledger", place).code in range(5)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE public.more () INHERITS (showthrough.events)",
        "DROP TRIGGER events_no_update ON showthrough.events; CREATE TRIGGER events_no_update BEFORE UPDATE OR DELETE "
        "ON showthrough.events FOR EACH ROW WHEN (false) EXECUTE FUNCTION showthrough.refuse()",
        "DROP TRIGGER events_no_update ON showthrough.events; CREATE TRIGGER events_no_update BEFORE UPDATE "
        "ON showthrough.events FOR EACH ROW EXECUTE FUNCTION showthrough.refuse()",
        "CREATE OR REPLACE FUNCTION showthrough.refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN RETURN NULL; /* RAISE EXCEPTION */ END'",
    ],
)
def test_triggers_that_let_changes_through_are_found(server, statement):
    with st.Ledger.create(server.fresh()) as ledger:
        assert ledger.verify()
        for part in statement.split("; CREATE"):
            ledger._store.database.run(part if part.startswith(("CREATE", "DROP")) else f"CREATE{part}")
        assert not ledger.verify()


@pytest.mark.parametrize("ids", [[" p0", "p1"], ["p0", "p1\t"], [1.5, 2.0], [True, False]])
def test_ids_that_another_release_writes_otherwise_are_not_hashed(place, ids):
    """Without hashes an audit tells that ids differ only in blanks, or in their type; hashes cannot show it."""
    made = st.Release.bucketized(
        pl.DataFrame({"id": ids, "g": [1, 1], "v": ["a", "b"]}), id="id", sensitive="v", group="g", name="X"
    )
    with st.Ledger.create(place, hash_ids=True, key=b"a key that nobody can guess") as ledger:
        ledger.add(safe("D"))
        with pytest.raises(InputError, match=r"trim them|texts or whole numbers"):
            ledger.gate(made, policy=STRICT)
        with pytest.raises(InputError, match=r"trim them|texts or whole numbers"):
            ledger.gate(pair()[0], policy=STRICT, register=pl.DataFrame({"id": ids}))
        assert len(ledger.log()) == 2


def test_publishing_knows_persons_again_whose_numbers_are_decimal(tmp_path, monkeypatch):
    """Parquet files with gaps hold whole numbers as decimals: 1.0 is the person 1 whose hash the ledger holds."""
    monkeypatch.chdir(tmp_path)
    table = pl.DataFrame({"pid": range(48), "age": [20 + k % 30 for k in range(48)], "ill": list("abcd") * 12})
    table.write_csv("t1.csv")
    table.tail(45).with_columns(pl.col("pid").cast(pl.Float64)).write_parquet("t2.parquet")
    (tmp_path / "policy.toml").write_text("version = 1\n[block]\ncertain = 0\n")
    run("ledger", "init", "--hash-ids", "--key-file", "key")
    roles = ("--id", "pid", "--sensitive", "ill", "--quasi", "age", "--k", "4", "--distinct-l", "2")
    asked = (*roles, "--ledger", "ledger.db", "--key-file", "key", "--output", "bucketized")
    for name, file in (("P1", "t1.csv"), ("P2", "t2.parquet")):
        done = run("publish", file, *asked, "--policy", "policy.toml", "-o", name)
        assert done.code in (0, 1), done.err
    with st.Ledger.open("ledger.db") as ledger:
        told = [event.told for event in ledger.log() if event.kind == "audit made"]
    assert told[1]["figures"]["persons"] == 48


def test_a_change_that_is_told_counts_also_where_nothing_contradicts(place):
    """Without it "2 has a" would be proven, and false: 1 went from a to b."""
    before = release([(["1", "2"], ["a", "b"]), (["3", "4"], ["c", "d"])], "before")
    after = release([(["1", "3"], ["b", "c"]), (["2", "4"], ["a", "d"])], "after")
    with st.Ledger.create(place) as ledger:
        ledger.gate(before, policy=PERMISSIVE)
        told = [("1", "after")]
        found = ledger.gate(after, policy=PERMISSIVE, changed=told)
        wanted = st.audit([before, after], policy=PERMISSIVE, changed=told)
    assert found.audit.figures() == wanted.figures()
    assert found.how.startswith("solved anew")


def test_a_pipeline_that_asks_something_else_is_not_told_that_it_passed(place):
    people = pl.DataFrame({"id": [f"p{k}" for k in range(8)]})
    with st.Ledger.create(place) as ledger:
        ledger.gate(safe("D"), policy=STRICT)
        for options, passed in (
            ({}, True), ({"register": people}, False), ({"changed": "split"}, False), ({"elastic": True}, False),
            ({"knowledge": [st.knowledge.known("p0", "Flu")]}, False), ({"policy": PERMISSIVE}, False),
        ):  # fmt: skip
            with pytest.raises(RecordedError) as found:
                ledger.gate(safe("D"), **{"policy": STRICT, **options})
            assert found.value.passed is passed, options


@pytest.mark.parametrize("epsilon", [float("inf"), float("nan"), -3.0, "much", True])
def test_a_budget_that_is_no_number_is_not_known(ledger_with, epsilon):
    made = replace(safe("D"), parameters={"epsilon": epsilon})
    assert not together([made])["known"]
    ledger_with.add(made)
    assert [e.told["together"]["known"] for e in ledger_with.log() if e.kind == "budget spent"] == [False]
    assert "budget spent" in run("ledger", "log", "--ledger", ledger_with.where).out
    assert ledger_with.verify()


def test_noisy_releases_are_published_until_the_budget_is_spent(place, tmp_path, monkeypatch):
    """Noise names nobody: a register says whom a reader knows, and by the third release the budget is over."""
    monkeypatch.chdir(tmp_path)
    table = pl.DataFrame({"pid": range(120), "sex": ["F", "M"] * 60, "ill": ["a", "b", "c", "d"] * 30})
    table.write_csv("t.csv")
    table.select("pid", "sex").write_csv("people.csv")
    (tmp_path / "policy.toml").write_text("version = 1\n[block]\nepsilon = 1.2\n")
    run("ledger", "init", place)
    domain = ("--domain", "sex=F,M", "--domain", "ill=a,b,c,d")
    roles = ("--id", "pid", "--sensitive", "ill", "--quasi", "sex", "--method", "dp-counts", "--epsilon", "0.5")
    asked = ("publish", "t.csv", *roles, *domain, "--ledger", place, "--policy", "policy.toml")
    refused = run(*asked, "-o", "N0")
    assert (refused.code, "give a register" in refused.err, (tmp_path / "N0").exists()) == (2, True, False)
    done = [run(*asked, "--register", "people.csv", "-o", f"N{k}") for k in (1, 2, 3)]
    assert [one.code for one in done] == [0, 0, 1]
    assert "ε = 1.5" in done[2].err
    assert [(tmp_path / f"N{k}").exists() for k in (1, 2, 3)] == [True, True, False]
    told = ("--exception", "board", "--owner", "ann", "--until", "2999-01-01", "--ledger", place)
    assert run("ledger", "add", "N3", *told).code == 0
    log = run("ledger", "log", "--ledger", place).out
    assert [f"together ε = {e}, δ = 0" in log for e in ("0.5", "1", "1.5")] == [True] * 3
    assert run(*asked, "--register", "people.csv", "-o", "N4").code == 1, "an exception excuses no more spending"
    assert run("ledger", "verify", "--ledger", place).code == 0


@pytest.fixture
def ledger_with(tmp_path):
    with st.Ledger.create(tmp_path / "ledger.db") as made:
        yield made


def test_a_posterior_that_is_too_large_is_not_kept(place, monkeypatch):
    monkeypatch.setattr(stores, "LARGEST", 10)
    with st.Ledger.create(place) as ledger:
        ledger.gate(safe("D"), policy=STRICT)
        assert ledger.gate(pair()[0], policy=STRICT).how.startswith("solved anew: no posterior")
        assert ledger.verify()


def test_a_release_is_shown_with_what_was_said_of_it(tmp_path):
    with st.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.add(figure1()[0])
        ledger.gate(figure1()[1], policy=STRICT)
        ledger.add("D2", exception="court order", owner="board", until="2099-01-01")
        [sha, *_] = [one["sha256"] for one in ledger.show("D2")["published"]]
    shown = run("ledger", "show", "D2", "--ledger", tmp_path / "ledger.db").out
    assert sha in shown
    assert "board answers for it: court order" in shown
    assert "3 persons are certain" in shown


def test_an_index_that_leads_elsewhere_is_found(tmp_path):
    """The rows are as they were, but who asks for one of them by its key is given another."""
    place = tmp_path / "ledger.db"
    with st.Ledger.create(place) as ledger:
        ledger.add(safe("D"))
    connection = sqlite3.connect(place, isolation_level=None)
    page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name LIKE '%autoindex_contents%'").fetchone()[0]
    name = connection.execute("SELECT min(sha256) FROM contents").fetchone()[0].encode()
    connection.close()
    content = bytearray(place.read_bytes())
    at = content.index(name, 4096 * (page - 1), 4096 * page)
    content[at] ^= 1
    place.write_bytes(content)
    with st.Ledger.open(place) as ledger:
        assert not ledger.verify()
