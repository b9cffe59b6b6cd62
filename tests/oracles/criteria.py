"""Privacy models by their definitions, slowly: exact fractions, linear programs, every pair, every subset.

A release is a list of groups, a group the list of its persons' values; ``table`` is all values,
those of suppressed rows included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import exp, inf, log

import numpy as np
from scipy.optimize import linprog

Values = Sequence[Hashable]


def shares(values: Values) -> dict[Hashable, Fraction]:
    return {v: Fraction(n, len(values)) for v, n in Counter(values).items()}


def entropy_level(values: Values) -> float:
    return exp(-sum(float(p) * log(p) for p in shares(values).values()))


def entropy_holds(values: Values, l: int) -> bool:
    """H ≥ log l in whole numbers: N^N ≥ l^N · Π r^r."""
    counts = Counter(values).values()
    n, product = len(values), 1
    for r in counts:
        product *= r**r
    return n**n >= l**n * product


def recursive_holds(values: Values, c: Fraction, l: int) -> bool:
    r = sorted(Counter(values).values(), reverse=True)
    return len(r) >= l and r[0] < c * sum(r[l - 1 :])


def recursive_level(values: Values, l: int) -> float:
    r = sorted(Counter(values).values(), reverse=True)
    return r[0] / sum(r[l - 1 :]) if len(r) >= l else inf


def emd(values: Values, table: Values, distance: Callable[[Hashable, Hashable], float]) -> float:
    """The cheapest way to move the group's shares to the table's, as a linear program."""
    domain = sorted(set(table), key=str)
    p = [float(shares(values).get(v, 0)) for v in domain]
    q = [float(shares(table).get(v, 0)) for v in domain]
    m = len(domain)
    cost = [distance(a, b) for a in domain for b in domain]
    rows = np.zeros((2 * m, m * m))
    for i in range(m):
        rows[i, i * m : (i + 1) * m] = 1
        rows[m + i, i::m] = 1
    return float(linprog(cost, A_eq=rows, b_eq=[*p, *q], bounds=(0, None), method="highs").fun)


def beta(values: Values, table: Values, *, enhanced: bool) -> float:
    q = shares(table)
    gains = [(p / q[v] - 1, -log(q[v])) for v, p in shares(values).items() if p > q[v]]
    if enhanced and any(float(gain) > bound for gain, bound in gains):
        return inf
    return max((float(gain) for gain, _ in gains), default=0.0)


def disclosure(values: Values, table: Values, *, occurring: bool) -> float:
    p, q = shares(values), shares(table)
    if not occurring and set(q) - set(p):
        return inf
    return max(abs(log(p[v] / q[v])) for v in p)


def most_neighbours(values: Sequence, near: Callable[[object, object], bool]) -> int:
    """The most others that any person has close, over all pairs of persons."""
    return max(sum(near(a, b) for j, b in enumerate(values) if j != i) for i, a in enumerate(values))


def decimal_near(epsilon: float) -> Callable[[object, object], bool]:
    return lambda a, b: abs(Decimal(str(a)) - Decimal(str(b))) <= Decimal(str(epsilon))


def excluded(values: Values, j: int) -> list[list[Hashable]]:
    """What is left of a group for every choice of j excluded values; a person keeps at least one."""
    domain = sorted(set(values), key=str)
    j = min(j, len(domain) - 1)
    return [[v for v in values if v not in gone] for gone in map(set, combinations(domain, j))]


def wildcard_matches(rows: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> list[int]:
    """How many of the others each row agrees with, where * agrees with everything."""
    return [
        sum(all(a == b or "*" in (a, b) for a, b in zip(row, other, strict=True)) for other in others) for row in rows
    ]
