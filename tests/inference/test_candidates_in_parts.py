"""Who fits several groups stays open in the smaller problem, and its best candidate is what its weights are."""

import numpy as np
import polars as pl

from showthrough import infer
from showthrough.inference.reduce import reduce
from showthrough.inference.remaining import loose
from tests.histories import release


def solved():
    """7 fits two groups; everybody else one."""
    groups = [([1, 2], ["a", "b"]), ([3, 7], ["a", "b"]), ([5, 6], ["a", "b"])]
    fits = {1: [1], 2: [1], 3: [2], 7: [1, 2], 5: [3], 6: [3]}
    known = pl.DataFrame([(p, g) for p, own in fits.items() for g in own], schema=["id", "group"], orient="row")
    return infer([release(groups, "D1")], membership={"D1": known})._solved


def test_two_open_candidates_are_several():
    answer = solved()
    open_ = loose(answer.problem, np.ones(answer.problem.terms, dtype=bool))[answer.of_person]
    assert [i for i, several in zip(answer.history.ids, open_, strict=True) if several] == [7]


def test_weights_of_rows_reach_the_variables_by_the_best_candidate():
    problem = solved().problem
    part = reduce(problem, np.ones(problem.terms, dtype=bool))
    assert part.rows.seats
    weights = np.arange(1, part.rows.size + 1)
    expected = part.rows.scores(weights, np.ones(part.rows.terms, dtype=bool))
    assert part.sweeps.spread(weights.astype(float)).tolist() == expected.tolist()
