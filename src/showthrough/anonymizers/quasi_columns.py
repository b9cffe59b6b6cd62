"""Quasi-identifiers as encoded columns: what every anonymizer reads.

A code is the position of a leaf value in the column's domain. Numeric columns keep their values in
ascending order of the codes. A hierarchy is a list of levels; level j holds, for every leaf, the
code of the label that stands for it there, and the last level has one label for all (the root).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from showthrough.errors import InputError
from showthrough.said import private
from showthrough.table.arrays import Codes, Reals

Shown = Literal["range", "label", "set"]
CellCost = Literal["loss", "entropy", "precision"]


def shortest(number: float) -> str:
    """A number in as few digits as tell it from all others, so that a range covers its ends.

    >>> shortest(20.0), shortest(0.1), shortest(0.1 + 0.2), shortest(1234567890123456.0)
    ('20', '0.1', '0.30000000000000004', '1234567890123456')
    """
    text = f"{number:.15g}"
    return text if float(text) == number else repr(float(number)).removesuffix(".0")


@dataclass(frozen=True)
class QuasiColumn:
    """One quasi-identifier: codes per row, its domain and how a group of it is published.

    ``shown`` is ``range`` (numeric: from the lowest to the highest value of the group), ``label``
    (the lowest common ancestor in the hierarchy) or ``set`` (the values of the group).

    >>> age = QuasiColumn.numeric("age", [30.0, 20.0, 30.0])
    >>> age.codes.tolist(), age.labels, age.shown
    ([1, 0, 1], ('20', '30'), 'range')
    """

    name: str
    codes: Codes
    labels: tuple[str, ...]
    values: Reals | None = None
    levels: tuple[Codes, ...] = ()
    level_labels: tuple[tuple[str, ...], ...] = ()
    shown: Shown = "set"
    weight: float = 1.0
    open_low: bool = False
    """The first value stands for all numbers below some bound (bottom coding)."""
    open_high: bool = False
    """The last value stands for all numbers from some bound on (top coding)."""
    least: int = 0
    """The lowest level that may be published."""
    greatest: int | None = None
    """The highest level that may be published; None: any."""
    measure: CellCost = "loss"
    """What a cell costs while groups are made: NCP, the bits that it leaves open, or its level (``objectives.py``)."""
    often: Reals | None = None
    """Rows of each value in the whole table, where bits are counted."""
    bit: float = 1.0
    """What a bit costs."""
    rank: Codes = field(init=False, repr=False)
    """Order in which cuts see the leaves: ranges by value, labels depth first (so that every label is an interval of
    ranks), sets by falling frequency."""

    def __post_init__(self) -> None:
        if self.codes.size and not 0 <= int(self.codes.min()) <= int(self.codes.max()) < len(self.labels):
            raise InputError(f"Column {self.name!r}: codes must lie between 0 and {len(self.labels) - 1}.")
        if self.shown == "range" and self.values is None:
            raise InputError(f"Column {self.name!r} is not numeric: publish it as labels or as sets, not as ranges.")
        if self.shown == "label" and not self.levels:
            raise InputError(f"Column {self.name!r} has no hierarchy: give one, or publish it as sets or ranges.")
        if not self.weight > 0:
            raise InputError(f"Column {self.name!r}: the weight must be above 0, found {self.weight}.")
        if self.values is not None and (len(self.values) != len(self.labels) or np.any(np.diff(self.values) <= 0)):
            raise InputError(f"Column {self.name!r}: one ascending number per code is expected.")
        self._check_levels()
        object.__setattr__(self, "rank", self._ranks())

    def _check_levels(self) -> None:
        if len(self.levels) != len(self.level_labels):
            raise InputError(f"Column {self.name!r}: each level of the hierarchy needs its labels.")
        for depth, (lower, upper) in enumerate(zip(self.levels, self.levels[1:], strict=False)):
            pairs = np.unique(np.stack([lower, upper]), axis=1)
            split = pairs[0, 1:][pairs[0, 1:] == pairs[0, :-1]]
            if split.size:
                label = self.level_labels[depth][int(split[0])]
                raise InputError(
                    f"Column {self.name!r}: label {private(repr(label))} of level {depth + 1} has two parents on level "
                    f"{depth + 2}; each label must lie under one label of the next level."
                )
        if self.levels and np.any(self.levels[-1] != self.levels[-1][0]):
            raise InputError(f"Column {self.name!r}: the last level must have one label for all values (such as '*').")

    def _ranks(self) -> Codes:
        if self.shown == "range" or not len(self.labels):
            return np.arange(len(self.labels), dtype=np.int32)
        if self.shown == "set":
            # cutting off the rare values leaves the frequent ones in small sets, far better than any given order
            order = np.argsort(-np.bincount(self.codes, minlength=len(self.labels)), kind="stable")
        else:
            # a numeric column keeps its order among siblings, so cuts inside a label stay intervals
            order = np.lexsort(np.stack([np.arange(len(self.labels)), *self.levels]))
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return rank

    @property
    def size(self) -> int:
        """Number of leaf values in the domain."""
        return len(self.labels)

    @property
    def extent(self) -> float:
        """Highest minus lowest value of a numeric column."""
        return 0.0 if self.values is None or not len(self.values) else float(self.values[-1] - self.values[0])

    @classmethod
    def numeric(cls, name: str, values: npt.ArrayLike, *, weight: float = 1.0) -> QuasiColumn:
        """Encode numbers; NaN is refused: suppress such rows or give the column as text."""
        numbers = np.asarray(values, dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise InputError(f"Column {name!r} holds a missing or infinite number: suppress such rows or use text.")
        distinct, codes = np.unique(numbers, return_inverse=True)
        labels = tuple(map(shortest, distinct.tolist()))
        return cls(name, codes.astype(np.int32), labels, values=distinct, shown="range", weight=weight)

    @classmethod
    def categorical(
        cls, name: str, values: Sequence[str] | npt.NDArray[np.str_], *, weight: float = 1.0
    ) -> QuasiColumn:
        """Encode texts; the domain is what occurs, in alphabetical order."""
        distinct, codes = np.unique(np.asarray(values, dtype=np.str_), return_inverse=True)
        return cls(name, codes.astype(np.int32), tuple(map(str, distinct.tolist())), weight=weight)

    def coded(self, *, low: float | None = None, high: float | None = None) -> QuasiColumn:
        """Bottom and top coding of numbers: those below ``low`` become one value, those from ``high`` on another.

        >>> QuasiColumn.numeric("age", [17.0, 19.0, 40.0, 85.0, 90.0]).coded(low=20, high=80).labels
        ('<20', '40', '>=80')
        """
        if self.values is None or self.levels:
            raise InputError(
                f"Column {self.name!r}: only a numeric column without hierarchy can be top or bottom coded."
            )
        if low is not None and high is not None and not low < high:
            raise InputError(f"Column {self.name!r}: the bound of bottom coding must lie below that of top coding.")
        first = 0 if low is None else max(int(np.searchsorted(self.values, low)) - 1, 0)
        last = self.size - 1 if high is None else min(int(np.searchsorted(self.values, high)), self.size - 1)
        bottom = low is not None and bool(self.values[first] < low)
        top = high is not None and bool(self.values[last] >= high)
        labels = list(self.labels[first : last + 1])
        labels[0] = f"<{shortest(low)}" if low is not None and bottom else labels[0]
        labels[-1] = f">={shortest(high)}" if high is not None and top else labels[-1]
        return QuasiColumn(
            self.name,
            (np.clip(self.codes, first, last) - first).astype(np.int32),
            tuple(labels),
            values=self.values[first : last + 1],
            shown="range",
            weight=self.weight,
            open_low=bottom,
            open_high=top,
        )

    def with_hierarchy(self, rows: Sequence[Sequence[str]], *, shown: Shown = "label") -> QuasiColumn:
        """The same column under a hierarchy: one row per leaf (leaf, level 1, …, root); only occurring leaves count."""
        parents = {row[0]: row[1:] for row in rows}
        missing = [label for label in self.labels if label not in parents]
        if missing:
            raise InputError(
                f"The hierarchy of column {self.name!r} lacks {len(missing)} value(s) of the table"
                f"{private(f', first {missing[0]!r}', '')}: add a line for each."
            )
        depth = len(rows[0]) - 1
        levels, level_labels = [], []
        for level in range(depth):
            texts = [parents[label][level] for label in self.labels]
            seen = {text: code for code, text in enumerate(dict.fromkeys(texts))}
            levels.append(np.array([seen[text] for text in texts], dtype=np.int32))
            level_labels.append(tuple(seen))
        return QuasiColumn(
            self.name,
            self.codes,
            self.labels,
            values=self.values,
            levels=tuple(levels),
            level_labels=tuple(level_labels),
            shown=shown,
            weight=self.weight,
        )


def row_count(columns: Sequence[QuasiColumn]) -> int:
    """Rows of the table, after a check that all columns have as many."""
    if not columns:
        raise InputError("At least one quasi-identifier is needed.")
    lengths = {len(column.codes) for column in columns}
    if len(lengths) > 1:
        raise InputError("The quasi-identifiers have different numbers of rows.")
    return lengths.pop()


def distinct_rows(columns: Sequence[QuasiColumn]) -> tuple[Codes, Codes, npt.NDArray[np.int64]]:
    """Distinct combinations: codes [columns, combinations], the combination of each row, rows per combination."""
    key = combined_key([column.codes for column in columns], [column.size for column in columns])
    _, first, inverse, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    codes = np.stack([column.codes[first] for column in columns])
    return codes, inverse.astype(np.int32), count.astype(np.int64)


def combined_key(codes: Sequence[npt.NDArray[np.integer]], sizes: Sequence[int]) -> npt.NDArray[np.int64]:
    """One integer per row, equal exactly for equal combinations: mixed radix, renumbered before it overflows."""
    key = codes[0].astype(np.int64)
    radix = max(1, sizes[0])
    for code, size in zip(codes[1:], sizes[1:], strict=True):
        if radix > np.iinfo(np.int64).max // max(1, size) // 2:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            radix = int(key.max(initial=0)) + 1
        key = key * size + code
        radix *= max(1, size)
    return key
