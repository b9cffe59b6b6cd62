"""Counts that no assignment fits are called contradictory, by a weighing in whole numbers; a program is the oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from showthrough.inference.certificate import Status
from tests.inference.cluster.giants import history, parted, solved


def altered(cut, rng):
    """One person of the second release published with another value of the same group."""
    rows = cut.rows
    second = np.flatnonzero(rows.row_group >= rows.first_group[1])
    twice = second[rows.row_count[second] > 1]
    fewer = int(rng.choice(twice))
    others = second[(rows.row_group[second] == rows.row_group[fewer]) & (second != fewer)]
    count = rows.row_count.copy()
    count[fewer] -= 1
    count[int(rng.choice(others))] += 1
    return replace(cut, rows=replace(rows, row_count=count))


def feasible(cut):
    """Whether shares of persons meet the counts, by linear programming."""
    problem, count = cut.problem, cut.rows.row_count
    v, m, rows = problem.variables, problem.signatures, count.size
    sure = problem.rows.sure
    at = [np.flatnonzero(own != rows) for own in sure]
    weight = problem.weight[problem.signature].astype(float)
    relation = sp.csr_array(
        (
            np.concatenate([weight[a] for a in at]),
            (np.concatenate([own[a] for own, a in zip(sure, at, strict=True)]), np.concatenate(at)),
        ),
        shape=(rows, v),
    )
    one = sp.csr_array((np.ones(v), (problem.signature, np.arange(v))), shape=(m, v))
    found = linprog(
        np.zeros(v), A_eq=sp.vstack([relation, one]), b_eq=np.concatenate([count, np.ones(m)]), method="highs"
    )
    return found.status == 0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("at_hand", [0, 10**6])
def test_contradictions_are_found_and_nothing_else_is_called_one(tmp_path, seed, at_hand):
    rng = np.random.default_rng(seed)
    cut = parted(history(200, 14, overlap=1.0 if seed % 2 else 0.97, seed=seed), 3)
    if seed < 5:
        cut = altered(cut, rng)
    _, answer = solved(cut, tmp_path, at_hand=at_hand)
    if feasible(cut):
        assert answer.status is Status.EXACT
    else:
        assert answer.status is Status.CONTRADICTORY
        assert answer.weights is not None
        assert answer.proven_zeros == answer.proven_ones == 0


def test_a_person_whose_groups_share_no_value_is_a_contradiction(tmp_path):
    cut = parted(history(150, 3, seed=1), 2)
    codes = cut.problem.places.codes
    rows = cut.rows
    values = [set(rows.row_value[rows.row_group == g].tolist()) for g in range(int(rows.first_group[-1]))]
    apart = next(
        (a, b)
        for a in range(int(rows.first_group[1]))
        for b in range(int(rows.first_group[1]), len(values))
        if not values[a] & values[b]
    )
    codes[:, cut.members[0][0]] = apart
    _, answer = solved(cut, tmp_path)
    assert answer.status is Status.CONTRADICTORY
