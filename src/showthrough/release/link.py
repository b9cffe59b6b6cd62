"""The publisher's private link: who is in which group of a release that does not publish ids.

On disk it is ``NAME.link.csv`` beside the folder NAME of the release, never inside: a folder is passed on
as it is. Its first line carries the SHA-256 of its rows and of the ``release.toml`` that it belongs to.
The release says nothing of the link: a published hash of it would let readers test their guesses.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from showthrough.errors import FileError, ReleaseError
from showthrough.release import counterfeits
from showthrough.release.bucketized import refuse_twice
from showthrough.release.columns import as_labels, filled, named, persons
from showthrough.release.typed import type_name, typed
from showthrough.table.files import parse_table, read_bytes
from showthrough.table.frames import need_columns, to_polars

if TYPE_CHECKING:
    from showthrough.release.release import Release

ENDING = ".link.csv"
INSIDE = "link.csv"  # where earlier versions put it, in the folder itself
_MARK = b'# {"showthrough": "link", '
_VERSION = 1


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


def beside(folder: str | os.PathLike[str]) -> Path:
    """Where the link of a release folder stands."""
    home = Path(folder)
    home = home if home.name not in ("", "..") else Path(os.path.abspath(home))
    return home.with_name(home.name + ENDING)


def is_link(path: Path, *, advice: str = "") -> bool:
    """Whether a file is a link that was written here, and may be replaced with its release."""
    if not path.is_file():
        return False  # a pipe would let us wait
    try:
        with open(path, "rb") as stream:
            return stream.read(len(_MARK)) == _MARK
    except PermissionError:
        raise FileError(
            f"{path} has the name of a private link and cannot be read: it is its owner's{advice}.",
            parameters=("link",),
        ) from None
    except OSError:
        return False


def as_bytes(link: pl.DataFrame, manifest: bytes, *, column: str | None = None) -> bytes:
    """The file of a link: ``manifest`` is the ``release.toml`` of its release, ``column`` that of ids in tables."""
    stream = io.BytesIO()
    link.select(pl.col("id", "group").cast(pl.String)).write_csv(stream)
    rows = stream.getvalue()
    head = {
        "showthrough": "link",
        "version": _VERSION,
        "note": "private: who is in which group",
        "id": type_name(link["id"]) or "text",
        **({} if column is None else {"column": column}),
        "release": hashlib.sha256(manifest).hexdigest(),
        "sha256": hashlib.sha256(rows).hexdigest(),
    }
    return b"# " + json.dumps(head).encode() + b"\n" + rows


def attached(release: Release, path: Path, *, manifest: bytes | None = None) -> Release:
    """The release with the link in a file, checked against itself, the ``release.toml`` and the release."""
    raw, where = read_bytes(path), os.fspath(path)
    link = from_bytes(raw, release, manifest=manifest, where=where)
    column = _head(raw.partition(b"\n")[0], where).get("column") if raw.startswith(_MARK) else None
    return replace(release, link=link, link_id=column if isinstance(column, str) else None)


def from_bytes(raw: bytes, release: Release, *, manifest: bytes | None, where: str) -> pl.DataFrame:
    """The same of its bytes; without our first line, as in a file made by hand, the release alone is the check."""
    kind = "text"
    if raw.startswith(_MARK):
        first, _, raw = raw.partition(b"\n")
        head = _head(first, where)
        if head.get("sha256") != hashlib.sha256(raw).hexdigest():
            raise FileError(f"{where} is not the file that was saved: its SHA-256 differs from the one inside it.")
        if manifest is not None and head.get("release") != hashlib.sha256(manifest).hexdigest():
            raise FileError(
                f"{where} is the private link of another release: take it away, or give link=False to read the "
                "release without it.",
                parameters=("link",),
            )
        kind = str(head.get("id"))
    frame = parse_table(raw, where)
    if kind != "text" and "id" in frame.columns:
        frame = frame.with_columns(typed(frame["id"], kind, where=where, stated=where))
    return checked(release, frame, where=where)


def same(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Whether two links say the same, whatever the type of their ids."""
    first, second = (link.select(pl.all().cast(pl.String)).sort("group", "id") for link in (one, other))
    return first.equals(second)


def _head(line: bytes, where: str) -> dict[str, Any]:
    try:
        head = json.loads(line.removeprefix(b"# "))
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict):
        raise FileError(f"{where} is a damaged private link: its first line cannot be read.")
    if head.get("version") != _VERSION:
        raise FileError(f"{where} is of version {head.get('version')}; this showthrough reads version {_VERSION}.")
    return head
