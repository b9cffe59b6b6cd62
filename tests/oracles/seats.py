"""Persons who fit several groups: the joint program of value and seat, person by person, and its worlds.

``counts[r][g]`` lists the values that group g of release r publishes; ``fits[person][r]`` lists the
groups in which the person can be, None among them if it may be in none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import linprog

from tests.oracles.dense import most_even

Pair = tuple[Hashable, Hashable]


@dataclass(frozen=True)
class Seating:
    counts: list[list[list[Hashable]]]
    fits: dict[Hashable, list[list[int | None]]]

    def values(self) -> list[Hashable]:
        return sorted({v for release in self.counts for group in release for v in group}, key=repr)

    def options(self, person: Hashable) -> list[tuple[Hashable, tuple[int | None, ...]]]:
        """Every value with every seat that all publish it."""
        return [
            (v, seat)
            for v in self.values()
            for seat in product(*self.fits[person])
            if all(g is None or v in self.counts[r][g] for r, g in enumerate(seat))
        ]


def system(case: Seating) -> tuple[list[tuple[Hashable, Hashable, tuple]], np.ndarray, np.ndarray]:
    """Variables (person, value, seat), and the rows One and Relation."""
    variables = [(p, v, seat) for p in case.fits for v, seat in case.options(p)]
    rows = [[float(q == p) for q, _, _ in variables] for p in case.fits]
    right = [1.0] * len(rows)
    for r, release in enumerate(case.counts):
        for g, published in enumerate(release):
            for v, n in Counter(published).items():
                rows.append([float(w == v and seat[r] == g) for _, w, seat in variables])
                right.append(float(n))
    return variables, np.array(rows).reshape(len(rows), len(variables)), np.array(right)


def feasible(case: Seating) -> bool:
    variables, A, b = system(case)
    return bool(variables) and linprog(np.zeros(len(variables)), A_eq=A, b_eq=b, bounds=(0, 1)).status == 0


def bounds(case: Seating) -> dict[Pair, tuple[float, float]]:
    """Smallest and largest P(value | person), seats added up."""
    variables, A, b = system(case)
    found = {}
    for pair in dict.fromkeys((p, v) for p, v, _ in variables):
        c = np.array([float((p, v) == pair) for p, v, _ in variables])
        low, high = linprog(c, A_eq=A, b_eq=b, bounds=(0, 1)), linprog(-c, A_eq=A, b_eq=b, bounds=(0, 1))
        assert low.status == high.status == 0, "infeasible"
        found[pair] = (float(low.fun), float(-high.fun))
    return found


def maximum_entropy(case: Seating) -> dict[Pair, float]:
    """P(value | person) of the joint maximum entropy, by dense Newton on the KKT system of the support."""
    variables, A, b = system(case)
    free = []
    for k in range(len(variables)):
        c = np.zeros(len(variables))
        c[k] = -1.0
        free.append(-linprog(c, A_eq=A, b_eq=b, bounds=(0, 1)).fun > 1e-7)
    kept = np.array(free)
    x = most_even(A[:, kept], b)
    found: dict[Pair, float] = {}
    for (p, v, _), q in zip([u for u, f in zip(variables, free, strict=True) if f], x, strict=True):
        found[p, v] = found.get((p, v), 0.0) + float(q)
    return found


def worlds(case: Seating) -> Iterator[dict[Hashable, Hashable]]:
    """The values of every world of memberships and values."""
    everybody = list(case.fits)
    stock = [[Counter(group) for group in release] for release in case.counts]
    world: dict[Hashable, Hashable] = {}

    def place(k: int) -> Iterator[dict[Hashable, Hashable]]:
        if k == len(everybody):
            if not any(n for release in stock for group in release for n in group.values()):
                yield dict(world)
            return
        for value, seat in case.options(everybody[k]):
            taken = [(r, g) for r, g in enumerate(seat) if g is not None]
            if all(stock[r][g][value] > 0 for r, g in taken):
                for r, g in taken:
                    stock[r][g][value] -= 1
                world[everybody[k]] = value
                yield from place(k + 1)
                for r, g in taken:
                    stock[r][g][value] += 1

    yield from place(0)


def posterior(case: Seating) -> dict[Pair, Fraction]:
    """The share of worlds in which a person has a value."""
    total, hits = 0, Counter[Pair]()
    for world in worlds(case):
        total += 1
        hits.update(world.items())
    return {pair: Fraction(n, total) for pair, n in hits.items()}
