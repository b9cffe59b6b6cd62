"""Persons, seats, ranges and statements as one linear program with seats kept per release, and by enumeration.

Variables (person, value) and (person, release, group, value): the second add up to the first over the
groups of every release where the person can be. A row is (release, group, value), or (None, name, None)
for a statement; each lies between two bounds.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

import numpy as np
from scipy.optimize import linprog

from tests.oracles.seats import Seating

Row = tuple[int | None, Any, Any]
Variable = tuple[Hashable, ...]

ZERO = 1e-7


@dataclass(frozen=True)
class Case:
    """A seating (its counts say only which values a group publishes), and what every row adds up to.

    ``terms[name][person, value]`` are the coefficients of a statement.
    """

    seating: Seating
    bounds: Mapping[Row, tuple[int, int]]
    terms: Mapping[str, Mapping[tuple[Hashable, Hashable], int]]

    def places(self, person: Hashable, value: Hashable) -> dict[int, list[int | None]] | None:
        """The groups of each release that publish the value; None if a release has none."""
        counts = self.seating.counts
        found = {
            r: [g for g in own if g is None or value in counts[r][g]]
            for r, own in enumerate(self.seating.fits[person])
            if own != [None]
        }
        return found if all(found.values()) else None

    def variables(self) -> list[Variable]:
        found: list[Variable] = []
        for person, value in product(self.seating.fits, self.seating.values()):
            places = self.places(person, value)
            if places is not None:
                found.append((person, value))
                found += [(person, r, g, value) for r, own in places.items() for g in own]
        return found

    def coefficient(self, row: Row, variable: Variable) -> int:
        if row[0] is None:
            return self.terms[row[1]].get(variable, 0) if len(variable) == 2 else 0
        return int(variable[1:] == row)


class Program:
    """The linear program of a case, with some variables closed."""

    def __init__(self, case: Case, closed: Collection[Variable] = ()):
        self.case = case
        self.variables = case.variables()
        self.rows = list(case.bounds)
        self.A = np.array([[float(case.coefficient(row, v)) for v in self.variables] for row in self.rows])
        self.A = self.A.reshape(len(self.rows), len(self.variables))
        self.limits = [(0.0, 0.0 if v in closed else 1.0) for v in self.variables]
        persons = list(case.seating.fits)
        equal = [[float(v[0] == p and len(v) == 2) for v in self.variables] for p in persons]
        for own in [v for v in self.variables if len(v) == 2]:
            for r in case.places(*own) or {}:
                seats = [float(v[:2] == (own[0], r) and v[-1] == own[1] and len(v) == 4) for v in self.variables]
                equal.append([s - float(v == own) for s, v in zip(seats, self.variables, strict=True)])
        self.E = np.array(equal).reshape(len(equal), len(self.variables))
        self.e = np.array([1.0] * len(persons) + [0.0] * (len(equal) - len(persons)))

    def most(self, objective: np.ndarray) -> tuple[float | None, dict[Row, int]]:
        """The largest value of an objective (None if nothing is feasible), and the dual weights of the rows, whole."""
        lower, upper = np.array([list(self.case.bounds[row]) for row in self.rows], dtype=float).T
        found = linprog(
            -objective,
            A_ub=np.vstack([self.A, -self.A]),
            b_ub=np.concatenate([upper, -lower]),
            A_eq=self.E,
            b_eq=self.e,
            bounds=self.limits,
        )
        if found.status == 2:
            return None, {}
        assert found.status == 0
        return -found.fun, self._whole(found.ineqlin.marginals)

    def most_of(self, variable: Variable) -> tuple[float | None, dict[Row, int]]:
        return self.most(np.array([float(v == variable) for v in self.variables]))

    def feasible(self) -> bool:
        return self.most(np.zeros(len(self.variables)))[0] is not None

    def clash(self) -> dict[Row, int]:
        """The weights of the rows that show best how far everybody is from filling them."""
        lower, upper = np.array([list(self.case.bounds[row]) for row in self.rows], dtype=float).T
        n, m = len(self.variables), len(self.rows)
        found = linprog(
            np.concatenate([np.zeros(n), np.ones(2 * m)]),
            A_ub=np.hstack([np.vstack([self.A, -self.A]), -np.eye(2 * m)]),
            b_ub=np.concatenate([upper, -lower]),
            A_eq=np.hstack([self.E, np.zeros((len(self.e), 2 * m))]),
            b_eq=self.e,
            bounds=[*self.limits, *[(0.0, None)] * (2 * m)],
        )
        return self._whole(found.ineqlin.marginals) if found.status == 0 else {}

    def _whole(self, marginals: np.ndarray) -> dict[Row, int]:
        """d = what the lower bound is worth minus what the upper is, times a common denominator."""
        m = len(self.rows)
        exact = [Fraction(float(d)).limit_denominator(60) for d in marginals[:m] - marginals[m:]]
        common = lcm(*(d.denominator for d in exact))
        return {row: int(d * common) for row, d in zip(self.rows, exact, strict=True) if d}


def worlds(case: Case) -> Iterator[tuple[dict[Hashable, Hashable], list[list[dict[Hashable, int | None]]]]]:
    """Every assignment of whole values, with the seatings of each release that fill its rows."""
    persons = list(case.seating.fits)
    for chosen in product(case.seating.values(), repeat=len(persons)):
        world = dict(zip(persons, chosen, strict=True))
        places = {p: case.places(p, v) for p, v in world.items()}
        if any(own is None for own in places.values()):
            continue
        sums = {name: sum(terms.get(pair, 0) for pair in world.items()) for name, terms in case.terms.items()}
        if not all(
            case.bounds[None, name, None][0] <= n <= case.bounds[None, name, None][1] for name, n in sums.items()
        ):
            continue
        seatings = [list(_seatings(case, world, r, places)) for r in range(len(case.seating.counts))]
        if all(seatings):
            yield world, seatings


def _seatings(case: Case, world: dict, release: int, places: dict) -> Iterator[dict[Hashable, int | None]]:
    here = [p for p in world if release in places[p]]
    rows = {row: limits for row, limits in case.bounds.items() if row[0] == release}
    for seats in product(*(places[p][release] for p in here)):
        filled = [(release, g, world[p]) for p, g in zip(here, seats, strict=True)]
        if all(low <= filled.count(row) <= high for row, (low, high) in rows.items()):
            yield dict(zip(here, seats, strict=True))


def with_bounds(case: Case, bounds: Mapping[Row, tuple[int, int]]) -> Case:
    return replace(case, bounds={**case.bounds, **bounds})
