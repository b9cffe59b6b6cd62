"""What kinds without ids share: groups are equal cells, or a published group column with equal cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from showthrough.errors import InputError, ReleaseError
from showthrough.release import counterfeits, joint
from showthrough.release.bucketized import refuse_twice
from showthrough.release.columns import (
    count_values,
    empty_tally,
    filled,
    filled_value,
    listed,
    named,
    ordered,
    table_of,
    whole,
)
from showthrough.release.parts import Parts, Source
from showthrough.table.frames import need_columns

if TYPE_CHECKING:
    from showthrough.release.release import Release


def check(source: Source, *, also: tuple[str, ...] = ()) -> None:
    """The columns are there, the table has rows, and something tells the groups apart."""
    roles, where = source.roles, source.where
    if not roles.quasi and roles.group is None:
        raise InputError(f"{where} names neither quasi-identifiers nor a group column: nothing tells its groups apart.")
    names = [roles.id, roles.group, roles.sensitive, *roles.quasi, *roles.also, *roles.spread.values(), *also]
    need_columns(source.rows, [n for n in names if n is not None], where)
    if source.rows.height == 0:
        raise ReleaseError(f"{where} is empty: it has no rows.")


class Grouped(NamedTuple):
    """The label of each row, the labels in order, and of each label its cells and the row it first stands in."""

    label: pl.Series
    labels: pl.Series
    kept: pl.DataFrame
    first: pl.Series


def group_rows(source: Source, cells: Mapping[str, pl.Series]) -> Grouped:
    """Which rows belong together.

    Without a group column, the label is 1, 2, … in the order in which the groups first appear.
    """
    if source.roles.group is not None:
        return _by_label(source, source.roles.group, cells)
    keys = [f"cell {k}" for k, name in enumerate(cells) if name in source.roles.quasi]
    frame = pl.DataFrame({f"cell {k}": column for k, column in enumerate(cells.values())}).with_row_index("row")
    first = frame.group_by(keys, maintain_order=True).agg(pl.col("row").first().alias("first"))
    first = first.with_row_index("group", offset=1).with_columns(pl.col("group").cast(pl.Int64))
    row_label = frame.join(first, on=keys, how="left", nulls_equal=True, maintain_order="left")["group"]
    labels = first["group"]
    kept = table_of({name: column.gather(first["first"]) for name, column in cells.items()})
    _refuse_unequal(row_label, {name: c for name, c in cells.items() if name not in source.roles.quasi}, source)
    return Grouped(row_label, labels, kept, first["first"])


def _by_label(source: Source, group: str, cells: Mapping[str, pl.Series]) -> Grouped:
    where = source.where
    label = filled(source.rows, group, lambda row: f"{where}: row {row} has no group (column {group!r} is empty).")
    _refuse_unequal(label, cells, source)
    first = (
        pl.DataFrame({"group": label}).with_row_index("row").group_by("group").agg(pl.col("row").first()).sort("group")
    )
    kept = table_of({name: column.gather(first["row"]) for name, column in cells.items()})
    return Grouped(label, first["group"], kept, first["row"])


def _refuse_unequal(group: pl.Series, cells: Mapping[str, pl.Series], source: Source) -> None:
    """Every group shows one cell per column."""
    groups = group.n_unique()
    for name, column in cells.items():
        shown = pl.DataFrame({"group": group, "cell": column}).unique(maintain_order=True)
        if shown.height == groups:
            continue
        label = shown.filter(shown["group"].is_duplicated())["group"].min()
        several = shown.filter(pl.col("group") == label)["cell"].to_list()
        found = listed([c for c in several if c is not None], 3) + (" and nothing" if None in several else "")
        what = "spread" if name in source.roles.spread.values() else "cell"
        raise ReleaseError(  # exact quasi-identifiers stand here if the wrong kind was named
            f"{source.where}: group {named(label)} shows more than one {what} in column {name!r} ({found}): the rows "
            "of a group must show the same."
        )


def parts_of_rows(source: Source, cells: Mapping[str, pl.Series]) -> Parts:
    """The parts of a release with one row per record."""
    roles, where = source.roles, source.where
    label, labels, kept, first = group_rows(source, cells)
    sizes = pl.DataFrame({"group": label}).group_by("group").agg(pl.len().cast(pl.Int64).alias("n")).sort("group")
    fake = counterfeits.read(source.counterfeits, labels, sizes["n"], roles, where=where)
    if roles.sensitive is not None:
        value = filled_value(source.rows, roles.sensitive, where)
        tally = count_values(label, value)
        others = [filled_value(source.rows, name, where) for name in roles.also]
        beside = joint.records(label, value, others) if others else None
        return Parts(roles, kept, tally, labels, sizes["n"], fake, source=where, first_row=first, beside=beside)
    person_group = None
    if roles.id is not None:
        no_id = f"has no id (column {roles.id!r} is empty)."
        ids = filled(source.rows, roles.id, lambda row: f"{where}: row {row} {no_id}")
        refuse_twice(ids, roles.id, where)
        kept, person_group = table_of({roles.id: ids, **cells}), label
        if fake.height:
            raise ReleaseError(f"{where}: every record has an id, so none of them is a counterfeit.")
    return Parts(roles, kept, empty_tally(labels), labels, sizes["n"], fake, person_group=person_group)


def parts_of_counts(
    source: Source,
    cells: Mapping[str, pl.Series],
    sensitive: str,
    ends: tuple[pl.Series, pl.Series, pl.Series] | None = None,
) -> Parts:
    """The parts of a release with one row per group and value, and how often it occurs.

    ``ends`` are the least and the greatest count of every row, where counts are not exact, and what totals leave of the
    greatest.
    """
    roles, where = source.roles, source.where
    label, labels, kept, seen = group_rows(source, cells)
    value = filled(source.rows, sensitive, lambda row: f"{where}: row {row} is empty in column {sensitive!r}.")
    low, high, room = ends or (whole(source.rows, roles.count, where),) * 3
    tally = pl.DataFrame({"group": label, "value": value, "n": low, "upper": high, "room": room})
    repeated = tally.select("group", "value").is_duplicated()
    if repeated.any():
        first, twice = tally.filter(repeated).row(0)[:2]
        at = labels.index_of(first)
        shown = "" if roles.group is not None else f" ({listed(list(kept.row(at or 0)))})"
        raise ReleaseError(f"{where}: group {named(first)}{shown} lists the value {named(twice)} more than once.")
    sums = tally.group_by("group").agg(pl.col("room").sum()).sort("group")
    filled_groups = sums["room"] > 0
    if not filled_groups.any():
        raise ReleaseError(f"{where}: every count is 0, so nobody is in this release.")
    kept = table_of({c: kept[c].alias("cell").filter(filled_groups) for c in kept.columns})
    size, tally = sums["room"].filter(filled_groups), tally.filter(pl.col("room") > 0)
    labels, seen = labels.filter(filled_groups), seen.filter(filled_groups)
    if roles.group is None:  # number the groups that are left
        renamed = pl.DataFrame({"old": labels, "new": pl.Series(range(1, labels.len() + 1), dtype=pl.Int64)})
        new = tally.join(renamed, left_on="group", right_on="old", how="left", maintain_order="left")["new"]
        tally, labels = tally.with_columns(new.alias("group")), renamed["new"]
    fake = counterfeits.read(source.counterfeits, labels, size, roles, where=where)
    tally = ordered(tally)
    upper = None if ends is None else tally["upper"]
    return Parts(
        roles, kept, tally.drop("upper", "room"), labels, size, fake, source=where, first_row=seen, upper=upper
    )


def rows(release: Release) -> pl.DataFrame:
    """One row per record: groups in the order of their labels, rows inside by value (or by id)."""
    roles = release.roles
    if roles.id is not None:
        order = pl.DataFrame({"group": release.person_groups(), "id": release.records[roles.id]}).with_row_index("row")
        order = order.sort("group", "id")
        return table_of(_columns(release, order["row"], order["group"]))
    at = pl.DataFrame({"n": release.size}).with_row_index("at").select(pl.col("at").repeat_by("n").explode())["at"]
    shown = _columns(release, at, release.labels.gather(at))
    if roles.sensitive is None:
        return table_of(shown)
    if release.beside is not None:
        return table_of({**shown, **joint.columns_of(release)})
    value = release.tally.select(pl.col("value").repeat_by("n").explode())["value"]
    return table_of({**shown, roles.sensitive: value})


def count_rows(release: Release) -> pl.DataFrame:
    """One row per group and value."""
    roles, tally = release.roles, release.tally
    assert roles.sensitive is not None  # checked when the release was made
    index = pl.DataFrame({"group": release.labels}).with_row_index("at")
    at = tally.join(index, on="group", how="left", maintain_order="left")["at"]
    shown = _columns(release, at, tally["group"])
    return table_of({**shown, roles.sensitive: tally["value"], roles.count: tally["n"]})


def _columns(release: Release, at: pl.Series, label: pl.Series) -> dict[str, pl.Series]:
    """Rows of the records, and the group column where one is published."""
    shown = {name: release.records[name].alias("cell").gather(at) for name in release.records.columns}
    return shown if release.roles.group is None else {**shown, release.roles.group: label}
