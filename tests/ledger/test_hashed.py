"""Ids as keyed hashes: the ledger alone names nobody, and the gate says the same."""

from __future__ import annotations

import json
import os
import stat

import polars as pl
import pytest

import showthrough as st
from showthrough.errors import InputError, LedgerError
from showthrough.ledger.pseudonyms import Pseudonyms, key_from
from tests.ledger.cases import PERMISSIVE, STRICT, figure1, safe

KEY = b"a key that nobody can guess"


def everything(ledger) -> bytes:
    """All bytes that the ledger holds."""
    with ledger._reading() as (session, memory):
        kept = b"".join(session.content(name) or b"" for name in session.kept())
        return kept + json.dumps([e.as_dict() for e in memory.events]).encode() + (session.state() or b"")


def test_hmac_is_that_of_the_standard():
    """RFC 4231, test case 2."""
    assert (
        Pseudonyms(b"Jefe").of("what do ya want for nothing?")
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"[:32]
    )


def test_no_id_is_in_the_ledger_and_verdicts_are_the_same(place, places):
    named = [_renamed(r) for r in figure1()]
    with st.Ledger.create(place, hash_ids=True, key=KEY) as hidden, st.Ledger.create(places()) as open_one:
        for ledger in (hidden, open_one):
            ledger.add(named[0])
        found = [ledger.gate(named[1], policy=PERMISSIVE) for ledger in (hidden, open_one)]
        assert found[0].audit.figures() == found[1].audit.figures()
        assert b"PERSON" not in everything(hidden)
        assert b"PERSON" in everything(open_one)
        assert hidden.verify()
        told = hidden.show("D1")
        assert not told["published_kept"]
        assert [len(one["sha256"]) for one in told["published"]] == [64, 64]


def _renamed(release: st.Release) -> st.Release:
    frame = release.to_frame().with_columns(("PERSON-" + pl.col("id").cast(pl.String)).alias("id"))
    return st.Release.bucketized(frame, id="id", sensitive="value", group="group", name=release.name)


def test_the_same_release_is_known_again(place):
    with st.Ledger.create(place, hash_ids=True, key=KEY) as ledger:
        ledger.add(safe("D"))
        with pytest.raises(st.errors.FileError, match="already"):
            ledger.add(safe("E"))


def test_a_wrong_key_and_none_are_told(place):
    st.Ledger.create(place, hash_ids=True, key=KEY).close()
    with st.Ledger.open(place) as ledger:
        assert ledger.verify()
        assert ledger.log()
        with pytest.raises(LedgerError, match="keyed hashes: give the key"):
            ledger.add(safe("D"))
    with (
        st.Ledger.open(place, key=b"another key of some length") as ledger,
        pytest.raises(LedgerError, match="another key"),
    ):
        ledger.gate(safe("D"), policy=STRICT)


def test_the_key_comes_from_a_file_or_the_environment(place, tmp_path, monkeypatch):
    (tmp_path / "key").write_bytes(KEY + b"\n")
    assert key_from(tmp_path / "key") == KEY
    monkeypatch.setenv("SHOWTHROUGH_LEDGER_KEY", KEY.decode())
    st.Ledger.create(place, hash_ids=True, key=key_from(None)).close()
    with st.Ledger.open(place) as ledger:
        ledger.add(safe("D"))
    (tmp_path / "short").write_bytes(b"abc")
    with pytest.raises(InputError, match="holds no key"):
        key_from(tmp_path / "short")


def test_registers_and_statements_are_hashed_alike(place, places):
    made = st.Release.generalized(
        pl.DataFrame({"age": ["20-29"] * 4 + ["30-39"] * 4, "d": list("abcdabcd")}),
        sensitive="d",
        quasi=["age"],
        name="G",
    )
    people = pl.DataFrame({"id": [f"q{k}" for k in range(8)], "age": [25] * 4 + [35] * 4})
    said = [st.knowledge.known("q1", "a")]
    found = []
    for where, options in ((place, {"hash_ids": True, "key": KEY}), (places(), {})):
        with st.Ledger.create(where, **options) as ledger:
            found.append(ledger.gate(made, policy=STRICT, register=people, knowledge=said).audit.figures())
            assert b"q1" not in everything(ledger)
    assert found[0] == found[1]
    with st.Ledger.create(places(), hash_ids=True, key=KEY) as ledger, pytest.raises(InputError, match="keyed hashes"):
        ledger.gate(
            made, policy=STRICT, register=people, prior=pl.DataFrame({"id": ["q1"], "value": ["a"], "p": [1.0]})
        )


def test_links_are_hashed_too(place, tmp_path):
    table = pl.DataFrame({"id": [f"PERSON{k}" for k in range(12)], "age": range(20, 32), "d": ["a", "b", "c"] * 4})
    made = st.anonymize(table, id="id", sensitive="d", quasi=["age"], criteria=[st.KAnonymity(3)], name="D")
    with st.Ledger.create(place, hash_ids=True, key=KEY) as ledger:
        ledger.add(made)
        assert b"PERSON" not in everything(ledger)
        assert ledger.people("D").height == 12


def test_a_new_key_is_private(tmp_path):
    from showthrough.requests.ledger import LedgerInitRequest, run_ledger_init

    asked = {"ledger": str(tmp_path / "l.db"), "hash_ids": True, "key_file": str(tmp_path / "key")}
    run_ledger_init(LedgerInitRequest.from_dict(asked)).close()
    assert stat.S_IMODE(os.stat(tmp_path / "key").st_mode) == 0o600
    assert len((tmp_path / "key").read_bytes().strip()) == 64
    with pytest.raises(InputError):  # nothing is made over a ledger, and no key is left beside it
        run_ledger_init(LedgerInitRequest.from_dict({**asked, "key_file": str(tmp_path / "other")}))
    assert not (tmp_path / "other").exists()
