"""How often each value occurs in each group: what every criterion looks at, from any source.

`of_frame` counts rows; what a release looks like is known in published.py alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.coding import codes, combine, in_order, ordered
from showthrough.errors import InputError
from showthrough.said import private
from showthrough.table.arrays import Codes, Ints, Reals
from showthrough.table.frames import need_columns, scalar, to_polars
from showthrough.table.ragged import items_of, owners, starts


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """How often each value occurs in each group; values are codes in the order of the values.

    >>> counts = GroupCounts.from_rows(np.array([0, 0, 1]), np.array([0, 1, 1]), values=2)
    >>> counts.size.tolist(), counts.count.tolist(), counts.total.tolist()
    ([2, 1], [1, 1, 1], [1, 2])
    """

    start: Ints
    """Where the entries of each group begin, and the end of the last."""
    value: Codes
    """Value code of each entry, ascending within a group."""
    count: Ints
    total: Ints
    """How often each value occurs in the reference table: all rows, suppressed ones included."""
    labels: pl.Series | None = None
    """The values by code, where a criterion needs more than equality."""

    def __post_init__(self) -> None:
        filled = self.start.size > 0 and bool((np.diff(self.start) > 0).all())
        rising = np.diff(self.value) > 0
        whole = filled and self.start[0] == 0 and self.start[-1] == self.value.size == self.count.size
        if whole:
            rising[self.start[1:-1] - 1] = True
        inside = not self.value.size or (self.value.min() >= 0 and self.value.max() < self.total.size)
        if not (whole and inside and (self.count > 0).all() and rising.all()):
            raise InputError(
                "Counts of groups need at least one entry per group, values ascending within it, and counts above 0."
            )

    @classmethod
    def trusted(
        cls, start: Ints, value: Codes, count: Ints, total: Ints, labels: pl.Series | None = None
    ) -> GroupCounts:
        """The same without checks, for makers that ask about groups by the thousand and keep the rules by design."""
        made = object.__new__(cls)
        made.__dict__.update(start=start, value=value, count=count, total=total, labels=labels)
        return made

    def named(self, labels: pl.Series) -> GroupCounts:
        """The same counts with the values by code."""
        return GroupCounts.trusted(self.start, self.value, self.count, self.total, labels)

    @classmethod
    def from_rows(
        cls, group: Ints | Codes, value: Ints | Codes, *, values: int, total: Ints | None = None
    ) -> GroupCounts:
        """Count rows given by codes; a group below 0 is a suppressed row, which only ``total`` counts."""
        group, value = np.asarray(group, dtype=np.int64), np.asarray(value, dtype=np.int64)
        if total is None:
            total = np.bincount(value, minlength=values)
        kept = group >= 0
        if not kept.all():
            group, value = group[kept], value[kept]
        made = _from_keys(group * values + value, values, total)[0]
        if group.size and made.groups != int(group.max()) + 1:
            raise InputError("Groups are numbered from 0 without gaps: a group without rows has no counts.")
        return made

    @classmethod
    def from_frame(cls, tally: pl.DataFrame, *, total: Ints | None = None) -> GroupCounts:
        """Take a frame of group, value and n; groups and values are coded in their order."""
        return from_tally(tally, total)[0]

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return self.start.size - 1

    @property
    def values(self) -> int:
        """How many values the reference table may hold."""
        return self.total.size

    @cached_property
    def size(self) -> Ints:
        """Persons per group."""
        found: Ints = self.sums(self.count)
        return found

    @cached_property
    def group(self) -> Ints:
        """The group of each entry."""
        return owners(self.start)

    @cached_property
    def distinct(self) -> Ints:
        """Different values per group."""
        return np.diff(self.start)

    @cached_property
    def largest(self) -> Ints:
        """How often the most frequent value of each group occurs."""
        return np.maximum.reduceat(self.count, self.start[:-1]) if self.groups else np.zeros(0, dtype=np.int64)

    @cached_property
    def share(self) -> Reals:
        """The part of its group that each entry makes up."""
        return self.count / np.repeat(self.size, self.distinct)

    @cached_property
    def ratio(self) -> Reals:
        """The share of each entry in its group over its share in all rows; infinite if these lack the value."""
        with np.errstate(divide="ignore"):
            return self.share / self.reference("all")[self.value]

    @cached_property
    def highest_ratio(self) -> Reals:
        """The largest ratio in each group."""
        found: Reals = self.highest(self.ratio)
        return found

    @cached_property
    def kept(self) -> Ints:
        """How often each value occurs in the groups, without suppressed rows."""
        found: Ints = np.bincount(self.value, weights=self.count, minlength=self.values).astype(np.int64)
        return found

    @cached_property
    def descending(self) -> Ints:
        """The counts of each group from the largest to the smallest."""
        top = int(self.count.max()) if self.count.size else 0
        key = self.group * (top + 1) + (top - self.count)
        key.sort()
        found: Ints = top - key % (top + 1)
        return found

    def sums(self, weight: Any) -> Any:
        """Σ of ``weight`` over the entries of each group."""
        return np.add.reduceat(weight, self.start[:-1]) if self.groups else np.zeros(0, dtype=weight.dtype)

    def highest(self, weight: Any) -> Any:
        """The largest ``weight`` among the entries of each group."""
        return np.maximum.reduceat(weight, self.start[:-1]) if self.groups else np.zeros(0, dtype=weight.dtype)

    def lowest(self, weight: Any) -> Any:
        """The smallest ``weight`` among the entries of each group."""
        return np.minimum.reduceat(weight, self.start[:-1]) if self.groups else np.zeros(0, dtype=weight.dtype)

    def reference(self, rows: str) -> Reals:
        """The share of each value in ``all`` rows, or in the ``kept`` ones."""
        found = self.total if rows == "all" else self.kept
        return np.asarray(found / max(int(found.sum()), 1), dtype=np.float64)

    def take(self, groups: Ints) -> GroupCounts:
        """Some of the groups, in the order asked for, against the same reference."""
        entry, length = items_of(self.start, groups)
        return replace(self, start=starts(length), value=self.value[entry], count=self.count[entry])


@dataclass(frozen=True, eq=False)
class Counted:
    """The counts of a release or a frame, with the labels of its groups on request."""

    counts: GroupCounts
    labelled: Callable[[Ints], pl.DataFrame]
    """The labels of these groups, one row each."""
    has_values: bool = True
    quasi: tuple[str, ...] = ()
    """The columns whose cells make the groups, if any do."""
    suppressed: int = 0
    """Rows that are in no group."""
    real: Ints | None = None
    """Persons per group where some of the published records are declared as counterfeits."""


def values_of(frame: pl.DataFrame, sensitive: str | Sequence[str]) -> pl.Series:
    """The sensitive column, or several of them as one composite value."""
    names = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    need_columns(frame, names, "The table")
    if len(names) == 1 and isinstance(frame[names[0]].dtype, (pl.List, pl.Array)):
        return _vectors(frame[names[0]].alias("value"))
    parts = {c: scalar(frame[c], f"The column {c!r}") for c in names}
    return parts[names[0]] if len(names) == 1 else pl.DataFrame(parts).to_struct("value")


def _vectors(column: pl.Series) -> pl.Series:
    """Vectors of one length as composite values."""
    rows = column.to_list()
    lengths = {-1 if row is None else len(row) for row in rows}
    if len(lengths) != 1 or lengths & {-1, 0}:
        raise InputError("Vectors as values must all have the same length, at least 1, without gaps.")
    parts = {f"part{k}": scalar(pl.Series([row[k] for row in rows]), "A vector") for k in range(lengths.pop())}
    return pl.DataFrame(parts).to_struct("value")


def of_frame(
    frame: pl.DataFrame,
    sensitive: str | Sequence[str] | None,
    quasi: Sequence[str] | None,
    *,
    suppressed: str | None = None,
    reference: Any = None,
) -> Counted:
    """Count the rows of a frame; rows with equal quasi-identifiers are a group."""
    if frame.height == 0:
        raise InputError("The table has no rows: there is nothing to check.")
    hidden = set() if sensitive is None else {sensitive} if isinstance(sensitive, str) else set(sensitive)
    names = [c for c in frame.columns if c not in hidden] if quasi is None else _listed(quasi)
    need_columns(frame, names, "The table")
    if hidden & set(names):
        raise InputError(f"The column {min(hidden & set(names))!r} is named as sensitive and as quasi-identifier.")
    columns = [scalar(frame[c], f"The column {c!r}") for c in names]
    if sensitive is None:
        coded, code, labels = codes(columns), np.zeros(frame.height, dtype=np.int64), None
    else:
        *coded, rough = codes([*columns, column := values_of(frame, sensitive)])
        code, labels = in_order(column, rough)
    key = combine(coded, frame.height)
    values = 1 if labels is None else labels.len()
    total = np.bincount(code, minlength=values)
    away = hidden_rows(frame, names, suppressed)
    if int(key.max()) >= 2**62 // values:
        key = np.unique(key, return_inverse=True)[1].astype(np.int64)
    pairs = key * values + code
    counts, found = _from_keys(pairs if away is None else pairs[~away], values, total)
    counts = replace(counts, labels=labels)
    if reference is not None and sensitive is not None:
        counts = against(counts, values_of(to_polars(reference), sensitive))

    def labelled(groups: Ints) -> pl.DataFrame:
        order = np.argsort(key, kind="stable")
        row = order[np.searchsorted(key[order], found[groups])]
        return pl.DataFrame({c: frame[c].alias("cell").gather(row) for c in names})

    return Counted(counts, labelled, has_values=sensitive is not None, quasi=tuple(names), suppressed=gone(counts))


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def hidden_rows(frame: pl.DataFrame, quasi: Sequence[str], mark: str | None) -> Any:
    """Which rows show nothing but the mark of suppression; None if no mark was named."""
    if mark is None or not quasi:
        return None
    texts = [scalar(frame[c], f"Column {c!r}").alias("cell").cast(pl.String) for c in quasi]
    away = np.ones(frame.height, dtype=bool)
    for text in texts:
        away &= (text == mark).fill_null(False).to_numpy()
    if away.all():
        raise InputError(
            f"Every quasi-identifier of every row reads {private(repr(mark), 'as suppressed')}: no row is in a group."
        )
    return away


def _from_keys(key: Ints, values: int, total: Ints) -> tuple[GroupCounts, Ints]:
    """Counts from keys group · values + value, and the keys of the groups in order."""
    key = np.sort(key)
    fresh = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if key.size else np.zeros(0, dtype=np.int64)
    count = np.diff(np.append(fresh, key.size))
    group, value = np.divmod(key[fresh], values)
    begin = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]])) if group.size else fresh
    start = np.append(begin, group.size)
    return GroupCounts(start, value.astype(np.int32), count, np.asarray(total, dtype=np.int64)), group[begin]


def from_tally(tally: pl.DataFrame, total: Ints | None) -> tuple[GroupCounts, pl.Series]:
    """Counts from a frame of group, value and n, and the groups in order."""
    need_columns(tally, ["group", "value", "n"], "The counts")
    if tally.height == 0:
        raise InputError("The release has no groups: there is nothing to check.")
    n = _whole(tally["n"])
    if (n == 0).any():
        tally, n = tally.filter(pl.Series(n > 0)), n[n > 0]
    if not n.size:
        raise InputError("The release has no persons in any group: there is nothing to check.")
    group, labels = ordered(tally["group"])
    value, names = ordered(tally["value"])
    order = np.lexsort((value, group))
    if total is None:
        total = np.bincount(value, weights=n, minlength=names.len()).astype(np.int64)
    group = group[order]
    begin = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
    start = np.append(begin, group.size)
    return GroupCounts(start, value[order].astype(np.int32), n[order], np.asarray(total), names), labels


def _whole(count: pl.Series) -> Ints:
    """Counts of persons; noise is none."""
    number = count.alias("n").cast(pl.Float64)
    if number.null_count() or not ((number >= 0) & (number == number.round(0))).all():
        raise InputError(
            "These criteria count persons, and some counts of the release are no whole numbers of at least 0: "
            "a release with noise is judged by its ε and δ instead."
        )
    return count.cast(pl.Int64).to_numpy()


def against(counts: GroupCounts, column: pl.Series) -> GroupCounts:
    """The same counts compared with all rows of the table that they come from."""
    assert counts.labels is not None
    if counts.labels.dtype != column.dtype and (counts.labels.dtype.is_nested() or column.dtype.is_nested()):
        raise InputError("The values of the release and of the table that it is compared with are of different types.")
    own = counts.labels.cast(column.dtype, strict=False) if counts.labels.dtype != column.dtype else counts.labels
    code, labels = ordered(pl.concat([own.rename("value"), column.rename("value")]))
    total = np.bincount(code[own.len() :], minlength=labels.len())
    value = code[: own.len()][counts.value]
    order = np.lexsort((value, counts.group))  # other rows may turn an order of numbers into one of text
    return replace(counts, value=value[order].astype(np.int32), count=counts.count[order], total=total, labels=labels)


def gone(counts: GroupCounts) -> int:
    """Rows of the reference table that are in no group; counterfeits may make it the smaller one."""
    return max(int(counts.total.sum() - counts.count.sum()), 0)
