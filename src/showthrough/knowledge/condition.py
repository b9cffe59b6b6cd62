"""Conditions on columns: which persons a statement speaks of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.release.cells import covers, read_cells
from showthrough.table.arrays import Codes, Flags
from showthrough.table.codes import positions
from showthrough.table.hierarchy import Hierarchy
from showthrough.table.texts import as_text

_ENDS = {"at_least": ">=", "at_most": "<=", "above": ">", "below": "<"}


@dataclass(frozen=True, eq=False)
class ColumnEntries:
    """A column of everybody: its different entries as text, ascending, and whose is which (−1: not known)."""

    values: pl.Series
    code: Codes
    _under: dict[str, Flags] = field(default_factory=dict)

    @classmethod
    def of(cls, column: pl.Series) -> ColumnEntries:
        """From a column of text."""
        values = column.drop_nulls().unique().sort()
        return cls(values, positions(column, values))

    def under(self, cell: str, column: str, trees: Mapping[str, Hierarchy], where: str) -> Flags:
        """[values] which of them a printed cell covers."""
        if cell not in self._under:
            self.read([cell], column, trees, where)
        return self._under[cell]

    def read(self, cells: Sequence[str], column: str, trees: Mapping[str, Hierarchy], where: str) -> None:
        """Look many cells up at once, which takes hardly longer than one."""
        read = read_cells(
            pl.Series(cells, dtype=pl.String), name=column, where=where, hierarchy=trees.get(column), domain=self.values
        )
        cover = covers(read, self.values)
        for cell, code in zip(cells, read.codes.tolist(), strict=True):
            hit = np.full(self.values.len(), bool(read.any[code]))
            hit[cover.code[cover.start[code] : cover.start[code + 1]]] = True
            self._under[cell] = hit


@dataclass(frozen=True)
class Condition:
    """For some columns, the cells of which one must cover a person's entry; ends of a range must all cover it.

    >>> print(Condition.of({"age": {"at_least": 30, "at_most": 39}, "sex": ["f", "x"]}))
    age >=30 and <=39, sex f or x
    """

    columns: tuple[tuple[str, tuple[str, ...], bool], ...]  # column, cells, whether all of them must cover

    @classmethod
    def of(cls, given: Any) -> Condition:
        """From a mapping of columns to values, lists, ranges and cells."""
        if isinstance(given, Condition):
            return given
        if not isinstance(given, Mapping):
            raise untaken("where maps columns to what they hold")
        if not given:
            raise untaken("where says nothing: name a column and what it holds")
        return cls(tuple((str(column), *_cells(str(column), entry)) for column, entry in given.items()))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(column for column, _, _ in self.columns)

    def fitting(self, columns: Mapping[str, ColumnEntries], trees: Mapping[str, Hierarchy], where: str) -> Flags:
        """Who fits, by the columns of all persons; a person whose entry is not known does not."""
        found = None
        for column, cells, every in self.columns:
            entries = columns[column]
            hits = np.stack([entries.under(cell, column, trees, where) for cell in cells])
            good = hits.all(axis=0) if every else hits.any(axis=0)
            own = np.append(good, False)[entries.code]
            found = own if found is None else found & own
        assert found is not None
        return found

    def as_dict(self) -> dict[str, Any]:
        """The cells of each column."""
        return {column: list(cells) for column, cells, _ in self.columns}

    def __str__(self) -> str:
        told = (f"{column} {(' and ' if every else ' or ').join(cells)}" for column, cells, every in self.columns)
        return ", ".join(told)


def _cells(column: str, entry: Any) -> tuple[tuple[str, ...], bool]:
    """What a column may hold as printed cells, and whether all of them must hold."""
    if isinstance(entry, Mapping):
        strange = [key for key in entry if key not in _ENDS]
        if strange or not entry:
            raise untaken(f"the range of column {column!r} has the ends {', '.join(_ENDS)}")
        return tuple(f"{_ENDS[key]}{_text(column, end)}" for key, end in entry.items()), True
    listed = list(entry) if isinstance(entry, (list, tuple, set, frozenset)) else [entry]
    if not listed:
        raise untaken(f"column {column!r} lists nothing that it may hold")
    return tuple(_text(column, each) for each in listed), False


def _text(column: str, entry: Any) -> str:
    if entry is None or isinstance(entry, (list, tuple, set, Mapping)):
        raise untaken(f"column {column!r} is compared with values, not with {type(entry).__name__}")
    text: str = as_text(pl.Series([entry]), f"where: column {column!r}")[0]
    return text


def untaken(why: str) -> InputError:
    """The error of a statement that says nothing that can be taken."""
    return InputError(f"A statement cannot be taken: {why}.", parameters=("knowledge",))
