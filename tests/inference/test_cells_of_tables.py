"""Bounds of hidden counts against an attacker with linear programs over all cells."""

from __future__ import annotations

import math
import random

import pytest

import showthrough as st
from tests.inference.tables import as_release, as_table, random_population, random_table, rounding_of
from tests.oracles.tables import bounds


def ends(low: float, high: float) -> tuple[int, int]:
    return math.ceil(low - 1e-6), math.floor(high + 1e-6)


def told(post: st.Posterior, release: st.Release, rows: list[dict], columns: tuple[str, ...]) -> list[tuple[int, int]]:
    """The ends of each printed row, in its order."""
    frame = post.cells()
    assert frame["sharp"].all()
    found = {}
    for name, cell, value, low, high in frame.select("release", "cell", "value", "lower", "upper").rows():
        if name == release.name or name.startswith(f"{release.name}:"):
            found[(cell.partition("(")[2][:-1], value)] = (low, high)
    return [found.get((", ".join(row[c] for c in columns), row["value"]), (0, 0)) for row in rows]


def one_table(seed: int) -> None:
    rng = random.Random(seed)
    columns = ("q0", "q1")[: rng.randint(1, 2)]
    population, truth = random_population(rng, len(columns), rng.randint(2, 3))
    if not any(truth.values()):
        return
    rows = random_table(rng, population, truth, columns)
    release = as_release(rows, columns, "T")
    expected = bounds(population, [as_table(rows, columns, rounding=rounding_of(rows))])
    assert expected is not None
    assert told(st.infer([release]), release, rows, columns) == [ends(*pair) for pair in expected[0]]


@pytest.mark.parametrize("seed", range(100))
def test_a_table_with_margins(seed):
    one_table(seed)


SHAPES = [
    [("q0",), ("q1",)],
    [("q0", "q1"), ("q1",)],
    [("q0", "q1"), ("q1", "q2")],
    [("q0", "q1"), ("q1", "q2"), ("q0", "q2")],
    [("q0",), ("q0",)],
]


def linked_tables(seed: int) -> None:
    """Tables of one population, beside an attacker who sees all of them."""
    rng = random.Random(seed)
    shape = rng.choice(SHAPES)
    population, truth = random_population(rng, len({c for own in shape for c in own}), 2)
    if not any(truth.values()):
        return
    tables = [random_table(rng, population, truth, own) for own in shape]
    releases = [as_release(rows, own, f"T{k}", "P") for k, (rows, own) in enumerate(zip(tables, shape, strict=True))]
    printed = zip(tables, shape, strict=True)
    expected = bounds(population, [as_table(rows, own, rounding=rounding_of(rows)) for rows, own in printed])
    assert expected is not None
    post = st.infer(releases)
    for release, rows, own, ours in zip(releases, tables, shape, expected, strict=True):
        assert told(post, release, rows, own) == [ends(*pair) for pair in ours], seed


@pytest.mark.parametrize("seed", range(100))
def test_tables_of_one_population(seed):
    linked_tables(seed)
