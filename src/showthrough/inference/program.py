"""One component as a linear program over persons, and the questions that are asked of it.

Legend: A, b rows One, Relation and Seats (the candidates of a variable add up to it) of one component, in persons;
where a count is a range, b is its lower end and one more column takes the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from showthrough.inference.clock import Clock
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Flags, Ints, Reals


@dataclass(frozen=True)
class Program:
    """One component as a linear program over persons, w[σ] times the mass of each term."""

    A: sp.csr_array  # One rows, Relation rows, Seats rows
    b: Reals
    spare: Reals  # how much more than b a row may hold
    ones: int
    variables: int  # columns that are variables; candidates follow
    part: Reduced  # the component

    @property
    def term_of(self) -> Ints:
        """[columns] the term of the full problem; −1: a group that is certain."""
        return self.part.term_of

    @property
    def row_of(self) -> Ints:
        """The row of the full problem behind each Relation row."""
        return self.part.row_of

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
    return Program(A, b, spare, signatures, variables, part)


def extreme_point(lp: Program, variable: int, sign: float, clock: Clock) -> Reals | None:
    """A point of the component in which a variable is smallest (sign +1) or largest (−1); None if none was found."""
    objective = np.zeros(lp.A.shape[1])
    objective[variable] = sign
    return cheapest_point(lp, objective, clock)


def cheapest_point(lp: Program, objective: Reals, clock: Clock) -> Reals | None:
    """A point of the component in which a sum is smallest; None if none was found."""
    A, slack = lp.with_slack()
    cost = np.append(objective, np.zeros(slack.size))
    options = {"time_limit": max(0.01, clock.left(1e9))}
    result = clock.awaited(
        lambda: linprog(cost, A_eq=A, b_eq=lp.b, bounds=lp.limits(), method="highs", options=options)
    )
    if result is None or result.status != 0 or result.x is None:
        return None
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
