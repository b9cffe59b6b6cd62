"""What is even is the answer there, and what has a closed form is what the solver finds."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some_of

from showthrough import Release, infer
from showthrough.inference import remaining, solving
from showthrough.inference.closing import propagate
from showthrough.inference.face import Face
from showthrough.inference.history import encode
from showthrough.inference.problem import build
from showthrough.inference.remaining import Remaining
from tests.histories import histories, release, releases
from tests.oracles import entropy

many = settings(max_examples=150, deadline=None, derandomize=True)


def propagated(history):
    coded, problem, of_person = build(encode(releases(history)))
    face = Face.whole(problem)
    return coded, face, of_person, propagate(face)


@many
@given(histories())
def test_even_signatures_have_the_even_answer(history):
    coded, face, of_person, open_ = propagated(history)
    exact = entropy.maximum_entropy(history)
    even = face.choices > 1
    even[open_.signature] = False
    for person, signature in enumerate(of_person):
        if even[signature]:
            own = slice(face.problem.start[signature], face.problem.start[signature + 1])
            alive = face.problem.value[own][face.alive[own]]
            for value in alive:
                p = exact[coded.ids[person], coded.values[int(value)]]
                assert p == pytest.approx(1 / alive.size, abs=1e-9)


@many
@given(histories())
def test_what_remains_adds_up(history):
    _, face, _, _ = propagated(history)
    problem = face.problem
    free = Remaining.of(problem, face.alive, face.choices)
    rows = np.zeros((problem.rows.size + 1, 2), dtype=int)
    for variable in np.flatnonzero(face.alive):
        signature = problem.signature[variable]
        for row in problem.rows.sure[:, variable]:
            rows[row, int(face.choices[signature] > 1)] += problem.weight[signature]
    assert np.array_equal(free.left, problem.count - rows[:-1, 0])
    assert np.array_equal(free.room(), rows[:-1, 1])


def chain(length=60):
    """Pairs in a long line, uneven at one end only: too long for what is uneven to be followed."""
    first = [([2 * k, 2 * k + 1], ["a", "b"]) for k in range(length)]
    second = [([2 * k + 1, 2 * k + 2], ["a", "b"]) for k in range(length - 1)]
    return first, [*second, ([0, -1, -2], ["a", "a", "b"])]


def test_a_chain_longer_than_the_rounds_is_left_to_the_solver():
    post = infer(releases(list(chain())))
    assert post.certificate.status == "exact"
    assert post.of(0)["a"] == pytest.approx(2 / 3, abs=0.2)
    assert post.of(0)["a"] != pytest.approx(0.5)


def test_somebody_in_no_row_beside_a_long_chain():
    # 900 may be in the last group, but 500 surely is, and it has one place
    first, second = chain()
    second.append(([500], ["a"]))
    members = [
        pl.DataFrame(
            [(p, g) for g, (own, _) in enumerate(groups, start=1) for p in own], schema=["id", "group"], orient="row"
        )
        for groups in (first, second)
    ]
    more = pl.DataFrame({"id": [900, 900], "group": [len(second), None]})
    known = {"D1": members[0], "D2": pl.concat([members[1], more])}
    post = infer([release(first, "D1"), release(second, "D2")], membership=known)
    assert post.certificate.status == "exact"
    assert post.of(900) == {"a": 0.5, "b": 0.5}


def test_what_was_even_may_come_back_to_a_flow(monkeypatch):
    # a flow takes c from u and v; p was even before, and is no longer known to be
    first = [(["u", "v", "x", "z"], list("abcd")), (["U", "V", "X", "Z"], list("abcd")), (["p", "q"], ["a", "b"])]
    second = [(["x", "z", "X", "Z"], list("ccdd")), (["v", "U", "y"], list("abc")), (["p", "r"], ["a", "b"])]
    second.append((["u", "e1", "e2"], list("aab")))
    real, calls = Remaining.even, iter([True])
    monkeypatch.setattr(Remaining, "even", lambda self: real(self) & next(calls, False))
    post = infer(releases([first, second]))
    assert post.certificate.status == "exact"
    assert post.of("p") == pytest.approx({"a": 0.5, "b": 0.5})
    assert post.of("y") == {"c": 1.0}


@many
@given(histories(persons=12), some_of.sampled_from([0, 1, 2]))
def test_components_are_counted_out_where_the_rounds_end(history, rounds):
    _, face, _, _ = propagated(history)
    free = Remaining.of(face.problem, face.alive, face.choices)
    expected = free.even()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remaining, "_ROUNDS", rounds)
        assert np.array_equal(free.even(), expected)


def test_what_is_even_is_found_beside_what_cannot_be_counted(monkeypatch):
    monkeypatch.setattr(remaining, "_EXACT", 100)  # room for halves, not for sixths
    groups = [([1, 2], ["a", "b"]), ([3, 4, 5], ["a", "b", "c"])]
    coded, _, of_person, open_ = propagated([groups, groups])
    assert {coded.ids[int(p)] for p in np.flatnonzero(np.isin(of_person, open_.signature))} == {3, 4, 5}
    assert infer(releases([groups, groups])).certificate.status == "exact"


@pytest.mark.parametrize("below", [740, 1000])
def test_choices_without_a_common_multiple_that_numbers_hold(below):
    # flat groups whose sizes are the primes: the product is too large for double precision
    sizes = [p for p in range(2, below) if all(p % q for q in range(2, int(p**0.5) + 1))]
    group = np.repeat(np.arange(len(sizes)), sizes)
    value = np.concatenate([np.arange(p) for p in sizes])
    frame = pl.DataFrame({"id": np.arange(group.size), "group": group, "value": value})
    both = [Release.bucketized(frame, id="id", sensitive="value", group="group", name=name) for name in "AB"]
    post = infer(both)
    assert post.certificate.status == "exact"
    assert post.of(0) == pytest.approx({0: 0.5, 1: 0.5})


@many
@given(histories())
def test_islands_with_a_closed_form_give_what_the_solver_gives(history):
    rels = releases(history)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solving, "_FEW_VARIABLES", 0)
        closed = infer(rels)
    solved = infer(rels)
    assert closed.certificate.status == solved.certificate.status == "exact"
    assert closed._solved.x == pytest.approx(solved._solved.x, abs=1e-9)
    assert closed.certificate.proven_zeros == solved.certificate.proven_zeros
