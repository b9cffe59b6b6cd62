"""Cells for a table of counts: few enough that noise does not drown them, and fixed before anybody is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

import numpy as np
import polars as pl

from showthrough.anonymizers.table import ranged
from showthrough.comparing.option import ToCompare
from showthrough.table.arrays import Reals
from showthrough.table.hierarchy import Hierarchy, as_hierarchy
from showthrough.table.texts import as_text

_MOST = 16  # cells of one column of numbers to begin with


@dataclass(frozen=True, eq=False)
class Binned:
    """One column in cells: each row's cell, and all cells that there are."""

    name: str
    rows: pl.Series
    cells: tuple[str, ...]
    words: str


@dataclass(frozen=True, eq=False)
class Bins:
    """The table with cells instead of values, and the columns that its cells tell apart."""

    table: pl.DataFrame
    id: str
    every: tuple[str, ...]
    """All quasi-identifiers of the table."""
    quasi: tuple[str, ...]
    tables: tuple[tuple[str, ...], ...]
    """The columns of each table of counts."""
    domain: Mapping[str, tuple[str, ...]]
    words: str
    """What the cells are, such as "age in 8 ranges × sex"."""


@dataclass(frozen=True, eq=False)
class _Cut:
    """A quasi-identifier that can be cut more and more coarsely."""

    name: str
    values: pl.Series
    tree: Hierarchy | None
    level: int = 0  # of the hierarchy, or halvings of the ranges

    def coarser(self) -> _Cut | None:
        """The next step; None where only one cell is left."""
        found = replace(self, level=self.level + 1)
        return found if len(found.binned().cells) > 1 else None

    def binned(self) -> Binned:
        if self.tree is None and ranged(self.values):
            return self._ranges()
        if self.tree is not None:
            return self._labels(self.tree)
        text = as_text(self.values, f"The column {self.name!r}")
        cells = text.unique().drop_nulls().sort().to_list() if not self.level else []
        return Binned(self.name, text, tuple(cells), self.name)

    def _ranges(self) -> Binned:
        """Equal ranges from the smallest to the largest number."""
        number = self.values.cast(pl.Float64).to_numpy()
        low, high = float(np.nanmin(number)), float(np.nanmax(number))
        whole = bool((self.values.drop_nulls().cast(pl.Float64) % 1 == 0).all())
        many = max(1, (min(_MOST, int(high - low) + 1) if whole else _MOST) >> self.level)
        ends = _ends(low, high + (1 if whole else 0), many, whole=whole)
        which = np.clip(np.searchsorted(ends, number, side="right") - 1, 0, many - 1)
        if whole:
            cells = [f"[{int(a)},{int(b) - 1}]" for a, b in pairwise(ends)]
        else:
            cells = [f"[{a!r},{b!r})" for a, b in pairwise(ends.tolist())]
            cells[-1] = f"{cells[-1][:-1]}]"
        rows = pl.Series(self.name, cells).gather(which)
        return Binned(self.name, rows, tuple(cells), f"{self.name} in {many} ranges" if many > 1 else self.name)

    def _labels(self, tree: Hierarchy) -> Binned:
        if self.level > tree.height:
            return Binned(self.name, self.values, (), self.name)
        cells = tuple(tree.labels(self.level))
        text = as_text(self.values, f"The column {self.name!r}")
        rows = pl.Series(self.name, cells).gather(tree.codes(self.level)[tree.index(text)])
        return Binned(self.name, rows, cells, self.name if not self.level else f"{self.name} at level {self.level}")


def _ends(low: float, high: float, many: int, *, whole: bool) -> Reals:
    """The ends of equal ranges, in as few digits as tell them well apart; the first and the last leave nobody out."""
    if whole:
        found: Reals = np.ceil(np.linspace(low, high, many + 1))
        return found
    digits = max(0, 3 - int(np.floor(np.log10((high - low) / many)))) if high > low else 0
    ends = np.round(np.linspace(low, high, many + 1), digits)
    ends[0], ends[-1] = min(ends[0], low), max(ends[-1], high)
    return ends


def joint(asked: ToCompare, least: float) -> Bins:
    """One table of cells that hold ``least`` persons of each value on average: the column with most gives way first.

    Columns that would be left with one cell are not told apart at all.
    """
    most, cuts = _most(asked, least), _cuts(asked)
    cut = {name: own.binned() for name, own in cuts.items()}
    while cut and prod(len(own.cells) for own in cut.values()) > most:
        widest = max(cut, key=lambda name: len(cut[name].cells))
        found = cuts[widest].coarser()
        if found is None:
            del cut[widest]
            continue
        cuts[widest], cut[widest] = found, found.binned()
    return _bins(asked, cut, lambda names: (names,), " × ")


def marginals(asked: ToCompare, least: float) -> Bins:
    """One table for each column, in cells that hold ``least`` persons of each value on average."""
    most, cut = _most(asked, least), {}
    for name, own in _cuts(asked).items():
        found: _Cut | None = own
        while found is not None and len(found.binned().cells) > most:
            found = found.coarser()
        if found is not None:
            cut[name] = found.binned()
    return _bins(asked, cut, lambda names: tuple((name,) for name in names), ", by ")


def _most(asked: ToCompare, least: float) -> int:
    """How many cells a table may have."""
    return max(1, int(asked.table.height / (least * max(1, asked.table[asked.sensitive].n_unique()))))


def _cuts(asked: ToCompare) -> dict[str, _Cut]:
    trees = {c: as_hierarchy(tree) for c, tree in asked.hierarchies.items()}
    return {c: _Cut(c, asked.table[c], trees.get(c)) for c in asked.quasi}


def _bins(
    asked: ToCompare,
    cut: Mapping[str, Binned],
    tables: Callable[[tuple[str, ...]], tuple[tuple[str, ...], ...]],
    between: str,
) -> Bins:
    told = {name: own for name, own in cut.items() if len(own.cells) > 1}
    return Bins(
        asked.table.with_columns(own.rows.alias(name) for name, own in told.items()),
        asked.id,
        asked.quasi,
        tuple(told),
        tables(tuple(told)),
        {name: own.cells for name, own in told.items()},
        between.join(own.words for own in told.values()) or "no quasi-identifier",
    )
