"""Probabilities near the rounding are told from forced zeros, and a dual that runs off from one that converges."""

import numpy as np
import pytest

from showthrough.inference import newton, recession
from showthrough.inference.correction import correct
from showthrough.inference.face import Face
from showthrough.inference.history import encode
from showthrough.inference.log import Log
from showthrough.inference.problem import build
from showthrough.inference.reduce import reduce
from showthrough.inference.run import answered
from tests import factored_cases
from tests.histories import releases
from tests.inference.coded import history_of
from tests.inference.test_recession import COUPLED
from tests.oracles import factored, linear
from tests.oracles.factored import Case, Row

TINY = 1e-12


def tiny_case():
    """Two persons share the values a and b once each; the prior makes one of the two worlds all but impossible."""
    rows = [Row(0, 0, "a", 1, 1), Row(0, 0, "b", 1, 1)]
    prior = {"p": {"a": 1.0, "b": TINY}, "q": {"a": TINY, "b": 1.0}}
    return Case(values=("a", "b"), fits={"p": ((0,),), "q": ((0,),)}, rows=tuple(rows), prior=prior)


def test_an_honest_tiny_probability_is_no_suspect():
    found, certificate = answered(history_of(tiny_case()), Log())
    assert certificate.status == "exact"
    assert certificate.suspected_zeros == 0
    assert found.face.alive.all()
    assert found.x.min() == pytest.approx(TINY, rel=1e-3, abs=0)


def test_forced_zeros_stay_doubtful():
    """Zeros that couple several values, which nobody has excluded yet, fall back when they are lifted."""
    history, problem, of_person = build(encode(releases(COUPLED)))
    reduced = reduce(problem, np.ones(problem.terms, dtype=bool))
    high = {pair: upper for pair, (_, upper) in linear.bounds(COUPLED).items()}
    person = {int(s): k for k, s in enumerate(of_person)}  # somebody of each signature
    left = reduced.variable_of
    pairs = zip(problem.signature[left].tolist(), problem.value[left].tolist(), strict=True)
    forced = [high[history.ids[person[s]], history.values[v]] < 1e-7 for s, v in pairs]
    assert any(forced)
    corrected = correct(reduced, newton.solve(reduced, most=newton.Effort(60)).mu)
    assert corrected.doubtful.tolist() == forced


def ray(reduced):
    """How the multipliers move between an early and a late point of the method."""
    damping = np.full(reduced.rows.size, newton.DAMPED)
    early = newton.solve(reduced, damping=damping, most=newton.Effort(4))
    late = newton.solve(reduced, start=early.mu, damping=early.damping, most=newton.Effort(12))
    return late.step, late.mu - early.mu


def test_a_ray_proves_contradictions_and_nothing_else():
    proven = wrong = 0
    for flavour in ("plain", "seated", "ranges", "statements", "weighed"):
        for seed in range(600, 660):
            case = factored_cases.tampered(seed, flavour)
            _, problem, _ = build(history_of(case))
            if not np.diff(problem.start).all():
                continue
            face = Face.whole(problem)
            reduced = reduce(problem, face.alive)
            if not reduced.components or not np.bincount(reduced.row_component, minlength=reduced.components).all():
                continue
            found = recession.overfull(reduced, *ray(reduced))
            if found is None:
                continue
            rows, weights = found
            whole = np.zeros(problem.rows.size, dtype=np.int64)
            whole[reduced.row_of[rows]] = weights
            assert face.weigh(whole).overfull
            proven, wrong = proven + 1, wrong + factored.feasible(case)
    assert proven > 10
    assert wrong == 0
