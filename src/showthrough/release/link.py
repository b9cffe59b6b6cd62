"""The publisher's private link: who is in which group of a release that does not publish ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from showthrough.errors import ReleaseError
from showthrough.release import counterfeits
from showthrough.release.bucketized import refuse_twice
from showthrough.release.columns import as_labels, filled, named, persons
from showthrough.table.frames import need_columns, to_polars

if TYPE_CHECKING:
    from showthrough.release.release import Release


def checked(release: Release, frame: Any, *, where: str) -> pl.DataFrame:
    """The link (id, group) in order of group and id; every group has as many persons as it publishes."""
    given = to_polars(frame)
    need_columns(given, ["id", "group"], where)
    ids = filled(given, "id", lambda row: f"{where}: row {row} has no id.")
    refuse_twice(ids, "id", where)
    group = filled(given, "group", lambda row: f"{where}: row {row} has no group.")
    found = pl.DataFrame({"id": ids, "group": as_labels(group, release.labels)})
    unknown = found["group"].is_null()
    if unknown.any():
        raise ReleaseError(f"{where}: group {named(group[unknown.arg_max() or 0])} is no group of the release.")
    link = found.sort("group", "id")
    linked = link.group_by("group").agg(pl.len().cast(pl.Int64).alias("linked"))
    every = pl.DataFrame(
        {"group": release.labels, "n": release.size - counterfeits.per_group(release.counterfeits, release.labels)}
    )
    both = every.join(linked, on="group", how="left", maintain_order="left").with_columns(pl.col("linked").fill_null(0))
    for label, n, found_n in both.filter(pl.col("n") != pl.col("linked")).iter_rows():
        raise ReleaseError(
            f"{where}: group {named(label)} has {persons(n)} in the release but {persons(found_n)} in the link."
        )
    return link
