"""Whole directions: the equations between what stays hold exactly, whatever the float direction was."""

from fractions import Fraction

import numpy as np
import pytest

from showthrough.inference import recession, solving
from showthrough.inference.log import Log
from showthrough.inference.projection import Projection, _eliminated, whole_directions
from showthrough.inference.reduce import reduce
from showthrough.inference.run import answered
from tests import factored_cases
from tests.inference.coded import history_of


def random_equations(rng, classes, count):
    found = []
    for _ in range(count):
        chosen = rng.choice(classes, size=rng.integers(2, min(5, classes) + 1), replace=False)
        found.append({int(c): int(rng.choice([-2, -1, 1, 2])) for c in chosen})
    return found


def null_space(equations, classes):
    A = np.zeros((len(equations), classes))
    for k, equation in enumerate(equations):
        for c, figure in equation.items():
            A[k, c] = figure
    _, size, vectors = np.linalg.svd(A)
    return vectors[int((size > 1e-9).sum()) :]


@pytest.mark.parametrize("seed", range(60))
def test_whole_vectors_solve_the_equations_and_stay_near(seed):
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(3, 14))
    equations = random_equations(rng, classes - 1, int(rng.integers(1, classes)))
    basis = null_space(equations, classes - 1)
    target = np.append(rng.normal(size=basis.shape[0]) @ basis, 0.0)  # a solution, but no whole one
    solved = _eliminated([dict(e) for e in equations])
    assert solved is not None
    projection = Projection(np.arange(classes), classes - 1, target, solved)
    whole = projection.whole(1000)
    assert whole is not None
    assert whole.dtype == np.int64
    for equation in equations:
        assert sum(figure * int(whole[c]) for c, figure in equation.items()) == 0
    if basis.size and np.abs(target).max() > 0.01:
        turned = whole / np.abs(whole).max()
        assert np.abs(turned - target / np.abs(target).max()).max() < 0.2


def test_fractions_become_whole_by_a_common_multiple():
    projection = Projection(np.arange(3), 2, np.array([1.0, 0.5, 0.0]), [(1, {0: -1, 1: 2})])
    whole = projection.whole(1)
    assert whole is not None
    assert whole.tolist() == [2, 1, 0]
    assert Fraction(int(whole[1]), int(whole[0])) == Fraction(1, 2)


@pytest.mark.parametrize("flavour", ["plain", "seated", "statements", "seated ranges", "everything"])
def test_what_stays_scores_alike(flavour):
    """Whatever is taken to fall, all others keep one score per signature and one weight per release and variable."""
    tried = 0
    for seed in range(40):
        found, _ = answered(history_of(factored_cases.case(seed, flavour)), Log())
        problem = found.problem
        reduced = reduce(problem, np.ones(problem.terms, dtype=bool))
        if not reduced.components:
            continue
        rng = np.random.default_rng(seed)
        rows, variables = reduced.rows, reduced.rows.variables
        falling = rng.random(rows.terms) < 0.4
        for whole in whole_directions(reduced, falling, rng.normal(size=rows.size)):
            tried += 1
            kept = ~falling
            for own in rows.seats:  # a variable all of whose candidates fall falls too
                open_seats = np.bincount(own.owner[kept[rows.places(own)]], minlength=variables) > 0
                kept[:variables] &= open_seats
            extended = np.append(whole, 0)
            score = np.zeros(variables, dtype=np.int64)
            for row in rows.sure:
                score += extended[row]
            for own in rows.seats:
                for v in np.flatnonzero(kept[:variables]).tolist():
                    span = slice(int(own.start[v]), int(own.start[v + 1]))
                    own_kept = extended[own.row[span]][kept[rows.places(own)][span]]
                    assert np.unique(own_kept).size == 1
                    score[v] += own_kept[0]
            np.add.at(score, rows.stated.variable, rows.stated.coefficient * extended[rows.stated.row])
            for k in range(reduced.weight.size):
                mine = slice(int(reduced.start[k]), int(reduced.start[k + 1]))
                assert np.unique(score[mine][kept[:variables][mine]]).size <= 1
    assert tried


def without(monkeypatch, name, replacement):
    monkeypatch.setattr(recession, name, replacement)


@pytest.mark.parametrize("flavour", ["plain", "seated", "seated ranges", "everything"])
def test_projection_proves_what_roundings_miss(flavour, monkeypatch):
    """With no rounding and no program at all, what is proven is still the same."""
    sets = {}
    for mode in ("all", "projection alone"):
        if mode != "all":
            without(monkeypatch, "_roundings", lambda *_: iter(()))
            without(monkeypatch, "_by_programs", lambda *_: iter(()))
            monkeypatch.setattr(solving, "_LITTLE", 0)
        for seed in range(300, 330):
            found, _ = answered(history_of(factored_cases.case(seed, flavour)), Log())
            sets.setdefault(seed, []).append(found.face.alive.tobytes())
    assert all(first == second for first, second in sets.values())
