"""Single columns of a release: no gaps, whole counts, cells as published text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from showthrough.errors import ReleaseError
from showthrough.said import HIDDEN, internal, private
from showthrough.table.frames import scalar

LARGEST = 2**53  # beyond, sums of counts are no longer exact everywhere


def filled(frame: pl.DataFrame, name: str, message: Callable[[int], str]) -> pl.Series:
    """The column as a scalar kind with no gaps; ``message`` tells of the first row with one.

    Text of blanks only is a gap, too: that is how many programs write an empty cell.
    """
    column = scalar(frame[name], f"Column {name!r}")
    gap = gaps(column)
    if gap.any():
        raise ReleaseError(message(int(gap.arg_max() or 0) + 1))
    return column


def gaps(column: pl.Series) -> pl.Series:
    """Where a scalar column shows nothing."""
    column = column.alias("cell")  # names such as ^a$ are patterns to Polars
    gap = column.is_null()
    if column.dtype == pl.String:
        gap = gap | (column.str.strip_chars() == "").fill_null(True)
    return gap


def filled_value(rows: pl.DataFrame, name: str, where: str) -> pl.Series:
    """The sensitive column of a table with one row per record."""
    no_value = (
        f"has no value (column {name!r} is empty). If that is how an unknown value was published, "
        "write a word for it, such as 'unknown'."
    )
    return filled(rows, name, lambda row: f"{where}: row {row} {no_value}")


def cell_text(column: pl.Series, where: str) -> pl.Series:
    """The cells as published text; an empty cell, or one of blanks only, is null."""
    cells = scalar(column, where)
    text = cells if cells.dtype == pl.String else cells.cast(pl.String)
    return text.set(gaps(text), None)


def whole(values: pl.DataFrame, name: str, table: str) -> pl.Series:
    """A column of counts: whole numbers, 0 or more."""
    column = scalar(values[name], f"{table}: column {name!r}")
    if column.dtype == pl.String:
        count = column.str.strip_chars().cast(pl.Int64, strict=False)
    elif column.dtype.is_numeric():
        count = column.set(column != column.round(0), None).cast(pl.Int64, strict=False)
    else:
        count = pl.Series([None] * column.len(), dtype=pl.Int64)
    bad = (count < 0).fill_null(True)
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise ReleaseError(
            f"{table}: row {row + 1} has {named(column[row], 'no count')} in column {name!r}; expected a whole number, "
            "0 or more."
        )
    if count.cast(pl.Float64).sum() > LARGEST:
        raise ReleaseError(f"{table}: the counts in column {name!r} add up to more than {LARGEST}, which is no table.")
    return count


def count_values(group: pl.Series, value: pl.Series) -> pl.DataFrame:
    """How often each value stands in each group: group, value, n."""
    pairs = pl.DataFrame({"group": group, "value": value})
    return ordered(pairs.group_by("group", "value").agg(pl.len().cast(pl.Int64).alias("n")))


def ordered(tally: pl.DataFrame) -> pl.DataFrame:
    """The counts in an order that tells nothing."""
    return tally.sort("group", "value")


def group_sizes(tally: pl.DataFrame) -> pl.DataFrame:
    """group, n: how many values are published of each group, in the order of the groups."""
    return tally.group_by("group").agg(pl.col("n").sum()).sort("group")


def as_labels(group: pl.Series, labels: pl.Series) -> pl.Series:
    """The label that each entry of another table means, null where it means none: "1" may be 1."""
    own = labels
    if group.dtype == pl.String and labels.dtype.is_numeric():
        group = group.str.strip_chars().cast(labels.dtype, strict=False)
    elif group.dtype != labels.dtype:
        group, own = group.cast(pl.String), labels.cast(pl.String)
    index = pl.DataFrame({"key": own, "label": labels}).unique("key")
    return pl.DataFrame({"key": group}).join(index, on="key", how="left", maintain_order="left")["label"]


def empty_tally(labels: pl.Series) -> pl.DataFrame:
    """The counts of a release without values."""
    return pl.DataFrame(schema={"group": labels.dtype, "value": pl.String, "n": pl.Int64})


def table_of(columns: Mapping[str, pl.Series]) -> pl.DataFrame:
    """A frame by name: a list of columns loses the name "", and expressions take * for every column."""
    return pl.DataFrame(dict(columns))


def named(cell: Any, instead: str = HIDDEN) -> str:
    """A cell as it stands in a sentence, for internal readers alone."""
    return private(repr(cell) if isinstance(cell, str) else cell, instead)


def listed(cells: list[Any], most: int = 12) -> str:
    """Some cells for a sentence, not thousands; others are told how many there are."""
    more = f" and {len(cells) - most} more" if len(cells) > most else ""
    shown = ", ".join(internal(named(c)) for c in cells[:most])
    return private(f"{shown}{more}", "1 cell" if len(cells) == 1 else f"{len(cells)} cells")


def persons(n: int) -> str:
    """A number of persons for a sentence."""
    return "1 person" if n == 1 else f"{n} persons"
