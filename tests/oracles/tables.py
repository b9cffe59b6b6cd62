"""An attacker with linear programs over the cells of count tables: the ends of every count, table by table.

A table is a list of rows (cells, value, low, high); a cell or value may be the label of a total. The attacker's
unknowns are how many persons of the population have each combination of labels of all columns and each value.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import linprog

TOTAL = "Total"


@dataclass
class Table:
    """Columns by name, and rows of (cells, value, low, high)."""

    columns: tuple[str, ...]
    rows: list[tuple[tuple[str, ...], str, int, int]]


@dataclass
class Population:
    """The labels of every column, and all values."""

    labels: dict[str, tuple[str, ...]]
    values: tuple[str, ...]

    def cells(self) -> list[tuple[tuple[str, ...], str]]:
        """Every combination of labels, with every value."""
        return [(cell, value) for cell in product(*self.labels.values()) for value in self.values]


def counts(population: Population, table: Table, cells: tuple[str, ...], value: str) -> np.ndarray:
    """Which cells of the population a row counts."""
    names = list(population.labels)
    wanted = {names.index(c): label for c, label in zip(table.columns, cells, strict=True) if label != TOTAL}
    return np.array(
        [
            float(all(cell[k] == label for k, label in wanted.items()) and value in (TOTAL, own))
            for cell, own in population.cells()
        ]
    )


def bounds(population: Population, tables: list[Table]) -> list[list[tuple[float, float]]] | None:
    """The least and the most of every row of every table; None if nothing fits.

    Combinations that a table does not list, though it lists others without totals, count nobody.
    """
    rows, ends = [], []
    for table in tables:
        listed = {(cells, value) for cells, value, _, _ in table.rows}
        leaf = [population.labels[c] for c in table.columns]
        for cells, value, low, high in table.rows:
            rows.append(counts(population, table, cells, value))
            ends.append((low, high))
        for cells in product(*leaf):
            for value in population.values:
                if (cells, value) not in listed:
                    rows.append(counts(population, table, cells, value))
                    ends.append((0, 0))
    A = np.array(rows)
    low, high = (np.array(own, dtype=float) for own in zip(*ends, strict=True))
    found = []
    for table in tables:
        mine = []
        for cells, value, _, _ in table.rows:
            c = counts(population, table, cells, value)
            pair = []
            for sign in (1.0, -1.0):
                result = linprog(sign * c, A_ub=np.vstack([A, -A]), b_ub=np.concatenate([high, -low]), bounds=(0, None))
                if result.status == 2:
                    return None
                assert result.status == 0, result.message
                pair.append(sign * result.fun)
            mine.append((pair[0], pair[1]))
        found.append(mine)
    return found
