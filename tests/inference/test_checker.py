"""The checker catches every kind of wrong answer, however small its part of the whole."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from showthrough import Release, infer
from showthrough.errors import InternalError
from showthrough.examples import figure1
from showthrough.inference import checked_answer, checker, run
from showthrough.inference.certificate import Status, judge
from showthrough.inference.pairs import Pairs
from tests.histories import FIGURE1, X1


def answer_of(post):
    solved = post._solved
    found = solved.x.copy(), solved.mu.copy()
    return run.answer_of(solved.history, solved.of_person, solved.face, Pairs.of(solved.face, found[0]), found)


COPIES = 100_000


@pytest.fixture(scope="module")
def many():
    """A hundred thousand copies of the five-person case: half a million persons."""
    copy = np.repeat(np.arange(COPIES), 5)
    rels = []
    for number, groups in enumerate(X1, start=1):
        rows = [(p, g, v) for g, (persons, values) in enumerate(groups) for p, v in zip(persons, values, strict=True)]
        person, group, value = (np.tile(np.array(column), COPIES) for column in zip(*rows, strict=True))
        frame = pl.DataFrame({"id": 10 * copy + person, "group": 10 * copy + group, "value": value})
        rels.append(Release.bucketized(frame, id="id", sensitive="value", group="group", name=f"D{number}"))
    return infer(rels)


def test_right_answers_pass():
    post = infer(figure1.releases())
    found = checker.check(post._solved.history, answer_of(post))
    assert judge(found.gap, found.residual, 0) is Status.EXACT


def test_one_wrong_component_among_a_hundred_thousand_is_caught(many):
    right = answer_of(many)
    found = checker.check(many._solved.history, right)
    assert judge(found.gap, found.residual, 0) is Status.EXACT
    assert found.island_gap.size == COPIES
    # persons 1 and 4 of one copy exchange a little: all counts still hold, the entropy is lower
    h = many._solved.history
    person = {name: int((h.ids == 10 * 70_000 + name).arg_true()[0]) for name in (1, 2, 3, 4, 5)}
    wrong = right.p.copy()
    for name, sign in ((1, 1), (4, -1), (5, 1)):
        first = right.start[many._solved.of_person[person[name]]]
        wrong[first : first + 2] += np.array([1e-4, -1e-4]) * sign
    first = right.start[many._solved.of_person[person[2]]]
    wrong[first : first + 2] -= np.array([5e-5, -5e-5])
    found = checker.check(h, replace(right, p=wrong))
    assert found.residual < 1e-12
    assert judge(found.gap, found.residual, 0) is Status.CERTIFIED  # to a thousandth
    assert (found.island_gap > 1e-9).sum() == 1


def test_counts_that_are_missed_are_caught(many):
    right = answer_of(many)
    wrong = right.p.copy()
    wrong[right.start[7] : right.start[7] + 2] += [1e-7, -1e-7]
    found = checker.check(many._solved.history, replace(right, p=wrong))
    assert judge(found.gap, found.residual, 0) not in (Status.EXACT, Status.CERTIFIED)


def test_rows_that_do_not_add_up_negative_numbers_and_nans_are_caught():
    post = infer(figure1.releases())
    right = answer_of(post)
    for change in (np.nan, np.inf, -0.1, 0.3):
        wrong = right.p.copy()
        wrong[0] = change
        found = checker.check(post._solved.history, replace(right, p=wrong))
        assert judge(found.gap, found.residual, 0) not in (Status.EXACT, Status.CERTIFIED)


def test_probability_on_a_proven_zero_is_caught():
    post = infer(figure1.releases())
    right = answer_of(post)
    zero = int(np.flatnonzero(~post._solved.face.alive)[0])
    wrong = right.p.copy()
    wrong[zero] = 1e-6
    assert checker.check(post._solved.history, replace(right, p=wrong)).residual >= 1e-6


def test_persons_in_the_wrong_signature_are_caught():
    post = infer(figure1.releases())
    moved = post._solved.of_person.copy()
    moved[0], moved[5] = moved[5], moved[0]
    with pytest.raises(InternalError, match="share a signature"):
        checker.check(post._solved.history, replace(answer_of(post), of_person=moved))


@pytest.mark.parametrize("code", [-1, 5, 10**6])
def test_values_that_do_not_exist_are_caught(code):
    post = infer(figure1.releases())
    values = post._solved.problem.value.copy()
    values[np.argmin(post._solved.face.alive)] = code  # without probability, so that no count is missed
    with pytest.raises(InternalError, match="value that does not exist"):
        checker.check(post._solved.history, replace(answer_of(post), value=values))


@pytest.mark.parametrize(
    "change", [lambda column, at: np.delete(column, at), lambda column, at: np.insert(column, at, column[at])]
)
@pytest.mark.parametrize("bits", [62, 0])
def test_values_left_out_or_listed_twice_are_caught(change, bits, monkeypatch):
    monkeypatch.setattr(checked_answer, "_BITS", bits)
    post = infer(figure1.releases())
    right = answer_of(post)
    assert checker.check(post._solved.history, right).gap < 1e-12
    for at in range(right.value.size):
        columns = {name: change(getattr(right, name), at) for name in ("value", "p", "possible")}
        grown = columns["value"].size - right.value.size
        wrong = replace(right, start=np.where(right.start > at, right.start + grown, right.start), **columns)
        with pytest.raises(InternalError, match="list each value"):
            checker.check(post._solved.history, wrong)


def test_a_value_of_no_group_in_place_of_another_is_caught():
    post = infer(figure1.releases())
    right = answer_of(post)
    for at in range(right.value.size):
        values = right.value.copy()
        values[at] = (values[at] + 1) % post.values.len()
        with pytest.raises(InternalError, match="list each value"):
            checker.check(post._solved.history, replace(right, value=values))


@pytest.mark.parametrize(
    "changed",
    [
        lambda a: {"of_person": a.of_person + a.start.size - 1},
        lambda a: {"of_person": a.of_person - 1},
        lambda a: {"of_person": a.of_person[1:]},
        lambda a: {"start": a.start[:-1]},
        lambda a: {"start": a.start[::-1]},
        lambda a: {"p": a.p[1:]},
        lambda a: {"possible": a.possible[1:]},
        lambda a: {"mu": a.mu[1:]},
        lambda a: {"nu": a.mu[:1]},
        lambda a: {"seats": a.seats[1:]},
    ],
)
def test_parts_that_do_not_fit_each_other_are_caught(changed):
    post = infer(figure1.releases())
    right = answer_of(post)
    with pytest.raises(InternalError, match="fit neither"):
        checker.check(post._solved.history, replace(right, **changed(right)))


def test_a_signature_without_values_is_caught():
    post = infer(figure1.releases())
    right = answer_of(post)
    none = replace(right, start=np.append(right.start, right.start[-1]))
    with pytest.raises(InternalError, match="list each value"):
        checker.check(post._solved.history, none)


def test_suspects_lower_the_status():
    assert judge(0.0, 0.0, 3) is Status.CERTIFIED
    assert judge(float("nan"), 0.0, 0) not in (Status.EXACT, Status.CERTIFIED)
    assert len(FIGURE1) == 2


def test_one_wrong_component_among_a_million_is_caught():
    islands = 1_000_000
    frame = pl.DataFrame(
        {
            "id": np.arange(2 * islands),
            "group": np.repeat(np.arange(islands), 2),
            "value": np.tile(np.array([0, 1]), islands),
        }
    )
    release = Release.bucketized(frame, id="id", sensitive="value", group="group", name="D")
    post = infer([release])
    right = answer_of(post)
    found = checker.check(post._solved.history, right)
    assert found.island_gap.size == islands
    assert judge(found.gap, found.residual, 0) is Status.EXACT
    # both persons of a group share a signature: their answer is moved away from a half, off the counts
    wrong = right.p.copy()
    wrong[2 * 700_000] += 1e-4
    wrong[2 * 700_000 + 1] -= 1e-4
    found = checker.check(post._solved.history, replace(right, p=wrong))
    assert judge(found.gap, found.residual, 0) not in (Status.EXACT, Status.CERTIFIED)
    assert np.flatnonzero(found.island_residual > 1e-5).tolist() == [700_000]
    # multipliers that belong to another answer: the counts hold, the gap tells
    off = right.mu.copy()
    off[2 * 700_000] += 1e-3
    found = checker.check(post._solved.history, replace(right, mu=off))
    assert judge(found.gap, found.residual, 0) is Status.CERTIFIED  # to a thousandth
    assert np.flatnonzero(found.island_gap > 1e-10).tolist() == [700_000]


def test_a_count_of_a_billion_is_met_as_well_as_it_can_be_written():
    assert judge(0.0, 6e-7, 0, largest_count=10**9) is Status.EXACT
    assert judge(0.0, 2e-6, 0, largest_count=10**12) not in (Status.EXACT, Status.CERTIFIED)
    assert judge(0.0, 2e-8, 0, largest_count=10**6) not in (Status.EXACT, Status.CERTIFIED)
    assert judge(0.0, 5e-9, 0, largest_count=10**6) is Status.EXACT
