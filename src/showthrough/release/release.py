"""A release: an anonymized table as published."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import polars as pl

from showthrough.release import bucketized
from showthrough.table.frames import to_polars


@dataclass(frozen=True)
class Roles:
    """Which published column plays which part."""

    id: str
    sensitive: str
    group: str
    quasi: tuple[str, ...] = ()
    count: str = "count"


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """An anonymized table as published; make one with `Release.bucketized` or `read_release`.

    ``records`` holds the persons in published order (id, quasi-identifiers, group), ``tally`` the
    published counts (group, value, n). Which person has which value of the group is not in here.
    """

    kind: str
    name: str
    roles: Roles
    records: pl.DataFrame
    tally: pl.DataFrame
    shape: str = "rows"
    date: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def bucketized(
        cls,
        frame: Any,
        *,
        id: str,
        sensitive: str,
        group: str,
        values: Any = None,
        quasi: Sequence[str] | None = None,
        count: str = "count",
        name: str = "",
        date: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Release:
        """Take a bucketized release from a frame.

        One row per person with its group; the sensitive column holds the group's values in any
        order. Or Anatomy's pair: ``frame`` the records without values, ``values`` a table of group,
        value and count. ``quasi`` defaults to all other columns.
        """
        where = name or "The release"
        made = from_tables(
            to_polars(frame),
            None if values is None else to_polars(values),
            id=id,
            sensitive=sensitive,
            group=group,
            quasi=quasi,
            count=count,
            where=(where, f"{where} (table of values)"),
        )
        return replace(made, name=name, date=date, parameters=MappingProxyType(dict(parameters or {})))

    def groups(self) -> pl.DataFrame:
        """Who is in which group: id, group."""
        return pl.DataFrame({"id": self.records[self.roles.id], "group": self.records[self.roles.group]})

    def counts(self) -> pl.DataFrame:
        """What is published of each group: group, value, n."""
        return self.tally

    def to_frame(self) -> pl.DataFrame:
        """The published rows: persons by group and id, beside the group's values in value order.

        Both orders are made from published facts alone, so the row in which a value stands tells
        nothing, whatever the order of the frame that the release was made from.
        """
        return bucketized.rows(self.records, self.tally, self.roles)

    def save(self, folder: str | os.PathLike[str], *, format: str = "csv", overwrite: bool = False) -> None:
        """Write a release folder: the data as CSV or Parquet and ``release.toml`` with hashes."""
        from showthrough.release import folder as folders

        folders.save(self, folder, format=format, overwrite=overwrite)

    def __repr__(self) -> str:
        named = f" {self.name!r}" if self.name else ""
        return (
            f"<{self.kind} release{named}: {self.records.height} persons, "
            f"{self.tally['group'].n_unique()} groups, {self.tally['value'].n_unique()} values>"
        )


def from_tables(
    rows: pl.DataFrame,
    values: pl.DataFrame | None,
    *,
    id: Any,
    sensitive: Any,
    group: Any,
    quasi: Sequence[Any] | None,
    count: Any,
    where: tuple[str, str],
) -> Release:
    """A release without a name from one table or Anatomy's pair; ``where`` is what messages call them.

    Names of columns may be anything that a frame takes for one, such as the numbers of pandas.
    """
    roles = Roles(str(id), str(sensitive), str(group), count=str(count))
    if quasi is None:
        quasi = [c for c in rows.columns if c not in (roles.id, roles.sensitive, roles.group)]
    roles = replace(roles, quasi=(quasi,) if isinstance(quasi, str) else tuple(str(c) for c in quasi))
    bucketized.check_roles(roles, pair=values is not None)
    records = bucketized.records(rows, roles, where=where[0])
    if values is None:
        tally = bucketized.tally_of_rows(rows, records, roles, where=where[0])
    else:
        records, tally = bucketized.tally_of_pair(records, values, roles, where=where[0], table=where[1])
    shape = "rows" if values is None else "pair"
    return Release("bucketized", "", roles, records, tally, shape)
