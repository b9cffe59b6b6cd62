"""Random tables, the data files of the experiments, and tiny criteria for the anonymizers' tests."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import strategies as st

from showthrough.anonymizers.quasi_columns import QuasiColumn

PATHS = {"a": ("ab", "*"), "b": ("ab", "*"), "c": ("cd", "*"), "d": ("cd", "*"), "e": ("e", "*")}


def data(name: str) -> Path:
    """A data file of the experiments; the test is skipped where it is missing."""
    root = Path(os.environ.get("SHOWTHROUGH_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not (root / name).exists():
        pytest.skip(f"{name} not found under {root}: set SHOWTHROUGH_DATA to the folder of the data files")
    return root / name


def adult(*, shown: str, age: str = "range") -> tuple[list[QuasiColumn], np.ndarray]:
    """The 7 quasi-identifiers and the sensitive codes of the 30 162 rows of Adult."""
    frame = pl.read_csv(data("adult/adult_kdd08.csv.gz"), infer_schema_length=0)
    columns = []
    for name in frame.columns[:-1]:
        rows = list(csv.reader(data(f"adult/hierarchies/{name}.csv").read_text().splitlines()))
        if name == "age":
            column = QuasiColumn.numeric(name, frame[name].cast(pl.Float64).to_numpy())
            columns.append(column.with_hierarchy(rows) if age == "label" else column)
        else:
            column = QuasiColumn.categorical(name, frame[name].to_list())
            columns.append(column.with_hierarchy(rows) if shown == "label" else column)
    sensitive = np.unique(frame["occupation"].to_numpy(), return_inverse=True)[1].astype(np.int32)
    return columns, sensitive


def column_of(kind: str, name: str, numbers: list[int]) -> QuasiColumn:
    """A column of the kind from small integers."""
    if kind == "range":
        return QuasiColumn.numeric(name, [float(n) for n in numbers])
    column = QuasiColumn.categorical(name, ["abcde"[n % 5] for n in numbers])
    if kind == "set":
        return column
    return column.with_hierarchy([(leaf, *path) for leaf, path in PATHS.items()])


@st.composite
def tables(draw: st.DrawFn, *, least: int = 1, most: int = 40) -> tuple[list[QuasiColumn], np.ndarray]:
    """One to three columns of any kind, and sensitive codes."""
    rows = draw(st.integers(least, most))
    kinds = draw(st.lists(st.sampled_from(["range", "set", "label"]), min_size=1, max_size=3))
    numbers = st.lists(st.integers(0, 6), min_size=rows, max_size=rows)
    columns = [column_of(kind, f"q{j}", draw(numbers)) for j, kind in enumerate(kinds)]
    sensitive = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    return columns, np.array(sensitive, dtype=np.int32)


def entropy_at_least(l: float):
    """Entropy l-diversity as a predicate on counts."""

    def allowed(counts):
        owner = np.repeat(np.arange(len(counts.start) - 1), np.diff(counts.start))
        share = counts.count / np.bincount(owner, weights=counts.count)[owner]
        return np.bincount(owner, weights=-share * np.log(share)) >= np.log(l) - 1e-12

    return allowed


def equal_distance_at_most(t: float):
    """t-closeness with equal distances against the whole table as a predicate on counts."""

    def allowed(counts):
        owner = np.repeat(np.arange(len(counts.start) - 1), np.diff(counts.start))
        share = counts.count / np.bincount(owner, weights=counts.count)[owner]
        whole = counts.total / counts.total.sum()
        return np.bincount(owner, weights=np.maximum(share - whole[counts.value], 0.0)) <= t + 1e-12

    return allowed
