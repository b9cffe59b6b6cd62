"""Generalization hierarchies: every value, what it may be published as, level by level, up to the root.

Files are read as ARX writes them: one line per leaf, from the leaf to the root, ``;`` or ``,``
between the cells, no header. Rows of unequal length make an unbalanced tree; a shorter row repeats
its leaf, so that all leaves have the same height and the root stays last:

    1;0-4;0-9;*              1;0-4;0-9;*
    unknown;*           →    unknown;unknown;unknown;*
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.errors import InputError
from showthrough.said import private
from showthrough.table import hierarchy_file, hierarchy_rules
from showthrough.table.arrays import Codes
from showthrough.table.frames import listed_values
from showthrough.table.hierarchy_rules import ROOT
from showthrough.table.hierarchy_tree import draw
from showthrough.table.texts import as_text

_LISTED = 20


@dataclass(frozen=True, repr=False)
class Hierarchy:
    """A tree over ``leaves``: ``levels[k][i]`` is what leaf ``i`` is called at level ``k``.

    Level 0 are the leaves themselves, the last level is the root alone. ``rule`` says where the
    tree comes from.

    >>> h = Hierarchy.prefixes(["13053", "13068"])
    >>> h.height, h.labels(2), h.rule
    (5, ['130**'], 'prefixes')
    """

    levels: tuple[tuple[str, ...], ...]
    rule: str = "rows"

    def __post_init__(self) -> None:
        _check(self.levels)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, encoding: str | None = None) -> Hierarchy:
        """Read an ARX hierarchy file."""
        name = os.fspath(path)
        lines, rows = hierarchy_file.read(name, encoding=encoding)
        return cls(_levels(rows, [f"{name}, line {line}" for line in lines]), f"file {name}")

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]]) -> Hierarchy:
        """One row per leaf, from the leaf to the root; short rows repeat their leaf."""
        listed = [[str(cell).strip() for cell in row] for row in rows]
        return cls(_levels(listed, [f"Row {k + 1} of the hierarchy" for k in range(len(listed))]))

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Hierarchy:
        """Labels with what is under them: ``{"Europe": ["DE", "FR"], "Asia": {"East": ["JP"]}}``."""
        return cls.from_rows(hierarchy_rules.branches(tree))

    @classmethod
    def intervals(
        cls, values: Iterable[Any], *, widths: Sequence[Any] = (5, 10, 20), origin: int | str | Decimal = 0
    ) -> Hierarchy:
        """Numbers in ever wider intervals ``[20, 25)``, ``[20, 30)``; each width a multiple of the one before."""
        texts = _texts(values)
        steps = ", ".join(str(w) for w in widths)
        return cls(
            _ruled(hierarchy_rules.interval_rows(texts, widths=widths, origin=origin)), f"intervals of width {steps}"
        )

    @classmethod
    def prefixes(cls, values: Iterable[Any]) -> Hierarchy:
        """Codes masked from the right: ``13053``, ``1305*``, ``130**``, ... ``*``."""
        return cls(_ruled(hierarchy_rules.prefix_rows(_texts(values))), "prefixes")

    @classmethod
    def dates(cls, values: Iterable[Any]) -> Hierarchy:
        """Day, month, year, decade: ``2021-03-05``, ``2021-03``, ``2021``, ``2020-2029``, ``*``."""
        return cls(_ruled(hierarchy_rules.date_rows(_texts(values))), "dates")

    @classmethod
    def flat(cls, values: Iterable[Any]) -> Hierarchy:
        """A value, or nothing."""
        return cls(_ruled([[text, ROOT] for text in _texts(values)]), "flat")

    @classmethod
    def propose(cls, column: pl.Series | Iterable[Any]) -> Hierarchy:
        """A first hierarchy for a column; ``rule`` says which rule it follows.

        Numbers become intervals, ISO dates go by month, year and decade, and codes of one length are
        masked from the right: codes hold a digit, and those of digits alone have a leading zero or
        five digits or more. Anything else is kept or hidden.
        """
        values = column if isinstance(column, pl.Series) else listed_values(column, "column")
        texts, typed = _texts(values), values.dtype.is_numeric()
        rule, widths = hierarchy_rules.choose(texts, typed=typed)
        if rule == "intervals":
            return cls.intervals(texts, widths=widths)
        return {"dates": cls.dates, "prefixes": cls.prefixes, "flat": cls.flat}[rule](texts)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values at the bottom."""
        return self.levels[0]

    @property
    def height(self) -> int:
        """The level of the root."""
        return len(self.levels) - 1

    @property
    def root(self) -> str:
        """The label above everything."""
        return self.levels[-1][0]

    def labels(self, level: int) -> list[str]:
        """The different labels at a level; ``codes`` counts in this order."""
        return self._coded[level][0]

    def codes(self, level: int) -> Codes:
        """For each leaf the position of its label in ``labels(level)``."""
        return self._coded[level][1]

    def leaves_under(self, level: int) -> npt.NDArray[np.int64]:
        """For each label at a level the number of leaves under it."""
        return np.bincount(self.codes(level), minlength=len(self.labels(level))).astype(np.int64)

    def leaves_of(self, label: str) -> frozenset[str]:
        """The leaves that a label stands for; on several levels, all that any of them stands for."""
        if label not in self._under:
            raise InputError(f"The hierarchy has no {private(f'label {label!r}', 'such label')}.")
        return frozenset(self.leaves[k] for k in self._under[label])

    def __contains__(self, label: object) -> bool:
        return label in self._under

    def index(self, values: pl.Series | Iterable[Any]) -> Codes:
        """The position in ``leaves`` of every value; every value must be there."""
        column = _column(values)
        if column.null_count():
            raise InputError(f"{column.null_count()} of the values are empty: a hierarchy has no place for them.")
        self.cover(column, "The column")
        position = pl.Series(range(len(self.leaves)), dtype=pl.Int32)
        found = column.replace_strict(pl.Series(self.leaves, dtype=pl.String), position, return_dtype=pl.Int32)
        return found.to_numpy().astype(np.int32)

    def above(self, values: pl.Series | Iterable[Any]) -> list[npt.NDArray[np.int64]]:
        """For each level above the leaves the node of every value, numbered without gaps; the root comes last."""
        leaf = self.index(values)
        levels = (self.codes(level)[leaf] for level in range(1, self.height + 1))
        return [np.unique(codes, return_inverse=True)[1].astype(np.int64) for codes in levels]

    def missing(self, values: pl.Series | Iterable[Any]) -> list[str]:
        """The different values that are no leaf, in order of appearance; empty ones are left out."""
        each = _column(values).drop_nulls().unique(maintain_order=True)
        return each.filter(~each.is_in(pl.Series(self.leaves, dtype=pl.String).implode())).to_list()

    def cover(self, values: pl.Series | Iterable[Any], where: str) -> None:
        """Every value is a leaf, or a sentence lists those that are not."""
        absent = self.missing(values)
        if not absent:
            return
        listed = ", ".join(repr(text) for text in absent[:_LISTED])
        more = f" and {len(absent) - _LISTED} more" if len(absent) > _LISTED else ""
        count = "1 value that is" if len(absent) == 1 else f"{len(absent)} values that are"
        shown = private(f": {listed}{more}", "")
        raise InputError(f"{where} has {count} not in the hierarchy ({self.rule}){shown}. Add a row for each of them.")

    def tree(self, lines: int = 40) -> str:
        """The tree drawn with box characters, in at most about ``lines`` lines."""
        return draw(self.levels, lines=lines)

    def __str__(self) -> str:
        return self.tree()

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.leaves)} leaves, height {self.height}, {self.rule})"

    @cached_property
    def _coded(self) -> list[tuple[list[str], Codes]]:
        coded = []
        for level in self.levels:
            order = {label: code for code, label in enumerate(dict.fromkeys(level))}
            codes = np.fromiter((order[label] for label in level), dtype=np.int32, count=len(level))
            codes.flags.writeable = False
            coded.append((list(order), codes))
        return coded

    @cached_property
    def _under(self) -> dict[str, list[int]]:
        under: dict[str, set[int]] = {}
        for level in self.levels:
            for leaf, label in enumerate(level):
                under.setdefault(label, set()).add(leaf)
        return {label: sorted(leaves) for label, leaves in under.items()}


def as_hierarchy(given: Any) -> Hierarchy:
    """A hierarchy from whatever tells one: itself, an ARX file, a nested dict, or rows of labels."""
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, (str, os.PathLike)):
        return Hierarchy.read(given)
    if isinstance(given, Mapping):
        return Hierarchy.from_tree(given)
    if not isinstance(given, Iterable):
        raise InputError(
            f"Expected a hierarchy, a file of one, a nested dict or rows of labels, got {type(given).__name__}."
        )
    return Hierarchy.from_rows(given)


def _column(values: pl.Series | Iterable[Any]) -> pl.Series:
    """Text without blanks around it; empty texts are gaps."""
    if isinstance(values, pl.Series):
        texts = as_text(values, "The column")
    else:
        texts = pl.Series([None if v is None else str(v).strip() for v in values], dtype=pl.String)
    return texts.set(texts == "", None)


def _texts(values: pl.Series | Iterable[Any]) -> list[str]:
    texts = _column(values).drop_nulls().unique(maintain_order=True).to_list()
    if not texts:
        raise InputError("A hierarchy needs at least one value, and there is none.")
    return texts


def _ruled(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return _levels(rows, [f"Value {k + 1} of the hierarchy" for k in range(len(rows))])


def _levels(rows: Sequence[Sequence[str]], where: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Rows of labels, each with its place for messages, as levels of one tree."""
    paths: dict[str, tuple[tuple[str, ...], str]] = {}
    for row, place in zip(rows, where, strict=True):
        path = _path(row, place)
        known = paths.setdefault(path[0], (path, place))
        if known[0] != path:
            raise InputError(
                f"{place}: the value {path[0]!r} stands a second time, with other labels than before "
                f"({known[1]}). A value has one row.",
                shareable=f"{place}: a value stands a second time, with other labels than before ({known[1]}).",
            )
    if not paths:
        raise InputError("A hierarchy needs at least one row, and there is none.")
    several = len({path[-1] for path, _ in paths.values()}) > 1
    whole = {leaf: ((*path, ROOT) if several or len(path) == 1 else path) for leaf, (path, _) in paths.items()}
    height = max(len(path) for path in whole.values())
    padded = [(path[0],) * (height - len(path)) + path for path in whole.values()]
    places = [place for _, place in paths.values()]
    levels = tuple(zip(*padded, strict=True))
    _check(levels, places)
    return levels


def _path(row: Sequence[str], place: str) -> tuple[str, ...]:
    cells = list(row)
    while len(cells) > 1 and not cells[-1]:  # spreadsheets fill short rows
        cells.pop()
    if not cells or not cells[0]:
        raise InputError(f"{place}: the first cell is empty. Every row starts with a value.")
    if "" in cells:
        raise InputError(f"{place}: cell {cells.index('') + 1} is empty. Every level needs a label.")
    return tuple(cells)


def _check(levels: tuple[tuple[str, ...], ...], places: Sequence[str] | None = None) -> None:
    """Every label has one parent, the root is alone, the leaves are different and not empty."""
    if not levels or not levels[0] or len({len(level) for level in levels}) > 1:
        raise InputError("A hierarchy needs at least one leaf, and a label for every leaf at every level.")
    if any(not label for level in levels for label in level):
        raise InputError("A hierarchy has no empty labels.")
    if len(set(levels[0])) < len(levels[0]):
        raise InputError("A hierarchy has every leaf once.")
    if len(set(levels[-1])) > 1:
        raise InputError(f"A hierarchy ends in one root, but this one ends in {len(set(levels[-1]))} labels.")
    for k in range(len(levels) - 1):
        parents: dict[str, tuple[str, int]] = {}
        for leaf, (label, parent) in enumerate(zip(levels[k], levels[k + 1], strict=True)):
            known, first = parents.setdefault(label, (parent, leaf))
            if known != parent:
                here, there = ("", "") if places is None else (f"{places[leaf]}: ", f" ({places[first]})")
                what = "value" if k == 0 else f"label of level {k}"
                raise InputError(
                    f"{here}the {what} {label!r} is under {parent!r}, before it was under {known!r}{there}. "
                    "In a hierarchy every label has one parent.",
                    shareable=f"{here}a {what} is under two labels{there}.",
                )
