"""Random count tables with margins and hidden counts, as releases and as the attacker of the oracle sees them."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import polars as pl

from showthrough import Release
from tests.oracles.tables import TOTAL, Population, Table

MARKS = {"c": (1, 4), "..": (0, 6)}


def random_population(rng: random.Random, columns: int, values: int) -> tuple[Population, Counter]:
    """Labels, and how many persons have each combination."""
    labels = {f"q{k}": tuple(f"{'abc'[k]}{n}" for n in range(rng.randint(2, 3))) for k in range(columns)}
    found = Population(labels, tuple(f"v{n}" for n in range(values)))
    return found, Counter({cell: max(0, rng.randint(-2, 7)) for cell in found.cells()})


def random_table(rng: random.Random, population: Population, truth: Counter, columns: tuple[str, ...]) -> list[dict]:
    """All cells of some columns with their margins: as printed, some hidden, some left out if they are totals."""
    names = list(population.labels)
    at = [names.index(c) for c in columns]
    margins = rng.choice([(), tuple(columns), (*columns, "value"), ("value",)])
    axes = [(*population.labels[c], *([TOTAL] if c in margins else [])) for c in columns]
    values = (*population.values, *([TOTAL] if "value" in margins else []))
    rounding = rng.choice([None, None, None, 3])
    rows = []
    for cells, value in product(product(*axes), values):
        n = sum(
            count
            for (cell, own), count in truth.items()
            if all(label in (TOTAL, cell[k]) for k, label in zip(at, cells, strict=True)) and value in (TOTAL, own)
        )
        total = TOTAL in (*cells, value)
        if total and rng.random() < 0.2:
            continue
        row = dict(zip(columns, cells, strict=True)) | {"value": value}
        rows.append(row | printed(rng, n, rounding, hidden=0.15 if total else 0.45))
    return rows


def printed(rng: random.Random, n: int, rounding: int | None, hidden: float) -> dict:
    """A count as an office prints it, with the ends that it says."""
    if 1 <= n <= 4 and rng.random() < hidden:
        return {"count": "c", "ends": MARKS["c"]}
    if n <= 6 and rng.random() < hidden / 3:
        return {"count": "..", "ends": MARKS[".."]}
    if rng.random() < hidden / 4:
        return {"count": f"<{n + 2}", "ends": (0, n + 1)}
    if rounding:
        shown = rounding * round(n / rounding)
        return {"count": str(shown), "ends": (max(0, shown - rounding // 2), shown + rounding // 2)}
    return {"count": str(n), "ends": (n, n)}


def as_release(rows: list[dict], columns: tuple[str, ...], name: str, population: str | None = None) -> Release:
    """The printed table."""
    rounded = any(low < high and row["count"].isdigit() for row in rows for low, high in [row["ends"]])
    frame = pl.DataFrame([{k: v for k, v in row.items() if k != "ends"} for row in rows])
    return Release.counted(
        frame,
        sensitive="value",
        quasi=list(columns),
        suppressed=MARKS,
        rounding=3 if rounded else None,
        totals=[TOTAL],
        population=population,
        name=name,
    )


def as_table(rows: list[dict], columns: tuple[str, ...], *, rounding: int | None = None) -> Table:
    """The same for the attacker."""
    return Table(columns, [(tuple(r[c] for c in columns), r["value"], *_ends(r, rounding)) for r in rows])


def _ends(row: dict, rounding: int | None) -> tuple[int, int]:
    if rounding and row["count"].isdigit():
        shown = int(row["count"])
        return max(0, shown - rounding // 2), shown + rounding // 2
    low, high = row["ends"]
    return low, high


def rounding_of(rows: list[dict]) -> int | None:
    """3 if some number of the table is rounded."""
    return 3 if any(row["count"].isdigit() and row["ends"][0] < row["ends"][1] for row in rows) else None
