"""Count tables: how often each value occurs in each group, no rows of records."""

from __future__ import annotations

from showthrough.errors import InputError
from showthrough.release import grouped
from showthrough.release.columns import cell_text
from showthrough.release.parts import Parts, Source
from showthrough.release.roles import check_parts, parts_of


def make(source: Source) -> Parts:
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
