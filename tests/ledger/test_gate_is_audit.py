"""Whatever a ledger went through, its gate says what an audit of the same releases says."""

from __future__ import annotations

import contextlib
import datetime as dt
import random
from dataclasses import replace

import polars as pl
import pytest

import showthrough as st
from showthrough.auditing.deciding import rules_from
from showthrough.errors import ContradictionError, RecordedError
from showthrough.ledger.gate import CONTINUED
from showthrough.ledger.pseudonyms import renamed_register, renamed_release
from showthrough.policy.rules import PolicyException, Rules
from showthrough.register.register import Register
from tests.histories import release

KEY = b"a key that nobody can guess, really"
POLICIES = [
    st.Policy(certain=0), st.Policy(certain=2), st.Policy(max_posterior=0.6), st.Policy(certain=0, max_gain=0.3),
    st.Policy(certain=100), st.Policy(max_posterior=0.9, over_posterior=2),
]  # fmt: skip
OPTIONS = [{}, {}, {}, {"changed": "split"}, {"changed": "tolerate"}, {"contradictions": "refuse"}]


def some_release(rng: random.Random, name: str, persons: int, *, changing: float) -> st.Release:
    truth = [("Flu", "HIV", "Ulcer", "Asthma")[k % 4] for k in range(persons)]
    if rng.random() < changing:
        truth[rng.randrange(persons)] = "Flu"
    members, size = rng.sample(range(persons), rng.randint(4, persons)), rng.choice([2, 3, 4])
    groups = [members[k : k + size] for k in range(0, len(members), size)]
    return release([([f"p{k}" for k in own], [truth[k] for k in own]) for own in groups], name)


def excusing(ledger: st.Ledger, policy: st.Policy) -> Rules:
    """The policy with what was excused for releases that are out there, read from the log by other means."""
    held = {r["name"] for r in ledger.releases().to_dicts() if r["state"] != "never left the house"}
    excused = [
        PolicyException(**one, reason="x", owner="y", expires=dt.date.fromisoformat(event.told["until"]))
        for event in ledger.log()
        if event.kind == "exception granted" and event.told["name"] in held
        for one in event.told["excuses"]
    ]
    rules = rules_from(policy)
    return replace(rules, exceptions=(*rules.exceptions, *excused))


def audited(ledger: st.Ledger, candidate: st.Release, policy: st.Policy, options: dict) -> st.Audit:
    hidden = ledger.pseudonyms()
    if hidden is not None:
        candidate = renamed_release(candidate, hidden)
        if "register" in options:
            options = {**options, "register": renamed_register(Register.of(options["register"]), hidden)}
    return st.audit([*ledger.history(), candidate], policy=excusing(ledger, policy), **options)


def step(rng: random.Random, ledger: st.Ledger, candidate: st.Release, persons: int) -> str:
    """Something happens to the ledger; gives how the gate found its answer, or what else became of the candidate."""
    if rng.random() < 0.15:
        ledger.add(candidate)
        return "added"
    names = [r["name"] for r in ledger.releases().to_dicts() if r["state"] == "published"]
    if names and rng.random() < 0.2:
        ledger.withdraw(rng.choice(names), why="x", never_left_the_house=rng.random() < 0.6)
    policy, options = rng.choice(POLICIES), dict(rng.choice(OPTIONS))
    if rng.random() < 0.2:
        options["register"] = pl.DataFrame({"id": [f"p{k}" for k in range(persons + 2)]})
    try:
        wanted = audited(ledger, candidate, policy, options)
    except ContradictionError as problem:
        before = ledger.head
        with pytest.raises(type(problem)):
            ledger.gate(candidate, policy=policy, **options)
        assert ledger.head == before
        return "contradicts"
    found = ledger.gate(candidate, policy=policy, **options)
    said = [
        [(r.rule, r.severity, r.outcome, r.persons) for r in audit.decision.reasons] for audit in (wanted, found.audit)
    ]
    assert (found.verdict, said[1]) == (str(wanted.decision.verdict), said[0])
    assert found.recorded == (found.verdict == "pass") == (candidate.name in [r.name for r in ledger.history()])
    if not found.recorded and rng.random() < 0.6:
        ledger.add(candidate.name, exception="x", owner="y", until="2099-01-01")
    return found.how.split(":")[0]


@pytest.mark.parametrize("hashed", [False, True])
def test_the_gate_says_what_an_audit_says(tmp_path, hashed):
    """After additions, withdrawals, exceptions and contradictions, with registers, from a posterior kept or not."""
    hows = set()
    for seed in range(12):
        rng = random.Random(f"{seed}-{hashed}")
        ledger = st.Ledger.create(tmp_path / f"{seed}.db", hash_ids=hashed, key=KEY if hashed else None)
        persons, changing = rng.choice([6, 8, 12]), rng.choice([0, 0, 0.5])
        with ledger:
            for number in range(6):
                candidate = some_release(rng, f"R{number}", persons, changing=changing)
                with contextlib.suppress(RecordedError):  # the same release by chance
                    hows.add(step(rng, ledger, candidate, persons))
            assert ledger.verify()
    assert {"added", "contradicts", "solved anew", CONTINUED} <= hows
