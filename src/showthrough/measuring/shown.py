"""What a release publishes of one quasi-identifier, as values of the table it was made from."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.coding import ordered
from showthrough.errors import InputError
from showthrough.numerals import number_of
from showthrough.register.attribute import Attribute
from showthrough.release.cells import Cell, CellColumn, CellKind, ColumnKind, covers, read_cells
from showthrough.table.arrays import Ints, Reals, sum_by
from showthrough.table.hierarchy import Hierarchy
from showthrough.table.ragged import offsets, owners, starts
from showthrough.table.texts import as_text, number


@dataclass(frozen=True, eq=False)
class Shown:
    """The values of a column by row, the cell of each group, and the values that each cell covers."""

    name: str
    row: Ints
    """Value code of each row of the table; codes are in the order of the values."""
    labels: pl.Series
    cells: CellColumn
    """The published cells, one per group."""
    start: Ints
    """Where the covered values of each different cell begin in ``code``, and the end."""
    code: Ints

    @classmethod
    def of(cls, table: pl.DataFrame, cells: pl.Series, name: str, hierarchy: Hierarchy | None) -> Shown:
        """Read the published cells of a column against the table's values."""
        row, labels = ordered(as_text(table[name], f"The table: column {name!r}"))
        read = read_cells(cells, name=name, where="The release", hierarchy=hierarchy, domain=labels)
        cover = covers(read, labels)
        count = np.where(read.any, labels.len(), np.diff(cover.start))
        empty = int(np.count_nonzero((count == 0)[read.codes]))
        if empty:
            hint = "give its hierarchy" if hierarchy is None else "is its hierarchy the one that was used"
            raise InputError(
                f"The cells of {number_of(empty, 'group')} in column {name!r} cover no value of the table: {hint}, "
                "and is it the table that the release was made from?"
            )
        start, code = starts(count), offsets(count)  # right for cells that cover everything
        code[~np.repeat(read.any, count)] = cover.code
        return cls(name, row, labels, read, start, code)

    @property
    def numeric(self) -> bool:
        """Whether the table holds nothing but numbers here."""
        return self.cells.kind is ColumnKind.NUMBER

    @cached_property
    def covered(self) -> Ints:
        """How many values of the table each different cell covers."""
        return np.diff(self.start)

    @cached_property
    def penalty(self) -> Reals:
        """NCP of each group.

        Numbers: the width of what is published, clipped to the table's range, over that range. An
        interval is as wide as its ends are apart; a set, or a label of a hierarchy, as its smallest
        and largest member. Others: covered values of the table over all its values. 0 for one value.
        """
        if self.numeric:
            found = self._widths()
        else:
            found = np.where(self.covered > 1, self.covered / self.labels.len(), 0.0)
        return found[self.cells.codes]

    @cached_property
    def bits(self) -> Reals:
        """The entropy of the table's values within the cell of each group (Gionis and Tassa, TKDE 2009)."""
        n = np.bincount(self.row, minlength=self.labels.len()).astype(np.float64)
        cell = owners(self.start)
        share = n[self.code] / sum_by(cell, n[self.code], self.covered.size)[cell]
        return sum_by(cell, -share * np.log2(share), self.covered.size)[self.cells.codes] + 0.0

    @cached_property
    def all_bits(self) -> float:
        """The entropy of the whole column."""
        share = np.bincount(self.row, minlength=self.labels.len()) / self.row.size
        return float(-(share * np.log2(share)).sum())

    def part(self, ends: tuple[int, int]) -> Reals:
        """The part of each group's cell that lies between two value codes, both included."""
        key = self._keys
        base = np.arange(self.covered.size) * self.labels.len()
        inside = np.searchsorted(key, base + ends[1], side="right") - np.searchsorted(key, base + ends[0], side="left")
        found: Reals = (inside / self.covered)[self.cells.codes]
        return found

    @cached_property
    def _keys(self) -> Ints:
        """Cells and the values they cover as ascending numbers."""
        return owners(self.start) * self.labels.len() + self.code

    def attribute(self) -> Attribute:
        """The same for finding out which rows fit which groups."""
        gap = np.array([text is None or text in self.cells.missing for text in self.labels.to_list()], dtype=bool)
        person = np.where(gap[self.row], -1, self.row).astype(np.int32)
        any_cell = self.cells.any
        start = starts(np.where(any_cell, 0, self.covered))
        code = self.code[~np.repeat(any_cell, self.covered)].astype(np.int32)
        return Attribute(person, self.cells.codes, start, code, code + 1, any_cell, self.name)

    def _widths(self) -> Reals:
        read = [None if text is None else number(text) for text in self.labels.to_list()]
        known = np.array([np.nan if v is None else float(v) for v in read])
        low, high = float(np.nanmin(known)), float(np.nanmax(known))
        found = np.zeros(len(self.cells.cells))
        for k, cell in enumerate(self.cells.cells if high > low else ()):
            ends = _ends(cell, known[self.code[self.start[k] : self.start[k + 1]]])
            found[k] = (min(ends[1], high) - max(ends[0], low)) / (high - low)
        return np.maximum(found, 0.0)


def _ends(cell: Cell, covered: Any) -> tuple[float, float]:
    """The smallest and largest number that a cell may stand for."""
    if cell.kind is CellKind.ANY:
        return -np.inf, np.inf
    if cell.kind is CellKind.INTERVAL:
        return _bound(cell.low, -np.inf), _bound(cell.high, np.inf)
    members = [float(v) for v in map(number, cell.members) if v is not None]
    if cell.kind is CellKind.MASK or not members:
        return float(np.nanmin(covered)), float(np.nanmax(covered))
    return min(members), max(members)


def _bound(bound: Any, missing: float) -> float:
    return float(bound) if isinstance(bound, Decimal) else missing
