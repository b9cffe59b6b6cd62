"""From files to releases."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from showthrough.errors import InputError
from showthrough.release import folder
from showthrough.release.release import Release
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
    if Path(path).is_dir():
        return folder.load(path)
    given = {"id": id, "sensitive": sensitive, "group": group}
    missing = [f"--{role}" for role, column in given.items() if column is None]
    if id is None or sensitive is None or group is None:
        raise InputError(
            f"{os.fspath(path)} is a plain file without a release.toml: name its columns with {', '.join(missing)}."
        )
    rows = read_table(path, encoding=encoding)
    pair = None if values is None else read_table(values, encoding=encoding)
    return Release.bucketized(
        rows,
        id=id,
        sensitive=sensitive,
        group=group,
        values=pair,
        quasi=quasi,
        count=count,
        name=Path(path).stem.removesuffix(".csv") if name is None else name,
        date=date,
    )
