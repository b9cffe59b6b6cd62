"""Rows that nobody of the register can fill, as other releases tell, belong to members whom it does not know."""

import polars as pl
import pytest

from showthrough import Register, Release, infer
from showthrough.errors import ChangedValueError, ContradictionError
from showthrough.register.reader import Reader
from showthrough.register.relaxing import relaxed
from tests.histories import release
from tests.saying import refusing

CELLS = Release.generalized({"age": ["2*", "2*"], "v": ["a", "b"]}, sensitive="v", quasi=["age"], name="G")
PEOPLE = pl.DataFrame({"id": [1, 2], "age": ["21", "22"]})
TOLD = release([([1, 2], ["a", "c"])], "D")


def test_a_stranger_fills_the_row_and_somebody_is_outside():
    post = infer([TOLD, CELLS], register=PEOPLE)
    assert post.reader.leeway.strangers == {"G": (1,)}
    assert post.of(1) == pytest.approx({"a": 0.5, "c": 0.5})
    assert post.groups_of("G").rows() == [(1, None), (1, 1), (2, None), (2, 1)]
    assert post.ids.to_list() == [1, 2]
    alone = post.alone()
    assert alone.largest[1].tolist() == pytest.approx([0.5, 0.5])  # alone G knows of no stranger


def test_where_presence_says_who_is_in_the_release_it_is_a_contradiction():
    complete = Register.of(PEOPLE, present={"G": [1, 2]})
    with refusing(ContradictionError, match=r"publishes (b|c) 1 time"):
        infer([TOLD, CELLS], register=complete, contradictions="refuse")
    half = Register.of(PEOPLE.with_columns(pl.Series("in_G", ["yes", ""])))
    post = infer([TOLD, CELLS], register=half)
    assert post.of(1) == {"a": 1.0}  # 1 is there, so 2 is not
    assert post.of(2) == {"c": 1.0}
    assert post.explain(1, "a").verify([TOLD, CELLS], register=half)


def test_a_membership_that_is_sure_is_a_contradiction_and_one_that_is_not_gives_way():
    sure = pl.DataFrame({"id": [1, 2], "group": [1, 1]})
    with pytest.raises(ContradictionError):
        infer([TOLD, CELLS], membership={"G": sure}, contradictions="refuse")
    loose = pl.concat([sure, pl.DataFrame({"id": [2], "group": [None]}, schema=sure.schema)])
    assert infer([TOLD, CELLS], membership={"G": loose}).of(2) == {"c": 1.0}


def test_published_ids_leave_no_room_for_strangers():
    with pytest.raises(ContradictionError, match="publishes"):
        infer([TOLD, release([([1, 2], ["a", "b"])], "E")], register=PEOPLE, contradictions="refuse")


def test_strangers_are_found_anew_when_a_release_is_added():
    later = release([([1, 2], ["c", "c"])], "E")
    with pytest.raises(ContradictionError):
        infer([TOLD, CELLS], register=PEOPLE, contradictions="refuse").extend(later)
    wider = release([([2, 3], ["c", "a"])], "E")
    grown = infer([TOLD, CELLS], register=PEOPLE).extend(wider)
    assert grown.to_frame().equals(infer([TOLD, CELLS, wider], register=PEOPLE).to_frame())
    assert grown.reader.leeway.strangers == {"G": (1,)}


ONE_EACH = Release.generalized({"age": ["21", "22"], "v": ["a", "b"]}, sensitive="v", quasi=["age"], name="G")


def test_who_can_have_no_value_of_its_groups_is_not_in_the_release():
    post = infer([TOLD, ONE_EACH], register=PEOPLE)
    assert post.reader.leeway.absent == {"G": ("2",)}
    assert post.groups_of("G").rows() == [(1, 1)]
    assert post.of(1) == {"a": 1.0}
    assert post.of(2) == {"c": 1.0}
    assert post.explain(2, "c").verify([TOLD, ONE_EACH], register=PEOPLE)
    assert post.reader.notes() == (
        "1 of the register's persons who fit groups of G count as absent from it: other releases leave them none of "
        "the values of these groups. If they are known to be in it, say so: then their values have changed.",
    )
    text = release([(["1", "2"], ["a", "c"])], "D")
    assert infer([text, ONE_EACH], register=PEOPLE).of("2") == {"c": 1.0}  # ids are compared as they are written
    grown = infer([TOLD], register=PEOPLE).extend(ONE_EACH)
    assert grown.to_frame().equals(post.to_frame())


def test_who_is_known_to_be_there_has_changed_its_value():
    known = Register.of(PEOPLE, present={"G": [1, 2]})
    with pytest.raises(ChangedValueError):
        infer([TOLD, ONE_EACH], register=known)
    assert infer([TOLD, ONE_EACH], register=known, changed="split").of(2, release="G") == {"b": 1.0}


def test_two_releases_that_may_both_be_wrong_are_not_guessed_at():
    other = Release.generalized({"age": ["21", "22"], "v": ["a", "c"]}, sensitive="v", quasi=["age"], name="H")
    with pytest.raises(ChangedValueError):
        infer([ONE_EACH, other], register=PEOPLE)


def test_a_nearest_centroid_is_relaxed_before_anybody_is_a_stranger():
    middle = {"age": [21.0, 22.0], "v": ["b", "a"]}
    guess = Release.microaggregated(middle, sensitive="v", quasi=["age"], name="M")
    told = release([([1], ["a"]), ([2], ["b"])], "D")
    post = infer([told, guess], register=PEOPLE, contradictions="refuse")
    reader = relaxed(Reader.of([told, guess], register=PEOPLE), [told, guess])
    assert post.reader.leeway == reader.leeway  # each is in the other's group: nobody is absent


def test_a_membership_that_leaves_somebody_out_says_nothing_of_it():
    loose = pl.DataFrame({"id": [1, 2, 2], "group": [1, 2, None]})
    other = Release.bucketized({"g": [1, 2], "v": ["a", "b"]}, sensitive="v", group="g", quasi=[], name="B")
    post = infer([TOLD, other], register=PEOPLE, membership={"B": loose})
    assert post.of(2) == {"c": 1.0}
