"""What a kind of release is: every question that the house asks because kinds differ.

`Release.kind` is a name for users and files. Code that behaves differently for different kinds asks
the kind itself (`Release.form`): a fact such as `shows` or `values_per_group`, or something that it
does, such as `rows`. A room above this one that treats kinds differently has one table by `Shows`.
So a new kind is one file with a `Kind` that answers these questions, and one line in `kinds.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

if TYPE_CHECKING:
    from showthrough.release.parts import Parts, Source
    from showthrough.release.release import Release
    from showthrough.release.roles import Given

LONGEST_CELLS = 80  # characters of the cells that name a group


class Shows(Enum):
    """What a release shows of its records' quasi-identifiers."""

    EXACT = "exact"
    """The values themselves, in a row for each record."""
    CELLS = "cells"
    """Cells that cover values, one per column and group."""
    CENTROIDS = "centroids"
    """A point in the midst of each group, which covers no values."""


@dataclass(frozen=True)
class Clues:
    """What is known of a plain file whose kind nobody named."""

    roles: Given
    pair: bool
    """Whether a second table, of values, was given."""
    options: Mapping[str, Any]
    columns: Sequence[str] | None = None
    """The columns that the file has; None where the roles must tell."""


class Kind(ABC):
    """A kind of release; the facts are those of most kinds unless a kind says otherwise."""

    name: ClassVar[str]
    shows: ClassVar[Shows]
    needs: ClassVar[tuple[str, ...]]
    """The roles that a plain file said to be of this kind must have."""
    states: ClassVar[tuple[str, ...]] = ()
    """The roles that a release.toml must state, be it to say that there is no such column."""
    options: ClassVar[tuple[str, ...]] = ()
    """What only this kind understands when it is read."""
    publishes_ids: ClassVar[bool] = False
    """Whether it tells who is in which group by id, beside published values."""
    values_per_group: ClassVar[bool] = False
    """Whether groups are published labels, with values that stand beside no record's quasi-identifiers."""
    counts_in_rows: ClassVar[bool] = False
    """Whether a row says in a column of counts how many records it stands for."""
    second_table: ClassVar[bool] = False
    """Whether it may come as two tables, one of records and one of values with counts."""
    from_groups: ClassVar[bool] = False
    """Whether `anonymize` can publish groups of a table's rows as a release of this kind."""

    several_values: ClassVar[bool] = False
    """Whether more than one sensitive column can stand beside its records."""

    @abstractmethod
    def make(self, source: Source) -> Parts:
        """The parts of a release from published tables: above all its counts (group, value, n)."""

    @abstractmethod
    def rows(self, release: Release) -> pl.DataFrame:
        """The published rows, in an order that tells nothing."""

    def tables(self, release: Release) -> dict[str, pl.DataFrame]:
        """The files of a release folder by their part in it."""
        return {"rows": self.rows(release)}

    def by_record(self, release: Release) -> pl.DataFrame:
        """The published rows, one for each record."""
        return self.rows(release)

    def clues_in(self, clues: Clues) -> int:  # noqa: ARG002
        """How many clues tell that a file is of this kind; 0 where they do not. The most clues win."""
        return 0

    def entries(self, release: Release) -> dict[str, Any]:  # noqa: ARG002
        """What release.toml says under [columns] beside the roles that every kind has."""
        return {}

    def options_in(
        self,
        columns: Mapping[str, Any],  # noqa: ARG002
        types: Mapping[str, str],  # noqa: ARG002
        parameters: Mapping[str, Any],  # noqa: ARG002
    ) -> dict[str, Any]:
        """The options of `make` that a release.toml tells by its [columns], [types] and [parameters]."""
        return {}

    def parameters(self, release: Release) -> dict[str, Any]:  # noqa: ARG002
        """What the release says of how it was made, whoever reads it."""
        return {}

    def members(self, release: Release) -> int:
        """How many persons are in the release, at most: published records without counterfeits."""
        return int(release.size.sum()) - int(release.counterfeits["n"].sum())

    def person_groups(self, release: Release) -> pl.Series:
        """The group of each row of ``release.records``."""
        return release.labels if release.person_group is None else release.person_group

    def group_name(self, release: Release, at: int) -> str:
        """A group as a reader finds it: its label, and its cells where groups are made of cells."""
        label = str(release.labels[at])
        if self.shows is not Shows.CELLS or release.roles.group or not release.roles.quasi:
            return label
        told = ", ".join("*" if cell is None else str(cell) for cell in release.records.row(at))
        return f"{label} ({told})" if len(told) <= LONGEST_CELLS else f"{label} ({told[: LONGEST_CELLS - 1]}…)"

    def located_by_guess(self, release: Release) -> bool:  # noqa: ARG002
        """Whether a person who is in the release may be in none of the groups in which it is located."""
        return False
