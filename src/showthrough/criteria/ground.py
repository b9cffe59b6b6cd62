"""Distances between sensitive values, and trees over them as arrays.

A tree over the values is a list of arrays: entry h−1 gives each value's ancestor at height h, the
last one the root. `Hierarchy.above` makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.criteria.coding import as_numbers
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.hierarchy import as_hierarchy

NAMED = ("numeric", "equal", "min", "max", "manhattan", "euclidean")
DIGITS = 12

Metric = Any
"""A name, a function of two values, distances by pair, a matrix, or a hierarchy."""
Within = Callable[[Codes, Codes], Flags]


def tree(given: Any, labels: pl.Series | None) -> list[Ints]:
    """The ancestors of each value per height, from a hierarchy, a file of one or a nested dict."""
    return as_hierarchy(given).above(_need(labels))


def metric_of(metric: Any) -> Any:
    """A distance with its hierarchy read, where it is one; names, functions and tables stay as they are."""
    table = isinstance(metric, Mapping) and any(isinstance(key, tuple) for key in metric)
    named = isinstance(metric, (str, np.ndarray)) or callable(metric)
    return metric if named or table else as_hierarchy(metric)


def close_by(metric: Metric, labels: pl.Series | None, epsilon: float, values: int) -> Within:
    """A function that says which pairs of value codes are at most ``epsilon`` apart."""
    if isinstance(metric, str):
        if metric == "equal":
            return lambda a, b: (a == b) | (epsilon >= 1)
        if metric not in NAMED:
            raise InputError(f"The metric is one of {', '.join(NAMED)}, a table, a hierarchy or a function.")
        return _named(metric, _need(labels), epsilon)
    if callable(metric):
        return _called(metric, _need(labels).to_list(), epsilon)
    if isinstance(metric, Mapping) and any(isinstance(key, tuple) for key in metric):
        return _listed(metric, _need(labels).to_list(), epsilon)
    if isinstance(metric, np.ndarray) and metric.ndim == 2:
        return _matrix(metric, values, epsilon)
    levels = tree(metric, labels)
    return lambda a, b: (height(levels, a, b) / len(levels)) <= epsilon + 1e-12


def height(levels: Sequence[Ints], a: Codes, b: Codes) -> Ints:
    """The height of the lowest common ancestor of two values; 0 if they are the same."""
    found = np.where(a == b, 0, len(levels))
    for h in range(len(levels) - 1, 0, -1):
        found = np.where((a != b) & (levels[h - 1][a] == levels[h - 1][b]), h, found)
    return found


def decimals(numbers: Reals, epsilon: float) -> tuple[npt.NDArray[Any], float]:
    """Numbers and distance without binary rounding: whole multiples of 10⁻ᵈ where they are decimals.

    0.8 and 0.7 become 8 and 7, so that they are exactly 0.1 apart. Numbers with more than 12
    digits stay as they are, with room for rounding in the distance.
    """
    largest = max(float(np.abs(numbers).max(initial=0.0)), abs(epsilon))
    for d in range(DIGITS + 1):
        scale = 10.0**d
        if largest * scale >= 2**53:
            break
        whole = np.round(numbers * scale)
        reach = round(epsilon * scale)
        if np.array_equal(whole / scale, numbers) and reach / scale == epsilon:
            return whole.astype(np.int64), reach
    return numbers, epsilon + 4e-16 * max(largest, 1e-300)


def numbers_of(labels: pl.Series | None) -> Reals:
    """The values as numbers."""
    found = as_numbers(_need(labels))
    if found is None or found.null_count():
        raise InputError(
            "A numeric distance needs numbers as values: choose another metric ('equal', a table, a hierarchy or a "
            "function)."
        )
    if not found.is_finite().all():
        raise InputError("A numeric distance needs values that are finite: infinite ones have none.")
    return found.to_numpy().astype(np.float64)


def _named(metric: str, labels: pl.Series, epsilon: float) -> Within:
    """Metrics over composite values; one number is a vector of length 1."""
    if isinstance(labels.dtype, pl.Struct):
        parts = [numbers_of(part) for part in labels.struct.unnest().get_columns()]
    else:
        parts = [numbers_of(labels)]
    points, reach = decimals(np.stack(parts, axis=1), epsilon)

    def near(a: Codes, b: Codes) -> Flags:
        apart = np.abs(points[a] - points[b])
        if metric == "min":
            found: Flags = apart.min(axis=1) <= reach
        elif metric == "max":
            found = apart.max(axis=1) <= reach
        elif metric == "euclidean":
            found = (apart.astype(np.float64) ** 2).sum(axis=1) <= reach**2 * (1 + 1e-14)
        else:
            found = apart.sum(axis=1) <= reach
        return found

    return near


def _called(metric: Callable[[Any, Any], float], labels: list[Any], epsilon: float) -> Within:
    found: dict[tuple[int, int], bool] = {}

    def near(a: Codes, b: Codes) -> Flags:
        out = np.zeros(a.size, dtype=bool)
        for k, pair in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
            if pair not in found:
                distance = float(metric(labels[pair[0]], labels[pair[1]]))
                found[pair] = round(distance - epsilon, DIGITS) <= 0
            out[k] = found[pair]
        return out

    return near


def _listed(table: Mapping[Any, Any], labels: list[Any], epsilon: float) -> Within:
    """Distances by pair of values, in either order; a value is at distance 0 from itself."""
    m = len(labels)
    matrix = np.zeros((m, m))
    for i in range(m):
        for j in range(i + 1, m):
            pair = (labels[i], labels[j])
            if pair not in table and pair[::-1] not in table:
                raise InputError("The table of distances lacks a pair of values that occur.")
            matrix[i, j] = matrix[j, i] = float(table[pair] if pair in table else table[pair[::-1]])
    return _matrix(matrix, m, epsilon)


def _matrix(matrix: npt.NDArray[Any], values: int, epsilon: float) -> Within:
    if matrix.shape != (values, values):
        raise InputError(f"The table of distances is {matrix.shape[0]} × {matrix.shape[1]}; expected {values} values.")
    near = np.round(matrix - epsilon, DIGITS) <= 0

    def told(a: Codes, b: Codes) -> Flags:
        found: Flags = near[a, b]
        return found

    return told


def _need(labels: pl.Series | None) -> pl.Series:
    if labels is None:
        raise InputError("This distance needs the values themselves, and these counts hold only codes.")
    return labels
