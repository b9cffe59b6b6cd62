"""The pooled constraints person by person as one dense linear system, and bounds by one program each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import numpy as np
from scipy.optimize import linprog

from tests.oracles import History, common_values, people

Pair = tuple[Hashable, Hashable]


def system(history: History) -> tuple[list[Pair], np.ndarray, np.ndarray]:
    """Variables (person, value) inside the common subsets, and the rows One and Relation."""
    pairs = [(p, v) for p in people(history) for v in sorted(common_values(history, p), key=repr)]
    number = {pair: k for k, pair in enumerate(pairs)}
    rows, right = [], []
    for p in people(history):
        rows.append([float(q == p) for q, _ in pairs])
        right.append(1.0)
    for release in history:
        for persons, values in release:
            for v, n in Counter(values).items():
                row = [0.0] * len(pairs)
                for p in persons:
                    if (p, v) in number:
                        row[number[p, v]] = 1.0
                rows.append(row)
                right.append(float(n))
    return pairs, np.array(rows), np.array(right)


def feasible(history: History) -> bool:
    """Whether any probabilities fit."""
    pairs, A, b = system(history)
    return linprog(np.zeros(len(pairs)), A_eq=A, b_eq=b, bounds=(0, 1)).status == 0


def bounds(history: History) -> dict[Pair, tuple[float, float]]:
    """Smallest and largest probability of every pair."""
    pairs, A, b = system(history)
    found = {}
    for k, pair in enumerate(pairs):
        c = np.zeros(len(pairs))
        c[k] = 1.0
        low = linprog(c, A_eq=A, b_eq=b, bounds=(0, 1))
        high = linprog(-c, A_eq=A, b_eq=b, bounds=(0, 1))
        assert low.status == high.status == 0, "infeasible"
        found[pair] = (float(low.fun), float(-high.fun))
    return found
