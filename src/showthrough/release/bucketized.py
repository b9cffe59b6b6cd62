"""Bucketized releases: exact quasi-identifiers, a group per person, values only per group.

Xiao and Tao, *Anatomy: Simple and Effective Privacy Preservation*, VLDB 2006.

Where ids are published, the row of a counterfeit has none. Where no ids are published, rows of
counterfeits cannot be told from those of persons; in Anatomy's pair the counterfeits stand in the
table of values alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from showthrough.errors import InputError, ReleaseError
from showthrough.release import counterfeits
from showthrough.release.columns import (
    count_values,
    filled,
    filled_value,
    gaps,
    group_sizes,
    named,
    ordered,
    persons,
    table_of,
    whole,
)
from showthrough.release.kind import Clues, Kind, Shows
from showthrough.release.parts import Parts, Source
from showthrough.release.roles import Roles, check_parts, parts_of
from showthrough.said import private
from showthrough.table.frames import need_columns, one_kind, scalar

if TYPE_CHECKING:
    from showthrough.release.release import Release


class BucketizedKind(Kind):
    """Persons with their groups, in one table or in Anatomy's pair."""

    name = "bucketized"
    shows = Shows.EXACT
    needs = ("sensitive", "group")
    states = ("id", "sensitive", "group")
    publishes_ids = True
    values_per_group = True
    second_table = True
    from_groups = True

    def make(self, source: Source) -> Parts:
        """The parts of a release from one table, or from Anatomy's pair."""
        return _make(source)

    def rows(self, release: Release) -> pl.DataFrame:
        """One row per person in an order that tells nothing, beside values of the group unless there are two tables."""
        return _rows(release) if release.shape == "rows" else _by_group(release)

    def by_record(self, release: Release) -> pl.DataFrame:
        """One row per record with some value of its group, also where values are published in a table of their own."""
        return _rows(release)

    def tables(self, release: Release) -> dict[str, pl.DataFrame]:
        """As it came: one table, or the pair."""
        if release.shape == "rows":
            return super().tables(release)
        roles, tally = release.roles, release.tally
        names = (roles.group, roles.sensitive, roles.count)
        values = table_of({str(name): tally[c] for name, c in zip(names, tally.columns, strict=True)})
        return {"records": _by_group(release), "values": values}

    def clues_in(self, clues: Clues) -> int:
        """Groups and values, with ids or in two tables."""
        told = (*(() if clues.pair else (clues.roles.id,)), clues.roles.sensitive, clues.roles.group)
        return 0 if None in told else len(told)

    def entries(self, release: Release) -> dict[str, Any]:
        """Where the counts of a pair stand."""
        return {"count": release.roles.count} if release.shape == "pair" else {}

    def person_groups(self, release: Release) -> pl.Series:
        """Published beside each person."""
        assert release.roles.group is not None  # checked when the release was made
        return release.records[release.roles.group]


def _make(source: Source) -> Parts:
    roles = source.roles
    if roles.group is None or roles.sensitive is None:
        raise InputError(f"{source.where}: a bucketized release needs a group column and a sensitive column.")
    check_parts(parts_of(roles))
    if source.values is not None:
        check_parts([("group", roles.group), ("sensitive", roles.sensitive), ("count", roles.count)])
        return _from_pair(source, source.values, roles.group, roles.sensitive)
    return _from_rows(source, roles.group, roles.sensitive)


def _from_rows(source: Source, group: str, sensitive: str) -> Parts:
    roles, where, rows = source.roles, source.where, source.rows
    fake_rows = source.counterfeits is not None and roles.id is not None
    kept = _records(rows, roles, group, where=where, gaps_in_ids=fake_rows)
    need_columns(rows, [*_present(roles.id), group, sensitive], where)
    tally = count_values(kept[group], filled_value(rows, sensitive, where))
    sizes = group_sizes(tally)
    fake = counterfeits.read(source.counterfeits, sizes["group"], sizes["n"], roles, where=where)
    if fake_rows and roles.id is not None:
        kept = _without_counterfeits(kept, roles.id, group, fake, where=where)
    return Parts(roles, kept, tally, sizes["group"], sizes["n"], fake)


def _from_pair(source: Source, values: pl.DataFrame, group: str, sensitive: str) -> Parts:
    """Read Anatomy's second table (group, value, count) and fit it to the records."""
    roles, table = source.roles, source.table
    kept = _records(source.rows, roles, group, where=source.where)
    need_columns(values, [group, sensitive, roles.count], table)
    if values.height == 0:
        raise ReleaseError(f"{table} is empty: it has no rows.")

    def column(name: str) -> pl.Series:
        return filled(values, name, lambda row: f"{table}: row {row} is empty in column {name!r}.")

    labels, value = column(group), column(sensitive)
    own, labels = one_kind([kept[group], labels], "groups of records and values", ["records", "values"])
    kept = kept.with_columns(own.alias(group))
    tally = pl.DataFrame({"group": labels, "value": value, "n": whole(values, roles.count, table)})
    repeated = tally.select("group", "value").is_duplicated()
    if repeated.any():
        label, twice, _ = tally.filter(repeated).row(0)
        raise ReleaseError(f"{table}: group {named(label)} lists the value {named(twice)} more than once.")
    tally = ordered(tally.filter(pl.col("n") > 0))
    sizes = group_sizes(tally)
    fake = counterfeits.read(source.counterfeits, sizes["group"], sizes["n"], roles, where=source.where)
    _fit(kept[group], sizes, fake, source.where)
    return Parts(roles, kept, tally, sizes["group"], sizes["n"], fake, shape="pair")


def _records(rows: pl.DataFrame, roles: Roles, group: str, *, where: str, gaps_in_ids: bool = False) -> pl.DataFrame:
    """The persons with quasi-identifiers and group; every person once, every person in a group."""
    need_columns(rows, [*_present(roles.id), group], where)
    need_columns(rows, [*(_present(roles.id) or [group]), *roles.quasi], where)
    if rows.height == 0:
        raise ReleaseError(f"{where} is empty: it has no rows.")
    no_id = f"has no id (column {roles.id!r} is empty)."
    no_group = f"has no group (column {group!r} is empty)."
    columns: dict[str, pl.Series] = {}
    if roles.id is not None and gaps_in_ids:
        ids = scalar(rows[roles.id], f"Column {roles.id!r}")
        columns[roles.id] = ids.set(gaps(ids), None)
    elif roles.id is not None:
        columns[roles.id] = filled(rows, roles.id, lambda row: f"{where}: row {row} {no_id}")
    columns |= {c: scalar(rows[c], f"{where}: column {c!r}") for c in roles.quasi}
    columns[group] = filled(rows, group, lambda row: f"{where}: the person in row {row} {no_group}")
    if roles.id is not None:
        refuse_twice(columns[roles.id], roles.id, where)
    return table_of(columns)


def _without_counterfeits(kept: pl.DataFrame, id: str, group: str, fake: pl.DataFrame, *, where: str) -> pl.DataFrame:
    """Leave out the rows without an id, which must be as many as the counterfeits of their group."""
    empty = kept[id].is_null()
    rows = pl.DataFrame({"group": kept[group]}).filter(empty).group_by("group").agg(pl.len().alias("rows"))
    both = rows.join(fake, on="group", how="full", coalesce=True).fill_null(0).sort("group")
    for label, found, n in both.filter(pl.col("rows") != pl.col("n")).iter_rows():
        raise ReleaseError(
            f"{where}: group {named(label)} has {found} rows without an id (column {id!r}) but {n} counterfeits: the "
            "row of a counterfeit, and no other, has no id."
        )
    return kept.filter(~empty)


def _rows(release: Release) -> pl.DataFrame:
    roles, tally = release.roles, release.tally
    persons = _by_group(release)
    assert roles.group is not None  # checked when the release was made
    assert roles.sensitive is not None
    fake = release.counterfeits
    missing = int(release.size.sum()) - persons.height
    if missing:  # rows of counterfeits show their group and nothing else
        labels = fake.select(pl.col("group").repeat_by("n").explode())["group"]
        blank = {c: pl.Series([None] * missing, dtype=persons[c].dtype) for c in persons.columns}
        every = pl.concat([persons, table_of({**blank, roles.group: labels})])
        key = pl.DataFrame({"group": every[roles.group]}).with_row_index("row")
        persons = every[key.sort("group", maintain_order=True)["row"]]
    spread = tally.select(pl.col("group", "value").repeat_by("n").explode()) if tally.height else tally
    return table_of({**{c: persons[c] for c in persons.columns}, roles.sensitive: spread["value"]})


def _by_group(release: Release) -> pl.DataFrame:
    """The records by group and id, or by quasi-identifiers where there are no ids: an order that tells nothing."""
    kept, roles = release.records, release.roles
    keys = [roles.group, roles.id] if roles.id is not None else [roles.group, *roles.quasi]
    order = pl.DataFrame({f"key {k}": kept[c] for k, c in enumerate(keys) if c is not None}).with_row_index("row")
    return kept[order.sort(order.columns[1:])["row"]]


def refuse_twice(ids: pl.Series, name: str, where: str) -> None:
    """Every id stands in a release once; gaps do not count."""
    given = ids.drop_nulls()
    if given.n_unique() == given.len():
        return
    seen = pl.DataFrame({"id": ids}).with_row_index("row", offset=1).drop_nulls("id")
    seen = seen.group_by("id", maintain_order=True).agg("row")
    repeated = seen.filter(pl.col("row").list.len() > 1)
    first, at = repeated.row(0)
    more = f" {repeated.height} ids are repeated in all." if repeated.height > 1 else ""
    raise ReleaseError(
        f"{where}: the same id{private(f' ({first!r})', '')} stands in rows {at[0]} and {at[1]} (column {name!r}). A "
        f"person may be in a release only once.{more}"
    )


def _fit(groups: pl.Series, sizes: pl.DataFrame, fake: pl.DataFrame, where: str) -> None:
    members = pl.DataFrame({"group": groups}).group_by("group").agg(pl.len().cast(pl.Int64).alias("persons"))
    both = members.join(sizes, on="group", how="full", coalesce=True)
    both = both.join(fake.rename({"n": "fake"}), on="group", how="left").sort("group")
    both = both.with_columns(pl.col("fake").fill_null(0))
    wrong = pl.col("n").is_null() | (pl.col("persons").fill_null(0) + pl.col("fake") != pl.col("n"))
    for label, people, n, extra in both.filter(wrong).iter_rows():
        if people is None:
            raise ReleaseError(f"{where}: group {named(label)} has values but no persons.")
        if n is None:
            raise ReleaseError(f"{where}: group {named(label)} has {persons(people)} but no values.")
        told = counterfeits.told(people, extra)
        raise ReleaseError(f"{where}: group {named(label)} has {told} but its counts add up to {n}.")


def _present(name: str | None) -> list[str]:
    return [] if name is None else [name]
