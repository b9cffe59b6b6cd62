"""The exact reference for the face: one linear program per component tells all zeros at once.

In the homogeneous program

    maximise Σ y   subject to   A (y + z) = t · b,   0 ≤ y ≤ 1,   z ≥ 0,   t ≥ 1

y is 1 on every variable that can be positive and 0 on every forced zero. Its dual solution is a
direction of recession; rounded to whole numbers it is a weighing that proves the zeros exactly.
Nothing is believed that the weighing does not prove. Legend: A, b rows One and Relation of one
component, in persons.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from showthrough.errors import InternalError
from showthrough.inference import weighing
from showthrough.inference.problem import Problem
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Flags, Ints, Reals

if TYPE_CHECKING:
    from showthrough.inference.recession import Patch

SCALES = (1, 2, 3, 4, 6, 12, 5, 10, 20, 60, 7, 8, 9, 24, 120, 420, 840, 2520)
_FEASIBLE = 1e-7
_EFFORT = 1_000_000  # programs for single zeros, times the square of the variables in each


@dataclass(frozen=True)
class Support:
    """The verdict on one component, in terms of the full problem."""

    zeros: Flags  # [v] reported zero by the program
    proofs: list[Ints]  # weighings, in order
    contradiction: Ints | None = None


@dataclass(frozen=True)
class Program:
    """One component as a linear program over persons y[σ, s] = w[σ]·x[σ, s]."""

    A: sp.csr_array  # One rows, then Relation rows
    b: Reals
    ones: int
    variable_of: Ints
    row_of: Ints


def program(reduced: Reduced, component: int) -> Program:
    """Write down one component."""
    signatures = np.flatnonzero(reduced.signature_component == component)
    rows = np.flatnonzero(reduced.row_component == component)
    spans = [np.arange(reduced.start[s], reduced.start[s + 1]) for s in signatures]
    variables = np.concatenate(spans)
    length = np.array([s.size for s in spans])
    place = np.full(reduced.rows + 1, -1, dtype=np.int64)
    place[rows] = np.arange(rows.size) + signatures.size
    tail, head = [np.repeat(np.arange(signatures.size), length)], [np.arange(variables.size)]
    for row in reduced.row:
        at = place[row[variables]]
        tail.append(at[at >= 0])
        head.append(np.flatnonzero(at >= 0))
    shape = (signatures.size + rows.size, variables.size)
    tails, heads = np.concatenate(tail), np.concatenate(head)
    A = sp.csr_array((np.ones(tails.size), (tails, heads)), shape=shape)
    b = np.concatenate([reduced.weight[signatures], reduced.count[rows]])
    return Program(A, b, signatures.size, reduced.variable_of[variables], reduced.row_of[rows])


def decide(problem: Problem, alive: Flags, lp: Program) -> Support:
    """Find the zeros of one component and prove them, or as many as a bounded effort does."""
    overfull = _contradiction(problem, alive, lp)
    none = np.zeros(problem.variables, dtype=bool)
    if overfull is not None:
        return Support(none, [], overfull)
    y, dual = _support_program(lp)
    zeros = none.copy()
    zeros[lp.variable_of[y < 0.5]] = True
    proofs: list[Ints] = []
    now = alive.copy()
    tries = max(1, _EFFORT // lp.A.shape[1] ** 2)
    for candidate in chain([dual], islice(_single_directions(lp, zeros[lp.variable_of]), tries)):
        open_zeros = zeros & now
        if not open_zeros.any():
            break
        weights = _whole_weighing(problem, now, lp, candidate, open_zeros)
        if weights is not None:
            proven = weighing.proven_zeros(problem, now, weights)
            assert proven is not None
            now &= ~proven
            proofs.append(weights)
            if tries == 1:  # programs are slow here: what is proven may settle the rest
                break
    return Support(zeros, proofs)


def _support_program(lp: Program) -> tuple[Reals, Reals]:
    v = lp.A.shape[1]
    scale = 1.0 / max(1.0, float(lp.b.max()))
    A = sp.hstack([lp.A, lp.A, sp.csr_array(-(lp.b * scale)[:, None])], format="csr")
    objective = np.concatenate([-np.ones(v), np.zeros(v + 1)])
    limits = np.zeros((2 * v + 1, 2))
    limits[:v, 1], limits[v:, 1], limits[-1, 0] = 1.0, np.inf, 1.0 / scale
    result = linprog(objective, A_eq=A, b_eq=np.zeros(A.shape[0]), bounds=limits, method="highs")
    if result.x is None:
        return np.ones(v), np.zeros(A.shape[0])
    return result.x[:v], result.eqlin.marginals


def _single_directions(lp: Program, zeros: Flags):  # type: ignore[no-untyped-def]
    """Smaller arguments, one open zero at a time: the direction of least total weight."""
    support = lp.A[:, ~zeros].T.tocsr()
    forced = lp.A[:, zeros].T.tocsr()
    rows = lp.A.shape[0]
    for j in range(forced.shape[0]):
        target = forced[[j]]
        result = linprog(
            np.ones(2 * rows),
            A_eq=sp.hstack([support, -support]) if support.shape[0] else None,
            b_eq=np.zeros(support.shape[0]) if support.shape[0] else None,
            A_ub=sp.vstack([sp.hstack([-forced, forced]), sp.hstack([-target, target])]),
            b_ub=np.append(np.zeros(forced.shape[0]), -1.0),
            bounds=(0, None),
            method="highs",
        )
        if result.x is not None:
            yield -(result.x[:rows] - result.x[rows:])


def _whole_weighing(problem: Problem, alive: Flags, lp: Program, dual: Reals, open_zeros: Flags) -> Ints | None:
    """Round a dual vector to whole weights that prove at least one open zero exactly."""
    relation = dual[lp.ones :]
    for scale in SCALES:
        for sign in (1, -1):
            weights = np.zeros(problem.rows, dtype=np.int64)
            weights[lp.row_of] = np.rint(sign * scale * relation).astype(np.int64)
            proven = weighing.proven_zeros(problem, alive, weights)
            if proven is not None and (proven & open_zeros).any():
                return weights
    return None


def _contradiction(problem: Problem, alive: Flags, lp: Program) -> Ints | None:
    """A weighing that shows that the component cannot be satisfied, if it cannot."""
    rows, v = lp.A.shape
    slack = sp.eye_array(rows, format="csr")
    result = linprog(
        np.concatenate([np.zeros(v), np.ones(2 * rows)]),
        A_eq=sp.hstack([lp.A, slack, -slack], format="csr"),
        b_eq=lp.b,
        bounds=(0, None),
        method="highs",
    )
    if result.x is None or result.fun <= _FEASIBLE * max(1.0, float(lp.b.max())):
        return None
    for scale in SCALES:
        weights = np.zeros(problem.rows, dtype=np.int64)
        weights[lp.row_of] = np.rint(scale * result.eqlin.marginals[lp.ones :]).astype(np.int64)
        best = weighing.best_scores(problem, alive, weighing.scores(problem, weights))
        if weighing.surplus(problem, best, weights) < 0:
            return weights
    return None


def extreme_point(lp: Program, variables: Ints, sign: float) -> Reals:
    """A point of the component in which the sum of variables is smallest (sign +1) or largest (sign −1)."""
    objective = np.zeros(lp.A.shape[1])
    objective[variables] = sign
    result = linprog(objective, A_eq=lp.A, b_eq=lp.b, bounds=(0, None), method="highs")
    if result.x is None:
        raise InternalError(f"The linear program of a bound was not solved: {result.message}")
    return np.asarray(result.x)


def direction(problem: Reduced, patch: Patch, rows: Ints, signatures: Ints, falling: Flags) -> Reals | None:
    """Weights on the rows of one cluster that leave every steady variable at the best score of its
    signature and push as many falling ones as possible one below it; small weights preferred.
    """
    spans = [np.arange(patch.start[s], patch.start[s + 1]) for s in signatures]
    local = np.concatenate(spans)
    owner = np.repeat(np.arange(signatures.size), [s.size for s in spans])
    variables = patch.variables[local]
    place = np.full(problem.rows + 1, -1, dtype=np.int64)
    place[patch.rows[rows]] = np.arange(rows.size)
    at = [place[row[variables]] for row in problem.row]
    tails = np.concatenate([np.flatnonzero(a >= 0) for a in at])
    heads = np.concatenate([a[a >= 0] for a in at])
    score = sp.csr_array((np.ones(tails.size), (tails, heads)), shape=(variables.size, rows.size))
    best = sp.csr_array((np.ones(owner.size), (np.arange(owner.size), owner)), shape=(owner.size, signatures.size))
    gap = sp.hstack([score, -score, -best], format="csr")  # score less best, over d+, d- and best
    falls = falling[variables]
    z = int(falls.sum())
    result = linprog(
        np.concatenate([np.full(2 * rows.size, 1e-4), np.zeros(signatures.size), -np.ones(z)]),
        A_eq=sp.hstack([gap[~falls], sp.csr_array((int((~falls).sum()), z))], format="csr"),
        b_eq=np.zeros(int((~falls).sum())),
        A_ub=sp.hstack([gap[falls], sp.eye_array(z, format="csr")], format="csr"),
        b_ub=np.zeros(z),
        bounds=[(0, None)] * (2 * rows.size) + [(None, None)] * signatures.size + [(0, 1)] * z,
        method="highs",
    )
    if result.x is None or result.fun > -0.5:
        return None
    return np.asarray(result.x[: rows.size] - result.x[rows.size : 2 * rows.size])


def whole_world(lp: Program, *, prefer: Flags, need: int | None, seconds: float) -> Ints | str:
    """A whole-valued solution with as many preferred variables as possible, and at least one person on
    ``need``; "none" if there is none, "unknown" if time ran out.
    """
    v = lp.A.shape[1]
    lower = np.zeros(v)
    if need is not None:
        lower[need] = 1
    result = milp(
        -prefer.astype(np.float64),
        constraints=LinearConstraint(lp.A, lp.b, lp.b),
        integrality=np.ones(v),
        bounds=Bounds(lower, np.inf),
        options={"time_limit": max(0.01, seconds), "mip_rel_gap": 1.0},
    )
    if result.x is not None:
        return np.asarray(np.rint(result.x), dtype=np.int64)
    return "none" if result.status == 2 else "unknown"
