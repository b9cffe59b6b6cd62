"""Bucketized releases: exact quasi-identifiers, a group per person, values only per group.

Xiao and Tao, *Anatomy: Simple and Effective Privacy Preservation*, VLDB 2006.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from showthrough.errors import ReleaseError
from showthrough.table.frames import need_columns, one_kind, scalar

if TYPE_CHECKING:
    from showthrough.release.release import Roles


def records(rows: pl.DataFrame, roles: Roles, *, where: str) -> pl.DataFrame:
    """The persons with quasi-identifiers and group; every person once, every person in a group."""
    need_columns(rows, [roles.id, roles.group, *roles.quasi], where)
    if rows.height == 0:
        raise ReleaseError(f"{where} is empty: it has no rows.")
    frame = rows.select(
        _filled(rows, roles.id, f"{where}: row {{row}} has no id (column {roles.id!r} is empty)."),
        *(rows[c] for c in roles.quasi if c not in (roles.id, roles.group)),
        _filled(
            rows,
            roles.group,
            f"{where}: the person in row {{row}} has no group (column {roles.group!r} is empty).",
        ),
    )
    ids = frame[roles.id]
    if ids.n_unique() < ids.len():
        raise _twice(ids, roles, where)
    return frame


def tally_of_rows(rows: pl.DataFrame, kept: pl.DataFrame, roles: Roles, *, where: str) -> pl.DataFrame:
    """Count the values of each group in a table with one row per person."""
    need_columns(rows, [roles.sensitive], where)
    value = _filled(
        rows,
        roles.sensitive,
        f"{where}: row {{row}} has no value (column {roles.sensitive!r} is empty). If that is how an "
        "unknown value was published, write a word for it, such as 'unknown'.",
    )
    pairs = pl.DataFrame({"group": kept[roles.group], "value": value})
    return _ordered(pairs.group_by("group", "value").agg(pl.len().cast(pl.Int64).alias("n")))


def tally_of_pair(
    kept: pl.DataFrame, values: pl.DataFrame, roles: Roles, *, where: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read Anatomy's second table (group, value, count) and fit it to the records."""
    table = f"{where} (table of values)"
    need_columns(values, [roles.group, roles.sensitive, roles.count], table)
    blank = f"{table}: row {{row}} has an empty column {{column!r}}."
    group = _filled(values, roles.group, blank.replace("{column!r}", repr(roles.group)))
    value = _filled(values, roles.sensitive, blank.replace("{column!r}", repr(roles.sensitive)))
    own, group = one_kind([kept[roles.group], group], "groups of records and values", ["records", "values"])
    kept = kept.with_columns(own.alias(roles.group))
    tally = pl.DataFrame({"group": group, "value": value, "n": _whole(values, roles.count, table)})
    if tally.select("group", "value").is_duplicated().any():
        twice = tally.filter(tally.select("group", "value").is_duplicated()).row(0)
        raise ReleaseError(f"{table}: group {twice[0]!r} lists the value {twice[1]!r} more than once.")
    tally = tally.filter(pl.col("n") > 0)
    _fit(kept, tally, roles, where)
    return kept, _ordered(tally)


def rows(kept: pl.DataFrame, tally: pl.DataFrame, roles: Roles) -> pl.DataFrame:
    """One row per person beside the values of the group, both in an order that tells nothing."""
    persons = kept.sort(roles.group, roles.id)
    spread = tally.select(pl.col("group", "value").repeat_by("n").explode()) if tally.height else tally
    return persons.with_columns(spread["value"].alias(roles.sensitive))


def _ordered(tally: pl.DataFrame) -> pl.DataFrame:
    return tally.sort("group", "value")


def _filled(frame: pl.DataFrame, name: str, message: str) -> pl.Series:
    """The column as a scalar kind with no gaps; ``message`` may name the first ``{row}``."""
    column = scalar(frame[name], f"Column {name!r}")
    if column.null_count():
        row = int(column.is_null().arg_max() or 0) + 1
        raise ReleaseError(message.format(row=row))
    return column


def _twice(ids: pl.Series, roles: Roles, where: str) -> ReleaseError:
    repeated = ids.is_duplicated()
    first = ids.filter(repeated)[0]
    at = (ids == first).arg_true().to_list()
    n = ids.filter(repeated).n_unique()
    more = f" {n} ids are repeated in all." if n > 1 else ""
    lead, tail = (
        f"{where}: the same id ",
        (
            f"stands in rows {at[0] + 1} and {at[1] + 1} (column {roles.id!r}). "
            f"A person may be in a release only once.{more}"
        ),
    )
    return ReleaseError(f"{lead}({first!r}) {tail}", shareable=lead + tail)


def _whole(values: pl.DataFrame, name: str, table: str) -> pl.Series:
    column = values[name]
    count = column.cast(pl.Int64, strict=False)
    if column.dtype.is_float():
        bad = count.is_null() | (column != count.cast(pl.Float64)).fill_null(True)
    else:
        bad = count.is_null()
    bad = bad | (count < 0).fill_null(True)
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise ReleaseError(
            f"{table}: row {row + 1} has {column[row]!r} in column {name!r}; expected a whole number, 0 or more."
        )
    return count


def _fit(kept: pl.DataFrame, tally: pl.DataFrame, roles: Roles, where: str) -> None:
    sizes = kept.group_by(pl.col(roles.group).alias("group")).agg(pl.len().cast(pl.Int64).alias("persons"))
    sums = tally.group_by("group").agg(pl.col("n").sum())
    both = sizes.join(sums, on="group", how="full", coalesce=True).sort("group")
    for label, persons, n in both.filter(
        pl.col("persons").is_null() | pl.col("n").is_null() | (pl.col("persons") != pl.col("n"))
    ).iter_rows():
        if persons is None:
            raise ReleaseError(f"{where}: group {label!r} has values but no persons.")
        if n is None:
            raise ReleaseError(f"{where}: group {label!r} has {persons} persons but no values.")
        raise ReleaseError(f"{where}: group {label!r} has {persons} persons but its counts add up to {n}.")
