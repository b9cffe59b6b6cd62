"""From whatever is checked to counts; of a release of any kind with the cells of its groups as their names.

Counts are of published records. Where a release declares counterfeits, `Counted.real` says how many
of the records of each group are persons: criteria look at what is published, as readers do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from showthrough.criteria.coding import codes, combine, dense
from showthrough.criteria.counts import (
    Counted,
    GroupCounts,
    against,
    from_tally,
    gone,
    hidden_rows,
    of_frame,
    values_of,
)
from showthrough.errors import InputError
from showthrough.release.columns import table_of
from showthrough.release.counterfeits import per_group
from showthrough.release.ranged import refuse_ranges
from showthrough.table.arrays import Ints
from showthrough.table.frames import need_columns, to_polars

if TYPE_CHECKING:
    from showthrough.release.release import Release


def of_release(
    release: Any,
    sensitive: str | Sequence[str] | None = None,
    quasi: Sequence[str] | None = None,
    *,
    suppressed: str | None = None,
    reference: Any = None,
) -> Counted:
    """Count a release of any kind, or the rows of a frame grouped by equal quasi-identifiers.

    ``sensitive`` of several columns is one composite value. For frames: rows in which every
    quasi-identifier reads ``suppressed`` are in no group. ``reference`` is the table that the
    release was made from, where its rows are known: then values are compared with all of them.
    """
    if isinstance(release, Counted):
        return release
    if isinstance(release, GroupCounts):
        return Counted(release, lambda groups: pl.DataFrame({"group": groups}))
    if hasattr(release, "tally"):
        return of_published(release, sensitive, quasi, suppressed=suppressed, reference=reference)
    return of_frame(to_polars(release), sensitive, quasi, suppressed=suppressed, reference=reference)


def of_published(
    release: Release,
    sensitive: str | Sequence[str] | None = None,
    quasi: Sequence[str] | None = None,
    *,
    suppressed: str | None = None,
    reference: Any = None,
) -> Counted:
    """Count a release by its own groups, or by those that some of its quasi-identifiers make."""
    own = release.roles.sensitive
    named = [sensitive] if isinstance(sensitive, str) else list(sensitive or ())
    chosen = [quasi] if isinstance(quasi, str) else None if quasi is None else list(quasi)
    if release.form.values_per_group:
        if named not in ([], [own]):
            raise InputError(
                f"The values of this release stand in its column {own!r}, and only per group: no other column can be "
                "looked at as sensitive."
            )
        if chosen is not None:  # values stand beside no person
            return of_frame(release.records, None, chosen, suppressed=suppressed)
        return _by_groups(release, None, suppressed, reference)
    if named in ([], [own]) and not set(chosen or ()) & set(release.roles.also):
        return _by_groups(release, chosen, suppressed, reference)
    rows = release.form.by_record(release)
    names = chosen if chosen is not None else [c for c in group_names(release) if c not in named]
    return of_frame(rows, sensitive, names, suppressed=suppressed, reference=reference)


def group_names(release: Release) -> list[str]:
    """The columns whose cells make the groups, where groups are not published labels alone."""
    roles = release.roles
    return [*roles.quasi, *([roles.group] if roles.group is not None else [])]


def _by_groups(release: Release, chosen: list[str] | None, suppressed: str | None, reference: Any) -> Counted:
    """Count by groups that are there; those that show the same chosen cells are one."""
    refuse_ranges(release, "a criterion")
    cells, names = _cells(release, chosen)
    away = hidden_rows(cells, [c for c in names if c in release.roles.quasi], suppressed)
    group, of_group = _merged(cells, names, away)
    persons = release.size.to_numpy() - per_group(release.counterfeits, release.labels).to_numpy()
    kept = group >= 0
    published = np.bincount(group[kept], weights=release.size.to_numpy()[kept]).astype(np.int64)
    real = np.bincount(group[kept], weights=persons[kept]).astype(np.int64)
    if release.roles.sensitive is None:
        one = np.arange(published.size + 1)
        total = np.array([int(release.size.sum())])
        counts = GroupCounts(one, np.zeros(published.size, dtype=np.int32), published, total)
    else:
        counts = _counts(release, group)
        if reference is not None:
            counts = against(counts, values_of(to_polars(reference), release.roles.sensitive))
    return Counted(
        counts,
        lambda asked: table_of({c: cells[c].alias("cell").gather(of_group[asked]) for c in cells.columns}),
        has_values=release.roles.sensitive is not None,
        quasi=tuple(c for c in names if c in release.roles.quasi),
        suppressed=gone(counts),
        real=real if release.counterfeits.height else None,
    )


def _cells(release: Release, chosen: list[str] | None) -> tuple[pl.DataFrame, list[str]]:
    """What names each group, one row per group in the order of the labels, and the columns that make groups."""
    roles = release.roles
    label = "group" if roles.group is None else roles.group
    if release.form.values_per_group or (chosen is None and not roles.quasi):
        return table_of({"group": release.labels}), ["group"]
    shown = release.cells()
    first = shown.columns[0]
    columns = {c: shown[c] for c in roles.quasi}
    if roles.group is not None and label not in columns:
        columns[label] = shown[first]
    named = list(columns) if chosen is None else chosen
    frame = table_of(columns)
    need_columns(frame, named, "The release")
    return table_of({c: columns[c] for c in named}), named


def _merged(cells: pl.DataFrame, names: list[str], away: Any) -> tuple[Ints, Ints]:
    """The number of each group when equal cells are one (below 0 if suppressed), and where each stands first."""
    key = dense(combine(codes([cells[c] for c in names]), cells.height))[0]
    if away is not None:
        key = np.where(away, -1, key)
    found, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    gone_first = int(found.size > 0 and found[0] < 0)
    order = np.argsort(first[gone_first:], kind="stable")  # in the order in which the groups stand
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    number = np.append(rank, -1)[inverse.reshape(-1) - gone_first]
    return number, first[gone_first:][order].astype(np.int64)


def _counts(release: Release, group: Ints) -> GroupCounts:
    """The published counts by the new numbers of the groups; suppressed groups count in the table alone."""
    numbers = pl.DataFrame({"group": release.labels, "number": group})
    tally = release.tally.join(numbers, on="group", how="left", maintain_order="left")
    tally = tally.select(pl.col("number").alias("group"), "value", "n")
    tally = tally.group_by("group", "value").agg(pl.col("n").sum())
    counts = from_tally(tally, None)[0]
    return counts if (group >= 0).all() else counts.take(np.arange(1, counts.groups))
