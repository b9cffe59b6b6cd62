"""Noisy counts as evidence, by plain sums over worlds, and when an answer by expected counts is optimal."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from scipy.optimize import linprog

Cell = tuple[Hashable, Hashable]


def log_law(mechanism: str, scale: float) -> Callable[[float], float]:
    """The logarithm of what noise is in proportion to."""
    if mechanism in ("geometric", "laplace"):
        return lambda t: -abs(t) / scale
    return lambda t: -t * t / (2 * scale * scale)


def weighed(
    worlds: Sequence[tuple[Hashable, ...]],
    weight: Sequence[float],
    cell_of: Sequence[Hashable],
    published: dict[Cell, float],
    law: Callable[[float], float],
) -> dict[tuple[int, Hashable], float]:
    """P(person has value) over worlds; ``cell_of`` None: not counted."""
    total: Counter = Counter()
    every = 0.0
    logs = []
    for world in worlds:
        counts = Counter((c, v) for c, v in zip(cell_of, world, strict=True) if c is not None)
        logs.append(sum(law(y - counts[key]) for key, y in published.items()))
    top = max(logs)
    for world, w, own in zip(worlds, weight, logs, strict=True):
        mass = w * math.exp(own - top)
        every += mass
        for person, value in enumerate(world):
            total[person, value] += mass
    return {key: mass / every for key, mass in total.items()}


def all_worlds(values: Sequence[Hashable], persons: int) -> list[tuple[Hashable, ...]]:
    return list(itertools.product(values, repeat=persons))


def off_the_optimum(
    x: np.ndarray,
    groups: Sequence[tuple[Sequence[int], Sequence[int]]],
    cell_of: Sequence[int],
    published: np.ndarray,
    law: tuple[str, float],
) -> tuple[float, float]:
    """How far x [persons, values] is from the most entropy less misfit under the groups' counts.

    The problem is concave, so whoever meets the counts and the conditions of Karush, Kuhn and Tucker is at the optimum:
    log x of a person and value is a sum of multipliers: of the person, of each group and value, and of the cell and
    value, which the law of the noise gives. Returned are the largest miss of a count and of these conditions.
    """
    n, k = x.shape
    inside = np.array([[1.0 if c == g else 0.0 for c in cell_of] for g in range(published.shape[0])])
    away = published - inside @ x
    missed = [abs(x.sum(axis=1) - 1).max()]
    missed += [abs(x[list(people)].sum(axis=0) - np.array(counts)).max() for people, counts in groups]
    open_pairs = [(i, v) for i in range(n) for v in range(k) if x[i, v] > 0]
    columns = n + len(groups) * k + published.size + 1
    rows, ends = [], []
    for i, v in open_pairs:
        row = np.zeros(columns)
        row[i] = 1
        for g, (people, _) in enumerate(groups):
            row[n + g * k + v] = float(i in people)
        row[n + len(groups) * k + np.arange(published.shape[0]) * k + v] = inside[:, i]
        for sign in (1, -1):
            rows.append(sign * row - np.eye(columns)[-1])
            ends.append(sign * np.log(x[i, v]))
    free: list[tuple[float | None, float | None]] = [(None, None)] * (n + len(groups) * k)
    for t in away.ravel():
        if law[0] in ("gaussian", "discrete-gaussian"):
            free.append((t / law[1] ** 2, t / law[1] ** 2))
        else:
            free.append((-1 / law[1] if t < 1e-4 else 1 / law[1], 1 / law[1] if t > -1e-4 else -1 / law[1]))
    found = linprog(np.eye(columns)[-1], A_ub=np.array(rows), b_ub=np.array(ends), bounds=[*free, (0, None)])
    assert found.status == 0, found.message
    return float(max(missed)), float(found.fun)
