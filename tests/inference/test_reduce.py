"""Presolve is reversible: undo(solve(apply(p))) = solve(p)."""

import numpy as np
from hypothesis import given, settings

from showthrough.inference import newton
from showthrough.inference.closing import close_by_flow
from showthrough.inference.face import Face
from showthrough.inference.history import encode
from showthrough.inference.problem import build
from showthrough.inference.reduce import reduce
from tests.histories import histories, releases

some = settings(max_examples=80, deadline=None, derandomize=True)


def reduced_by_flow(history):
    _, problem, _ = build(encode(releases(history)))
    face = Face.whole(problem)
    close_by_flow(face)
    return problem, face, reduce(problem, face.alive)


@some
@given(histories())
def test_undo_restores_every_variable_and_row(history):
    problem, face, reduced = reduced_by_flow(history)
    x = np.linspace(0.1, 0.9, reduced.variable_of.size)
    full = reduced.undo(x, face.problem, face.alive)
    assert np.array_equal(full[reduced.variable_of], x)
    assert not full[~face.alive].any()
    fixed = face.alive.copy()
    fixed[reduced.variable_of] = False
    assert (full[fixed] == 1).all()
    assert (np.diff(reduced.signature_component) >= 0).all()
    assert (np.diff(reduced.row_component) >= 0).all()
    served = np.zeros(problem.rows.size, dtype=bool)
    served[reduced.row_of] = True
    assert np.array_equal(reduced.undo_rows(np.ones(reduced.rows.size), problem), served.astype(float))


@some
@given(histories())
def test_counts_of_the_smaller_problem_are_what_the_fixed_persons_leave(history):
    problem, face, reduced = reduced_by_flow(history)
    fixed = face.alive.astype(float)
    fixed[reduced.variable_of] = 0
    taken = np.zeros(problem.rows.size + 1)
    for row in problem.rows.sure:
        taken += np.bincount(row, fixed * problem.weight[problem.signature], problem.rows.size + 1)
    assert np.array_equal(reduced.count, (problem.count - taken[:-1])[reduced.row_of])
    served = np.zeros(problem.rows.size, dtype=bool)
    served[reduced.row_of] = True
    assert np.array_equal(problem.count[~served], taken[:-1][~served])


@some
@given(histories(persons=9, least_releases=2))
def test_a_batch_of_components_is_solved_as_each_alone(history):
    _, _, reduced = reduced_by_flow(history)
    batch = newton.Kernel(reduced).softmax(newton.solve(reduced).mu)[0] if reduced.components else np.empty(0)
    for component in range(reduced.components):
        alone = reduced.restrict(np.arange(reduced.components) == component)
        x, _ = newton.Kernel(alone).softmax(newton.solve(alone).mu)
        mine = np.isin(reduced.variable_of, alone.variable_of)
        assert np.abs(batch[mine] - x).max() < 1e-9
