"""Bucketized releases: exact quasi-identifiers, a group per person, values only per group.

Xiao and Tao, *Anatomy: Simple and Effective Privacy Preservation*, VLDB 2006.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import polars as pl

from showthrough.errors import InputError, ReleaseError
from showthrough.table.frames import need_columns, one_kind, scalar

if TYPE_CHECKING:
    from showthrough.release.release import Roles


def check_roles(roles: Roles, *, pair: bool) -> None:
    """No column plays two parts: above all, values must not stand beside persons as a quasi-identifier."""
    quasi = [("quasi", name) for name in roles.quasi]
    persons = [("id", roles.id), ("group", roles.group), *quasi, ("sensitive", roles.sensitive)]
    counts = [("group", roles.group), ("sensitive", roles.sensitive), ("count", roles.count)]
    for table in (persons, counts) if pair else (persons,):
        for k, (part, name) in enumerate(table):
            other = next((p for p, n in table[:k] if n == name), None)
            if other is not None:
                raise InputError(f"The column {name!r} is named twice ({other} and {part}): a column plays one part.")


def records(rows: pl.DataFrame, roles: Roles, *, where: str) -> pl.DataFrame:
    """The persons with quasi-identifiers and group; every person once, every person in a group."""
    need_columns(rows, [roles.id, roles.group], where)
    need_columns(rows, [roles.id, *roles.quasi], where)
    if rows.height == 0:
        raise ReleaseError(f"{where} is empty: it has no rows.")
    no_id = f"has no id (column {roles.id!r} is empty)."
    no_group = f"has no group (column {roles.group!r} is empty)."
    frame = pl.DataFrame(  # by name: a list of columns loses the name ""
        {
            roles.id: _filled(rows, roles.id, lambda row: f"{where}: row {row} {no_id}"),
            **{c: scalar(rows[c], f"{where}: column {c!r}") for c in roles.quasi},
            roles.group: _filled(rows, roles.group, lambda row: f"{where}: the person in row {row} {no_group}"),
        }
    )
    ids = frame[roles.id]
    if ids.n_unique() < ids.len():
        raise _twice(ids, roles, where)
    return frame


def tally_of_rows(rows: pl.DataFrame, kept: pl.DataFrame, roles: Roles, *, where: str) -> pl.DataFrame:
    """Count the values of each group in a table with one row per person."""
    need_columns(rows, [roles.id, roles.group, roles.sensitive], where)
    no_value = (
        f"has no value (column {roles.sensitive!r} is empty). If that is how an unknown value was published, "
        "write a word for it, such as 'unknown'."
    )
    value = _filled(rows, roles.sensitive, lambda row: f"{where}: row {row} {no_value}")
    pairs = pl.DataFrame({"group": kept[roles.group], "value": value})
    return _ordered(pairs.group_by("group", "value").agg(pl.len().cast(pl.Int64).alias("n")))


def tally_of_pair(
    kept: pl.DataFrame, values: pl.DataFrame, roles: Roles, *, where: str, table: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read Anatomy's second table (group, value, count), called ``table``, and fit it to the records."""
    need_columns(values, [roles.group, roles.sensitive, roles.count], table)
    if values.height == 0:
        raise ReleaseError(f"{table} is empty: it has no rows.")

    def column(name: str) -> pl.Series:
        return _filled(values, name, lambda row: f"{table}: row {row} is empty in column {name!r}.")

    group, value = column(roles.group), column(roles.sensitive)
    own, group = one_kind([kept[roles.group], group], "groups of records and values", ["records", "values"])
    kept = kept.with_columns(own.alias(roles.group))
    tally = pl.DataFrame({"group": group, "value": value, "n": _whole(values, roles.count, table)})
    repeated = tally.select("group", "value").is_duplicated()
    if repeated.any():
        label, twice, _ = tally.filter(repeated).row(0)
        raise ReleaseError(f"{table}: group {_named(label)} lists the value {_named(twice)} more than once.")
    tally = tally.filter(pl.col("n") > 0)
    _fit(kept, tally, roles, where)
    return kept, _ordered(tally)


def rows(kept: pl.DataFrame, tally: pl.DataFrame, roles: Roles) -> pl.DataFrame:
    """One row per person beside the values of the group, both in an order that tells nothing."""
    persons = by_group_and_id(kept, roles)
    spread = tally.select(pl.col("group", "value").repeat_by("n").explode()) if tally.height else tally
    return persons.with_columns(spread["value"].alias(roles.sensitive))


def by_group_and_id(kept: pl.DataFrame, roles: Roles) -> pl.DataFrame:
    """The records in an order that tells nothing; names such as * mean every column to Polars."""
    keys = pl.DataFrame({"group": kept[roles.group], "id": kept[roles.id]}).with_row_index("row")
    return kept[keys.sort("group", "id")["row"]]


def _ordered(tally: pl.DataFrame) -> pl.DataFrame:
    return tally.sort("group", "value")


def _filled(frame: pl.DataFrame, name: str, message: Callable[[int], str]) -> pl.Series:
    """The column as a scalar kind with no gaps; ``message`` tells of the first row with one.

    Text of blanks only is a gap, too: that is how many programs write an empty cell.
    """
    column = scalar(frame[name], f"Column {name!r}")
    gap = column.is_null()
    if column.dtype == pl.String:
        gap = gap | (column.str.strip_chars() == "").fill_null(True)
    if gap.any():
        raise ReleaseError(message(int(gap.arg_max() or 0) + 1))
    return column


def _twice(ids: pl.Series, roles: Roles, where: str) -> ReleaseError:
    seen = pl.DataFrame({"id": ids}).with_row_index("row", offset=1).group_by("id", maintain_order=True).agg("row")
    repeated = seen.filter(pl.col("row").list.len() > 1)
    first, at = repeated.row(0)
    more = f" {repeated.height} ids are repeated in all." if repeated.height > 1 else ""
    lead = f"{where}: the same id "
    tail = f"stands in rows {at[0]} and {at[1]} (column {roles.id!r}). A person may be in a release only once.{more}"
    return ReleaseError(f"{lead}({_named(first)}) {tail}", shareable=lead + tail)


def _whole(values: pl.DataFrame, name: str, table: str) -> pl.Series:
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
        lead, tail = f"{table}: row {row + 1} has ", f"in column {name!r}; expected a whole number, 0 or more."
        # the cell itself may be anything if the wrong column was named
        raise ReleaseError(f"{lead}{_named(column[row])} {tail}", shareable=f"{lead}no count {tail}")
    return count


def _fit(kept: pl.DataFrame, tally: pl.DataFrame, roles: Roles, where: str) -> None:
    members = pl.DataFrame({"group": kept[roles.group]})
    sizes = members.group_by("group").agg(pl.len().cast(pl.Int64).alias("persons"))
    sums = tally.group_by("group").agg(pl.col("n").sum())
    both = sizes.join(sums, on="group", how="full", coalesce=True).sort("group")
    for label, persons, n in both.filter(
        pl.col("persons").is_null() | pl.col("n").is_null() | (pl.col("persons") != pl.col("n"))
    ).iter_rows():
        if persons is None:
            raise ReleaseError(f"{where}: group {_named(label)} has values but no persons.")
        if n is None:
            raise ReleaseError(f"{where}: group {_named(label)} has {_persons(persons)} but no values.")
        raise ReleaseError(f"{where}: group {_named(label)} has {_persons(persons)} but its counts add up to {n}.")


def _named(cell: Any) -> str:
    return repr(cell) if isinstance(cell, str) else str(cell)


def _persons(n: int) -> str:
    return "1 person" if n == 1 else f"{n} persons"
