"""What a table knows of its history, and m-invariance through `anonymize` over many releases."""

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import KAnonymity, MUniqueness, Release, anonymize, infer
from showthrough.anonymizers.table import Shape, prepare
from showthrough.errors import ChangedValueError, CriterionError, InputError
from showthrough.republishing.located_view import located_view, without_overlaps
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal, release_of
from showthrough.republishing.strategies import by_signature
from showthrough.republishing.tied import joint, tied
from tests.oracles.m_invariance import broken
from tests.republishing.changing import raw_tables, series_of

SEEDS = st.integers(0, 2**32 - 1)
ROLES = {"id": "id", "sensitive": "value", "quasi": ["age", "zip"]}


def publish(table, history, m=2, **more):
    return anonymize(
        table, criteria=[MUniqueness(m)], strategy="m-invariance", history=history, name=f"R{len(history) + 1}",
        **{"hold_back": True, **ROLES, **more},
    )  # fmt: skip


def released(rows, name):
    frame = pl.DataFrame(rows, schema=["id", "group", "value"], orient="row")
    return Release.bucketized(frame, id="id", sensitive="value", group="group", name=name)


def past_of(rows, history, **more):
    frame = pl.DataFrame(rows, schema=["id", "value"], orient="row").with_columns(age=1)
    table = prepare(frame, id="id", sensitive="value", quasi=["age"], shape=Shape.of(None, None, None, None, "refuse"))
    return Past.of(table, history, **more)


def told(past):
    return [None if s < 0 else {past.values[v] for v in past.signatures[s]} for s in past.signature]


@settings(max_examples=5, deadline=None)
@given(SEEDS, st.integers(2, 3), st.sampled_from(["bucketized", "generalized"]))
def test_m_invariance_over_eleven_releases(seed, m, output):
    tables, releases = [], []
    for table in raw_tables(seed, persons=30, values=m + 3, releases=11, moves=0.2):
        try:
            releases.append(publish(table, releases, m, output="bucketized"))
        except InputError:  # a few persons of one value: nothing is left to publish
            continue
        tables.append(table)
        assert joint(releases).to_frame()["p"].max() <= 1 / m + 2e-5
    assert broken(series_of(releases, tables), m) == []
    if output == "generalized" and tables:
        again = []
        for table in tables[:4]:
            again.append(publish(table, again, m, output="generalized"))
            assert joint(again).to_frame()["p"].max() <= 1 / m + 2e-5
            assert any("Located by quasi-identifiers" in note for note in again[-1].made.notes)
        assert broken(series_of(again, tables[:4]), m) == []


@settings(max_examples=5, deadline=None)
@given(SEEDS)
def test_changed_values_are_refused_or_new_persons(seed):
    """Whoever has a value outside the last signature is a new person; all signatures stay."""
    releases, tables, refused, changed = [], [], 0, 0
    for table in raw_tables(seed, persons=30, values=5, releases=6, changes=0.15):
        try:
            publish(table, releases)
        except ChangedValueError:
            refused += 1
        releases.append(publish(table, releases, changed="split"))
        tables.append(table)
        changed += any("changed their value" in note for note in releases[-1].made.notes)
    assert refused >= changed > 0
    last, life, series = {}, {}, []
    for records, fakes in series_of(releases, tables):
        values = {}
        for group, value in [*((g, v) for _, v, g in records), *fakes]:
            values.setdefault(group, set()).add(value)
        for person, value, group in records:
            if value not in last.get(person, {value}):
                life[person] = life.get(person, 0) + 1
            last[person] = values[group]
        series.append(([((p, life.get(p, 0)), v, g) for p, v, g in records], fakes))
    assert broken(series, 2) == []


def test_the_newest_group_counts_however_long_ago():
    first = released([("a", 1, "x"), ("b", 1, "y"), ("c", 2, "x"), ("d", 2, "z")], "R1")
    second = released([("a", 1, "x"), ("e", 1, "w")], "R2")
    past = past_of([("a", "x"), ("b", "y"), ("d", "z"), ("n", "x")], [first, second])
    assert told(past) == [{"x", "w"}, {"x", "y"}, {"x", "z"}, None]
    assert past.last_group.tolist() == [0, -1, -1, -1]


def test_without_a_history_nobody_has_a_group():
    past = past_of([("a", "x"), ("b", "y")], [])
    assert past.last_group.tolist() == past.signature.tolist() == [-1, -1]


def test_a_value_must_fit_every_group_that_held_the_person():
    first = released([("a", 1, "x"), ("b", 1, "y")], "R1")
    second = released([("a", 1, "x"), ("e", 1, "w")], "R2")
    with pytest.raises(ChangedValueError, match="1 person has a value"):
        past_of([("a", "w")], [first, second])  # in the last group, not in the first
    split = past_of([("a", "w")], [first, second], changed="split")
    assert told(split) == [{"x", "w"}]
    assert split.changed == 0
    gone = past_of([("a", "y")], [first, second], changed="split")
    assert told(gone) == [None]
    assert gone.changed == 1
    with pytest.raises(InputError, match="changed is one of"):
        past_of([("a", "x")], [first], changed="ignore")


def test_a_release_without_ids_is_read_by_its_link():
    (table,) = raw_tables(2, releases=1)
    release = publish(table, [], output="generalized")
    bucketized = publish(table, [])
    assert release.roles.id is None
    assert tied(bucketized) is bucketized
    one, other = infer([tied(release)]), infer([bucketized])
    assert one.entropy == pytest.approx(other.entropy)
    assert {i: one.of(i) for i in table["id"]} == {i: other.of(i) for i in table["id"]}


def test_buckets_without_ids_are_read_by_their_link_too():
    rows = pl.DataFrame({"group": [1, 1, 2, 2], "value": list("xyxz")})
    release = Release.bucketized(rows, id=None, sensitive="value", group="group", name="R1")
    link = pl.DataFrame({"id": list("abcd"), "group": [1, 1, 2, 2]})
    assert infer([tied(release.with_link(link))]).of("d") == pytest.approx({"x": 0.5, "z": 0.5})


def test_criteria_that_m_invariance_does_not_look_at():
    (table,) = raw_tables(2, releases=1)
    criteria = [MUniqueness(2), KAnonymity(5)]
    with pytest.raises(CriterionError, match="guarded merges groups for it"):
        anonymize(table, criteria=criteria, strategy="m-invariance", hold_back=True, **ROLES)
    release = anonymize(
        table, criteria=criteria, strategy="m-invariance", hold_back=True, accept_violations=True, **ROLES
    )
    assert [check.holds for check in release.made.checks] == [True, False]


def test_merging_overlaps_helps_or_says_why_not():
    exceeding = {}
    for merge in (False, True):
        history = []
        for table in raw_tables(7, persons=30, releases=3):
            history.append(publish(table, history, output="generalized", merge_overlaps=merge))
        notes = " ".join(history[-1].made.notes)
        exceeding[merge] = int(re.search(r"(\d+) of 23 persons", notes)[1])
        assert joint(history).to_frame()["p"].max() <= 0.5 + 2e-5
    assert exceeding[False] > 0
    assert exceeding[True] < exceeding[False] or "would put persons over the limit" in notes
    with pytest.raises(InputError, match="merge_overlaps=True is for generalized"):
        publish(table, [], merge_overlaps=True)


def test_too_many_fits_are_not_inferred_from():
    """Exactly as many pairs of a person and a group as are asked for may be looked at; they are said otherwise."""
    (frame,) = raw_tables(7, persons=30, releases=1)
    release = publish(frame, [], output="generalized")
    table = prepare(frame, shape=Shape.of(None, None, None, None, "refuse"), **ROLES)
    pairs = int(re.search(r"make (\d+) pairs, more than 0", located_view(table, [release], 0.5, most=0).reason)[1])
    assert pairs >= release.groups().height > 0
    assert located_view(table, [release], 0.5, most=pairs).posterior is not None
    assert f"make {pairs} pairs, more than {pairs - 1}" in located_view(table, [release], 0.5, most=pairs - 1).reason


def test_a_group_that_tells_too_much_by_itself_takes_in_the_next_one():
    frame = pl.DataFrame({"id": list("abcd"), "age": [1, 2, 11, 12], "zip": ["z"] * 4, "value": list("xxyz")})
    table = prepare(frame, shape=Shape.of(None, None, None, None, "refuse"), **ROLES)
    past = Past.of(table, [])

    def look(proposal):
        release = release_of(table, past, proposal, kind="generalized", name="R1", seed=0, parameters={})
        return located_view(table, [release], 0.5)

    apart = Proposal(np.array([0, 0, 1, 1], dtype=np.int32))
    assert look(apart).over == 2  # each of them fits one group only
    merged, seen, why = without_overlaps(past, apart, look, lambda _: True)
    assert merged.group.tolist() == [0, 0, 0, 0]
    assert (seen.over, why) == (0, ())
    kept, seen, why = without_overlaps(past, apart, look, lambda _: False)
    assert kept is apart
    assert seen.over == 2
    assert "readers who know the groups" in why[0].words


def test_whoever_had_fewer_values_keeps_them_apart_from_the_others():
    """One of two values before, beside three newcomers of three: the missing value of the pair is a counterfeit."""
    first = released([("a", 1, "x"), ("b", 1, "y")], "R1")
    rows = {"id": list("acde"), "age": range(4), "zip": ["z"] * 4, "value": list("xxyz")}
    table = prepare(pl.DataFrame(rows), shape=Shape.of(None, None, None, None, "refuse"), **ROLES)
    past = Past.of(table, [first])
    found = by_signature(table, past, 3, hold_back=False, seed=0, short=True)
    own, *others = found.group.tolist()
    assert len(set(others)) == 1
    assert own not in others
    fakes = zip(found.counterfeit_group.tolist(), past.values.gather(found.counterfeit_value), strict=True)
    assert list(fakes) == [(own, "y")]


def test_whom_earlier_releases_alone_put_over_the_limit_is_told_apart():
    shown = {"criteria": [KAnonymity(3)], "method": "mondrian", "output": "generalized", **ROLES}
    tables = list(raw_tables(11, persons=80, releases=3))
    history = [anonymize(table, name=f"R{k}", **shown) for k, table in enumerate(tables[:2])]
    table = prepare(tables[2], shape=Shape.of(None, None, None, None, "refuse"), **ROLES)
    before = located_view(table, history, 0.5)
    release = anonymize(tables[2], name="R2", **shown)
    after = located_view(table, [*history, release], 0.5)
    told = after.beyond(before)
    assert told.over == after.over == after.exceeding.len()
    assert told.earlier == len(set(after.exceeding) & set(before.exceeding))
    assert told.new == len(set(after.exceeding) - set(before.exceeding))
    assert told.earlier > 0
    assert told.new > 0
    assert f"{told.earlier} of them by earlier releases alone" in str(told.remark)
    assert after.beyond(None).new == after.over
