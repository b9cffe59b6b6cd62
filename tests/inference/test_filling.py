"""Persons in rows: what the rows of one release rule out is found whole; what crowds are said to rule out is true."""

import random

import numpy as np
import pytest
from scipy.optimize import linprog

from showthrough.inference import closing
from showthrough.inference.clock import Clock
from showthrough.inference.crowding import take_crowded
from showthrough.inference.face import Contradicted, Face, FlowStep
from showthrough.inference.filling import fill_rows, filled_releases
from showthrough.inference.problem import build
from showthrough.inference.reduce import reduce
from tests.inference.coded import history_of
from tests.oracles.factored import Case, Row, face, feasible


def tables(seed, *, releases=None, wrong=False):
    """Persons in known groups of a few releases; counts are exact, or ranges around the truth."""
    rng = random.Random(seed)
    people, values = rng.randint(4, 9), [f"v{k}" for k in range(rng.randint(2, 4))]
    releases = releases or rng.randint(2, 4)
    truth = {f"p{k}": rng.choice(values) for k in range(people)}
    fits = {p: [[rng.randrange(rng.randint(1, 3))] for _ in range(releases)] for p in truth}
    rows = []
    for r in range(releases):
        for g in sorted({fits[p][r][0] for p in truth}):
            for v in values:
                n = sum(fits[p][r][0] == g and truth[p] == v for p in truth)
                wide = rng.random() < 0.4
                low, high = (max(0, n - rng.randint(0, 2)), n + rng.randint(0, 2)) if wide else (n, n)
                rows.append(Row(r, g, v, low, high))
    if wrong:
        k = rng.randrange(len(rows))
        own = rows[k]
        rows[k] = Row(own.release, own.group, own.value, own.upper + 1, own.upper + 2)
    return Case(values, fits, rows)


def open_in(problem, face_of, release):
    """By linear programs over the persons and the rows of one release: the variables that are possible."""
    row = problem.rows.sure[problem.rows.sure_release.index(release)]
    alive = np.flatnonzero(face_of.possible)
    ones = np.array([problem.signature[alive] == s for s in range(problem.signatures)], dtype=float)
    mine = np.flatnonzero(problem.row_release == release)
    counts = np.array([row[alive] == r for r in mine], dtype=float)
    found = set()
    for k, variable in enumerate(alive):
        cost = np.zeros(alive.size)
        cost[k] = -1
        answer = linprog(
            cost, A_eq=ones, b_eq=problem.weight, A_ub=np.vstack([counts, -counts]),
            b_ub=np.concatenate([face_of.rows.upper[mine], -face_of.rows.lower[mine]]),
        )  # fmt: skip
        assert answer.status == 0
        if -answer.fun > 1e-6:
            found.add(int(variable))
    return found


def closed(seed):
    _history, problem, _ = build(history_of(tables(seed)))
    return problem, Face.whole(problem)


@pytest.mark.parametrize("seed", range(120))
def test_what_the_rows_of_one_release_rule_out_is_found_whole(seed):
    problem, found = closed(seed)
    free = closing.propagate(found)
    for release in filled_releases(found):
        wanted = open_in(problem, found, release)
        while free.variable.size and fill_rows(found, free, release):
            free = closing.propagate(found)
            wanted &= open_in(problem, found, release)
        assert set(np.flatnonzero(found.possible).tolist()) == wanted


@pytest.mark.parametrize("seed", range(200, 320))
def test_flows_of_ranges_and_crowds_exclude_only_what_is_impossible(seed):
    case = tables(seed)
    _history, problem, of_person = build(history_of(case))
    found = Face.whole(problem)
    closing.close_by_flow(found)
    reduced = reduce(problem, found.alive, found.rows)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        if reduced.rows.size:
            take_crowded(found, reduced, [rng.normal(size=reduced.rows.size)], Clock())
    zeros = {(person, value) for person, value, *_ in face(case).zeros}
    for k, person in enumerate(case.fits):
        for variable in range(problem.start[of_person[k]], problem.start[of_person[k] + 1]):
            value = case.values[int(problem.value[variable])]
            assert found.possible[variable] or (person, value) in zeros, (seed, person, value)


def test_flows_find_ranges_that_are_one_number_and_say_at_which_end():
    tight = 0
    for seed in range(400, 460):
        problem, found = closed(seed)
        closing.close_by_flow(found)
        for step in found.steps:
            if isinstance(step, FlowStep) and step.tight.size:
                tight += step.tight.size
                weight = dict(zip(step.rows.tolist(), step.weights.tolist(), strict=True))
                for row in step.tight.tolist():
                    end = problem.rows.lower[row] if weight[row] > 0 else problem.rows.upper[row]
                    assert found.rows.lower[row] == found.rows.upper[row] == end
    assert tight > 10


def test_counts_that_nobody_can_fill_are_a_contradiction():
    refused = 0
    for seed in range(600, 640):
        case = tables(seed, releases=2, wrong=True)
        if not feasible(case):
            _history, problem, _ = build(history_of(case))
            found = Face.whole(problem)
            try:
                closing.close_by_flow(found)
            except Contradicted:
                refused += 1
    assert refused > 10


def crowd():
    """Of p and q at most one has B by the first table and at most one has A by the third: x cannot have B."""
    truth = {"p": "A", "q": "B", "x": "C", "y": "A", "z": "B", "w": "C", "m": "A", "n": "B", "k": "B", "l": "C"}
    groups = [["pqxy"], ["pqmn", "xzwk", "yl"], ["pqzw"]]
    fits = {p: [[next((g for g, own in enumerate(part) if p in own), None)] for part in groups] for p in truth}
    rows = [
        Row(r, g, v, n, n)
        for r, part in enumerate(groups)
        for g, own in enumerate(part)
        for v in "ABC"
        if (n := sum(truth[p] == v for p in own))
    ]
    return Case(list("ABC"), fits, rows)


def test_a_crowd_in_rows_of_several_tables_and_values_is_found_with_a_hint():
    case = crowd()
    assert ("x", "B") in face(case).zeros
    _history, problem, of_person = build(history_of(case))
    found = Face.whole(problem)
    closing.propagate(found)
    own = of_person[list(case.fits).index("x")]
    (variable,) = (v for v in range(problem.start[own], problem.start[own + 1]) if problem.value[v] == 1)
    assert found.possible[variable]
    reduced = reduce(problem, found.alive, found.rows)
    release, value = problem.row_release[reduced.row_of], problem.row_value[reduced.row_of]
    hint = -(((release == 0) & (value == 1)) | ((release == 2) & (value == 0))).astype(float)
    assert take_crowded(found, reduced, [hint], Clock())
    assert not found.possible[variable]
    zeros = face(case).zeros
    for k, person in enumerate(case.fits):
        for v in range(problem.start[of_person[k]], problem.start[of_person[k] + 1]):
            assert found.possible[v] or (person, case.values[int(problem.value[v])]) in zeros
