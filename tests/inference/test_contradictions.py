"""Releases that cannot be: found, named, and verified apart from the solver."""

import random

import polars as pl
import pytest

import showthrough as st
from showthrough import infer
from showthrough.errors import (
    ChangedValueError,
    ContradictionError,
    InputError,
    NotProvenError,
    UnknownPersonError,
    UnknownValueError,
)
from tests.histories import release, releases
from tests.oracles import common_values, linear, people
from tests.saying import refusing


def test_a_person_whose_groups_share_no_value():
    both = [release([(["ann", "bob"], ["x", "y"])], "old"), release([(["ann", "eve"], ["z", "z"])], "new")]
    with pytest.raises(ChangedValueError) as caught:
        infer(both)
    message = caught.value.internal
    for part in ("Person ann", "group 1 of old with x, y", "group 1 of new with z", 'changed="split"'):
        assert part in message
    assert "ann" not in caught.value.shareable


def test_split_makes_one_person_per_release():
    both = [release([(["ann", "bob"], ["x", "y"])], "old"), release([(["ann", "eve"], ["z", "z"])], "new")]
    post = infer(both, changed="split")
    assert post.of("ann", release="old") == pytest.approx({"x": 0.5, "y": 0.5})
    assert post.of("ann", release="new") == {"z": 1.0}
    assert post.of("bob") == pytest.approx({"x": 0.5, "y": 0.5})
    with pytest.raises(UnknownPersonError, match="one person per release"):
        post.of("ann")
    assert post.to_frame().columns == ["id", "release", "value", "p"]
    assert post.to_frame().filter(id="ann")["release"].to_list() == ["old", "old", "new"]
    for row in post.proven().iter_rows(named=True):
        proof = post.explain(row["id"], row["value"], release=row["release"])
        assert proof.verify(both)


def test_unknown_way_to_treat_changes():
    with pytest.raises(InputError, match='changed is "refuse", "split" or "tolerate"'):
        infer([release([([1], ["x"])])], changed="ignore")


def test_a_value_that_nobody_in_the_group_can_have():
    both = [
        release([([1, 2], ["a", "b"]), ([3, 4], ["b", "c"])], "D1"),
        release([([1, 3], ["b", "b"]), ([2, 4], ["b", "c"])], "D2"),
    ]
    with refusing(ContradictionError, match=r"group 1 of D1 publishes a 1 time.* \(1, 2\)"):
        infer(both, contradictions="refuse")


def test_a_value_that_nobody_can_have_in_a_release_whose_name_has_braces():
    both = [
        release([([1, 2], ["a", "b"]), ([3, 4], ["b", "c"])], "{D1}"),
        release([([1, 3], ["b", "b"]), ([2, 4], ["b", "c"])], "D2"),
    ]
    with refusing(ContradictionError, match=r"group 1 of \{D1\} publishes a 1 time.* \(1, 2\)"):
        infer(both, contradictions="refuse")


def test_counts_that_clash_between_two_releases():
    both = [
        release([([1, 2, 3], ["a", "a", "b"]), ([4, 5, 6], ["a", "b", "b"])], "D1"),
        release([([1, 2, 3], ["a", "b", "b"]), ([4, 5, 6], ["a", "a", "b"])], "D2"),
    ]
    with pytest.raises(ContradictionError) as caught:
        infer(both, contradictions="refuse")
    message = caught.value.internal
    assert "Group 1 of D1 publishes 2 × a" in message or "Group 2 of D2 publishes 2 × a" in message
    assert "not enough" in message
    assert caught.value.contradiction is not None
    assert caught.value.contradiction.verify(both)
    assert not caught.value.contradiction.verify(both[:1] * 2)
    assert "D1" in caught.value.shareable


@pytest.mark.parametrize("seed", range(60))
def test_random_tampering_is_found_exactly_when_no_probabilities_fit(seed):
    rng = random.Random(seed)
    truth = {p: rng.choice("abc") for p in range(9)}
    history = []
    for _ in range(rng.choice([2, 3])):
        order = rng.sample(sorted(truth), len(truth))
        groups = [order[k : k + 3] for k in range(0, 9, 3)]
        history.append([(g, [truth[p] for p in g]) for g in groups])
    for _ in range(2):
        group = rng.choice(rng.choice(history))
        group[1][rng.randrange(3)] = rng.choice("abc")
    rels = releases(history)
    empty = any(not common_values(history, p) for p in people(history))
    if not empty and linear.feasible(history):
        assert infer(rels).certificate.status == "exact"
        return
    with pytest.raises(ContradictionError) as caught:
        infer(rels, contradictions="refuse")
    if caught.value.contradiction is not None:
        assert caught.value.contradiction.verify(rels)


def test_an_unknown_value_is_no_unknown_person():
    post = infer([release([(["ann", "bob"], ["x", "y"])], "old")])
    with refusing(UnknownValueError, match="No release publishes the value 'z'") as caught:
        post.explain("ann", "z")
    assert not isinstance(caught.value, UnknownPersonError)
    assert isinstance(caught.value, KeyError)


CLASH = [
    release([([1, 2, 3], ["a", "a", "b"]), ([4, 5], ["c", "d"])], "D1"),
    release([([1, 2, 3], ["a", "b", "b"]), ([4, 5], ["c", "d"])], "D2"),
]


def test_a_contradiction_is_set_aside_and_everybody_else_is_answered():
    post = infer(CLASH)
    assert dict(zip(post.ids, post.states(), strict=True)) == {
        1: "relaxed", 2: "relaxed", 3: "relaxed", 4: "exact", 5: "exact"
    }  # fmt: skip
    assert post.certificate.persons_by_state == {"exact": 2, "relaxed": 3}
    assert post.certificate.contradictions == len(post.contradictions) == 1
    assert post.contradictions[0].contradiction.verify(CLASH)
    frame = post.to_frame()
    assert frame.filter(frame["id"] <= 3)["p"].null_count() == 6
    assert post.of(4) == pytest.approx({"c": 0.5, "d": 0.5})
    assert set(post.proven()["id"]) <= {4, 5}
    assert post.unsettled().tolist() == [True] * 3 + [False] * 2
    with pytest.raises(NotProvenError):
        post.explain(1, "a")


def test_bounds_of_a_contradiction_say_nothing():
    frame = infer(CLASH).bounds()
    assert set(frame.filter(frame["id"] <= 3).select("lower", "upper").rows()) == {(0.0, 1.0)}


def test_worlds_and_whole_values_leave_a_contradiction_out():
    post = infer(CLASH)
    assert set(post.worlds()["id"]) == {4, 5}
    assert set(post.proven(integral=True)["id"]) <= {4, 5}


def test_no_time_is_no_silence():
    post = infer([*CLASH[:1], release([([1, 2, 3], ["a", "a", "b"]), ([4, 5], ["c", "d"])], "D2")], seconds=0)
    assert set(post.states()) <= {"exact", "certified", "uncertified", "undecided"}
    assert post.ids.len() == 5


def test_a_clash_that_several_exclusions_of_one_step_lead_to_is_told():
    """Who fits several cells of both tables loses one after the other, until the counts are too many."""
    some = "{73192893, 73197274, 73198314}"
    rows = [("*", "<73197379", "c", 3), ("", some, "b", 2), ("", some, "a", 1)]
    tables = []
    for name, place in (("T1", "73194375-73199132"), ("T2", "73194***")):
        shown = [(cell or place, age, value, n) for cell, age, value, n in rows]
        frame = pl.DataFrame(shown, schema=["zip", "age", "value", "count"], orient="row")
        tables.append(st.Release.counted(frame, sensitive="value", quasi=["zip", "age"], name=name, population="P"))
    people = pl.DataFrame(
        {
            "id": list("123456"),
            "zip": ["73190752", "73193284", "73194375", "73199132", "73197116", "73192153"],
            "age": ["73195654", "73197378", "73197274", "73198314", "73192893", "73195839"],
        }
    )
    post = st.infer(tables, register=people, contradictions="explain")
    assert post.contradictions
    assert "contradict" in str(post.contradictions[0])
