"""Count tables: how often each value occurs in each group, no rows of records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from showthrough.errors import InputError
from showthrough.release import grouped
from showthrough.release.columns import cell_text, table_of
from showthrough.release.kind import Clues, Kind, Shows
from showthrough.release.parts import Parts, Source
from showthrough.release.roles import check_parts, parts_of

if TYPE_CHECKING:
    from showthrough.release.release import Release


class CountedKind(Kind):
    """A row for each group (or its cells) and value, with how often it occurs."""

    name = "counted"
    shows = Shows.CELLS
    needs = ("sensitive",)
    counts_in_rows = True

    def make(self, source: Source) -> Parts:
        """The parts of a release from its rows (group or cells, value, count)."""
        roles = source.roles
        if roles.sensitive is None:
            raise InputError(f"{source.where}: a count table needs a sensitive column.")
        if roles.id is not None:
            raise InputError(f"{source.where}: a count table holds no persons, so it has no column of ids.")
        check_parts([*parts_of(roles), ("count", roles.count)])
        grouped.check(source, also=(roles.count,))
        cells = {c: cell_text(source.rows[c], f"{source.where}: column {c!r}") for c in roles.quasi}
        return grouped.parts_of_counts(source, cells, roles.sensitive)

    def rows(self, release: Release) -> pl.DataFrame:
        """One row per group and value."""
        return grouped.count_rows(release)

    def by_record(self, release: Release) -> pl.DataFrame:
        """Every row as often as it counts, without the count."""
        rows, count = self.rows(release), release.roles.count
        times = pl.DataFrame({"n": rows[count]}).with_row_index("at")
        at = times.select(pl.col("at").repeat_by("n").explode())["at"]
        return table_of({c: rows[c].alias("cell").gather(at) for c in rows.columns if c != count})

    def clues_in(self, clues: Clues) -> int:
        """A column of counts that the file really has, values, and something that tells groups apart."""
        told, columns = clues.roles, clues.columns or ()
        counts = (told.count or "count") in columns and told.id is None and not clues.pair
        groups = told.group is not None or told.quasi is not None
        return 3 if counts and groups and told.sensitive is not None else 0

    def entries(self, release: Release) -> dict[str, Any]:
        """Where the counts stand."""
        return {"count": release.roles.count}
