"""From files to releases."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from showthrough.errors import FileError, InputError
from showthrough.release import folder
from showthrough.release.release import Release, from_tables
from showthrough.table.files import read_table


def read_release(
    path: str | os.PathLike[str],
    values: str | os.PathLike[str] | None = None,
    *,
    id: str | None = None,
    sensitive: str | None = None,
    group: str | None = None,
    quasi: Sequence[str] | None = None,
    count: str = "count",
    name: str | None = None,
    date: str | None = None,
    encoding: str | None = None,
) -> Release:
    """Read a release from a CSV or Parquet file, a pair of them, or a release folder.

    A release folder carries the roles in its ``release.toml``; for a plain file name the columns
    with ``id``, ``sensitive`` and ``group``. ``values`` is the second table of Anatomy's pair
    (group, value, count). CSV columns are read as text: ``02139`` stays ``02139``.
    """
    source = os.fspath(path)
    if os.path.isdir(source):
        if values is not None:
            raise InputError(f"{source} is a release folder, which holds its own values: give it no table of values.")
        loaded = folder.load(source)
        return replace(loaded, name=loaded.name if name is None else name, date=loaded.date if date is None else date)
    if not os.path.exists(source):
        raise FileError(f"There is no file {source}.")
    given = {"id": id, "sensitive": sensitive, "group": group}
    missing = [f"--{role}" for role, column in given.items() if column is None]
    if missing:
        raise InputError(
            f"{source} is a plain file without a release.toml: name its columns with {', '.join(missing)}."
        )
    release = from_tables(
        read_table(source, encoding=encoding),
        None if values is None else read_table(values, encoding=encoding),
        id=id,
        sensitive=sensitive,
        group=group,
        quasi=quasi,
        count=count,
        where=(source, source if values is None else os.fspath(values)),
    )
    return replace(release, name=_stem(source) if name is None else name, date=date)


def _stem(path: str) -> str:
    """The name of a file without ending; bytes that are no text would break every report."""
    return os.fsencode(Path(path).stem.removesuffix(".csv")).decode(errors="replace")
