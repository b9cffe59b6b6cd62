"""Conditions on columns: which persons a statement speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
class Entries:
    """A column of everybody: its different entries as text, ascending, and whose is which (−1: not known)."""

    values: pl.Series
    code: Codes

    @classmethod
    def of(cls, column: pl.Series) -> Entries:
        """From a column of text."""
        values = column.drop_nulls().unique().sort()
        return cls(values, positions(column, values))


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

    def fitting(self, columns: Mapping[str, Entries], trees: Mapping[str, Hierarchy], where: str) -> Flags:
        """Who fits, by the columns of all persons as text; a person whose entry is not known does not."""
        found = None
        for column, cells, every in self.columns:
            own = _covered(column, cells, every, columns[column], trees.get(column), where)
            found = own if found is None else found & own
        assert found is not None
        return found

    def as_dict(self) -> dict[str, Any]:
        """The cells of each column."""
        return {column: list(cells) for column, cells, _ in self.columns}

    def __str__(self) -> str:
        told = (f"{column} {(' and ' if every else ' or ').join(cells)}" for column, cells, every in self.columns)
        return ", ".join(told)


def _covered(
    column: str, cells: tuple[str, ...], every: bool, entries: Entries, tree: Hierarchy | None, where: str
) -> Flags:
    """Which entries the cells cover."""
    values = entries.values
    domain = values if values.len() else None
    read = read_cells(pl.Series(cells, dtype=pl.String), name=column, where=where, hierarchy=tree, domain=domain)
    cover = covers(read, values)
    hits = np.zeros((len(cells), values.len()), dtype=bool)
    for place, code in enumerate(read.codes.tolist()):
        if read.any[code]:
            hits[place] = True
        else:
            hits[place, cover.code[cover.start[code] : cover.start[code + 1]]] = True
    good = hits.all(axis=0) if every else hits.any(axis=0)
    return np.append(good, False)[entries.code]


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
