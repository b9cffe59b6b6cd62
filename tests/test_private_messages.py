"""Every message with something private in it, made with marked ids and values: internal readers alone see them."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

import showthrough as st
from showthrough.criteria.counts import hidden_rows
from showthrough.errors import NotEligibleError, ShowthroughError
from showthrough.policy.policy import Policy
from showthrough.release.link import checked
from showthrough.release.recode import read_value_map
from showthrough.requests.audit import AuditRequest
from showthrough.table.files import read_table
from showthrough.table.frames import need_columns, to_polars
from showthrough.table.hierarchy import Hierarchy

I1, I2, I3 = (f"zq7xid{k}" for k in (1, 2, 3))
V1, V2, V3 = (f"zq7xval{k}" for k in (1, 2, 3))
G1, G2, G3 = (f"zq7xgrp{k}" for k in (1, 2, 3))
ROLES = {"id": "id", "group": "g", "sensitive": "v"}


def buckets(ids=(I1, I2), groups=(G1, G1), values=(V1, V2), **more):
    return st.Release.bucketized({"id": list(ids), "g": list(groups), "v": list(values)}, **{**ROLES, **more})


def pair(groups, values):
    records = {"id": [I1, I2], "g": [G1, G1]}
    return st.Release.bucketized(records, values={"g": groups, "v": values[0], "count": values[1]}, **ROLES)


def general(cells=("1*", "1*"), values=(V1, V2), **more):
    return st.Release.generalized({"q": list(cells), "v": list(values)}, sensitive="v", quasi=["q"], **more)


def micro(ages, **more):
    return st.Release.microaggregated({"age": ages, "v": [V1, V2]}, sensitive="v", quasi=["age"], **more)


def written(text: str, name: str = "f.csv") -> Path:
    Path(name).write_text(text)
    return Path(name)


def folder(old: str, new: str):
    buckets(name="R").save("R")
    path = Path("R/release.toml")
    path.write_text(path.read_text().replace(old, new))
    return st.read_release("R")


def publish(**more):
    table = {"id": [I1, I2, I3], "zip": [G1, G2, G3], "v": [V1, V1, V2]}
    return st.anonymize(table, **{"id": "id", "sensitive": "v", **more})


def refuse(*releases):
    return st.infer(list(releases), contradictions="refuse")


CHANGED = lambda: [buckets(name="A"), buckets(values=(V3, V3), name="B")]  # noqa: E731

MADE = {
    "id twice": lambda: buckets(ids=(I1, I1)),
    "value twice": lambda: pair([G1, G1], ([V1, V1], [1, 1])),
    "counts": lambda: pair([G1], ([V1], [3])),
    "no persons": lambda: pair([G1, G2], ([V1, V1], [2, 1])),
    "no values": lambda: st.Release.bucketized(
        {"id": [I1, I2], "g": [G1, G2]}, values={"g": [G1], "v": [V1], "count": [1]}, **ROLES
    ),
    "no count": lambda: pair([G1], ([V1], [I3])),
    "no id": lambda: buckets(ids=(I1, None), counterfeits={G1: 2}),
    "counterfeits of no group": lambda: buckets(counterfeits={G2: 1}),
    "too many counterfeits": lambda: buckets(counterfeits={G1: 5}),
    "counterfeits twice": lambda: buckets(counterfeits={"group": [G1, G1], "n": [1, 1]}),
    "cells of a group": lambda: st.Release.generalized(
        {"q": [I1, I2], "g": [G1, G1], "v": [V1, V2]}, sensitive="v", quasi=["q"], group="g"
    ),
    "counted twice": lambda: st.Release.counted(
        {"q": [I1, I1], "v": [V1, V1], "count": [1, 2]}, sensitive="v", quasi=["q"]
    ),
    "cell": lambda: st.infer(
        [general(cells=("[1, zq7xcell", "1"))], register=st.Register.of({"id": [I1], "q": ["1"]}, id="id")
    ),
    "cell of text": lambda: st.infer(
        [general(cells=("<30", "1"))], register=st.Register.of({"id": [I1], "q": ["zq7xcell"]}, id="id")
    ),
    "link of no group": lambda: checked(
        general(cells=("1", "2")), to_polars({"id": [I1, I2], "group": [G1, G2]}), where="link"
    ),
    "centroids": lambda: micro(["1", "zq7xcell"]),
    "levels": lambda: micro(["low", "zq7xcell"], ordinal={"age": ["low", "high"]}),
    "spread": lambda: st.Release.microaggregated(
        {"age": [1, 1], "w": ["1", "zq7xcell"], "v": [V1, V2]}, sensitive="v", quasi=["age"], spread={"age": "w"}
    ),
    "value map": lambda: buckets().recoded({V1: "a"}),
    "empty in the value map": lambda: buckets().recoded({V1: "a", V2: " "}),
    "value map twice": lambda: read_value_map(written(f"a,b\n{V1},x\n{V1},y\n")),
    "type": lambda: folder('id = "text"', 'id = "zq7xtype"'),
    "manifest": lambda: folder("kind = ", "zq7xkey = {\nkind ="),
    "version": lambda: folder("version = 1", 'version = "zq7x"'),
    "column twice": lambda: read_table(written(f"{I1},{I1}\n1,2\n")),
    "no header": lambda: need_columns(read_table(written(f"{I1},{V1}\n{I2},{V2}\n")), ["id"], "f.csv"),
    "half a header": lambda: need_columns(read_table(written(f"disease,1.5,{V1}\nflu,2,x\n")), ["disease", "b"], "f"),
    "no header, columns by default": lambda: publish_file(f"{I1},13053,{V1}\n{I2},13053,{V2}\n", id="id"),
    "no header, no names": lambda: publish_file(f"{I1},13053,{V1}\n{I2},13053,{V1}\n"),
    "frame": lambda: to_polars({"a": [I1], "b": [I1, I2]}),
    "hierarchy twice": lambda: Hierarchy.read(written(f"{V1};a;*\n{V1};b;*\n")),
    "two parents": lambda: Hierarchy.read(written(f"{V1};{G1};a;*\n{V2};{G1};b;*\n")),
    "not in the hierarchy": lambda: Hierarchy.from_tree({"a": ["x"]}).cover([V1, V2], "The release"),
    "no label": lambda: Hierarchy.from_tree({"a": ["x"]}).leaves_of(V1),
    "intervals": lambda: Hierarchy.intervals([V1]),
    "dates": lambda: Hierarchy.dates([V1]),
    "hierarchy of a table": lambda: publish(
        criteria=[st.KAnonymity(2)], hierarchies={"zip": Hierarchy.from_tree({"a": ["1"]})}, quasi=["zip"]
    ),
    "too frequent": lambda: publish(criteria=[st.EntropyLDiversity(2)]),
    "anatomy": lambda: publish(criteria=[st.FrequencyLDiversity(2)], method="anatomy"),
    "not eligible": lambda: raised(NotEligibleError(2, V1, code=0, reason="is too frequent.")),
    "policy": lambda: publish(
        criteria=[st.FrequencyLDiversity(1)], method="anatomy", strategy="guarded", history=[buckets(values=(V1, V1))],
        policy=Policy(max_posterior=0.5),
    ),
    "alpha": lambda: st.AlphaKAnonymity(0.5, 2, values=V1),
    "all suppressed": lambda: hidden_rows(to_polars({"q": [V1, V1]}), ["q"], V1),
    "changed value": lambda: refuse(*CHANGED()),
    "no member can": lambda: refuse(
        buckets(name="A"), buckets(ids=(I1, I2, I3), groups=(G1, G2, G2), values=(V1, V1, V3), name="B")
    ),
    "clash": lambda: refuse(
        buckets(ids=(I1, I2, I3), groups=[G1] * 3, values=(V1, V1, V2), name="A"),
        buckets(ids=(I1, I2, I3), groups=[G1] * 3, values=(V1, V2, V2), name="B"),
    ),
    "unknown person": lambda: st.infer([buckets()]).of(I3),
    "unknown value": lambda: st.infer([buckets()]).explain(I1, V3),
    "not proven": lambda: st.infer([buckets()]).explain(I1, V1),
    "split id": lambda: st.infer(CHANGED(), changed="split").explain(I1, V1),
    "changed, but unknown": lambda: st.infer([buckets(), buckets(name="B")], changed=[I3]),
    "domain": lambda: st.infer([buckets()], domain=V1),
    "group of a membership": lambda: st.infer(
        [general(name="G")], membership={"G": {"id": [I1], "group": [G3]}}
    ),
    "tables": lambda: st.changes_between({"A": {"id": [I1, I1], "v": [V1, V2]}}, id="id", sensitive="v"),
    "entry": lambda: AuditRequest.from_toml(f'release = []\n"{V1}" = 1\n', where="h.toml"),
    "type of an entry": lambda: AuditRequest.from_toml(f'seconds = "{V1}"\n[[release]]\nfile = "a.csv"\n', where="h"),
    "choice": lambda: AuditRequest.from_toml(f'changed = "{V1}"\n[[release]]\nfile = "a.csv"\n', where="h.toml"),
    "toml": lambda: AuditRequest.from_toml(f'a = 1\n"{V1}" = 1\n"{V1}" = 2\n', where="h.toml"),
    "names of releases": lambda: AuditRequest.from_toml(
        f'id = "id"\ngroup = "g"\nsensitive = "v"\n[value_maps]\n{V1} = "x"\n[[release]]\n'
        f'file = "{written(f"id,g,v{chr(10)}{I1},{G1},{V1}{chr(10)}")}"\n', where="h.toml",
    ).load(),
}  # fmt: skip


def raised(error: ShowthroughError):
    raise error


def publish_file(text: str, **more):
    return st.anonymize(read_table(written(text)), criteria=[st.KAnonymity(2)], **more)


@pytest.mark.parametrize("name", MADE)
def test_nothing_private_is_in_what_everybody_reads(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ShowthroughError) as found:
        MADE[name]()
    error = found.value
    told = "".join(traceback.format_exception_only(error))
    for text in (str(error), repr(error), error.shareable, told, f"{error}", *map(str, error.args)):
        assert "zq7x" not in text.lower(), text
    assert "zq7x" in error.internal or name in OPEN_TO_ALL, error.internal
    chained, above = error.__cause__, error
    while above is not None:  # what a traceback would print beside it
        chained = above.__cause__ or (None if above.__suppress_context__ else above.__context__)
        assert chained is None or "zq7x" not in str(chained), chained
        above = chained


OPEN_TO_ALL = {"no header, columns by default", "no header, no names", "domain", "manifest", "frame", "toml"}
"""Faults that are told without anything private, also to internal readers."""
