"""A release without its persons: what it is, and what it publishes in all; for whoever must not see more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from showthrough.release.release import Release


def without_persons(release: Release) -> Release:
    """The same release as one group with all its values, no record, and no id; it has the roles that show anything."""
    told = set(shown_quasi(release))
    roles = replace(release.roles, quasi=tuple(c for c in release.roles.quasi if c in told))
    tally = release.tally.group_by("value", maintain_order=True).agg(pl.col("n").sum()).sort("value")
    everybody = pl.Series("group", ["all"])
    size = pl.Series("n", [int(release.size.sum())], dtype=release.size.dtype)
    fakes = pl.DataFrame({"group": everybody, "n": [int(release.counterfeits["n"].sum())]})
    return replace(
        release,
        roles=roles,
        records=release.records.clear(),
        tally=tally.select(pl.lit("all").alias("group"), "value", "n"),
        labels=everybody,
        size=size,
        counterfeits=fakes.filter(pl.col("n") > 0),
        link=None if release.link is None else release.link.clear(),
        person_group=None,
        first_row=None,
        upper=None,
        least=None,
        margins=(),
        beside=None,
        elsewhere=None,
    )


def shown_quasi(release: Release) -> list[str]:
    """The quasi-identifiers of which the release shows anything at all; all of them if it shows nothing of any."""
    if release.records.height == 0:
        return list(release.roles.quasi)
    cells = release.cells()
    told = [c for c in release.roles.quasi if set(cells[c].cast(pl.String).unique()) - {"*", "", None}]
    return told or list(release.roles.quasi)
