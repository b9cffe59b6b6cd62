"""Totals and sub-totals of a count table: which rows are sums of others, and of which.

A row whose cell or value is a *total* counts everybody under it. Rows with no total are the *leaves* of the
table: the groups that persons are in. All rows with totals in the same places (over region; over region and
value; …) make a *margin*: a table of its own over the same persons, each of whose groups is made of leaf
groups, and each of whose values is a leaf value or a sum over some. A sub-total over some labels alone
(North: A and B) is a total of those labels.

What a table leaves out: a leaf that is not listed beside others that are counts nobody. Of a row of totals
none of whose parts is listed, every part is hidden: it may count anybody up to the total. In a margin, a value
that is not listed is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError, ReleaseError
from showthrough.release.printed_counts import OPEN
from showthrough.said import private
from showthrough.table.arrays import Ints
from showthrough.table.frozen import Frozen

EVERYTHING: tuple[str, ...] = ()  # the parts of a total over all labels of its column
VALUE = "value"
_MOST_HIDDEN = 5_000_000  # leaves that totals without parts stand for


@dataclass(frozen=True, eq=False)
class Margin:
    """The rows with totals in the same places: a table of its own over the persons of the leaves."""

    over: tuple[str, ...]  # the columns that are totalled
    records: pl.DataFrame  # the cells of each of its groups
    tally: pl.DataFrame  # group (its place), value, n: the least count
    upper: pl.Series  # the greatest
    group_of: Ints  # [leaf groups] the place of its group, −1: it has none
    covers: Mapping[str, tuple[Any, ...]]  # the leaf values under each value that is a total


def as_totals(given: Any) -> Mapping[str, tuple[str, ...]]:
    """Labels of totals, each with its parts if it is not over everything: ["Total"] or {"North": ["A", "B"]}."""
    if given is None:
        return Frozen()
    if isinstance(given, str) or not isinstance(given, (Mapping, Sequence)):
        raise InputError(
            'totals lists the labels of totals, such as ["Total"], or maps labels to their parts.',
            parameters=("totals",),
        )
    if not isinstance(given, Mapping):
        return Frozen({str(label).strip(): EVERYTHING for label in given})
    found: dict[str, tuple[str, ...]] = {}
    for label, parts in given.items():
        if isinstance(parts, str) or not isinstance(parts, (Sequence, type(None))):
            raise InputError(
                f"The parts of the total {private(repr(label))} are a list of labels.", parameters=("totals",)
            )
        found[str(label).strip()] = tuple(str(part).strip() for part in parts or ())
    return Frozen({label: _resolved(label, found, ()) for label in found})


def _resolved(label: str, totals: Mapping[str, tuple[str, ...]], above: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of a total, sub-totals replaced by theirs."""
    if label in above:
        raise InputError(f"The total {private(repr(label))} is a part of itself.", parameters=("totals",))
    if any(part in totals and totals[part] == EVERYTHING for part in totals[label]):
        text = f"The total {private(repr(label))} has a part that is a total over everything."
        raise InputError(text, parameters=("totals",))
    parts = [_resolved(part, totals, (*above, label)) if part in totals else (part,) for part in totals[label]]
    return tuple(dict.fromkeys(leaf for own in parts for leaf in own))


class Leveled:
    """The rows of a table by what is totalled in them.

    ``frame`` has a column for each of ``columns`` (cells as text), ``value``, ``low``, ``high`` and ``row``.
    """

    def __init__(self, frame: pl.DataFrame, columns: Sequence[str], totals: Mapping[str, tuple[str, ...]], where: str):
        self.columns, self.totals, self.where = tuple(columns), totals, where
        known = {c: _classes(frame[c], totals) for c in columns}
        self._bare = {c: next(iter(own[0])) for c, own in known.items() if own and not _has_leaves(frame[c], own)}
        self.labels = {c: [] if c in self._bare else own for c, own in known.items()}
        level = [_level(frame[c], own).alias(f"level {c}") for c, own in self.labels.items()]
        frame = frame.with_columns(level)
        self.at = [f"level {c}" for c in self.columns]
        leaf = pl.all_horizontal(pl.col(self.at) == 0) if self.at else pl.lit(value=True)
        self.leaves, upper = frame.filter(leaf).drop(self.at), frame.filter(~leaf)
        self.keys = sorted(upper.select(self.at).unique().rows()) if upper.height else []
        self.rows = {key: upper.filter(self._is(key)).drop(self.at) for key in self.keys}
        twice = upper.filter(upper.select(columns).is_duplicated())
        if twice.height:
            row, again = twice.sort(*columns, "row")["row"][:2]
            raise ReleaseError(f"{where}: rows {row + 1} and {again + 1} are the same total.")

    def only_totals(self, column: str) -> bool:
        """Whether a column holds nothing but totals, so that it tells nothing."""
        return column in self._bare

    def total_label(self, column: str) -> pl.Expr:
        """What such a column shows."""
        return pl.lit(self._bare[column])

    def _is(self, key: tuple[int, ...]) -> pl.Expr:
        return pl.all_horizontal(pl.col(c) == k for c, k in zip(self.at, key, strict=True))

    def lifted(self, leaves: pl.DataFrame, key: tuple[int, ...]) -> pl.DataFrame:
        """Leaves with the cells of the totals that they are under; null where there is none."""
        change = []
        for column, level in zip(self.columns, key, strict=True):
            if not level or column not in leaves.columns:
                continue
            parts = self.labels[column][level - 1]
            whole = next((label for label, own in parts.items() if own == EVERYTHING), None)
            if whole is not None:
                change.append(pl.lit(whole).alias(column))
            else:
                to = {part: label for label, own in parts.items() for part in own}
                change.append(pl.col(column).replace_strict(to, default=None, return_dtype=pl.String).alias(column))
        return leaves.with_columns(change)

    def complete(self) -> pl.DataFrame:
        """All leaves: those that are listed, and those of totals none of whose parts is."""
        leaves = self.leaves
        for key in self.keys:
            rows = self.rows[key]
            under = self.lifted(leaves, key).select(self.columns).unique()
            bare = rows.join(under, on=list(self.columns), how="anti", nulls_equal=True).filter(pl.col("high") > 0)
            if bare.height:
                leaves = pl.concat([leaves, self._hidden(bare, key)])
        return leaves

    def _hidden(self, bare: pl.DataFrame, key: tuple[int, ...]) -> pl.DataFrame:
        """The leaves that totals stand for, each hidden."""
        found = bare.with_columns(pl.lit(0, dtype=pl.Int64).alias("low"))
        for column, level in zip(self.columns, key, strict=True):
            if not level:
                continue
            parts = self.labels[column][level - 1]
            every = self._leaf_labels(column)
            pairs = [(total, part) for total, own in parts.items() for part in (every if own == EVERYTHING else own)]
            table = pl.DataFrame(pairs, schema={column: pl.String, "part": pl.String}, orient="row")
            if bare.height * len(pairs) > _MOST_HIDDEN:
                raise ReleaseError(
                    f"{self.where}: {bare.height} totals stand for more than {_MOST_HIDDEN} counts that are not "
                    "listed: list the parts that are known, or leave these totals out."
                )
            found = found.join(table, on=column, how="inner").drop(column).rename({"part": column})
        return found.select(self.leaves.columns)

    def _leaf_labels(self, column: str) -> list[str]:
        known = {label for own in self.labels[column] for label in own}
        parts = [part for own in self.labels[column] for told in own.values() for part in told]
        shown = [label for label in self.leaves[column].unique(maintain_order=True) if label is not None]
        return [label for label in dict.fromkeys([*shown, *parts]) if label not in known]

    def bounded(self, leaves: pl.DataFrame) -> pl.DataFrame:
        """Leaves with the ``room`` that totals leave them, which bounds those that have no end of their own.

        Contradictions are refused.
        """
        leaves = leaves.with_columns(pl.col("high").alias("room"))
        for key in self.keys:
            total = self.rows[key].select(*self.columns, pl.col("high").alias("most"))
            under = self.lifted(leaves, key).select(self.columns)
            most = under.join(total, on=list(self.columns), how="left", nulls_equal=True, maintain_order="left")["most"]
            leaves = leaves.with_columns(pl.min_horizontal(pl.col("room"), most.fill_null(OPEN)).alias("room"))
        crossed = leaves.filter(pl.col("low") > pl.col("room"))
        if crossed.height:
            low, high, row = crossed.select("low", "room", "row").row(0)
            raise ReleaseError(
                f"{self.where}: row {row + 1} counts at least {low}, but a total over it counts at most {high}."
            )
        unlimited = leaves.filter(pl.col("room") >= OPEN)
        if unlimited.height:
            low, row = unlimited.select("low", "row").row(0)
            raise ReleaseError(
                f"{self.where}: row {row + 1} counts {low} or more, and nothing says how many at most: declare what it "
                f"stands for, such as suppressed={{'{low}+': ({low}, {10 * max(low, 1)})}}, or name the label of a "
                "total over it with totals=.",
                parameters=("suppressed", "totals"),
            )
        open_end = pl.col("high") >= OPEN
        return leaves.with_columns(pl.when(open_end).then("room").otherwise("high").alias("high"))

    def margins(self, leaves: pl.DataFrame, groups: pl.DataFrame) -> tuple[Margin, ...]:
        """All margins over the leaves; ``groups`` has the cells of every leaf group."""
        return tuple(self._margin(key, leaves, groups) for key in self.keys)

    def _margin(self, key: tuple[int, ...], leaves: pl.DataFrame, groups: pl.DataFrame) -> Margin:
        columns = list(self.columns)
        cells = [c for c in columns if c != VALUE]
        sums = self.lifted(leaves, key).group_by(columns, maintain_order=True)
        parts = sums.agg(
            pl.col("low").sum().alias("least"), pl.col("high").sum().alias("most"), pl.len().alias("parts")
        )
        rows = self.rows[key].join(parts, on=columns, how="left", nulls_equal=True, maintain_order="left")
        rows = rows.with_columns(pl.col("least", "most", "parts").fill_null(0))
        self._refuse_wrong(rows)
        rows = rows.with_columns(pl.min_horizontal("high", "most").alias("high"))
        records = rows.select(cells).unique(maintain_order=True)
        index = records.with_row_index("group").with_columns(pl.col("group").cast(pl.Int64))
        value_level = key[columns.index(VALUE)]
        listed = rows.join(index, on=cells, how="left", nulls_equal=True, maintain_order="left")
        listed = listed.select("group", VALUE, pl.col("low").alias("n"), pl.col("high").alias("upper"))
        free = self._unlisted(parts if not value_level else None, leaves, key, index, listed)
        tally = pl.concat([listed, free]).filter(pl.col("upper") > 0).sort("group", VALUE)
        of = self.lifted(groups, key).join(index, on=cells, how="left", nulls_equal=True, maintain_order="left")
        over = tuple(c for c, level in zip(columns, key, strict=True) if level)
        group_of = of["group"].fill_null(-1).to_numpy().astype(np.int64)
        covers = self._covers(value_level, leaves)
        return Margin(over, records, tally.select("group", VALUE, "n"), tally["upper"], group_of, covers)

    def _covers(self, level: int, leaves: pl.DataFrame) -> Mapping[str, tuple[Any, ...]]:
        if not level:
            return Frozen()
        every = tuple(leaves[VALUE].unique().sort())
        told = self.labels[VALUE][level - 1].items()
        return Frozen({label: every if own == EVERYTHING else own for label, own in told})

    def _unlisted(
        self,
        parts: pl.DataFrame | None,
        leaves: pl.DataFrame,
        key: tuple[int, ...],
        index: pl.DataFrame,
        listed: pl.DataFrame,
    ) -> pl.DataFrame:
        """Values under the groups of a margin that it does not list: any number that the leaves allow."""
        cells = [c for c in self.columns if c != VALUE]
        if parts is None:  # values are totalled: those under no total that is listed stand for themselves
            own = tuple(0 if c == VALUE else k for c, k in zip(self.columns, key, strict=True))
            under = self.lifted(leaves, own).with_columns(self.lifted(leaves, key)[VALUE].alias("total"))
            parts = under.group_by([*cells, VALUE, "total"], maintain_order=True).agg(
                pl.col("high").sum().alias("most")
            )
        else:
            parts = parts.with_columns(pl.col(VALUE).alias("total"))
        held = parts.join(index, on=cells, how="inner", nulls_equal=True)
        held = held.join(listed, left_on=["group", "total"], right_on=["group", VALUE], how="anti", nulls_equal=False)
        zero = pl.lit(0, dtype=pl.Int64).alias("n")
        return held.select("group", VALUE, zero, pl.col("most").cast(pl.Int64).alias("upper"))

    def _refuse_wrong(self, rows: pl.DataFrame) -> None:
        """Totals must be what their parts can add up to."""
        wrong = rows.filter((pl.col("least") > pl.col("high")) | (pl.col("most") < pl.col("low")))
        if not wrong.height:
            return
        row, low, high, least, most, parts = wrong.select("row", "low", "high", "least", "most", "parts").row(0)
        more = f" So do {wrong.height - 1} more totals." if wrong.height > 1 else ""
        raise ReleaseError(
            f"{self.where}: row {row + 1} is a total of {_between(low, high)}, but its {parts} parts add up to "
            f"{_between(least, most)}: a number is wrong, a part is missing, or the counts are rounded and "
            f"rounding= does not say so.{more}",
            parameters=("rounding", "totals"),
        )


def _between(low: int, high: int) -> str:
    if high >= OPEN:
        return f"{low} or more"
    return f"{low}" if low == high else f"{low} to {high}"


def _classes(column: pl.Series, totals: Mapping[str, tuple[str, ...]]) -> list[dict[str, tuple[str, ...]]]:
    """The totals of a column in levels, each of totals that share no part."""
    shown = set(column.drop_nulls().unique().to_list())
    found: list[dict[str, tuple[str, ...]]] = []
    for label in (label for label in totals if label in shown):
        own = set(totals[label])
        for level in found:
            apart = all(told != EVERYTHING and not own & set(told) for told in level.values())
            if own and apart:
                level[label] = totals[label]
                break
        else:
            found.append({label: totals[label]})
    return found


def _has_leaves(column: pl.Series, levels: list[dict[str, tuple[str, ...]]]) -> bool:
    """Whether anything but totals stands in a column, or is named as a part of one."""
    known = {label for own in levels for label in own}
    parts = {part for own in levels for told in own.values() for part in told}
    return bool((set(column.drop_nulls().unique().to_list()) | parts) - known)


def _level(column: pl.Series, levels: list[dict[str, tuple[str, ...]]]) -> pl.Series:
    """0 for leaves, k for totals of level k."""
    to = {label: k for k, own in enumerate(levels, start=1) for label in own}
    if not to:
        return pl.repeat(0, column.len(), dtype=pl.Int64, eager=True)
    return column.replace_strict(to, default=0, return_dtype=pl.Int64)
