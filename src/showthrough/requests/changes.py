"""Whose value changed, from the publisher's own tables: one for each release that publishes values, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from showthrough.errors import FieldError, FileError
from showthrough.register.changed import Changed, changes_between
from showthrough.register.history_file import HistoryEntries
from showthrough.register.locating import names_of
from showthrough.register.reader import telling
from showthrough.release.recode import read_value_map, renamed
from showthrough.release.release import Release
from showthrough.table.files import read_table
from showthrough.table.frames import need_columns


def tables_of(history: HistoryEntries, releases: Sequence[Release], tables: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The publisher's tables as frames of id and value, by the name of the release that each is for."""
    told = telling(releases, noisy=True)
    if tables and len(tables) != len(told):
        raise FieldError("tables", f"names {len(tables)} tables for {len(told)} releases: give one for each, in order.")
    named = zip(names_of(told), tables, told, strict=True) if tables else ()
    return {name: _own(history, file, release, name) for name, file, release in named}


def told_changes(own: Mapping[str, pl.DataFrame], *, otherwise: str) -> Changed:
    """What the tables of a history tell of changed values, and what to do about others."""
    if not own:
        return Changed.of(otherwise)
    found = changes_between(own, id="id", sensitive="value")
    return Changed.of(found, otherwise=otherwise, strict=False)  # a table may hold persons who were suppressed


def _own(history: HistoryEntries, file: str, release: Release, name: str) -> pl.DataFrame:
    """Ids and values of one table, its columns named as those of the release or of the whole history."""
    frame = read_table(file, encoding=history.encoding)
    entry = history.register
    named = release.roles.id or (entry.id if entry is not None else None) or history.id or release.link_id
    id, sensitive = named or "id", release.sensitive or history.sensitive or ""
    if named is None and id not in frame.columns:
        raise FileError(
            f"{file} has no column {id!r}, and nothing says which column holds the ids: name it with id=COLUMN.",
            parameters=("id",),
        )
    need_columns(frame, [id, sensitive], file)
    value = frame[sensitive]
    if name in history.value_maps:
        value = renamed(value, read_value_map(history.value_maps[name]))
    return pl.DataFrame({"id": frame[id], "value": value})
