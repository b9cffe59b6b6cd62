"""The fewest persons whose split makes releases consistent: a linear program, made whole.

Splitting more persons than a solution does never hurts (a part may keep the value of the whole), so any solution
with its z rounded up is one. The program has many optima; the interior point that a solver ends in is a mixture of
them. A small random price per person singles one out, whose z are nearly always whole; what is not is asked for
again with the rest fixed, and left to an integer program at last. Only z needs to be whole: consistent means that
probabilities fit, as everywhere in this room.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, OptimizeWarning, linprog, milp

from showthrough.inference.packing import Packing
from showthrough.inference.problem import Problem
from showthrough.table.arrays import Flags, Ints, Reals, sum_by

_LARGE = 5000  # columns from which on the interior-point method is quicker
_TOLERANCE = 1e-6
_WHOLE = 1e-4  # how near to a whole number counts as one
_ROUNDS = 6

_INTERIOR: dict[str, Any] = {"run_crossover": "off", "ipm_optimality_tolerance": _TOLERANCE}
_WAYS: dict[bool, tuple[tuple[str, dict[str, Any]], ...]] = {
    # without presolve: its search for dependent equations takes longer than the rest
    True: (("highs-ipm", {**_INTERIOR, "presolve": False}), ("highs-ipm", _INTERIOR), ("highs-ds", {})),
    False: (("highs-ds", {}), ("highs-ipm", {**_INTERIOR, "presolve": False})),
}


@dataclass(frozen=True, eq=False)
class Cheapest:
    """A cheapest solution and its dual, as good as floating point makes them."""

    columns: Reals
    dual: Reals  # [rows]


@dataclass(frozen=True, eq=False)
class Smallest:
    """How many persons of each z column to split; by island whether fewer would not do, and where nothing helps."""

    split: Ints
    minimal: Flags  # [islands]
    hopeless: Flags  # [islands]
    point: Cheapest | None = None  # a mixture of all cheapest solutions


def cheapest(
    pack: Packing,
    cost: Reals,
    deadline: float,
    *,
    lower: Reals | None = None,
    upper: Reals | None = None,
    interior: bool = False,
) -> Cheapest | None:
    """A solution of least cost, in the middle of all of them if asked for; None if there is none or time is over."""
    limits = np.zeros((pack.columns, 2))
    limits[:, 0] = 0.0 if lower is None else lower
    limits[:, 1] = np.inf if upper is None else upper
    A, b = pack.A.astype(np.float64), pack.b.astype(np.float64)
    for method, options in _WAYS[interior or pack.columns > _LARGE]:
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimizeWarning)  # of options that SciPy hands on without knowing them
            result = linprog(
                cost, A_eq=A, b_eq=b, bounds=limits, method=method, options={**options, "time_limit": left}
            )
        if result.status == 2:
            return None
        if result.status == 0 and result.x is not None:
            return Cheapest(np.asarray(result.x), np.asarray(result.eqlin.marginals))
    return None


def smallest(problem: Problem, pack: Packing, islands: int, deadline: float) -> Smallest:
    """Whom to split, and whether it is known that fewer would not do."""
    none = np.zeros(islands, dtype=bool)
    if not pack.signature.size and not pack.artificial:
        return Smallest(np.empty(0, dtype=np.int64), ~none, none)
    point = cheapest(pack, pack.cost, deadline, interior=True)
    if point is None:
        return Smallest(_greedy(problem, pack), none, none)
    unmet = _by_island(pack, pack.kind(5), point.columns, islands) > _WHOLE
    need = _by_island(pack, pack.z, point.columns, islands)
    least = np.ceil(need - 1e-2)
    split = _whole(pack, point, float(need.max()), deadline)
    found = np.bincount(pack.column_island[pack.z], weights=split, minlength=islands)
    return Smallest(split, (found <= least) & ~unmet, unmet, point)


def _by_island(pack: Packing, columns: slice, figure: Reals, islands: int) -> Reals:
    return sum_by(pack.column_island[columns], figure[columns], islands)


def _whole(pack: Packing, point: Cheapest, need: float, deadline: float) -> Ints:
    """Whole numbers of split persons, as few as a bounded effort finds."""
    rng = np.random.default_rng(0)
    z, lower, upper = pack.z, np.zeros(pack.columns), np.full(pack.columns, np.inf)
    upper[z] = np.where(point.columns[z] > 1e-7, np.inf, 0.0)  # the others are split in no smallest way
    found = point.columns[z]
    for _ in range(_ROUNDS):
        if (np.abs(found - np.rint(found)) < _WHOLE).all():
            return np.rint(found).astype(np.int64)
        cost = pack.cost.copy()
        cost[z] += rng.random(found.size) * 0.5 / (1.0 + need)  # all together less than one person
        after = cheapest(pack, cost, deadline, lower=lower, upper=upper)
        if after is None:
            break
        found = after.columns[z]
        near = np.flatnonzero(np.abs(found - np.rint(found)) < _WHOLE)
        lower[z.start + near] = upper[z.start + near] = np.rint(found[near])
        need = max(1.0, need - float(np.rint(found[near]).sum()))
    exact = _integer(pack, lower, upper, deadline)
    return np.ceil(found - _WHOLE).astype(np.int64) if exact is None else exact


def _integer(pack: Packing, lower: Reals, upper: Reals, deadline: float) -> Ints | None:
    left = deadline - time.monotonic()
    if left <= 0:
        return None
    whole = np.zeros(pack.columns)
    whole[pack.z] = 1
    A, b = pack.A.astype(np.float64), pack.b.astype(np.float64)
    result = milp(
        pack.cost,
        constraints=LinearConstraint(A, b, b),
        integrality=whole,
        bounds=Bounds(lower, upper),
        options={"time_limit": left},
    )
    return None if result.x is None else np.rint(result.x[pack.z]).astype(np.int64)


def _greedy(problem: Problem, pack: Packing) -> Ints:
    """Without any program: keep whoever still finds a count to stand in, fewest choices first; split the rest."""
    split = problem.weight[pack.signature].copy()
    if problem.rows.seats:
        return split
    rows = np.concatenate([problem.rows.sure, np.full((1, problem.variables), problem.rows.size)])
    left = [*problem.count.tolist(), int(problem.weight.sum()) + 1]
    choices = np.diff(problem.start)[problem.signature[pack.variable]]
    place = {int(s): k for k, s in enumerate(pack.signature)}
    open_now = split.tolist()
    for variable in pack.variable[np.argsort(choices, kind="stable")].tolist():
        at = place[int(problem.signature[variable])]
        mine = rows[:, variable].tolist()
        kept = min(open_now[at], *(left[r] for r in mine))
        open_now[at] -= kept
        for r in set(mine) - {problem.rows.size}:
            left[r] -= kept
    return np.array(open_now, dtype=np.int64)
