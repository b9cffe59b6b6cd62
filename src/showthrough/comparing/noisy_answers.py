"""Counting queries answered from tables of noisy counts: one over all cells, or one for each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from showthrough.comparing.bins import Bins
from showthrough.criteria.coding import ordered
from showthrough.measuring.queries import Asked, Coded, CodeRange, QueryError, Workload, ask
from showthrough.release.release import Release
from showthrough.table.arrays import Ints, Reals
from showthrough.table.texts import as_text


@dataclass(frozen=True, eq=False)
class _QueryColumn:
    """A quasi-identifier of the table, and the cell of each of its values; None where cells do not tell it apart."""

    row: Ints
    size: int
    cell: Ints | None
    cells: int

    def part(self, ends: CodeRange | None) -> Reals:
        """The part of each cell that lies in a stretch of values, if a cell is spread evenly over what it covers."""
        inside = np.ones(self.size)
        if ends is not None:
            inside = np.zeros(self.size)
            inside[ends[0] : ends[1] + 1] = 1.0
        if self.cell is None:
            return np.array([inside.mean()])
        covered = np.bincount(self.cell, minlength=self.cells)
        found: Reals = np.bincount(self.cell, inside, minlength=self.cells) / np.maximum(covered, 1)
        return found


def query_error(rows: pl.DataFrame, cells: Bins, release: Release, workload: Workload) -> QueryError:
    """Queries over all quasi-identifiers of the table.

    A cell is taken to be spread evenly over the values that it covers; columns that no table tells apart over all of
    theirs; columns of different tables to be independent among persons of one value.
    """
    columns = {name: _column(rows, name, cells) for name in cells.every}
    value, values = ordered(as_text(rows[str(release.sensitive)], "values"))
    counts = {table: _counts(release, cells, table, values) for table in cells.tables}
    coded = Coded(tuple(c.row for c in columns.values()), tuple(c.size for c in columns.values()), value, values.len())
    named = dict(enumerate(columns))

    def estimate(asked: Asked, ends: CodeRange) -> float:
        parts = {name: columns[name].part(asked.get(number)) for number, name in named.items()}
        untold = float(np.prod([parts[name][0] for name, own in columns.items() if own.cell is None]))
        if len(counts) == 1:
            (table, found), *_ = counts.items()
            return untold * float(_fitting(found, table, parts)[ends[0] : ends[1] + 1].sum())
        return untold * float(_independent(counts, parts)[ends[0] : ends[1] + 1].sum())

    return ask(coded, estimate, workload)


def _fitting(counts: Reals, table: tuple[str, ...], parts: Mapping[str, Reals]) -> Reals:
    """[values] how many of each value fit, by one table."""
    for name in table:
        counts = np.tensordot(parts[name], counts, axes=(0, 0))
    return counts


def _independent(counts: Mapping[tuple[str, ...], Reals], parts: Mapping[str, Reals]) -> Reals:
    """[values] the same by several tables: persons of each value times the share that fits each table."""
    totals, shares = [], []
    for table, found in counts.items():
        known = np.maximum(found, 0.0)
        every = known.reshape(-1, known.shape[-1]).sum(axis=0)
        totals.append(found.reshape(-1, found.shape[-1]).sum(axis=0))
        shares.append(_fitting(known, table, parts) / np.maximum(every, 1e-9))
    fits: Reals = np.maximum(np.mean(totals, axis=0), 0.0) * np.prod(shares, axis=0)
    return fits


def _column(rows: pl.DataFrame, name: str, cells: Bins) -> _QueryColumn:
    row, labels = ordered(as_text(rows[name], f"The column {name!r}"))
    if name not in cells.domain:
        return _QueryColumn(row, labels.len(), None, 0)
    inside = rows.select(cells.id).join(cells.table, on=cells.id, how="left", maintain_order="left")
    own = pl.Series(cells.domain[name], dtype=pl.String)
    place = inside[name].replace_strict(own, pl.Series(np.arange(own.len())), return_dtype=pl.Int64).to_numpy()
    cell = np.zeros(labels.len(), dtype=np.int64)
    cell[row] = place
    return _QueryColumn(row, labels.len(), cell, own.len())


def _counts(release: Release, cells: Bins, table: tuple[str, ...], values: pl.Series) -> Reals:
    """The noisy counts of one table by its cells and value; values that nobody has are left out."""
    rows = release.form.rows(release)
    for name in release.roles.quasi:
        rows = rows.filter(pl.col(name).is_not_null() if name in table else pl.col(name).is_null())
    axes = [*((pl.Series(cells.domain[c]), c) for c in table), (values, str(release.sensitive))]
    place, known = np.zeros(rows.height, dtype=np.int64), np.ones(rows.height, dtype=bool)
    for own, name in axes:
        code = as_text(rows[name], "cells").replace_strict(
            as_text(own, "cells"), pl.Series(np.arange(own.len())), default=-1, return_dtype=pl.Int64
        )
        known &= (code >= 0).to_numpy()
        place = place * own.len() + np.maximum(code.to_numpy(), 0)
    counts = np.zeros(int(np.prod([own.len() for own, _ in axes])))
    counts[place[known]] = rows[release.roles.count].cast(pl.Float64).to_numpy()[known]
    return counts.reshape([own.len() for own, _ in axes])
