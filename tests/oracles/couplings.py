"""Couplings of worlds by linear programming over single worlds, and finite mechanisms by plain sums."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

World = tuple[int, ...]


def least_distance(worlds: list[World], weight: list[float], person: int, value: int) -> int:
    """The smallest d for which worlds with the value and without it have a coupling; 0 if there are none of a kind."""
    sides = [
        [(w, p) for w, p in zip(worlds, weight, strict=True) if (w[person] == value) is has] for has in (True, False)
    ]
    if not all(sides):
        return 0
    distance = np.array([[sum(a != b for a, b in zip(u, v, strict=True)) for v, _ in sides[1]] for u, _ in sides[0]])
    shares = [np.array([p for _, p in side]) / sum(p for _, p in side) for side in sides]
    for d in sorted(set(distance.ravel().tolist())):
        if _coupled(distance <= d, *shares):
            return int(d)
    raise AssertionError("all worlds joined have a coupling")


def _coupled(near: np.ndarray, supply: np.ndarray, demand: np.ndarray) -> bool:
    m, k = near.shape
    rows = np.zeros((m + k, m * k))
    for i in range(m):
        rows[i, i * k : (i + 1) * k] = 1
    for j in range(k):
        rows[m + j, j::k] = 1
    bounds = [(0, None) if joined else (0, 0) for joined in near.ravel()]
    found = linprog(np.zeros(m * k), A_eq=rows, b_eq=np.concatenate([supply, demand]), bounds=bounds)
    return found.status == 0


def smallest_delta(first: np.ndarray, second: np.ndarray, epsilon: float) -> float:
    """The smallest δ of two laws, both ways."""
    e = np.exp(epsilon)
    return float(max(np.maximum(first - e * second, 0).sum(), np.maximum(second - e * first, 0).sum()))
