"""One id as several persons: told as changed, in every part of the history, in proofs and views."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import infer
from showthrough.errors import ChangedValueError, InputError
from showthrough.inference.history import ABSENT, encode
from showthrough.inference.splitting import changed_counts, changed_frame, parts_of, premise, split_persons, split_told
from showthrough.register.changed import Changed
from tests.histories import histories, release, releases
from tests.saying import refusing

HIDDEN = [[([1, 2], ["a", "b"])], [([1, 3], ["b", "c"])]]
THREE = [[([1, 2], ["a", "b"])], [([1, 3], ["b", "c"])], [([1, 4], ["b", "d"])]]


def test_a_change_that_fits_makes_false_facts_until_it_is_told():
    plain = infer(releases(HIDDEN))
    assert plain.of(2) == {"a": 1.0}  # false, if 1 had a at first
    told = infer(releases(HIDDEN), changed=[1])
    assert told.of(2) == {"a": 0.5, "b": 0.5}
    assert told.of(1, release="D2") == {"b": 0.5, "c": 0.5}


def test_a_pair_makes_one_person_before_and_one_from_then_on():
    post = infer(releases(THREE), changed=[(1, "D2")])
    history = post._solved.history
    assert parts_of(history) == {1: (0, 1)}
    assert post.of(1, release="D1") == {"a": 0.5, "b": 0.5}
    assert post.of(1, release="D2") == {"b": 1.0}  # the same person in D2 and D3
    proof = post.explain(1, "b", release="D2")
    assert proof.parts == {1: (0, 1)}
    assert proof.verify(releases(THREE))
    assert not type(proof)(**{**vars(proof), "parts": {}}).verify(releases(THREE))
    assert changed_frame(history).rows() == [(1, "D1", "told"), (1, "D2", "told")]
    assert "1 told by the publisher" in premise(changed_counts(history))


def test_several_pairs_make_several_persons():
    assert parts_of(infer(releases(THREE), changed=[(1, "D2"), (1, "D3")])._solved.history) == {1: (0, 1, 2)}


@pytest.mark.parametrize("told", [[4], [(1, "D1")], [(4, "D2")], []])
def test_who_is_in_one_segment_only_stays_whole(told):
    post = infer(releases(THREE), changed=told)
    assert post._solved.history.split_release is None
    assert changed_frame(post._solved.history).is_empty()
    assert premise(changed_counts(post._solved.history)).endswith("changed between releases.")


@pytest.mark.parametrize(("told", "says"), [([(1, "D9")], "the release 'D9'"), ([99], "99, whom no release holds")])
def test_unknown_ids_and_releases_are_refused(told, says):
    with refusing(InputError, match=says):
        infer(releases(THREE), changed=told)


def test_ids_of_another_table_may_be_told_too():
    post = infer(releases(THREE), changed=Changed.of([99, "no id at all", 1], strict=False))
    assert parts_of(post._solved.history) == {1: (0, 1, 2)}


def test_text_and_numbers_find_each_other_as_everywhere():
    named = [release([(["1", "2"], ["a", "b"])], "D1"), release([(["1", "3"], ["b", "c"])], "D2")]
    assert parts_of(infer(named, changed=[1])._solved.history) == {"1": (0, 1)}


def test_what_is_told_comes_first_and_the_choice_after():
    both = [[([1, 2], ["a", "b"]), ([5], ["x"])], [([1, 3], ["b", "c"]), ([5], ["y"])]]
    with refusing(ChangedValueError, match=r'Person 5 .*"split".*"tolerate".*ids or'):
        infer(releases(both), changed=[1])
    post = infer(releases(both), changed=Changed.of([1], otherwise="split"))
    assert set(changed_frame(post._solved.history).rows()) == {
        (1, "D1", "told"), (1, "D2", "told"), (5, "D1", "split"), (5, "D2", "split"),
    }  # fmt: skip
    assert infer(releases(both), changed=[1, 5]).of(5, release="D1") == {"x": 1.0}


def test_views_know_the_parts():
    post = infer(releases(THREE), changed=[(1, "D2")])
    rows = {(i, part, r): (b, a) for i, part, r, b, a in post.attribution().iter_rows()}
    assert rows[(1, "D1", "D1")] == (None, 0.5)
    assert rows[(1, "D2", "D2")] == (None, 0.5)
    assert rows[(1, "D2", "D3")] == (0.5, 1.0)
    assert rows[(1, "D1", "D3")] == (0.5, 0.5)
    left = {(i, part, r): (without, with_) for i, part, r, without, with_ in post.leave_one_out().iter_rows()}
    assert left[(1, "D2", "D2")] == (0.5, 1.0)


@settings(deadline=None)
@given(histories(persons=6, least_releases=2), st.data())
def test_parts_are_made_of_what_the_person_was(history, data):
    whole = encode(releases(history))
    number = data.draw(st.integers(1, whole.named))
    chosen = np.array(sorted(data.draw(st.sets(st.integers(0, whole.named - 1), min_size=number, max_size=number))))
    steps = data.draw(st.lists(st.integers(0, 1), min_size=len(history), max_size=len(history)))
    segment = np.repeat(np.cumsum(steps)[:, None], chosen.size, axis=1)
    split = split_persons(whole, chosen, segment=segment)
    for column, id in enumerate(whole.ids.to_list()):
        mine = [k for k, i in enumerate(split.ids.to_list()) if i == id]
        parts = split.group_of[:, mine]
        assert ((parts != ABSENT).sum(axis=1) <= 1).all()
        assert (parts.max(axis=1, initial=ABSENT) == whole.group_of[:, column]).all()
        if len(mine) > 1:
            assert column in chosen
            first = (parts != ABSENT).argmax(axis=0)
            assert split.split_release[mine].tolist() == first.tolist()
            here = [set(segment[np.flatnonzero(own != ABSENT), 0].tolist()) for own in parts.T]
            assert all(len(own) == 1 for own in here)
            assert len(set.union(*here)) == len(mine)
        elif column in chosen:
            assert len(set(segment[whole.group_of[:, column] != ABSENT, 0].tolist())) <= 1


@settings(deadline=None)
@given(histories(persons=6, least_releases=2), st.data())
def test_telling_a_change_is_renaming_the_person(history, data):
    ids = sorted({p for groups in history for members, _ in groups for p in members})
    who, at = data.draw(st.sampled_from(ids)), data.draw(st.integers(1, len(history) - 1))
    told = infer(releases(history), changed=[(who, f"D{at + 1}")])
    renamed = [
        [([-1 if p == who and r >= at else p for p in members], values) for members, values in groups]
        for r, groups in enumerate(history)
    ]
    other = infer(releases(renamed))
    assert told.entropy == pytest.approx(other.entropy, abs=1e-6)
    assert split_told(told._solved.history) is told._solved.history
    for id in ids:
        if id != who:
            assert told.of(id) == pytest.approx(other.of(id), abs=1e-6)
