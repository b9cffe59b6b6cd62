"""Count tables: how often each value occurs in each group, no rows of records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from showthrough.errors import InputError
from showthrough.release import grouped, ranged
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
    options = ("suppressed", "rounding", "totals", "population")
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
        return ranged.parts_of_table(source, cells, roles.sensitive)

    def rows(self, release: Release) -> pl.DataFrame:
        """One row per group and value; of a table with ranges or totals the rows as printed."""
        printed = release.options.get("rows")
        if printed is None:
            return grouped.count_rows(release)
        columns = [c for c in printed.columns if c in {*_columns(release)}]
        return table_of({c: printed[c] for c in columns}).sort(columns, nulls_last=True, maintain_order=True)

    def by_record(self, release: Release) -> pl.DataFrame:
        """Every row as often as it counts, without the count."""
        ranged.refuse_ranges(release, "one row for each record")
        rows, count = self.rows(release), release.roles.count
        times = pl.DataFrame({"n": rows[count]}).with_row_index("at")
        at = times.select(pl.col("at").repeat_by("n").explode())["at"]
        return table_of({c: rows[c].alias("cell").gather(at) for c in rows.columns if c != count})

    def clues_in(self, clues: Clues) -> int:
        """How counts are printed; or a column of counts that is there, values, and its name or groups."""
        if any(name in clues.options for name in self.options):
            return 4
        told, columns = clues.roles, clues.columns or ()
        counts = (told.count or "count") in columns and told.id is None and not clues.pair
        groups = told.group is not None or told.quasi is not None or told.count is not None
        return 3 if counts and groups and told.sensitive is not None else 0

    def entries(self, release: Release) -> dict[str, Any]:
        """Where the counts stand and how they are printed."""
        told = {name: release.options[name] for name in self.options if name in release.options}
        return {"count": release.roles.count, **{name: _as_entry(entry) for name, entry in told.items()}}

    def options_in(
        self,
        columns: Mapping[str, Any],
        types: Mapping[str, str],  # noqa: ARG002
        parameters: Mapping[str, Any],  # noqa: ARG002
    ) -> dict[str, Any]:
        """How counts are printed, as a release.toml says under [columns]."""
        return ranged.options(**{name: columns[name] for name in self.options if name in columns})


def _columns(release: Release) -> list[str | None]:
    roles = release.roles
    return [*roles.quasi, roles.group, roles.sensitive, roles.count]


def _as_entry(entry: Any) -> Any:
    """An option as plain data: totals over everything are a list of labels."""
    if isinstance(entry, Mapping):
        return {k: list(v) for k, v in entry.items()} if any(entry.values()) else list(entry)
    return list(entry) if isinstance(entry, tuple) else entry
