"""A table beside its release: which group each row went into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.coding import codes, combine, dense, ordered
from showthrough.errors import InputError
from showthrough.table.arrays import Ints
from showthrough.table.frames import need_columns, one_kind, scalar, to_polars
from showthrough.table.ragged import starts


@dataclass(frozen=True, eq=False)
class Grouping:
    """The rows of a table with the group that each went into; below 0 where a row was suppressed."""

    table: pl.DataFrame
    group: Ints
    quasi: tuple[str, ...]

    def __post_init__(self) -> None:
        need_columns(self.table, self.quasi, "The table")
        if self.group.shape != (self.table.height,):
            raise InputError(f"The table has {self.table.height} rows, but groups are given for {self.group.size}.")
        if self.table.height == 0:
            raise InputError("The table has no rows: there is nothing to measure.")

    @classmethod
    def by_column(cls, table: Any, group: Any, *, quasi: Sequence[str]) -> Grouping:
        """Take the group of each row from a column or sequence of labels; an empty one is a suppressed row."""
        frame = to_polars(table)
        if isinstance(group, str):
            need_columns(frame, [group], "The table")
            labels = frame[group]
        else:
            labels = group if isinstance(group, pl.Series) else pl.Series("group", group)
        code = dense(combine(codes([labels]), labels.len()))[0]
        code = np.where(labels.is_null().to_numpy(), -1, code)
        kept = code >= 0
        code[kept] = dense(code[kept])[0]
        return cls(frame, code, tuple(quasi))

    @classmethod
    def of_release(cls, table: Any, release: Any, *, id: str, quasi: Sequence[str] | None = None) -> Grouping:
        """Find each row's group in a release by the person's id; who is not in it was suppressed.

        The link between persons and groups is the publisher's: `Release.groups` holds it.
        """
        frame = to_polars(table)
        need_columns(frame, [id], "The table")
        link = release.groups()
        own, theirs = one_kind([scalar(frame[id], f"The column {id!r}"), link["id"]], "ids", ["table", "release"])
        if own.n_unique() < own.len():
            raise InputError(f"The column {id!r} holds an id more than once: a table has one record per person.")
        pairs = pl.DataFrame({"id": theirs, "group": link["group"]})
        joined = pl.DataFrame({"id": own}).join(pairs, on="id", how="left", maintain_order="left")
        named = release.roles.quasi if quasi is None else quasi
        return cls.by_column(frame, joined["group"], quasi=named)

    @cached_property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.group.max()) + 1

    @cached_property
    def order(self) -> Ints:
        """The kept rows, group by group."""
        by_group = np.argsort(self.group, kind="stable")
        found: Ints = by_group[np.count_nonzero(self.group < 0) :]
        return found

    @cached_property
    def start(self) -> Ints:
        """Where each group begins in `order`, and the end."""
        return starts(self.sizes)

    @cached_property
    def sizes(self) -> Ints:
        """Rows per group."""
        sizes = np.bincount(self.group[self.group >= 0], minlength=self.groups)
        if (sizes == 0).any():
            raise InputError("Groups are numbered from 0 without gaps: a group without rows has no loss.")
        return sizes

    @property
    def suppressed(self) -> int:
        """Rows in no group."""
        return int(np.count_nonzero(self.group < 0))

    def coded(self, column: str) -> tuple[Ints, pl.Series]:
        """A column as codes in the order of its values, and the values."""
        return ordered(scalar(self.table[column], f"The column {column!r}"))
