"""Tables of counts with noise as options: as much noise as an ε asks for, or as an error allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from showthrough.comparing.bins import Bins, bins
from showthrough.comparing.option import Option, ToCompare
from showthrough.criteria.coding import ordered
from showthrough.errors import InputError
from showthrough.measuring.queries import Asked as Question
from showthrough.measuring.queries import Coded, CodeRange, QueryError, Workload, ask
from showthrough.release.release import Release
from showthrough.republishing.anonymize import anonymize
from showthrough.table.arrays import Ints, Reals
from showthrough.table.texts import as_text

FINEST, COARSEST = 1.0, 16.0  # persons of each cell and value on average
LEAST, MOST = 0.01, 16.0  # ε that are tried
_HALVINGS = 7  # of the range of ε, on a scale of ratios


@dataclass(frozen=True)
class NoisyOption(Option):
    """Counts with noise; its queries are answered from the noisy counts as they are."""

    cells: Bins | None = None

    def error(self, rows: pl.DataFrame, release: Release, workload: Workload) -> float | None:
        """The median relative error of counting queries on the noisy counts."""
        assert self.cells is not None
        return query_error(rows, self.cells, release, workload).median


def noisy(asked: ToCompare, epsilon: float, cells: Bins | None = None) -> Option:
    """Counts of value by cells with geometric noise."""
    cells = bins(asked) if cells is None else cells
    return NoisyOption(
        f"noise, ε = {epsilon:.3g}",
        partial(_counts, asked, cells, epsilon),
        epsilon=epsilon,
        words=f"counts of {asked.sensitive} by {cells.words}",
        cells=cells,
    )


def matched(asked: ToCompare, rows: pl.DataFrame, like: tuple[str, float], workload: Workload) -> Option:
    """The noise of the smallest ε whose counting queries err as little as those of another option (its name and error).

    Cells of several sizes are tried: coarse ones drown in less noise, fine ones answer queries better.
    """
    name, error = like
    found: Option | None = None
    closest = np.inf
    least = COARSEST
    while least >= FINEST:
        cells = bins(asked, least)
        least /= 4
        if not cells.quasi:
            continue
        best, reached = _smallest(asked, rows, cells, error, workload)
        closest = min(closest, reached)
        if best is not None and (found is None or (found.epsilon or 0.0) > best):
            found = noisy(asked, best, cells)
    if found is None:
        raise InputError(
            f"No noise that was tried (ε up to {MOST:g}) answers counting queries as well as {name}: the least "
            f"error is {closest:.1%}, there {error:.1%}."
        )
    return replace(found, name=f"{found.name} (as exact as {name})")


def _smallest(
    asked: ToCompare, rows: pl.DataFrame, cells: Bins, error: float, workload: Workload
) -> tuple[float | None, float]:
    """The smallest ε with at most that error, if there is one, and the error of the largest."""

    def erring(epsilon: float) -> float:
        release = _counts(asked, cells, epsilon, rows, "tried", 0)
        return query_error(rows, cells, release, workload).median

    reached = erring(MOST)
    if reached > error:
        return None, reached
    low, high = np.log(LEAST), np.log(MOST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if erring(float(np.exp(middle))) <= error else (middle, high)
    return float(np.exp(high)), reached


def _counts(asked: ToCompare, cells: Bins, epsilon: float, rows: pl.DataFrame, name: str, seed: int) -> Release:  # noqa: ARG001
    """Noisy counts of some rows; nobody chooses the noise, so there is no seed."""
    values = asked.table[asked.sensitive].drop_nulls().unique().sort().to_list()
    inside = rows.select(asked.id).join(cells.table, on=asked.id, how="left", maintain_order="left")
    return anonymize(
        inside.select(asked.id, asked.sensitive, *cells.quasi),
        method="dp-counts",
        id=asked.id,
        sensitive=asked.sensitive,
        quasi=cells.quasi,
        domain={**cells.domain, asked.sensitive: values},
        epsilon=epsilon,
        neighbours="replace-one",
        name=name,
    )


@dataclass(frozen=True, eq=False)
class _QueryColumn:
    """A quasi-identifier of the table, and the cell of each of its values; None where cells do not tell it apart."""

    row: Ints
    size: int
    cell: Ints | None
    cells: int

    def part(self, ends: CodeRange | None) -> Reals:
        """The part of each cell that lies in a stretch of values."""
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
    """Counting queries over all quasi-identifiers of the table, answered from noisy counts of cells.

    A cell is taken to be spread evenly over the values that it covers; columns that cells do not tell apart over all
    of theirs.
    """
    columns = _columns(rows, cells.every, cells)
    value, values = ordered(as_text(rows[str(release.sensitive)], "values"))
    counts = _tensor(release, cells, values)
    coded = Coded(tuple(c.row for c in columns), tuple(c.size for c in columns), value, values.len())

    def estimate(asked: Question, ends: CodeRange) -> float:
        left = counts[..., ends[0] : ends[1] + 1].sum(axis=-1)
        share = 1.0
        for number in reversed(range(len(columns))):
            column = columns[number]
            part = column.part(asked.get(number))
            if column.cell is None:
                share *= float(part[0])
            else:
                left = left @ part
        return share * float(left)

    return ask(coded, estimate, workload)


def _columns(rows: pl.DataFrame, quasi: Sequence[str], cells: Bins) -> list[_QueryColumn]:
    found = []
    inside = rows.select(cells.id).join(cells.table, on=cells.id, how="left", maintain_order="left")
    for name in quasi:
        row, labels = ordered(as_text(rows[name], f"The column {name!r}"))
        if name not in cells.domain:
            found.append(_QueryColumn(row, labels.len(), None, 0))
            continue
        own = pl.Series(cells.domain[name], dtype=pl.String)
        place = inside[name].replace_strict(own, pl.Series(np.arange(own.len())), return_dtype=pl.Int64).to_numpy()
        cell = np.zeros(labels.len(), dtype=np.int64)
        cell[row] = place
        found.append(_QueryColumn(row, labels.len(), cell, own.len()))
    return found


def _tensor(release: Release, cells: Bins, values: pl.Series) -> Reals:
    """Noisy counts by cells and value; values that nobody has are left out."""
    shape = (*(len(cells.domain[c]) for c in cells.quasi), values.len())
    rows = release.form.rows(release)
    axes = [(pl.Series(cells.domain[c]), c) for c in cells.quasi]
    place = np.zeros(rows.height, dtype=np.int64)
    known = np.ones(rows.height, dtype=bool)
    for own, name in [*axes, (values, str(release.sensitive))]:
        code = as_text(rows[name], "cells").replace_strict(
            as_text(own, "cells"), pl.Series(np.arange(own.len())), default=-1, return_dtype=pl.Int64
        )
        known &= (code >= 0).to_numpy()
        place = place * own.len() + np.maximum(code.to_numpy(), 0)
    counts = np.zeros(int(np.prod(shape)))
    counts[place[known]] = rows[release.roles.count].cast(pl.Float64).to_numpy()[known]
    return counts.reshape(shape)
