"""Information lost in the quasi-identifiers: NCP and GCP, and entropy.

NCP and GCP: Xu, Wang, Pei et al., *Utility-Based Anonymization Using Local Recoding*, KDD 2006;
Ghinita, Karras, Kalnis, Mamoulis, *Fast Data Anonymization with Low Information Loss*, VLDB 2007.
Entropy: Gionis and Tassa, *k-Anonymization with Minimal Loss of Information*, TKDE 21(2), 2009.

What a group publishes of a column comes in two readings. ``set``: the values really in the group.
``hierarchy``: all values under their lowest common ancestor, as tools with hierarchies print it;
a number without a hierarchy is published as the range of the group in both. Suppressed rows
publish nothing and lose everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.coding import as_numbers
from showthrough.criteria.ground import tree
from showthrough.errors import InputError
from showthrough.measuring.grouping import Grouping
from showthrough.table.arrays import Ints, Reals, sum_by
from showthrough.table.ragged import owners, running

READINGS = ("set", "hierarchy")


@dataclass(frozen=True)
class Reading:
    """How cells are published: which reading, the hierarchies, and the heights that are published at least.

    ``heights`` is for tools that recode whole columns: they print the ancestor at that height even
    where the group would allow a lower one. ``numeric`` columns are measured by their range; by
    default those that hold numbers and have no hierarchy (numbers as text must be named).
    """

    name: str = "set"
    hierarchies: Mapping[str, Any] | None = None
    heights: Mapping[str, int] | None = None
    numeric: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.name not in READINGS:
            raise InputError(f"The reading is one of {', '.join(READINGS)}, not {self.name!r}.")

    def ranges(self, column: pl.Series, name: str) -> bool:
        """Whether the column is measured by the range of its numbers."""
        if self.numeric is not None:
            return name in self.numeric
        return column.dtype.is_numeric() and not (self.name == "hierarchy" and name in (self.hierarchies or {}))


def ncp(grouping: Grouping, reading: Reading | None = None) -> pl.DataFrame:
    """The penalty of each group (rows) in each quasi-identifier (columns), between 0 and 1.

    Numbers: (max − min)/(max − min of the table). Others: 0 for one value, else published values
    over all values of the table.
    """
    reading = reading or Reading()
    return pl.DataFrame({name: _penalty(grouping, name, reading) for name in grouping.quasi})


def gcp(grouping: Grouping, reading: Reading | None = None) -> float:
    """Σ |G| · mean NCP over all rows, where a suppressed row costs 1; 0 is the table itself."""
    if not grouping.quasi:
        raise InputError("Information loss is measured in quasi-identifiers: name at least one.")
    rows = grouping.table.height
    if grouping.suppressed == rows:
        return 1.0
    penalty = ncp(grouping, reading).to_numpy().mean(axis=1)
    return float(((penalty * grouping.sizes).sum() + grouping.suppressed) / rows)


def entropy_loss(grouping: Grouping, reading: Reading | None = None) -> float:
    """Bits needed to find the cells again, over the bits needed if every row were suppressed.

    A cell with value v published as the values B costs −log₂(n(v)/n(B)), with n counted in the
    whole table. 0 is the table itself; a table of constant columns has nothing to lose.
    """
    reading = reading or Reading()
    lost = everything = 0.0
    rows = grouping.table.height
    for name in grouping.quasi:
        code, labels = grouping.coded(name)
        n = np.bincount(code, minlength=labels.len())
        whole = -np.log2(n / rows)[code]
        everything += float(whole.sum())
        lost += float(whole[grouping.group < 0].sum())
        if grouping.groups:
            share = n[code[grouping.order]] / np.repeat(_covered(grouping, name, reading, n), grouping.sizes)
            lost -= float(np.log2(share).sum())
    return max(lost / everything, 0.0) if everything else 0.0


def _penalty(grouping: Grouping, name: str, reading: Reading) -> Reals:
    column = grouping.table[name].alias("cell")
    if reading.ranges(column, name):
        numbers = as_numbers(column)
        if numbers is None or numbers.null_count():
            raise InputError(f"The column {name!r} holds cells that are no numbers: measure it as a category.")
        low, high = _ends(grouping, numbers.to_numpy())
        width = float(numbers.max()) - float(numbers.min())  # type: ignore[arg-type]
        return (high - low) / width if width else np.zeros(grouping.groups)
    domain = grouping.coded(name)[1].len()
    published = _covered(grouping, name, reading, np.ones(domain, dtype=np.int64))
    return np.where(published > 1, published / domain, 0.0)


def _covered(grouping: Grouping, name: str, reading: Reading, weight: Ints) -> Reals:
    """Σ of ``weight`` over the values that each group publishes of a column."""
    code, labels = grouping.coded(name)
    given = (reading.hierarchies or {}).get(name)
    by_range = reading.ranges(grouping.table[name], name)
    if by_range:
        low, high = _ends(grouping, code)
        total = running(weight)
        return np.asarray(total[high + 1] - total[low], dtype=np.float64)
    if reading.name == "hierarchy" and given is None:
        raise InputError(f"The hierarchy reading needs a hierarchy of {name!r}.")
    least = (reading.heights or {}).get(name, 0)
    if reading.name == "set":
        key = np.unique(owners(grouping.start) * labels.len() + code[grouping.order])
        return sum_by(key // labels.len(), weight[key % labels.len()].astype(np.float64), grouping.groups)
    low, high = _ends(grouping, code)
    found = np.where((low == high) & (least == 0), weight[low], -1).astype(np.float64)
    for height, ancestor in enumerate(tree(given, labels), start=1):
        low, high = _ends(grouping, ancestor[code])
        here = (low == high) & (found < 0) & (height >= least)
        under = np.bincount(ancestor, weights=weight)
        found[here] = under[low[here]]
    return found


def _ends(grouping: Grouping, column: Any) -> tuple[Any, Any]:
    """The smallest and the largest entry of each group."""
    ordered = column[grouping.order]
    if not grouping.groups:
        return ordered[:0], ordered[:0]
    return np.minimum.reduceat(ordered, grouping.start[:-1]), np.maximum.reduceat(ordered, grouping.start[:-1])
