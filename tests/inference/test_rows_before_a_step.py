"""A range that a step made one number was a range before that step, and is that number after it."""

from dataclasses import replace

import numpy as np

from showthrough.inference.face import NEVER, Face
from showthrough.inference.history import encode
from showthrough.inference.problem import build
from tests.histories import releases


def test_a_range_is_tight_only_after_the_step_that_made_it_so():
    _, problem, _ = build(encode(releases([[([1, 2, 3], ["a", "b", "b"])]])))
    problem = replace(problem, rows=replace(problem.rows, upper=problem.rows.upper + 1))
    face = Face.whole(problem)
    face.rows = replace(problem.rows, upper=problem.rows.lower)
    face.tight_at = np.array([1, NEVER], dtype=np.int32)
    open_, tight = problem.rows.upper.tolist(), problem.rows.lower.tolist()
    assert face.rows_before(0).upper[0] == face.rows_before(1).upper[0] == open_[0]
    assert face.rows_before(2).upper[0] == tight[0]
    assert face.rows_before(0).upper[1] == tight[1]  # no step says that it was ever open
