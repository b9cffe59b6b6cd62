"""What every attack is given: the releases, who is who, the truth, time and chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite

import polars as pl

from showthrough.criteria.coding import as_numbers
from showthrough.inference.infer import SECONDS
from showthrough.progress import Progress
from showthrough.register.reader import telling
from showthrough.register.register import Register
from showthrough.release.release import Release
from showthrough.table.files import read_table
from showthrough.table.frames import need_columns
from showthrough.table.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Attacked:
    """The common part of a request, read."""

    releases: tuple[Release, ...]
    register: Register | None = None
    truth: pl.DataFrame | None = None
    """The publisher's own table as id and value."""
    own: pl.DataFrame | None = None
    """The same table with all its columns, as far as it has more."""
    seconds: float = SECONDS
    seed: int = 0
    tell: Progress = field(default_factory=Progress)
    encoding: str | None = None
    id: str | None = None
    """The column of ids, if it was named."""

    @property
    def release(self) -> Release:
        """The one release, of an attack that takes one."""
        return self.releases[0]

    def table(self, file: str) -> pl.DataFrame:
        """A file that an option names."""
        return read_table(file, encoding=self.encoding)

    def sensitive_in(self, table: pl.DataFrame) -> str | None:
        """The sensitive column of the releases that a table has, or its column of values."""
        named = (*(r.sensitive for r in telling(self.releases, noisy=True)), "value")
        return next((column for column in named if column in table.columns), None)

    @property
    def tree(self) -> Hierarchy | None:
        """The hierarchy of the values, if a release has one with kinds between values and the root."""
        found = (r.hierarchies.get(r.sensitive) for r in telling(self.releases, noisy=True) if r.sensitive is not None)
        return next((tree for tree in found if tree is not None and tree.height > 1), None)

    @property
    def span(self) -> float | None:
        """How far the largest value is from the smallest, where all are numbers."""
        ends: list[float] = []
        for release in telling(self.releases, noisy=True):
            numbers = as_numbers(release.tally["value"]) if release.sensitive is not None else None
            if numbers is None or not numbers.len() or numbers.null_count():
                return None
            found = numbers.to_numpy()
            ends += [float(found.min()), float(found.max())]
        reach = max(ends) - min(ends) if ends else inf
        return reach if isfinite(reach) else None

    def id_in(self, table: pl.DataFrame) -> str | None:
        """The column of ids that a table has."""
        named = (self.id, *(r.roles.id for r in self.releases), "id")
        return next((column for column in named if column in table.columns), None)


def as_truth(table: pl.DataFrame, id: str | None, value: str | None) -> pl.DataFrame:
    """The publisher's table as id and value."""
    found = []
    for name, own in (("id", id), ("value", value)):
        column = name if own is None or own not in table.columns else own
        need_columns(table, [column], "The truth")
        found.append(table[column].alias(name))
    return pl.DataFrame(found)
