"""Requests are plain data: what is written as TOML or JSON comes back the same, and a pickle of it too."""

import pickle
from dataclasses import fields
from inspect import signature

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import Policy, read_register, read_release
from showthrough.criteria.criteria_entries import CriteriaEntries
from showthrough.register.history_file import HistoryEntries, RegisterEntry, ReleaseEntry
from showthrough.requests.attack import AttackRequest
from showthrough.requests.audit import AuditRequest
from showthrough.requests.check import CheckRequest
from showthrough.requests.demo import DemoRequest
from showthrough.requests.publish import PublishRequest

TEXT = st.text(max_size=8)
NAMES = st.lists(TEXT, max_size=3)
FILES = st.dictionaries(TEXT, TEXT, max_size=2)
SHARE = st.floats(0, 1)


def made(cls, /, **strategies):
    needed = strategies.pop("needed", {})
    return st.fixed_dictionaries(needed, optional=strategies).map(lambda entries: cls(**entries))


ROLES = {"id": TEXT, "group": TEXT, "quasi": NAMES, "count": TEXT, "kind": TEXT, "encoding": TEXT}
RELEASES = made(
    ReleaseEntry,
    needed={"file": TEXT},
    **ROLES,
    sensitive=TEXT,
    values=TEXT,
    spread=FILES,
    ordinal=st.dictionaries(TEXT, st.lists(TEXT | st.integers(), max_size=2), max_size=2),
    nominal=NAMES,
    value_map=TEXT | FILES,
    hierarchies=st.dictionaries(TEXT, TEXT | FILES, max_size=2),
    missing=NAMES,
    name=TEXT,
    date=TEXT,
)
REGISTERS = made(
    RegisterEntry,
    needed={"file": TEXT},
    id=TEXT,
    quasi=NAMES,
    present=st.dictionaries(TEXT, TEXT | st.lists(TEXT | st.integers(), max_size=2), max_size=2),
    only_published=st.booleans(),
)
CRITERIA = made(
    CriteriaEntries,
    k=st.integers(1, 99),
    entropy_l=st.floats(1, 9),
    ck_safety=st.tuples(st.floats(0.1, 1), st.integers(0, 9)),
    skyline=st.tuples(st.floats(0.1, 1), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)),
    population_uniqueness=st.tuples(SHARE, st.floats(0.1, 1)),
    recursive=st.tuples(st.floats(0.5, 9), st.integers(1, 9)),
    t=SHARE,
    distance=st.sampled_from(["equal", "ordered", "hierarchy"]),
    dissimilarity=st.tuples(st.floats(0, 9), st.floats(0, 0.9), st.integers(1, 9)),
    floor=st.booleans(),
    presence=st.tuples(st.floats(0, 0.5), st.floats(0.5, 1)),
)
POLICIES = made(
    Policy,
    needed={"max_posterior": SHARE},
    certain=st.none() | st.integers(0, 9),
    proximity=st.tuples(st.floats(0, 9), SHARE),
    integral=st.sampled_from(["no", "checked", "required"]),
)
MANY = st.lists(RELEASES, min_size=1, max_size=2)
REQUESTS = {
    "audit": made(
        AuditRequest,
        needed={"release": MANY},
        **ROLES,
        sensitive=TEXT,
        register=REGISTERS,
        hierarchies=FILES,
        value_maps=FILES,
        changed=st.sampled_from(["refuse", "split"]),
        whole_values=st.floats(0, 99) | st.integers(0, 9),
        people=st.just(True),
        audience=st.sampled_from(["shareable", "internal"]),
    ),
    "check": made(
        CheckRequest,
        needed={"release": MANY},
        **ROLES,
        sensitive=NAMES,
        criteria=CRITERIA,
        risk=st.sampled_from(["category", "wildcard"]),
        tree=NAMES,
        threshold=SHARE,
        hierarchies=FILES,
    ),
    "publish": made(
        PublishRequest,
        needed={"table": TEXT, "strategy": st.sampled_from(["history-guided", "m-invariance", "guarded"])},
        quasi=NAMES,
        criteria=CRITERIA,
        policy=POLICIES,
        limits=st.dictionaries(TEXT, st.tuples(st.none() | st.floats(-9, 9), st.none() | st.floats(-9, 9)), max_size=2),
        history=NAMES,
        passes=st.integers(0, 9),
        folder=TEXT,
        hold_back=st.booleans(),
    ),
    "attack": made(
        AttackRequest,
        needed={
            "release": st.lists(RELEASES, min_size=1, max_size=1),
            "attack": st.just("bayes"),
            "options": st.fixed_dictionaries({"prior": st.dictionaries(TEXT, TEXT.filter(bool), min_size=1)}),
        },
        **ROLES,
        register=REGISTERS,
        truth=TEXT,
        seconds=st.floats(0, 99),
        seed=st.integers(0, 9),
    ),
    "demo": made(DemoRequest, folder=TEXT),
}


@pytest.mark.parametrize("name", REQUESTS)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_what_is_written_comes_back(name, data):
    request = data.draw(REQUESTS[name])
    kind = type(request)
    assert kind.from_dict(request.as_dict()) == request
    assert kind.from_toml(request.to_toml()) == request
    assert kind.from_toml(request.to_toml().encode()) == request
    assert kind.from_json(request.to_json()) == request
    assert pickle.loads(pickle.dumps(request)) == request


def test_only_what_differs_from_the_defaults_is_written():
    assert AuditRequest([ReleaseEntry("a.csv")]).to_toml() == '[[release]]\nfile = "a.csv"\n'
    assert PublishRequest("t.csv", passes=None).as_dict() == {"table": "t.csv"}


def test_a_history_file_is_an_audit_request():
    text = '[[release]]\nfile = "a.csv"\nid = "pid"\n[register]\nfile = "people.csv"\n'
    history, request = HistoryEntries.from_toml(text), AuditRequest.from_toml(text)
    assert (request.release, request.register) == (history.release, history.register)
    assert AuditRequest.from_toml(f'changed = "split"\n{text}').changed == "split"


def test_entries_are_the_options_of_the_readers():
    def options(reader):
        return [name for name in signature(reader).parameters if name != "path"]

    def entries(kind):
        return [field.name for field in fields(kind) if field.name not in ("file", "only_published")]

    assert entries(ReleaseEntry) == options(read_release)
    assert entries(RegisterEntry) == options(read_register)
    assert {f.name for f in fields(HistoryEntries)} - {"release", "register", "value_maps"} <= set(
        entries(ReleaseEntry)
    )
