"""Counterfeits: records of nobody whose values stand in the counts, with their published number per group.

Xiao and Tao, *m-Invariance: Towards Privacy Preserving Re-publication of Dynamic Datasets*, SIGMOD
2007: a counterfeit fills up a group; how many each group has is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from showthrough.errors import ReleaseError
from showthrough.release.columns import as_labels, filled, named, persons, whole
from showthrough.release.roles import Roles
from showthrough.table.frames import need_columns, to_polars


def none(labels: pl.Series) -> pl.DataFrame:
    """No counterfeits, for a release with these groups."""
    return pl.DataFrame(schema={"group": labels.dtype, "n": pl.Int64})


def read(given: Any, labels: pl.Series, size: pl.Series, roles: Roles, *, where: str) -> pl.DataFrame:
    """group, n above zero, in the order of the groups.

    ``given`` is a mapping from group to number, or a table with a group column (called as in the
    release, or ``group``) and a column of counts (called as in the release, or ``count`` or ``n``).
    """
    if given is None:
        return none(labels)
    table = f"{where} (counterfeits)"
    frame, group_name, count_name = _table(given, roles, table)
    if frame.height == 0:
        return none(labels)
    group = filled(frame, group_name, lambda row: f"{table}: row {row} names no group.")
    count = whole(frame, count_name, table)
    found = pl.DataFrame({"group": as_labels(group, labels), "n": count})
    unknown = found["group"].is_null()
    if unknown.any():
        raise ReleaseError(f"{table}: group {named(group[unknown.arg_max() or 0])} is no group of the release.")
    if found["group"].n_unique() < found.height:
        twice = found["group"].filter(found["group"].is_duplicated())[0]
        raise ReleaseError(f"{table}: group {named(twice)} is listed more than once.")
    sized = found.join(pl.DataFrame({"group": labels, "size": size}), on="group", how="left").sort("group")
    for label, n, most in sized.filter(pl.col("n") > pl.col("size")).iter_rows():
        raise ReleaseError(f"{table}: group {named(label)} lists {n} counterfeits but has {most} values.")
    return sized.filter(pl.col("n") > 0).select("group", "n")


def per_group(counterfeits: pl.DataFrame, labels: pl.Series) -> pl.Series:
    """The number of counterfeits of each group, 0 where none are listed."""
    groups = pl.DataFrame({"group": labels})
    return groups.join(counterfeits, on="group", how="left", maintain_order="left")["n"].fill_null(0)


def told(number_of_persons: int, fake: int) -> str:
    """Who is in a group, for a sentence."""
    if not fake:
        return persons(number_of_persons)
    return f"{persons(number_of_persons)} and {fake} counterfeit{'' if fake == 1 else 's'}"


def _table(given: Any, roles: Roles, table: str) -> tuple[pl.DataFrame, str, str]:
    """The table, and what its columns of groups and counts are called."""
    if isinstance(given, Mapping) and all(isinstance(n, int) and not isinstance(n, bool) for n in given.values()):
        return to_polars({"group": list(given), "n": list(given.values())}), "group", "n"
    frame = to_polars(given)
    if set(frame.columns) == {"group", "n"}:
        return frame, "group", "n"
    group = roles.group if roles.group is not None and roles.group in frame.columns else "group"
    count = next((c for c in (roles.count, "count", "n") if c in frame.columns and c != group), roles.count)
    need_columns(frame, [group, count], table)
    return frame, group, count
