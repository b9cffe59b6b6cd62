"""Other solvers on the same program: maximise Σ w·H(x) subject to the One and Relation rows.

Every peer gets what showthrough gets after the Zero constraints: one variable per signature and
possible value. Each returns x, or None where it fails or exceeds its time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from showthrough.inference.problem import Problem


@dataclass(frozen=True)
class Program:
    """The program in matrices: A x = b, weights w per variable."""

    A: sp.csc_array
    b: np.ndarray
    w: np.ndarray


def program(problem: Problem) -> Program:
    """One rows (Σ x = 1), then Relation rows (Σ w x = count)."""
    v, m = problem.variables, problem.signatures
    weight = problem.weight[problem.signature].astype(float)
    one = sp.coo_array((np.ones(v), (problem.signature, np.arange(v))), shape=(m, v))
    parts = [one]
    for row in problem.row:
        here = np.flatnonzero(row != problem.rows)
        parts.append(sp.coo_array((weight[here], (row[here], here)), shape=(problem.rows, v)))
    relation = sum(parts[2:], parts[1]) if len(parts) > 2 else parts[1]
    right = np.concatenate([np.ones(m), problem.count.astype(float)])
    return Program(sp.vstack([one, relation]).tocsc(), right, weight)


def clarabel_solver(p: Program, seconds: float) -> tuple[np.ndarray | None, str]:
    """Clarabel through its own API: exponential cones (t, x, 1) with t ≤ −x log x."""
    import clarabel

    v = p.w.size
    zero = sp.csc_array((p.A.shape[0], v))
    cone = np.arange(3 * v)
    pick_t = sp.csc_array((-np.ones(v), (cone[::3], np.arange(v))), shape=(3 * v, v))
    pick_x = sp.csc_array((-np.ones(v), (cone[1::3], np.arange(v))), shape=(3 * v, v))
    A = sp.vstack([sp.hstack([p.A, zero]), sp.hstack([pick_x, pick_t])]).tocsc()
    right = np.zeros(3 * v)
    right[2::3] = 1.0
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.time_limit, settings.max_iter = False, seconds, 500
    cones = [clarabel.ZeroConeT(p.A.shape[0])] + [clarabel.ExponentialConeT()] * v
    q = np.concatenate([np.zeros(v), -p.w])
    P = sp.csc_matrix((2 * v, 2 * v))
    solver = clarabel.DefaultSolver(P, q, sp.csc_matrix(A), np.concatenate([p.b, right]), cones, settings)
    solution = solver.solve()
    return np.array(solution.x)[:v], str(solution.status)


def cvxpy_solver(p: Program, seconds: float, name: str) -> tuple[np.ndarray | None, str]:
    """SCS or ECOS through cvxpy."""
    import cvxpy as cp

    x = cp.Variable(p.w.size)
    task = cp.Problem(cp.Maximize(cp.sum(cp.multiply(p.w, cp.entr(x)))), [p.A @ x == p.b])
    options = {"time_limit_secs": seconds, "max_iters": 10**6} if name == "SCS" else {"max_iters": 500}
    try:
        task.solve(solver=name, **options)
    except cp.SolverError as problem:
        return None, str(problem).split(".")[0]
    return x.value, str(task.status)


def trust_constr(p: Program, seconds: float) -> tuple[np.ndarray | None, str]:
    """SciPy's general interior-point method."""
    import time

    from scipy.optimize import Bounds, LinearConstraint, minimize

    end = time.perf_counter() + seconds
    result = minimize(
        lambda x: float((p.w * x * np.log(np.maximum(x, 1e-300))).sum()),
        np.full(p.w.size, 0.2),
        jac=lambda x: p.w * (np.log(np.maximum(x, 1e-300)) + 1),
        hess=lambda x: sp.diags_array(p.w / np.maximum(x, 1e-300)),
        method="trust-constr",
        constraints=LinearConstraint(p.A, p.b, p.b),
        bounds=Bounds(0, 1),
        callback=lambda *_: time.perf_counter() > end,
        options={"maxiter": 3000, "gtol": 1e-10, "xtol": 1e-12},
    )
    return result.x, "stopped" if time.perf_counter() > end else str(result.status)


def iterative_scaling(p: Program, problem: Problem, sweeps: int) -> tuple[np.ndarray | None, str]:
    """Cyclic scaling of the One and Relation rows."""
    x = np.full(problem.variables, 1.0)
    length = np.diff(problem.start)
    for _ in range(sweeps):
        for row in problem.row:
            sums = np.bincount(row, weights=p.w * x, minlength=problem.rows + 1)
            factor = np.append(problem.count, 0.0) / np.maximum(sums, 1e-300)
            factor[-1] = 1.0
            x *= factor[row]
        x /= np.repeat(np.add.reduceat(x, problem.start[:-1]), length)
    return x, f"{sweeps} sweeps"
