"""Remarks on a release carry their figures; sentences and reports are made of them."""

import json
import pickle

import polars as pl
import pytest

import showthrough as st
from showthrough.anonymizers.plan import plan_of
from showthrough.anonymizers.remark import Remark
from showthrough.report.publish import publish_content
from tests.republishing.changing import raw_tables

ROLES = {"id": "id", "sensitive": "value", "quasi": ["age", "zip"]}


def publish(table, history=(), **more):
    return st.anonymize(table, history=history, name=f"R{len(history) + 1}", **{**ROLES, **more})


def remark(release, kind):
    """The only remark of its kind."""
    (found,) = [one for one in release.made.remarks if one.kind == kind]
    return found


@pytest.fixture(scope="module")
def tables():
    return list(raw_tables(5, persons=24, releases=2))


def test_words_name_figures():
    told = Remark.of("levels", "Levels: {levels}; {share:.1%}.", levels={"{zip}": 1, "age": 2}, share=0.25, unsaid=7)
    assert str(told) == "Levels: {zip} 1, age 2; 25.0%."
    assert told.figures["unsaid"] == 7
    assert pickle.loads(pickle.dumps(told)) == told
    assert hash(told) == hash(Remark(told.kind, told.words))


def test_methods(tables):
    table, k = tables[0], [st.KAnonymity(3)]
    whole = publish(table, method="full-domain", criteria=k, suppression_limit=5)
    levels = remark(whole, "levels").figures
    assert levels["levels"] == whole.made.plan["levels"]
    assert 0 < levels["checked"] <= levels["nodes"]
    assert levels["optimal"]
    again = publish(table[:-2], plan=plan_of(whole), criteria=k, suppression_limit=9)
    fits = remark(again, "plan").figures
    assert fits["outside"] + fits["failing"] == again.made.suppressed
    loss = remark(publish(table, method="mdav", criteria=k), "information loss").figures["loss"]
    assert 0 < loss < 100
    numbers = table.with_columns(value=pl.int_range(pl.len()))
    colours = publish(numbers, method="xcolor", criteria=[st.Dissimilarity(2, 0.5, 3)])
    assert remark(colours, "colouring").figures["remaining"] == 0


@pytest.mark.parametrize("strategy", ["history-guided", "m-invariance", "guarded"])
def test_strategies(tables, strategy):
    policy = st.Policy(max_posterior=0.6) if strategy == "guarded" else None
    more = {"strategy": strategy, "policy": policy, "criteria": [st.FrequencyLDiversity(2)], "hold_back": True}
    first = publish(tables[0], **more)
    second = publish(tables[1], [first], **more)
    made = second.made
    assert dict(remark(second, "spent").figures) == {"counterfeits": made.counterfeits, "held": made.suppressed}
    assert made.notes == tuple(str(one) for one in made.remarks)
    assert all(note in str(made) for note in made.notes)
    if strategy == "history-guided":
        slots = remark(second, "slots").figures
        assert 0 <= slots["filled"] <= slots["slots"]
    if strategy == "guarded":
        assert remark(second, "verdict").figures["exposed"] == len(made.exposed) == 0
        start = remark(second, "guard start")
        assert str(start) == f"Guard: {start.figures['start']}: {start.figures['groups']} groups."
        cost = remark(second, "price").figures
        assert (cost["counterfeits"], cost["withheld"]) == (made.counterfeits, made.suppressed)
        assert 0 <= cost["gcp_before"] <= 1


def test_what_is_told_together(tables):
    more = {"method": "anatomy", "criteria": [st.FrequencyLDiversity(2)]}
    first = publish(tables[0], suppression_limit=0.5, **more)
    told = remark(publish(tables[1], [first], suppression_limit=0.5, **more), "beside the history")
    assert told.figures["newly_certain"] <= told.figures["certain"] <= told.figures["persons"]
    assert f"certain about {told.figures['certain']} of {told.figures['persons']} persons" in str(told)


def test_located_readers_are_counted(tables):
    more = {"strategy": "m-invariance", "criteria": [st.MUniqueness(2)], "hold_back": True, "output": "generalized"}
    seen = remark(publish(tables[0], **more), "located").figures
    assert seen["limit"] == 0.5
    assert 0 <= seen["over"] <= seen["persons"] == tables[0].height
    merged = publish(tables[0], merge_overlaps=True, **more)
    assert remark(merged, "merged overlaps").figures["left"] == merged.labels.len()


def test_reports_take_figures_from_remarks(tables):
    release = publish(tables[0], method="full-domain", criteria=[st.KAnonymity(3)], suppression_limit=5)
    told = publish_content(release, folder=None, audience="shareable")
    assert told.remarks == release.made.remarks
    plain = json.loads(json.dumps(told.as_dict()))["remarks"]
    assert [one["sentence"] for one in plain] == list(release.made.notes)
    assert plain[0]["kind"] == "levels"
    assert plain[0]["figures"]["levels"] == dict(release.made.plan["levels"])
    assert isinstance(plain[0]["figures"]["nodes"], int)
