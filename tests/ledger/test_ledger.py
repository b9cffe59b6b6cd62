"""The ledger as Python sees it, on both databases."""

from __future__ import annotations

import datetime as dt
import json
import os
import stat
from dataclasses import replace

import polars as pl
import pytest

import showthrough as st
from showthrough.errors import LedgerError, RecordedError
from showthrough.ledger.ledger import open_store
from tests.ledger.cases import PERMISSIVE, STRICT, figure1, pair, safe


@pytest.fixture
def ledger(place):
    with st.Ledger.create(place) as made:
        yield made


def test_what_is_added_comes_back_as_it_was(ledger, place):
    for one in figure1():
        ledger.add(one)
    back = ledger.history()
    assert [r.fingerprint() for r in back] == [r.fingerprint() for r in figure1()]
    assert [r.name for r in back] == ["D1", "D2"]
    assert ledger.verify()
    with st.Ledger.open(place) as again:
        assert again.head == ledger.head


def test_a_plain_file_is_kept_byte_for_byte(ledger, tmp_path):
    path = tmp_path / "2025.csv"
    path.write_bytes(b"pid;diag;bucket\r\n007;Flu;1\r\n008;HIV;1\r\n")
    ledger.add(path, id="pid", sensitive="diag", group="bucket")
    [one] = ledger.history()
    assert one.records["pid"].to_list() == ["007", "008"]
    assert one.name == "2025"
    ledger.export(tmp_path / "out")
    assert (tmp_path / "out/0001-2025/published/2025.csv").read_bytes() == path.read_bytes()
    assert st.read_release(tmp_path / "out/0001-2025/release").fingerprint() == one.fingerprint()


def test_a_folder_is_kept_byte_for_byte_with_its_link(ledger, tmp_path):
    table = pl.DataFrame({"id": range(12), "age": range(20, 32), "d": ["a", "b", "c"] * 4})
    made = st.anonymize(table, id="id", sensitive="d", quasi=["age"], criteria=[st.KAnonymity(3)])
    made.save(tmp_path / "D")
    ledger.add(tmp_path / "D")
    [back] = ledger.history()
    assert back.fingerprint() == made.fingerprint()
    assert back.groups().equals(st.read_release(tmp_path / "D").groups())
    ledger.export(tmp_path / "out")
    for name in ("release.toml", "rows.csv"):
        assert (tmp_path / "out/0001-D/release" / name).read_bytes() == (tmp_path / "D" / name).read_bytes()
    modes = {stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert modes == {0o600}
    assert {stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "out", tmp_path / "out/0001-D")} == {0o700}


def test_a_value_map_and_hierarchies_are_kept(ledger, tmp_path):
    (tmp_path / "d.csv").write_text("zip,d\n1,x\n1,y\n2,x\n2,y\n")
    (tmp_path / "map.csv").write_text("old,new\nx,Flu\ny,HIV\n")
    ledger.add(tmp_path / "d.csv", sensitive="d", quasi=["zip"], value_map=str(tmp_path / "map.csv"))
    assert set(ledger.history()[0].tally["value"]) == {"Flu", "HIV"}
    assert [f["name"] for f in ledger.show("d")["published"]] == ["d.csv", "map.csv"]


def test_the_same_is_not_added_twice_and_another_of_the_name_not_at_all(ledger):
    ledger.add(safe("D"))
    with pytest.raises(RecordedError, match="already, as D since event 2"):
        ledger.add(safe("D"))
    with pytest.raises(RecordedError):
        ledger.add(safe("E"))  # whatever it is called
    with pytest.raises(LedgerError, match="another release that is called D"):
        ledger.add(safe("D", persons=range(4)))
    assert len(ledger.log()) == 2


def test_a_release_needs_a_name(ledger):
    with pytest.raises(LedgerError, match="needs a name"):
        ledger.add(safe(" "))


@pytest.mark.parametrize(
    "name", ["a/b", "../x", "é\u202e", "a\nb", "'; DROP TABLE events; --", "%s ?", "x" * 500, "\ud800"]
)
def test_names_with_odd_characters(ledger, tmp_path, name):
    ledger.add(safe(name))
    assert ledger.show(name)["name"] == name
    assert ledger.verify()
    ledger.export(tmp_path / "out")
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_only_what_passes_is_recorded_as_published(ledger):
    ledger.add(safe("D"))
    one, _ = pair()
    blocked = ledger.gate(one, policy=st.Policy(certain=0, max_posterior=0.3))
    assert (blocked.verdict, blocked.recorded, len(ledger.history())) == ("block", False, 1)
    passed = ledger.gate(one, policy=STRICT)
    assert (passed.verdict, passed.recorded, len(ledger.history())) == ("pass", True, 2)
    judged = ["audit made", "verdict given"]
    assert [e.kind for e in ledger.log()] == ["ledger created", "release added", *judged, *judged, "release added"]
    assert passed.before.ids.len() == passed.after.ids.len() == 8
    assert ledger.verify()


def test_of_a_pair_that_is_unsafe_together_one_passes(ledger):
    ledger.add(safe("D"))
    one, other = pair()
    assert ledger.gate(one, policy=STRICT).verdict == "pass"
    second = ledger.gate(other, policy=STRICT)
    assert (second.verdict, second.audit.joint.certain) == ("block", 4)


def test_the_gate_of_an_empty_ledger(ledger):
    found = ledger.gate(safe("D"), policy=STRICT)
    assert (found.verdict, found.before) == ("pass", None)
    assert found.as_dict()["before"] is None


def test_the_gate_says_what_an_audit_of_all_says(ledger):
    d1, d2 = figure1()
    ledger.add(d1)
    found = ledger.gate(d2, policy=PERMISSIVE)
    alone = st.audit([d1, d2], policy=PERMISSIVE)
    assert found.audit.figures() == alone.figures()
    assert found.audit.decision == alone.decision


def test_an_exception_publishes_what_did_not_pass(ledger):
    d1, d2 = figure1()
    ledger.add(d1)
    with pytest.raises(LedgerError, match="gate it first"):
        ledger.add("D2", exception="court order", owner="board", until="2099-01-01")
    assert ledger.gate(d2, policy=STRICT).verdict == "block"
    for missing in (
        {"owner": "board", "until": "2099-01-01"},
        {"exception": "x", "until": "2099-01-01"},
        {"exception": "x", "owner": "b", "until": "soon"},
    ):
        with pytest.raises(st.errors.ParameterError):
            ledger.add("D2", **missing)
    for again in (d2, replace(d2, name="of another name")):
        with pytest.raises(LedgerError, match=r"did not pass the gate of .* \(event 4: block\): it is recorded with"):
            ledger.add(again)
    ledger.add("D2", exception="court order", owner="board", until=dt.date(2099, 1, 1))
    assert [r.name for r in ledger.history()] == ["D1", "D2"]
    told = next(e for e in ledger.log() if e.kind == "exception granted").told
    assert (told["why"], told["owner"], told["until"]) == ("court order", "board", "2099-01-01")
    assert told["excuses"] == [{"rule": "certain", "severity": "block", "release": None, "persons": 3}]
    assert ledger.verify()


def test_an_exception_excuses_so_many_persons_until_its_day(ledger):
    d1, d2 = figure1()
    ledger.add(d1)
    ledger.gate(d2, policy=STRICT)
    ledger.add(d2, exception="court order", owner="board", until="2099-01-01")
    again = safe("later", persons=range(100, 108))
    later = ledger.gate(again, policy=STRICT)
    assert later.verdict in ("pass", "inconclusive")  # nothing new is known; nobody ties the new persons to others
    assert "certain" not in [r.rule for r in later.audit.decision.reasons if r.outcome == "over"]


def test_an_expired_exception_does_not_excuse(ledger):
    d1, d2 = figure1()
    ledger.add(d1)
    ledger.gate(d2, policy=STRICT)
    ledger.add("D2", exception="court order", owner="board", until="2001-01-01")
    d3 = st.Release.bucketized(
        d1.to_frame().filter(pl.col("group") == 1), id="id", sensitive="value", group="group", name="D3"
    )
    assert ledger.gate(d3, policy=STRICT).verdict == "block"


def test_withdrawing_is_not_forgetting(ledger):
    d1, d2 = figure1()
    ledger.add(d1)
    ledger.add(d2)
    assert ledger.withdraw("D2", why="typo").state == "withdrawn, readers may have it"
    assert len(ledger.history()) == 2
    with pytest.raises(LedgerError, match="already"):
        ledger.withdraw("D2", why="again")
    ledger.withdraw("D2", why="it was never sent", never_left_the_house=True)
    assert [r.name for r in ledger.history()] == ["D1"]
    assert ledger.releases()["state"].to_list() == ["published", "never left the house"]
    with pytest.raises(LedgerError, match="no release D9"):
        ledger.withdraw("D9", why="x")
    with pytest.raises(st.errors.ParameterError, match="why is missing"):
        ledger.withdraw("D1", why=" ")
    assert ledger.verify()


def test_what_never_left_the_house_can_be_published_under_another_name(ledger):
    ledger.add(safe("D"))
    ledger.withdraw("D", why="not sent", never_left_the_house=True)
    with pytest.raises(LedgerError, match="another release that is called D"):
        ledger.add(safe("D"))
    ledger.add(safe("E"))
    assert [r.name for r in ledger.history()] == ["E"]


def test_the_log_is_a_chain_in_json(ledger):
    ledger.add(safe("D"))
    told = json.loads(json.dumps([event.as_dict() for event in ledger.log()]))
    assert [one["before"] for one in told[1:]] == [one["hash"] for one in told[:-1]]
    assert ledger.head == told[-1]["hash"]


def test_a_cut_off_tail_shows_if_the_head_is_kept_elsewhere(ledger):
    ledger.add(safe("D"))
    head = ledger.head
    assert ledger.verify(expect=head)
    assert not ledger.verify(expect="0" * 64)
    ledger.withdraw("D", why="x")
    assert ledger.verify(expect=head), "a head that others came after is still there"


def test_a_contradiction_is_explained_and_nothing_recorded(ledger):
    ledger.add(safe("D"))
    bad = st.Release.bucketized(
        pl.DataFrame({"id": ["p0", "p1"], "group": [1, 1], "value": ["Gout", "Cough"]}),
        id="id", sensitive="value", group="group", name="bad",
    )  # fmt: skip
    before = ledger.head
    with pytest.raises(st.errors.ContradictionError):
        ledger.gate(bad, policy=STRICT)
    assert ledger.head == before
    told = ledger.gate(bad, policy=STRICT, changed="tolerate")
    assert told.verdict == "inconclusive"
    assert "taken for changed" in told.audit.decision.said


def test_budgets_are_spent_and_composed(ledger):
    frame = pl.DataFrame({"d": ["a", "b"], "count": [40.0, 60.0]})
    noise = {"mechanism": "geometric", "scale": 2.0, "neighbours": "add-remove"}
    for k in range(2):
        made = st.Release.noisy(
            frame.with_columns(pl.col("count") + k), sensitive="d", quasi=[], count="count", name=f"N{k}", **noise
        )
        ledger.add(made)
    spent = [e.told["together"] for e in ledger.log() if e.kind == "budget spent"]
    assert [round(one["epsilon"], 6) for one in spent] == [0.5, 1.0]
    assert ledger.budget()["epsilon"] == pytest.approx(1.0)
    assert ledger.verify()


def test_registers_are_referred_to_by_their_hash(ledger):
    made = st.Release.generalized(
        pl.DataFrame({"age": ["20-29"] * 4 + ["30-39"] * 4, "d": list("abcdabcd")}),
        sensitive="d",
        quasi=["age"],
        name="G",
    )
    people = st.Register.of(pl.DataFrame({"id": [f"q{k}" for k in range(8)], "age": [25] * 4 + [35] * 4}))
    found = ledger.gate(made, policy=STRICT, register=people)
    assert found.verdict == "pass"
    told = next(e for e in ledger.log() if e.kind == "audit made").told
    assert told["register"] == {"sha256": people.fingerprint(), "persons": 8}
    assert "q1" not in json.dumps([e.as_dict() for e in ledger.log()])


def test_an_older_ledger_opens_and_is_brought_forward(place):
    from showthrough.ledger import schema
    from showthrough.ledger.events import next_event
    from showthrough.ledger.shapes import CREATED

    if "://" not in place:
        from showthrough.ledger.sqlite_store import fresh

        with open(place, "wb") as stream:
            stream.write(fresh(1, first=next_event(None, CREATED, {"ledger": "old", "ids": "as given"})))
    else:
        from showthrough.ledger.postgres_store import PostgresDatabase
        from showthrough.ledger.store import Session

        database = PostgresDatabase(place)
        for statement in schema.steps("postgresql", 0, 1):
            database.run(statement)
        Session(database).append(next_event(None, CREATED, {"ledger": "old", "ids": "as given"}))
        database.close()
    assert version(place) == 1
    with st.Ledger.open(place) as old:
        assert old.verify()
        assert old.gate(safe("D"), policy=STRICT).verdict == "pass"
        assert old.gate(pair()[0], policy=STRICT).how.startswith("the posterior")
        assert old.verify()
    assert version(place) == schema.VERSION


def version(place: str) -> int:
    store = open_store(place)
    store.database.close()
    return store.version


def test_a_newer_ledger_is_refused(ledger, place):
    ledger._store.database.run(f"INSERT INTO {'showthrough.' if '://' in place else ''}versions VALUES (99)")
    with pytest.raises(LedgerError, match="of version 99; this showthrough reads up to version 2"):
        st.Ledger.open(place)


def test_two_ledgers_know_nothing_of_each_other(ledger, places):
    ledger.add(safe("D"))
    with st.Ledger.create(places()) as other:
        assert other.history() == []
        other.add(safe("D"))
        assert other.head != ledger.head


def test_there_is_only_one_ledger_in_a_place(ledger, place):
    with pytest.raises(st.errors.FileError, match="already"):
        st.Ledger.create(place)
    assert ledger.verify()


def test_rows_are_neither_changed_nor_deleted(ledger, place):
    ledger.add(safe("D"))
    own = "showthrough." if "://" in place else ""
    for statement in (
        "UPDATE {}events SET kind = 'x'",
        "DELETE FROM {}events",
        "DELETE FROM {}contents",
        "UPDATE {}versions SET version = 9",
    ):
        with pytest.raises(LedgerError, match="only grows"):
            ledger._store.database.run(statement.format(own))
    assert ledger.verify()


def test_a_clock_that_goes_back_is_told(ledger, monkeypatch):
    from showthrough.ledger import recording
    from showthrough.ledger.events import next_event

    monkeypatch.setattr(recording, "next_event", lambda *given: next_event(*given, time="1999-01-01T00:00:00+00:00"))
    ledger.add(safe("D"))
    found = ledger.verify()
    assert found
    assert found.remarks == ("1 event say an earlier time than the one before: a clock was set back.",)


def test_a_large_release_is_kept_in_parts(ledger, monkeypatch):
    from showthrough.ledger import store

    monkeypatch.setattr(store, "PART", 100)
    d1, _ = figure1()
    ledger.add(d1)
    assert ledger.history()[0].fingerprint() == d1.fingerprint()
    assert ledger.verify()


def test_file_and_journal_are_private(tmp_path):
    with st.Ledger.create(tmp_path / "l.db") as made:
        assert stat.S_IMODE(os.stat(tmp_path / "l.db").st_mode) == 0o600
        with made._recording() as recording:
            recording.session.keep(b"x" * 10)
            journal = tmp_path / "l.db-journal"
            assert not journal.exists() or stat.S_IMODE(journal.stat().st_mode) == 0o600


def test_what_never_left_the_house_excuses_nothing(ledger):
    """The exception was for a release that nobody has: the same content is judged as if it had not been granted."""
    d1, d2 = figure1()
    ledger.add(d1)
    ledger.gate(d2, policy=STRICT)
    ledger.add("D2", exception="court order", owner="board", until="2099-01-01")
    ledger.withdraw("D2", why="never sent", never_left_the_house=True)
    assert ledger.gate(d2, policy=STRICT, name="again").verdict == "block"


def test_a_moment_until_which_something_is_excused_is_its_day(ledger):
    d1, d2 = figure1()
    ledger.add(d1)
    ledger.gate(d2, policy=STRICT)
    ledger.add("D2", exception="court order", owner="board", until=dt.datetime(2099, 1, 1, 12, tzinfo=dt.UTC))
    assert next(e for e in ledger.log() if e.kind == "exception granted").told["until"] == "2099-01-01"
    assert ledger.gate(safe("later"), policy=STRICT).verdict in ("pass", "inconclusive")


def test_files_whose_names_come_out_alike_are_exported_all(ledger, tmp_path):
    (tmp_path / "ä.csv").write_text("id,group\na,1\nb,1\n")
    (tmp_path / "ö.csv").write_text("group,value,count\n1,x,1\n1,y,1\n")
    ledger.add(tmp_path / "ä.csv", values=str(tmp_path / "ö.csv"), id="id", group="group", sensitive="value")
    ledger.export(tmp_path / "out")
    found = sorted((tmp_path / "out" / "0001-_" / "published").iterdir())
    assert [path.name for path in found] == ["_-2.csv", "_.csv"]
    assert {path.read_text() for path in found} == {(tmp_path / f"{name}.csv").read_text() for name in "äö"}
