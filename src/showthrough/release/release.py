"""A release: an anonymized table as published."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import polars as pl

from showthrough.errors import ReleaseError
from showthrough.release import counterfeits as fakes
from showthrough.release import identity, joint, microaggregated, noisy, ranged, recode
from showthrough.release import link as private
from showthrough.release.columns import group_sizes
from showthrough.release.kind import Kind
from showthrough.release.kinds import KINDS
from showthrough.release.noise import Noise
from showthrough.release.parts import Parts, Source
from showthrough.release.roles import Roles as Roles
from showthrough.release.roles import make_roles
from showthrough.release.totals import Margin
from showthrough.table.frames import to_polars
from showthrough.table.frozen import Frozen
from showthrough.table.hierarchy import as_hierarchy


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """An anonymized table as published; make one with the method of its kind or `read_release`.

    ``tally`` holds the published counts (group, value, n), ``labels`` the groups in order and
    ``size`` how many records each publishes, counterfeits included. ``records`` holds what is
    published beside the values: of a bucketized release its persons in published order (id if there is one,
    quasi-identifiers, group), of the other kinds one row per group in the order of ``labels``: its cells as published
    text, or its centroids and their spread. Which person has which value of the group is not in here. A release whose
    ``roles.sensitive`` is None has no counts and acts as a register; if it publishes ids, ``records`` holds its
    persons (id, cells).
    """

    kind: str
    name: str
    roles: Roles
    records: pl.DataFrame
    tally: pl.DataFrame
    shape: str = "rows"
    date: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=Frozen)
    labels: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.Null))
    size: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.Null))
    counterfeits: pl.DataFrame = field(default_factory=pl.DataFrame)
    hierarchies: Mapping[str, Any] = field(default_factory=Frozen)
    link: pl.DataFrame | None = None
    person_group: pl.Series | None = None
    options: Mapping[str, Any] = field(default_factory=Frozen)  # what only its kind understands
    made: Any = None  # how `anonymize` made it and what it cost; never saved
    domain: tuple[Any, ...] = ()  # values that the publisher declares possible, whether they occur or not
    source: str = ""  # the file, for messages
    first_row: pl.Series | None = None  # where each group first stands in it, from 0, for messages
    upper: pl.Series | None = None  # the greatest count of each row of ``tally``, whose n is the least; None: exact
    least: pl.Series | None = None  # then ``size`` is the greatest size of each group, and this the least
    margins: tuple[Margin, ...] = ()  # its totals
    beside: pl.DataFrame | None = None  # of several sensitive columns: group and all values, record by record
    covers: Mapping[Any, tuple[Any, ...]] = field(default_factory=Frozen)  # values that stand for one of several
    part_of: ranged.PartOf | None = None  # of a margin that stands for itself
    read_from: str = ""  # the file or folder that was read, if any
    elsewhere: pl.Series | None = None  # of a part of a release: all values that the whole publishes
    link_id: str | None = None  # what the publisher's tables call the ids of the link, if that is known

    def __post_init__(self) -> None:
        if self.labels.dtype == pl.Null:
            sizes = group_sizes(self.tally)
            object.__setattr__(self, "labels", sizes["group"])
            object.__setattr__(self, "size", sizes["n"])
        if not self.counterfeits.width:
            object.__setattr__(self, "counterfeits", fakes.none(self.labels))
        object.__setattr__(self, "labels", self.labels.alias("group"))
        object.__setattr__(self, "size", self.size.alias("n"))

    @classmethod
    def bucketized(
        cls,
        frame: Any,
        *,
        id: str | None = None,
        sensitive: str,
        group: str,
        values: Any = None,
        quasi: Sequence[str] | None = None,
        count: str = "count",
        name: str = "",
        date: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        counterfeits: Any = None,
    ) -> Release:
        """Take a bucketized release from a frame.

        One row per person with its group; the sensitive column holds the group's values in any
        order. Or Anatomy's pair: ``frame`` the records without values, ``values`` a table of group,
        value and count. ``quasi`` defaults to all other columns. Without ``id``, persons are located
        by their quasi-identifiers. ``counterfeits`` maps each group to its number of counterfeits, or
        is a table of them: their rows have no id, and in a pair they stand in the counts alone.
        """
        rows = to_polars(frame)
        roles = make_roles(rows.columns, id=id, sensitive=sensitive, group=group, quasi=quasi, count=count)
        where = name or "The release"
        second = None if values is None else to_polars(values)
        source = Source(rows, roles, where, second, f"{where} (table of values)", counterfeits)
        return from_source("bucketized", source).called(name, date, parameters, hierarchies)

    @classmethod
    def generalized(
        cls,
        frame: Any,
        *,
        sensitive: str | Sequence[str] | None,
        quasi: Sequence[str],
        group: str | None = None,
        id: str | None = None,
        name: str = "",
        date: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        counterfeits: Any = None,
    ) -> Release:
        """Take a generalized release from a frame: one row per record, cells as printed.

        Groups are equal cells, numbered 1, 2, … in the order in which they first appear, or a
        published ``group`` column. With ``sensitive=None`` the release acts as a register; only then
        may it publish an ``id``. ``sensitive`` may list several columns: the first is looked at, `by` takes another.
        """
        rows = to_polars(frame)
        roles = make_roles(rows.columns, id=id, sensitive=sensitive, group=group, quasi=quasi)
        source = Source(rows, roles, name or "The release", counterfeits=counterfeits)
        return from_source("generalized", source).called(name, date, parameters, hierarchies)

    @classmethod
    def counted(
        cls,
        frame: Any,
        *,
        sensitive: str,
        quasi: Sequence[str] | None = None,
        group: str | None = None,
        count: str = "count",
        suppressed: Mapping[str, Any] | None = None,
        rounding: Any = None,
        totals: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
        population: str | None = None,
        name: str = "",
        date: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        counterfeits: Any = None,
    ) -> Release:
        """Take a count table from a frame: a row per group (or cells) and value with how often it occurs.

        ``quasi`` defaults to all other columns; groups are as in `generalized`. ``suppressed`` says what marks in
        the column of counts stand for, ``rounding`` the base that counts are rounded to, perhaps with its rule
        ("conventional", "random", "up", "down"); ``<5``, ``5-9`` and ``100+`` say it themselves. Rows with one of
        the labels ``totals`` are sums of others. Tables of one ``population`` count the same persons.
        """
        rows = to_polars(frame)
        others = [c for c in rows.columns if c != str(count)]
        roles = make_roles(others, sensitive=sensitive, group=group, quasi=quasi, count=count)
        options = ranged.options(suppressed, rounding, totals, population)
        source = Source(rows, roles, name or "The release", counterfeits=counterfeits, options=options)
        return from_source("counted", source).called(name, date, parameters, hierarchies)

    @classmethod
    def microaggregated(
        cls,
        frame: Any,
        *,
        sensitive: str | None,
        quasi: Sequence[str],
        group: str | None = None,
        spread: Mapping[str, str] | None = None,
        locate: str = "nearest",
        ordinal: Mapping[str, Sequence[Any]] | None = None,
        nominal: Sequence[str] = (),
        name: str = "",
        date: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        counterfeits: Any = None,
    ) -> Release:
        """Take a microaggregated release from a frame: one row per record with its group's centroid.

        Groups are equal centroids, or a published ``group`` column. ``spread`` maps a quasi-identifier
        to the column with its group's published spread; ``locate`` says whether persons are sought in
        the nearest group or in all groups within the spread. ``ordinal`` gives the levels of a column,
        lowest first. Text that is all numbers is read as numbers unless its column is in ``nominal``.
        """
        rows = to_polars(frame)
        roles = make_roles(rows.columns, sensitive=sensitive, group=group, quasi=quasi, spread=spread)
        options = {**microaggregated.options(ordinal, nominal), "locate": locate}
        source = Source(rows, roles, name or "The release", counterfeits=counterfeits, options=options)
        return from_source("microaggregated", source).called(name, date, parameters, hierarchies)

    @classmethod
    def noisy(
        cls,
        frame: Any,
        *,
        sensitive: str,
        mechanism: str,
        scale: float | None = None,
        neighbours: str | None = None,
        epsilon: float | None = None,
        delta: float = 0.0,
        sensitivity: float | None = None,
        marginals: Sequence[Mapping[str, Any]] = (),
        quasi: Sequence[str] | None = None,
        group: str | None = None,
        count: str = "count",
        processed: Sequence[str] = (),
        name: str = "",
        date: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        hierarchies: Mapping[str, Any] | None = None,
    ) -> Release:
        """Take counts with noise of a known law from a frame: a row per cell (or group) and value.

        ``mechanism`` is geometric, laplace, gaussian or discrete-gaussian and ``scale`` how wide its noise is;
        ``neighbours`` says what may change for ε ("replace-one" or "add-remove"), ``sensitivity`` how far the table
        moves then. ``marginals`` lists the tables of a release of several (quasi, epsilon, delta, scale), whose
        other cells are empty; ``processed`` the columns of counts that were made from the noisy ones.
        """
        rows, kept = to_polars(frame), {str(count), *map(str, processed)}
        others = [c for c in rows.columns if c not in kept]
        roles = make_roles(others, sensitive=sensitive, group=group, quasi=quasi, count=count)
        given = {"mechanism": mechanism, "scale": scale, "neighbours": neighbours, "marginals": marginals}
        law = {**given, "epsilon": epsilon, "delta": delta, "sensitivity": sensitivity}
        source = Source(rows, roles, name or "The release", options=noisy.options(law, processed))
        return from_source("noisy", source).called(name, date, parameters, hierarchies)

    def called(
        self,
        name: str,
        date: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        hierarchies: Mapping[str, Any] | None = None,
    ) -> Release:
        """The same release under a name, with a date, parameters and hierarchies."""
        return replace(
            self,
            name=name,
            date=date,
            parameters=Frozen({**(parameters or {}), **self.form.parameters(self)}),
            hierarchies=Frozen({c: as_hierarchy(h) for c, h in (hierarchies or {}).items()}),
        )

    @property
    def form(self) -> Kind:
        """Its kind as an object that answers how such releases behave."""
        return KINDS[self.kind]

    @property
    def ordinal(self) -> Mapping[str, tuple[str, ...]]:
        """The levels of ordered centroids, lowest first."""
        found: Mapping[str, tuple[str, ...]] = self.options.get("ordinal", Frozen())
        return found

    @property
    def locate(self) -> str:
        """Whether persons are sought at the nearest centroid, or at all centroids within the spread."""
        return str(self.options.get("locate", "nearest"))

    @property
    def sensitive(self) -> str | None:
        """The sensitive column; None for a register."""
        return self.roles.sensitive

    @property
    def value_cells(self) -> bool:
        """Whether its values are cells: ranges, sets or labels that stand for one of several values."""
        table = self if self.part_of is None else self.part_of.leaves
        return bool(table.options.get("value_cells"))

    def with_value_cells(self) -> Release:
        """The same release with values that are read as cells, as quasi-identifiers are: 20-30, {a, b}, a label."""
        return replace(self, options=Frozen({**self.options, "value_cells": True}))

    @property
    def ranged(self) -> bool:
        """Whether it hides or rounds counts, or has totals."""
        return self.upper is not None

    @property
    def noise(self) -> Noise | None:
        """The noise of its counts; None: there is none."""
        found: Noise | None = self.options.get("noise")
        return found

    @property
    def members(self) -> int:
        """How many persons are in the release, at most; where counts carry noise, about how many."""
        return self.form.members(self)

    def sizes(self) -> pl.DataFrame:
        """How many records each group publishes, counterfeits included: group, n."""
        return pl.DataFrame({"group": self.labels, "n": self.size})

    def groups(self) -> pl.DataFrame:
        """Who is in which group: id, group.

        Published where ids are; otherwise the publisher's private link, if the release carries it.
        """
        if self.roles.id is not None:
            return pl.DataFrame({"id": self.records[self.roles.id], "group": self.person_groups()})
        if self.link is not None:
            return self.link
        raise ReleaseError(
            f"{self.name or 'The release'} publishes no ids: who is in which group is known only from a register or "
            "from the publisher's private link."
        )

    def person_groups(self) -> pl.Series:
        """The group of each row of ``records``."""
        return self.form.person_groups(self)

    def with_link(self, frame: Any, *, id: str | None = None) -> Release:
        """The same release with the publisher's private link (id, group), which is saved beside the folder.

        ``id`` is what the publisher's own tables call the column of ids.
        """
        checked = private.checked(self, frame, where=f"{self.name or 'The release'} (private link)")
        return replace(self, link=checked, link_id=id)

    def counts(self) -> pl.DataFrame:
        """What is published of each group: group, value, n (with its noise); of ranges also lower and upper."""
        if self.upper is None:
            return self.tally
        exact = pl.when(pl.col("n") == self.upper).then("n").alias("n")
        return self.tally.select("group", "value", exact, pl.col("n").alias("lower"), self.upper.alias("upper"))

    def cells(self) -> pl.DataFrame:
        """What is published of each group beside its values: group, then the quasi-identifiers.

        One row per group; of a bucketized release, one per record. Its first column is ``group``, unless that is taken.
        """
        return identity.cells_of(self)

    def by(self, sensitive: str) -> Release:
        """The same release with another of its sensitive columns as the one that is looked at."""
        return joint.by_column(self, sensitive)

    def recoded(self, mapping: Mapping[Any, Any]) -> Release:
        """The same release in another coding: every value renamed by ``mapping``, counts added up."""
        return recode.recoded(self, mapping)

    def to_frame(self) -> pl.DataFrame:
        """The published rows: groups in the order of their labels, rows inside by id and by value.

        Both orders are made from published facts alone, so the row in which a value stands tells
        nothing, whatever the order of the frame that the release was made from. Of a bucketized release
        in two tables these are the records, without values; `counts` has the other table.
        """
        return self.form.rows(self)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        format: str = "csv",
        overwrite: bool = False,
        link: bool | None = None,
    ) -> None:
        """Write a release folder: the data as CSV or Parquet and ``release.toml`` with hashes.

        The private link, if the release carries one, goes into ``NAME.link.csv`` beside the folder NAME,
        readable by its owner alone: `read_release` finds it there; ``link=False`` leaves it out, True insists on it.
        """
        from showthrough.release import folder as folders

        folders.save(self, folder, format=format, overwrite=overwrite, link=link)

    def as_dict(self) -> dict[str, Any]:
        """What the release is, in counts only, as plain data for JSON."""
        return identity.as_dict(self)

    def fingerprint(self) -> str:
        """The SHA-256 of what is published, whatever it is called and however it is stored.

        Name, date and parameters are not part of it, nor is what only the publisher has; the law of noise is.
        """
        return identity.fingerprint_of(self)

    def __repr__(self) -> str:
        return identity.in_short(self)


def from_source(kind: str, source: Source) -> Release:
    """A release without a name from published tables."""
    joint.refuse_several(KINDS[kind], source)
    parts = KINDS[kind].make(source)
    return Release(kind, "", **{f.name: getattr(parts, f.name) for f in fields(Parts)})
