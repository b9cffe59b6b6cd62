"""An attacker with linear programs over the smallest parts of a population, and one who tries all whole numbers.

A row is (parts, value, low, high): between so many persons of these parts have the value (None: any value).
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import linprog

Row = tuple[frozenset, object, int, int]


def _matrix(parts: list, values: list, rows: list[Row]) -> np.ndarray:
    return np.array(
        [[float(p in own and value in (None, v)) for p in parts for v in values] for own, value, _, _ in rows]
    )


def linear_ends(parts: list, values: list, rows: list[Row], asked: frozenset, value: object) -> tuple[float, float]:
    """The least and the most persons of some parts with a value."""
    A = _matrix(parts, values, rows)
    low, high = (np.array([row[k] for row in rows], dtype=float) for k in (2, 3))
    c = _matrix(parts, values, [(asked, value, 0, 0)])[0]
    found = []
    for sign in (1.0, -1.0):
        result = linprog(sign * c, A_ub=np.vstack([A, -A]), b_ub=np.concatenate([high, -low]), bounds=(0, None))
        if result.status == 3:
            found.append(np.inf)
            continue
        assert result.status == 0, result.message
        found.append(sign * result.fun)
    return found[0], found[1]


def whole_ends(
    parts: list, values: list, rows: list[Row], asked: frozenset, value: object, most: int
) -> tuple[int, int] | None:
    """The same over whole numbers up to ``most`` at every part and value, all of them tried; None: nothing fits."""
    A = _matrix(parts, values, rows).astype(int)
    c = _matrix(parts, values, [(asked, value, 0, 0)])[0].astype(int)
    low, high = (np.array([row[k] for row in rows]) for k in (2, 3))
    points = np.array(list(product(range(most + 1), repeat=len(parts) * len(values))))
    held = points @ A.T
    fits = ((held >= low) & (held <= high)).all(axis=1)
    if not fits.any():
        return None
    sums = points[fits] @ c
    return int(sums.min()), int(sums.max())
