"""What is even is the answer there, and what has a closed form is what the solver finds."""

import numpy as np
import pytest
from hypothesis import given, settings

from showthrough import infer
from showthrough.inference import run
from showthrough.inference.face import Face, propagate
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
    rows = np.zeros((problem.rows + 1, 2), dtype=int)
    for variable in np.flatnonzero(face.alive):
        signature = problem.signature[variable]
        for row in problem.row[:, variable]:
            rows[row, int(face.choices[signature] > 1)] += problem.weight[signature]
    assert np.array_equal(free.left, problem.count - rows[:-1, 0])
    assert np.array_equal(free.room(), rows[:-1, 1])


def test_a_chain_longer_than_the_rounds_is_left_to_the_solver():
    # pairs in a long line, uneven at one end only: what is uneven reaches everybody, step by step
    length = 60
    first = release([([2 * k, 2 * k + 1], ["a", "b"]) for k in range(length)], "D1")
    second = release(
        [([0, -1, -2], ["a", "a", "b"]), *(([2 * k + 1, 2 * k + 2], ["a", "b"]) for k in range(length - 1))], "D2"
    )
    post = infer([first, second])
    assert post.certificate.status == "exact"
    assert post.of(0)["a"] == pytest.approx(2 / 3, abs=0.2)
    assert post.of(0)["a"] != pytest.approx(0.5)


@many
@given(histories())
def test_islands_with_a_closed_form_give_what_the_solver_gives(history):
    rels = releases(history)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "_FEW_VARIABLES", 0)
        closed = infer(rels)
    solved = infer(rels)
    assert closed.certificate.status == solved.certificate.status == "exact"
    assert closed.x == pytest.approx(solved.x, abs=1e-9)
    assert closed.certificate.proven_zeros == solved.certificate.proven_zeros
