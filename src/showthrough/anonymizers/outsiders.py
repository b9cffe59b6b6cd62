"""Criteria that compare a table with its population: group everybody, publish those in the table.

k-map and δ-presence ask how many persons of the population fit a group. So the others, persons of
the population who are not in the table, take part in the grouping with a value of their own; the
other criteria look at the table's rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from showthrough.anonymizers.demands import refuse_out_of_reach, requirement, satisfied, searchable
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.anonymizers.requirement import Requirement
from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.population import DeltaPresence, KMap
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.frames import need_columns, one_kind, scalar, to_polars

if TYPE_CHECKING:
    from showthrough.anonymizers.table import Table

Describe = Callable[[Sequence[QuasiColumn], Codes], Sequence[Sequence[str]]]


@dataclass(frozen=True, eq=False)
class Population:
    """The table, with the rest of its population where a criterion asks for it."""

    table: Table
    criteria: tuple[Any, ...]
    columns: tuple[QuasiColumn, ...]
    added: int  # persons who are not in the table

    @classmethod
    def of(cls, table: Table, criteria: Sequence[Any]) -> Population:
        """The population that the criteria name; without any, the table alone."""
        named = [c.population for c in criteria if isinstance(c, (DeltaPresence, KMap))]
        if not named:
            return cls(table, tuple(criteria), table.columns, 0)
        if any(n is not named[0] for n in named):
            raise InputError("k-map and δ-presence must name the same population.")
        from showthrough.anonymizers.table import prepare

        others = _others(table, named[0])
        mine = table.frame.select(table.quasi)
        kinds = {c: one_kind([_scalar(mine, c), _scalar(others, c)], c, ["table", "population"]) for c in table.quasi}
        both = pl.DataFrame({c: pl.concat([one, other]) for c, (one, other) in kinds.items()})
        whole = prepare(both, id=None, sensitive=None, quasi=table.quasi, shape=table.shape)
        return cls(table, tuple(criteria), whole.columns, others.height)

    def requirement(self, *, suppress: int = 0) -> Requirement:
        """What every group of the population must satisfy; refused if that is out of reach and no row may go."""
        if not any(isinstance(c, (DeltaPresence, KMap)) for c in self.criteria):
            return requirement(self.table, self.criteria, suppress=suppress)
        stranger = self.table.values.len()
        sensitive = np.concatenate([self.table.value, np.full(self.added, stranger, dtype=np.int32)])
        ready = tuple(searchable(c) for c in self.criteria)
        whole = [
            replace(c, population=np.array([sensitive.size])) if isinstance(c, (DeltaPresence, KMap)) else c
            for c in ready
        ]
        if not suppress:
            refuse_out_of_reach(self.table, whole)
        return Requirement(1, sensitive, replace(self, criteria=ready)._allowed)

    def _allowed(self, counts: GroupCounts) -> Flags:
        stranger = self.table.values.len()
        own = counts.value < stranger
        group = counts.group[own]
        size = np.bincount(group, weights=counts.count[own], minlength=counts.groups).astype(np.int64)
        inside = np.flatnonzero(size > 0)
        met: Flags = np.ones(counts.groups, dtype=bool)
        if any(isinstance(c, DeltaPresence) and c.everywhere and c.minimum > 0 for c in self.criteria):
            met[size == 0] = False
        start = np.searchsorted(group, np.append(inside, counts.groups))
        mine = GroupCounts.trusted(start, counts.value[own], counts.count[own], self.table.counts, self.table.values)
        persons = counts.size[inside]
        ready = [replace(c, population=persons) if isinstance(c, (DeltaPresence, KMap)) else c for c in self.criteria]
        met[inside] &= satisfied(self.table, mine, ready)
        return met

    def published(self, group: Codes) -> Codes:
        """The group of each row of the table, numbered without gaps."""
        mine = group[: self.table.rows].astype(np.int64)
        if not self.added:
            return mine.astype(np.int32)
        number = np.full(int(group.max(initial=-1)) + 2, -1, dtype=np.int32)
        kept = self._kept(group)
        number[kept] = np.arange(kept.size)
        return number[mine]

    def cells(self, group: Codes, describe: Describe) -> list[list[str]]:
        """What the published groups print."""
        every = describe(self.columns, group)
        if not self.added:
            return [list(texts) for texts in every]
        return [[texts[g] for g in self._kept(group)] for texts in every]

    def persons(self, group: Codes) -> Ints:
        """Persons of the population (without one: of the table) in each published group."""
        return np.bincount(group[group >= 0])[self._kept(group)]

    def outside(self, group: Codes) -> int:
        """Persons of the population in no published group."""
        return int(group.size - self.persons(group).sum())

    def _kept(self, group: Codes) -> Ints:
        mine = group[: self.table.rows]
        return np.unique(mine[mine >= 0]).astype(np.int64)


def _scalar(frame: pl.DataFrame, column: str) -> pl.Series:
    return scalar(frame[column], f"Column {column!r}").alias(column)


def _others(table: Table, population: Any) -> pl.DataFrame:
    """The population without the persons of the table, who must all be in it."""
    if population is None or isinstance(population, (np.ndarray, list)):
        raise InputError("k-map and δ-presence need the population as a table with the same quasi-identifiers.")
    people = to_polars(population)
    need_columns(people, table.quasi, "The population")
    keys = [f"q{k}" for k in range(len(table.quasi))]

    def counted(frame: pl.DataFrame, name: str) -> pl.DataFrame:
        cells = {k: _scalar(frame, c).cast(pl.String) for k, c in zip(keys, table.quasi, strict=True)}
        return pl.DataFrame(cells).group_by(keys, maintain_order=True).agg(pl.len().cast(pl.Int64).alias(name))

    both = counted(people, "all").join(
        counted(table.frame, "own"), on=keys, how="full", coalesce=True, nulls_equal=True
    )
    left = both.select(*keys, (pl.col("all").fill_null(0) - pl.col("own").fill_null(0)).alias("left"))
    short = int((left["left"] < 0).sum())
    if short:
        raise InputError(
            f"{short} combinations of quasi-identifiers occur more often in the table than in the population: the "
            "population must hold everybody in the table."
        )
    rest = left.filter(pl.col("left") > 0).sort(keys, nulls_last=True)  # a join keeps no order
    spread = rest.select(pl.col(keys).repeat_by("left").explode()) if rest.height else rest.select(keys)
    return spread.rename(dict(zip(keys, table.quasi, strict=True)))
