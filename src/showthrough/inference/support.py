"""The exact reference for the face: one linear program per component tells all zeros at once.

In the homogeneous program

    maximise Σ y   subject to   A (y + z) = t · b,   0 ≤ y ≤ 1,   z ≥ 0,   t ≥ 1

y is 1 on every variable that can be positive and 0 on every forced zero. Its dual solution is a
direction of recession; rounded to whole numbers it is a weighing that proves the zeros exactly.
Nothing is believed that the weighing does not prove. Legend: A, b rows One, Relation and Seats (the candidates of
a variable add up to it) of one component, in persons; where a count is a range, b is its lower end and one more
column takes the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from showthrough.errors import InternalError
from showthrough.inference.directions import SCALES
from showthrough.inference.face import Face
from showthrough.inference.reduce import Reduced
from showthrough.inference.weighing import weigh
from showthrough.table.arrays import Flags, Ints, Reals

_FEASIBLE = 1e-7
_EFFORT = 1_000_000  # programs for single zeros, times the square of the variables in each


@dataclass(frozen=True)
class Support:
    """The verdict on one component, in terms of the full problem."""

    zeros: Flags  # [terms] reported zero by the program
    proofs: list[Ints]  # weighings, in order
    contradiction: Ints | None = None


@dataclass(frozen=True)
class Program:
    """One component as a linear program over persons, w[σ] times the mass of each term."""

    A: sp.csr_array  # One rows, Relation rows, Seats rows
    b: Reals
    spare: Reals  # how much more than b a row may hold
    ones: int
    variables: int  # columns that are variables; candidates follow
    term_of: Ints
    row_of: Ints

    @property
    def relation(self) -> slice:
        """The Relation rows."""
        return slice(self.ones, self.ones + self.row_of.size)

    def with_slack(self) -> tuple[sp.csr_array, Ints]:
        """A with a column for each range, and the rows of these columns."""
        rows = np.flatnonzero(self.spare)
        if not rows.size:
            return self.A, rows
        slack = sp.csr_array((-np.ones(rows.size), (rows, np.arange(rows.size))), shape=(self.b.size, rows.size))
        return sp.hstack([self.A, slack], format="csr"), rows

    def limits(self, extra: int = 0) -> list[tuple[float, Any]]:
        """Bounds of the columns of `with_slack`, and of some more."""
        slack: list[tuple[float, Any]] = [(0.0, float(s)) for s in self.spare[self.spare > 0]]
        free: list[tuple[float, Any]] = [(0.0, None)]
        return [*free * int(self.A.shape[1]), *slack, *free * extra]


def program(reduced: Reduced, component: int) -> Program:
    """Write down one component."""
    keep = np.zeros(reduced.components, dtype=bool)
    keep[component] = True
    part = reduced.restrict(keep)
    rows, signatures = part.rows, part.weight.size
    variables = rows.variables
    tails = [part.signature, *(signatures + row.astype(np.int64) for row in rows.sure)]
    heads = [np.arange(variables)] * (1 + rows.sure.shape[0])
    figures = [np.ones(t.size) for t in tails]
    absent, total = signatures + rows.size, signatures + rows.size
    for own in rows.seats:
        places = variables + own.offset + np.arange(own.row.size)
        link = total + np.arange(variables)
        tails += [signatures + own.row.astype(np.int64), np.repeat(link, np.diff(own.start)), link]
        heads += [places, places, np.arange(variables)]
        figures += [np.ones(places.size), np.ones(places.size), -np.ones(variables)]
        tails[-3] = np.where(tails[-3] == absent, -1, tails[-3])
        total += variables
    tails.append(signatures + rows.stated.row.astype(np.int64))
    heads.append(rows.stated.variable)
    figures.append(rows.stated.coefficient.astype(np.float64))
    for k in range(1, 1 + rows.sure.shape[0]):
        tails[k] = np.where(tails[k] == absent, -1, tails[k])
    tail, head, figure = (np.concatenate(parts) for parts in (tails, heads, figures))
    on = tail >= 0
    A = sp.csr_array((figure[on], (tail[on], head[on])), shape=(total, rows.terms))
    b = np.zeros(total)
    b[:signatures], b[signatures : signatures + rows.size] = part.weight, rows.lower
    spare = np.zeros(total)
    spare[signatures : signatures + rows.size] = rows.upper - rows.lower
    return Program(A, b, spare, signatures, variables, part.term_of, part.row_of)


def decide(face: Face, lp: Program) -> Support:
    """Find the zeros of one component and prove them, or as many as a bounded effort does."""
    problem = face.problem
    overfull = _contradiction(face, lp)
    none = np.zeros(problem.terms, dtype=bool)
    if overfull is not None:
        return Support(none, [], overfull)
    y, dual = _support_program(lp)
    real = lp.term_of >= 0
    zeros = none.copy()
    zeros[lp.term_of[(y < 0.5) & real]] = True
    proofs: list[Ints] = []
    now = face.alive.copy()
    tries = max(1, _EFFORT // lp.A.shape[1] ** 2)
    for candidate in chain([dual], islice(_single_directions(lp, y < 0.5), tries)):
        open_zeros = zeros & now
        if not open_zeros.any():
            break
        weights = _whole_weighing(face, now, lp, candidate, open_zeros)
        if weights is not None:
            now &= ~weigh(face.problem, now, weights, face.rows).zeros()
            proofs.append(weights)
            if tries == 1:  # programs are slow here: what is proven may settle the rest
                break
    return Support(zeros, proofs)


def _support_program(lp: Program) -> tuple[Reals, Reals]:
    v = lp.A.shape[1]
    scale = 1.0 / max(1.0, float(lp.b.max()))
    columns = [lp.A, lp.A, sp.csr_array(-(lp.b * scale)[:, None])]
    rows = np.flatnonzero(lp.spare)
    if rows.size:  # u takes what a range holds beyond its lower count, and u + u' is its width
        place = sp.csr_array((np.ones(rows.size), (rows, np.arange(rows.size))), shape=(lp.b.size, rows.size))
        columns += [-place, sp.csr_array((lp.b.size, rows.size))]
    A = sp.hstack(columns, format="csr")
    if rows.size:
        eye = sp.eye_array(rows.size, format="csr")
        width = sp.csr_array(-(lp.spare[rows] * scale)[:, None])
        A = sp.vstack([A, sp.hstack([sp.csr_array((rows.size, 2 * v)), width, eye, eye])], format="csr")
    objective = np.zeros(A.shape[1])
    objective[:v] = -1.0
    limits = np.zeros((A.shape[1], 2))
    limits[:v, 1], limits[v:, 1], limits[2 * v, 0] = 1.0, np.inf, 1.0 / scale
    result = linprog(objective, A_eq=A, b_eq=np.zeros(A.shape[0]), bounds=limits, method="highs")
    if result.x is None:
        return np.ones(v), np.zeros(lp.b.size)
    return result.x[:v], result.eqlin.marginals[: lp.b.size]


def _single_directions(lp: Program, zeros: Flags) -> Iterator[Reals]:
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


def _whole_weighing(face: Face, alive: Flags, lp: Program, dual: Reals, open_zeros: Flags) -> Ints | None:
    """Round a dual vector to whole weights that prove at least one open zero exactly."""
    relation = dual[lp.relation]
    for scale in SCALES:
        for sign in (1, -1):
            weights = np.zeros(face.problem.rows.size, dtype=np.int64)
            weights[lp.row_of] = np.rint(sign * scale * relation).astype(np.int64)
            weighed = weigh(face.problem, alive, weights, face.rows)
            if weighed.proven and (weighed.zeros() & open_zeros).any():
                return weights
    return None


def _contradiction(face: Face, lp: Program) -> Ints | None:
    """A weighing that shows that the component cannot be satisfied, if it cannot."""
    A, _ = lp.with_slack()
    rows, v = A.shape
    slack = sp.eye_array(rows, format="csr")
    result = linprog(
        np.concatenate([np.zeros(v), np.ones(2 * rows)]),
        A_eq=sp.hstack([A, slack, -slack], format="csr"),
        b_eq=lp.b,
        bounds=lp.limits(2 * rows),
        method="highs",
    )
    if result.x is None or result.fun <= _FEASIBLE * max(1.0, float(lp.b.max())):
        return None
    for scale in SCALES:
        weights = np.zeros(face.problem.rows.size, dtype=np.int64)
        weights[lp.row_of] = np.rint(scale * result.eqlin.marginals[lp.relation]).astype(np.int64)
        if face.weigh(weights).overfull:
            return weights
    return None


def extreme_point(lp: Program, variable: int, sign: float) -> Reals:
    """A point of the component in which a variable is smallest (sign +1) or largest (sign −1)."""
    A, _ = lp.with_slack()
    objective = np.zeros(A.shape[1])
    objective[variable] = sign
    result = linprog(objective, A_eq=A, b_eq=lp.b, bounds=lp.limits(), method="highs")
    if result.x is None:
        raise InternalError(f"The linear program of a bound was not solved: {result.message}")
    return np.asarray(result.x[: lp.A.shape[1]])


def whole_world(lp: Program, *, prefer: Flags, need: int | None, seconds: float) -> Ints | str:
    """A solution whose variables are whole, with as many preferred ones as possible, and at least one person on
    ``need``; "none" if there is none, "unknown" if time ran out.

    Given whole values each release is a transportation problem, so candidates need not be asked to be whole.
    """
    columns = lp.A.shape[1]
    lower, whole = np.zeros(columns), np.zeros(columns)
    whole[: lp.variables] = 1
    if need is not None:
        lower[need] = 1
    objective = np.zeros(columns)
    objective[: lp.variables] = -prefer.astype(np.float64)
    result = milp(
        objective,
        constraints=LinearConstraint(lp.A, lp.b, lp.b + lp.spare),
        integrality=whole,
        bounds=Bounds(lower, np.inf),
        options={"time_limit": max(0.01, seconds), "mip_rel_gap": 1.0},
    )
    if result.x is not None:
        return np.asarray(np.rint(result.x[: lp.variables]), dtype=np.int64)
    return "none" if result.status == 2 else "unknown"
