"""Several sensitive columns of one release: published beside each other record by record, looked at one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from showthrough.errors import InputError, ReleaseError
from showthrough.release.columns import count_values
from showthrough.table.frozen import Frozen

if TYPE_CHECKING:
    from showthrough.release.kind import Kind
    from showthrough.release.parts import Source
    from showthrough.release.release import Release


def refuse_several(kind: Kind, source: Source) -> None:
    """Several sensitive columns where values stand beside no record, or where some records are nobody's."""
    if not source.roles.also:
        return
    if not kind.several_values:
        raise InputError(f"{source.where}: a {kind.name} release has one sensitive column: name one.")
    if source.counterfeits is not None or source.roles.id is not None:
        raise InputError(f"{source.where}: a release with several sensitive columns has no counterfeits, and no ids.")


def records(group: pl.Series, value: pl.Series, others: Sequence[pl.Series]) -> pl.DataFrame:
    """Group, value and the other values of each record, in an order made of these alone."""
    columns = {"group": group, "value": value, **{f"other {k}": column for k, column in enumerate(others)}}
    frame = pl.DataFrame(columns)
    return frame.sort(frame.columns)


def columns_of(release: Release) -> dict[str, pl.Series]:
    """The sensitive columns as published: records by group and values."""
    assert release.beside is not None
    kept = [name for name in release.beside.columns if name != "group"]
    return {name: release.beside[own] for name, own in zip(release.roles.sensitives, kept, strict=True)}


def by_column(release: Release, sensitive: str) -> Release:
    """The release with another sensitive column as the one that is looked at."""
    roles = release.roles
    if sensitive == roles.sensitive:
        return release
    if release.beside is None or sensitive not in roles.also:
        named = ", ".join(roles.sensitives) or "none"
        raise ReleaseError(f"{release.name or 'The release'} has no sensitive column {sensitive!r}: it names {named}.")
    found = columns_of(release)
    others = tuple(name for name in roles.sensitives if name != sensitive)
    group = release.beside["group"]
    return replace(
        release,
        roles=replace(roles, sensitive=sensitive, also=others),
        tally=count_values(group, found[sensitive]),
        beside=records(group, found[sensitive], [found[name] for name in others]),
        domain=(),
        options=Frozen({name: option for name, option in release.options.items() if name != "value_cells"}),
    )
