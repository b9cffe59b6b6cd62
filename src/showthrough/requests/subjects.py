"""What a check looks at: releases of any kind, or plain tables whose columns are named."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from showthrough.criteria.several import FrameRoles
from showthrough.errors import InputError
from showthrough.register.history_file import ReleaseEntry, read_history
from showthrough.release.columns import gaps
from showthrough.release.counted import CountedKind
from showthrough.release.kinds import KINDS
from showthrough.release.reading import fill_roles, read_release
from showthrough.release.release import Release
from showthrough.release.roles import Given
from showthrough.table.datapackage import read_datapackage
from showthrough.table.files import read_table
from showthrough.table.frames import need_header, scalar


@dataclass(frozen=True)
class Columns:
    """The columns that a request names for a file, and how it is read."""

    id: str | None
    sensitive: tuple[str, ...]
    group: str | None
    quasi: tuple[str, ...] | None
    count: str | None
    kind: str | None
    encoding: str | None
    others: str
    suppressed: str | None


@dataclass(frozen=True, eq=False)
class Subject:
    """One release, or one frame with its roles."""

    name: str
    found: Any
    roles: FrameRoles
    group: str | None = None
    """The column that makes the groups of a frame, if one does."""

    @property
    def kind(self) -> str | None:
        """The kind of a release; None for a plain table."""
        return self.found.kind if isinstance(self.found, Release) else None

    def column(self, name: str) -> pl.Series | None:
        """A published column, if there is one of that name."""
        frame = self.found.form.by_record(self.found) if isinstance(self.found, Release) else self.found
        return frame[name] if name in frame.columns else None

    def release(self) -> Release:
        """A plain table as the generalized release that it is."""
        if isinstance(self.found, Release):
            return self.found
        sensitive = self.roles.sensitive[0] if len(self.roles.sensitive) == 1 else None
        if sensitive is not None and gaps(scalar(self.found[sensitive], "The sensitive column")).any():
            sensitive = None
        quasi = [] if self.group is not None else list(self.roles.quasi or ())
        if not quasi and self.group is None:
            raise InputError("Utility needs quasi-identifiers: name them with quasi=.", parameters=("quasi",))
        return Release.generalized(self.found, sensitive=sensitive, quasi=quasi, group=self.group)


def read_subjects(entry: ReleaseEntry, columns: Columns) -> list[Subject]:
    """A file or folder; a history file stands for all its releases."""
    path = Path(entry.file)
    if path.suffix == ".toml" and path.is_file():
        return [Subject(r.name or path.stem, r, _roles(r, columns)) for r in read_history(path)[0]]
    return [_subject(path, entry, columns)]


def _subject(path: Path, entry: ReleaseEntry, columns: Columns) -> Subject:
    named = {c: getattr(columns, c) for c in ("id", "group", "quasi", "count", "kind", "encoding")}
    own = {name: told for name, told in entry.options().items() if name not in (*named, "values", "sensitive")}
    if path.is_dir():
        release = read_release(path, entry.values, **own)
        return Subject(release.name or path.name, release, _roles(release, columns))
    only = columns.sensitive[0] if len(columns.sensitive) == 1 else None
    given = Given(columns.id, only, columns.group, columns.quasi, columns.count)
    if path.is_file():
        described = read_datapackage(path) or {}
        given = fill_roles(given, described if len(columns.sensitive) < 2 else _without_values(described))
    kind = columns.kind
    if kind is None and entry.values is None and given.id is None and given.count is not None:
        kind = CountedKind.name
    paired = given.id is not None and given.group is not None and given.sensitive is not None
    if kind is None and not own and not paired and entry.values is None:
        return _plain(path, given, columns)
    if len(columns.sensitive) > 1:
        raise InputError(
            "A release of this kind has one sensitive column: name one with sensitive=.", parameters=("sensitive",)
        )
    roles = {c: getattr(given, c) for c in ("id", "sensitive", "group", "quasi", "count")}
    mark, ends = _hidden_count(columns.suppressed)
    if ends and kind is not None and KINDS[kind].counts_in_rows:  # what a mark stands for, not rows without a group
        own.setdefault("suppressed", {mark: ends})
        columns = replace(columns, suppressed=None)
    release = read_release(path, entry.values, kind=kind, encoding=columns.encoding, **roles, **own)
    name = os.fspath(path.stem) if entry.name is None else entry.name
    return Subject(name, release, FrameRoles((), None, columns.others, columns.suppressed))


def _hidden_count(suppressed: str | None) -> tuple[str, str]:
    """MARK=LOW-HIGH as its two parts; nothing after the sign where it is no such text."""
    mark, equals, ends = (suppressed or "").rpartition("=")
    return (mark, ends) if equals and ends.replace("-", "").isdecimal() else ("", "")


def _roles(release: Release, columns: Columns) -> FrameRoles:
    """Groups with values of their own are those of the release, whatever quasi-identifiers other files have."""
    quasi = None if release.form.values_per_group else columns.quasi
    return FrameRoles(columns.sensitive, quasi, columns.others, columns.suppressed)


def _plain(path: Path, given: Given, columns: Columns) -> Subject:
    """A table of records: rows with equal quasi-identifiers are a group."""
    frame = read_table(path, encoding=columns.encoding)
    if not columns.sensitive and given == Given(None, None, None, None, None):
        need_header(frame, os.fspath(path))
    sensitive = columns.sensitive or ((given.sensitive,) if given.sensitive is not None else ())
    quasi = None if given.quasi is None else tuple(given.quasi)
    if quasi is None:
        own = tuple(c for c in frame.columns if c != given.id and c not in sensitive)
        quasi = own if given.group is None else (given.group,)
    elif given.group is not None:
        raise InputError(
            "Groups are named by a column (group=) or made by equal quasi-identifiers (quasi=): give one, or say which "
            "kind of release this is with kind=.",
            parameters=("group", "quasi", "kind"),
        )
    roles = FrameRoles(sensitive, quasi, columns.others, columns.suppressed)
    return Subject(path.stem, frame, roles, given.group)


def _without_values(described: Mapping[str, Any]) -> dict[str, Any]:
    return {column: info for column, info in described.items() if getattr(info, "role", None) != "sensitive"}
