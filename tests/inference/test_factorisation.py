"""Systems by a factorisation: its matrix is that of the passes, solutions are right, answers do not depend on it."""

import numpy as np
import pytest

from showthrough import infer
from showthrough.errors import ContradictionError
from showthrough.inference import factorisation, gradients, newton
from showthrough.inference.clock import Clock
from showthrough.inference.gradients import System
from showthrough.inference.kernel import Kernel
from tests.located_cases import located


@pytest.fixture(scope="module")
def problems():
    """What Newton's method was asked to solve in random histories with a register, and where it ended."""
    seen, solve, patch = [], newton.solve, pytest.MonkeyPatch()

    def watched(problem, **given):
        found = solve(problem, **given)
        if problem.components and problem.rows.seats:
            seen.append((problem, found.mu))
        return found

    patch.setattr(newton, "solve", watched)
    for seed in range(60):
        case = located(seed, persons=9)
        try:
            infer(case.releases, register=case.register, domain=case.domain)
        except ContradictionError:
            continue
    patch.undo()
    return seen


def test_the_matrix_is_that_of_the_passes(problems):
    assert len(problems) > 10
    for problem, mu in problems:
        kernel = Kernel(problem)
        x = kernel.at(mu).x
        wanted = np.column_stack([kernel.hessian(x, unit) for unit in np.eye(problem.rows.size)])
        assert factorisation.hessian(problem, x).toarray() == pytest.approx(wanted, abs=1e-12)
        assert factorisation.entries(problem) >= np.count_nonzero(wanted)


def test_solutions_meet_the_right_side(problems):
    rng = np.random.default_rng(1)
    solved = 0
    for problem, mu in problems:
        kernel = Kernel(problem)
        here = kernel.at(0.1 * mu)
        kernel.factoring = True
        damping = np.full(problem.components, 0.01)
        system = System(kernel, here.x, kernel.diagonal(here.x), damping)
        right = system.times(rng.normal(size=mu.size))
        found = system.solve(right, relative=np.full(problem.components, 1e-9), clock=Clock())
        assert system.times(found) == pytest.approx(right, abs=1e-7 * max(1.0, np.abs(right).max()))
        solved += system.factor is not None
    assert solved > 10


@pytest.mark.parametrize("fill", [6.0, 0.0])
def test_answers_do_not_depend_on_it(monkeypatch, fill):
    """With a factorisation at every step, or one that fills up whenever it is tried."""
    cases = [located(seed, persons=12) for seed in range(200, 225)]
    plain, used = [answer(case) for case in cases], []
    monkeypatch.setattr(gradients, "_SOON", 0)
    monkeypatch.setattr(gradients, "_PER_ENTRY", 0.0)
    made = factorisation.factored

    def watched(*given):
        found = made(*given) if fill else None
        used.append(found is not None)
        return found

    monkeypatch.setattr(factorisation, "factored", watched)
    for case, before in zip(cases, plain, strict=True):
        after = answer(case)
        assert (before is None) == (after is None)
        if before is None:
            continue
        assert after.to_frame().drop("p").equals(before.to_frame().drop("p"))
        assert after.to_frame()["p"].to_numpy() == pytest.approx(before.to_frame()["p"].to_numpy(), abs=1e-9)
        assert after.proven().sort("id", "value").equals(before.proven().sort("id", "value"))
    assert used
    assert any(used) == bool(fill)


def answer(case):
    """The posterior, or None where nothing fits."""
    try:
        return infer(case.releases, register=case.register, domain=case.domain, contradictions="refuse")
    except ContradictionError:
        return None


def test_a_matrix_that_fills_up_has_no_factor(monkeypatch, problems):
    problem, mu = max(problems, key=lambda one: one[0].rows.size)
    kernel = Kernel(problem)
    x = kernel.at(mu).x
    given = problem, x, kernel.diagonal(x), None
    monkeypatch.setattr(factorisation, "_MOST", 1)
    assert factorisation.factored(*given, Clock()) is None
    monkeypatch.undo()
    assert factorisation.factored(*given, Clock()) is not None


def test_a_system_that_its_factor_does_not_solve_takes_few_steps_more(monkeypatch, problems):
    """As close to a face that is not proven yet: conjugate gradients went on for thousands of passes there."""
    problem, mu = max(problems, key=lambda one: one[0].rows.size)
    made = factorisation.factored

    class Useless:
        def solve(self, right):
            return 0.0 * right

    monkeypatch.setattr(factorisation, "factored", lambda *given: made(*given) and Useless())
    monkeypatch.setattr(gradients, "_AFTER", 3)
    kernel = Kernel(problem)
    x = kernel.at(mu).x
    kernel.factoring = True
    system = System(kernel, x, kernel.diagonal(x))
    right = system.times(np.random.default_rng(0).normal(size=mu.size))
    passes = kernel.passes
    system.solve(right, relative=np.full(problem.components, 1e-13), clock=Clock())
    assert system.factor is not None
    assert kernel.passes - passes <= 1 + gradients._AFTER + gradients._DENSE


def test_when_a_factorisation_is_tried_is_counted_and_not_timed(monkeypatch, problems):
    problem, mu = max(problems, key=lambda one: one[0].rows.size)
    kernel = Kernel(problem)
    x = kernel.at(mu).x
    system = System(kernel, x, kernel.diagonal(x))
    monkeypatch.setattr(gradients, "_SOON", 50)
    monkeypatch.setattr(gradients, "_PER_ENTRY", 100 * problem.rows.terms / factorisation.entries(problem))
    assert [count for count in range(0, 300, 25) if system._worth_factoring(count)] == [100, 150, 200, 250]
    system.unfactored = True
    assert not system._worth_factoring(200)
