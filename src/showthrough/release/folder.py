"""Release folders: the data beside ``release.toml`` with kind, columns, types and SHA-256 of each file."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from showthrough.errors import FileError
from showthrough.table.files import parse_table, read_bytes

if TYPE_CHECKING:
    from showthrough.release.release import Release

MANIFEST = "release.toml"
VERSION = 1
FORMATS = ("csv", "parquet")

_TYPES: dict[str, pl.DataType] = {
    "text": pl.String(),
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "boolean": pl.Boolean(),
    "date": pl.Date(),
}


def save(release: Release, folder: str | os.PathLike[str], *, format: str, overwrite: bool) -> None:
    """Write the folder under a temporary name and move it into place."""
    if format not in FORMATS:
        raise FileError(f"A release folder is written as one of {', '.join(FORMATS)}, not {format!r}.")
    target = Path(folder)
    if target.exists() and not (overwrite and (target / MANIFEST).is_file()):
        what = "is not a release folder" if overwrite else "exists already"
        raise FileError(f"{target} {what}: nothing was written.")
    try:
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as problem:
        raise FileError(f"{target} cannot be written: {(problem.strerror or str(problem)).lower()}.") from None
    try:
        files = {role: _write(frame, work / f"{role}.{format}", format) for role, frame in _tables(release).items()}
        (work / MANIFEST).write_text(_manifest(release, files), encoding="utf-8")
        work.chmod(0o755)
        _move_into_place(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def load(folder: str | os.PathLike[str]) -> Release:
    """Read a release folder and check every file against its hash."""
    from showthrough.release.release import Release

    home = Path(folder)
    manifest = _read_manifest(home)
    columns = manifest["columns"]
    tables = {entry["role"]: _read(home, entry, manifest.get("types", {})) for entry in manifest["files"]}
    if not {"rows"} <= set(tables) and not {"records", "values"} <= set(tables):
        raise FileError(f"{home / MANIFEST} names neither a file of rows nor the pair records and values.")
    return Release.bucketized(
        tables.get("rows", tables.get("records")),
        id=columns["id"],
        sensitive=columns["sensitive"],
        group=columns["group"],
        quasi=columns.get("quasi", []),
        count=columns.get("count", "count"),
        values=tables.get("values"),
        name=str(manifest.get("name", home.name)),
        date=manifest.get("date"),
        parameters=manifest.get("parameters", {}),
    )


def _tables(release: Release) -> dict[str, pl.DataFrame]:
    if release.shape == "rows":
        return {"rows": release.to_frame()}
    roles = release.roles
    names = {"group": roles.group, "value": roles.sensitive, "n": roles.count}
    return {
        "records": release.records.sort(roles.group, roles.id),
        "values": release.tally.rename(names),
    }


def _write(frame: pl.DataFrame, path: Path, format: str) -> dict[str, str]:
    if format == "csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path)
    return {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def _read(home: Path, entry: Mapping[str, str], types: Mapping[str, str]) -> pl.DataFrame:
    path = home / Path(entry["name"]).name
    raw = read_bytes(path)
    if hashlib.sha256(raw).hexdigest() != entry["sha256"]:
        raise FileError(f"{path} is not the file that was saved: its SHA-256 differs from the one in {MANIFEST}.")
    frame = parse_table(raw, os.fspath(path))
    if frame.schema and all(kind == pl.String for kind in frame.dtypes):
        frame = frame.with_columns(
            [_typed(frame[c], t, path) for c, t in types.items() if c in frame.columns and t != "text"]
        )
    return frame


def _typed(column: pl.Series, type_name: str, path: Path) -> pl.Series:
    kind = _TYPES.get(type_name)
    try:
        if kind is None:
            raise FileError(f"{path.parent / MANIFEST}: unknown type {type_name!r}.")
        if kind == pl.Boolean:
            return column.replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean)
        return column.str.to_date() if kind == pl.Date else column.cast(kind)
    except pl.exceptions.PolarsError:
        raise FileError(f"{path}: column {column.name!r} is not all of type {type_name}.") from None


def _manifest(release: Release, files: Mapping[str, Mapping[str, str]]) -> str:
    roles = release.roles
    lines = [
        f"version = {VERSION}",
        f"kind = {_toml(release.kind)}",
        f"name = {_toml(release.name)}",
    ]
    if release.date is not None:
        lines.append(f"date = {_toml(release.date)}")
    lines += [
        "",
        "[columns]",
        f"id = {_toml(roles.id)}",
        f"sensitive = {_toml(roles.sensitive)}",
        f"group = {_toml(roles.group)}",
        f"quasi = {_toml(list(roles.quasi))}",
    ]
    if release.shape == "pair":
        lines.append(f"count = {_toml(roles.count)}")
    lines += ["", "[types]"]
    columns = [*release.records.get_columns(), release.tally["value"].alias(roles.sensitive)]
    lines += [f"{_toml(c.name)} = {_toml(_type_name(c))}" for c in columns]
    if release.parameters:
        lines += ["", "[parameters]"]
        lines += [f"{_toml(k)} = {_toml(v)}" for k, v in release.parameters.items()]
    for role, file in files.items():
        lines += ["", "[[files]]", f"role = {_toml(role)}"]
        lines += [f"{key} = {_toml(value)}" for key, value in file.items()]
    return "\n".join(lines) + "\n"


def _type_name(column: pl.Series) -> str:
    return next((name for name, kind in _TYPES.items() if column.dtype == kind), "text")


def _toml(value: Any) -> str:
    """A string, number, truth value or list as TOML; JSON writes them alike but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _read_manifest(home: Path) -> dict[str, Any]:
    path = home / MANIFEST
    if not path.is_file():
        raise FileError(f"{home} is a folder without {MANIFEST}: expected a file or a release folder.")
    try:
        manifest = tomllib.loads(read_bytes(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise FileError(f"{path} is not valid TOML: {problem}.") from None
    version, kind = manifest.get("version"), manifest.get("kind")
    if version != VERSION:
        raise FileError(f"{path} is of version {version}; this showthrough reads version {VERSION}.")
    if kind != "bucketized":
        raise FileError(f"{path} describes a release of kind {kind!r}; this showthrough reads: bucketized.")
    columns, files = manifest.get("columns"), manifest.get("files")
    if not isinstance(columns, dict) or not {"id", "sensitive", "group"} <= set(columns):
        raise FileError(f"{path} must name id, sensitive and group under [columns].")
    entries = files if isinstance(files, list) else []
    if not entries or not all(isinstance(e, dict) and {"role", "name", "sha256"} <= set(e) for e in entries):
        raise FileError(f"{path} must list its files with role, name and sha256.")
    return manifest


def _move_into_place(work: Path, target: Path) -> None:
    try:
        if target.exists():
            aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
            target.rename(aside / target.name)
            work.rename(target)
            shutil.rmtree(aside, ignore_errors=True)
        else:
            work.rename(target)
    except OSError as problem:
        raise FileError(f"{target} cannot be written: {(problem.strerror or str(problem)).lower()}.") from None
