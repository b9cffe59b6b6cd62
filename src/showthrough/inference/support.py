"""The exact reference for the face: one linear program per component tells all zeros at once.

In the homogeneous program

    maximise Σ y   subject to   A (y + z) = t · b,   0 ≤ y ≤ 1,   z ≥ 0,   t ≥ 1

y is 1 on every variable that can be positive and 0 on every forced zero. Its dual solution is a
direction of recession; rounded to whole numbers it is a weighing that proves the zeros exactly.
Nothing is believed that the weighing does not prove. Small components go to the simplex method. Large ones go to
an interior-point method, whose crossover to a vertex most often gives whole weights; where that takes too
long, the interior point still tells which variables are zero, without proof. Legend as in `program`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from showthrough.inference.clock import Clock
from showthrough.inference.directions import SCALES
from showthrough.inference.face import Face
from showthrough.inference.program import Program
from showthrough.inference.projection import whole_directions
from showthrough.inference.weighing import weigh
from showthrough.table.arrays import Flags, Ints, Reals

_FEASIBLE = 1e-7
_EFFORT = 1_000_000  # programs for single zeros, times the square of the variables in each
_SMALL = 4000  # terms of a component that the simplex method settles in seconds


@dataclass(frozen=True)
class Support:
    """The verdict on one component, in terms of the full problem."""

    zeros: Flags  # [terms] reported zero by the program
    proofs: list[Ints]  # weighings, in order
    contradiction: Ints | None = None
    decided: bool = True  # False: time did not suffice, and nothing is known


def decide(face: Face, lp: Program, clock: Clock, *, feasible: bool = False) -> Support:
    """Find the zeros of one component and prove them, or as many as time and a bounded effort do.

    ``feasible`` says that a point which meets the counts is known.
    """
    none = np.zeros(face.problem.terms, dtype=bool)
    small = lp.A.shape[1] <= _SMALL
    if small and not feasible:
        overfull = contradiction(face, lp, clock)
        if overfull is not None:
            return Support(none, [], overfull)
    found = _support_program(lp, clock if small or feasible else clock.at_most(clock.left() / 2))
    if found is None:  # a solution of that program meets the counts
        overfull = None if small or feasible else contradiction(face, lp, clock)
        return Support(none, [], overfull, decided=False)
    zeros = none.copy()
    zeros[lp.part.behind(np.flatnonzero(found[0] < 0.5))] = True
    return Support(zeros, _proofs(face, lp, found, zeros, clock))


def _proofs(face: Face, lp: Program, found: tuple[Reals, Reals], zeros: Flags, clock: Clock) -> list[Ints]:
    """Weighings that prove zeros, from the dual of the program or one zero at a time."""
    proofs: list[Ints] = []
    y, dual = found
    now = face.alive.copy()
    tries = _EFFORT // lp.A.shape[1] ** 2
    single = islice(_single_directions(lp, y < 0.5, clock), max(1, tries)) if lp.A.shape[1] <= _SMALL else iter(())
    for candidate in chain([dual], single):
        open_zeros = zeros & now
        if not open_zeros.any() or clock.over:
            break
        weights = _whole_weighing(face, now, lp, candidate, (y < 0.5, open_zeros), clock)
        if weights is not None:
            now &= ~weigh(face.problem, now, weights, face.rows).zeros()
            proofs.append(weights)
            if tries <= 1:  # programs are slow here: what is proven may settle the rest
                break
    return proofs


def _support_program(lp: Program, clock: Clock) -> tuple[Reals, Reals] | None:
    """Y and the dual; nothing is zero where time did not suffice."""
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
    found = _solved(objective, A, np.zeros(A.shape[0]), limits, clock, size=v)
    return None if found is None else (found.x[:v], found.eqlin.marginals[: lp.b.size])


def _solved(objective: Reals, A: sp.csr_array, b: Reals, limits: Any, clock: Clock, *, size: int) -> Any:
    """The result of a program, or None; larger ones try an interior point, with crossover first.

    The search for dependent equations in HiGHS' presolve takes minutes on large programs, so it is left out.
    """
    if size <= _SMALL:
        attempts: list[tuple[str, dict[str, Any]]] = [("highs", {})]
    else:
        quick = {"presolve": False, "ipm_optimality_tolerance": 1e-6}
        attempts = [
            ("highs-ipm", {**quick, "run_crossover": "on"}),
            ("highs-ipm", {"ipm_optimality_tolerance": 1e-4, "run_crossover": "off"}),
        ]
    for k, (method, options) in enumerate(attempts):
        seconds = clock.left() / (len(attempts) - k)
        if seconds <= 0:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SciPy hands run_crossover on to HiGHS, and warns that it does not know it
            solve = partial(
                linprog, objective, A_eq=A, b_eq=b, bounds=limits, method=method,
                options={**options, "time_limit": min(seconds, 1e9)},
            )  # fmt: skip
            result = clock.awaited(solve)
        if result is not None and result.status == 0 and result.x is not None:
            return result
    return None


def _single_directions(lp: Program, zeros: Flags, clock: Clock) -> Iterator[Reals]:
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
            options={"time_limit": max(0.01, clock.left(1e9))},
        )
        if clock.over:
            return
        if result.status == 0:
            yield -(result.x[:rows] - result.x[rows:])


def _whole_weighing(
    face: Face, alive: Flags, lp: Program, dual: Reals, zeros: tuple[Flags, Flags], clock: Clock
) -> Ints | None:
    """Round a dual vector to whole weights that prove at least one open zero exactly.

    ``zeros`` are the columns that the program says are zero, and the terms that are to be proven.
    """
    relation = dual[lp.relation]
    rounded = (np.rint(sign * scale * relation).astype(np.int64) for scale in SCALES for sign in (1, -1))
    projected = (whole for sign in (1, -1) for whole in whole_directions(lp.part, zeros[0], sign * relation, clock))
    for whole in chain(rounded, projected):
        weights = np.zeros(face.problem.rows.size, dtype=np.int64)
        weights[lp.row_of] = whole
        weighed = weigh(face.problem, alive, weights, face.rows)
        if weighed.proven and (weighed.zeros() & zeros[1]).any():
            return weights
    return None


def contradiction(face: Face, lp: Program, clock: Clock) -> Ints | None:
    """A weighing that shows that the component cannot be satisfied, if it cannot."""
    slack = least_slack(lp, clock)
    if slack is None or slack.fun <= _FEASIBLE * max(1.0, float(lp.b.max())):
        return None
    for scale in SCALES:
        weights = np.zeros(face.problem.rows.size, dtype=np.int64)
        weights[lp.row_of] = np.rint(scale * slack.eqlin.marginals[lp.relation]).astype(np.int64)
        if face.weigh(weights).overfull:
            return weights
    return None


def least_slack(lp: Program, clock: Clock, *, prices: Reals | None = None) -> Any:
    """The program that misses its rows by as little as it can; with ``prices``, only the Relation rows, at these.

    Relation rows can always give way. Its last columns are what each of these rows lacks, and then what each has too
    much.
    """
    A, _ = lp.with_slack()
    rows, v = A.shape
    slack = sp.eye_array(rows, format="csc")
    slack = slack if prices is None else slack[:, lp.relation]
    missed = slack.shape[1]
    price = np.ones(missed) if prices is None else prices
    objective = np.concatenate([np.zeros(v), price, price])
    wide = sp.hstack([A, slack, -slack], format="csr")
    return _solved(objective, wide, lp.b, lp.limits(2 * missed), clock, size=v)
