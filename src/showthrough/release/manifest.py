"""``release.toml``: what a release folder says of itself, written and read with every entry checked."""

from __future__ import annotations

import datetime as dt
import json
import numbers
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from showthrough.errors import FileError, InputError
from showthrough.table.files import read_bytes

if TYPE_CHECKING:
    from showthrough.release.release import Release

NAME = "release.toml"
VERSION = 1
SHAPES = ({"rows"}, {"records", "values"})


@dataclass(frozen=True)
class Manifest:
    """The entries of a ``release.toml``; ``files`` maps rows, or records and values, to (name, SHA-256)."""

    name: str
    date: str | None
    columns: Mapping[str, Any]
    types: Mapping[str, str]
    parameters: Mapping[str, Any]
    files: Mapping[str, tuple[str, str]]


def write(release: Release, types: Mapping[str, str], files: Mapping[str, tuple[str, str]]) -> str:
    """The text of the file."""
    roles = release.roles
    head = {"version": VERSION, "kind": release.kind, "name": release.name}
    if release.date is not None:
        head["date"] = str(release.date)
    columns = {"id": roles.id, "sensitive": roles.sensitive, "group": roles.group, "quasi": list(roles.quasi)}
    if release.shape == "pair":
        columns["count"] = roles.count
    parts = [_entries(head), "[columns]\n" + _entries(columns), "[types]\n" + _entries(types)]
    if release.parameters:
        parts.append("[parameters]\n" + _entries(release.parameters))
    for role, (name, sha256) in files.items():
        parts.append("[[files]]\n" + _entries({"role": role, "name": name, "sha256": sha256}))
    return "\n".join(parts)


def _entries(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(key)} = {_toml(value, key)}\n" for key, value in table.items())


def _key(key: Any) -> str:
    plain = str(key).replace("_", "").replace("-", "")
    return str(key) if plain.isascii() and plain.isalnum() else _text(str(key))


def _text(text: str) -> str:
    """TOML strings are JSON strings but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml(value: Any, key: str) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (numbers.Integral, float)):
        return repr(float(value) if isinstance(value, float) else int(value))
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_toml(v, key) for v in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(k)} = {_toml(v, key)}' for k, v in value.items())}}}"
    raise InputError(
        f"The parameter {key!r} cannot be written to {NAME}: expected text, numbers, truth values, dates, or "
        f"lists and tables of them, got {type(value).__name__}."
    )


def read(home: Path) -> Manifest:
    """Read the file of a release folder."""
    path = home / NAME
    if not path.is_file():
        raise FileError(f"{home} is a folder without {NAME}: expected a file or a release folder.")
    try:
        found = tomllib.loads(read_bytes(path).decode())
    except (ValueError, RecursionError) as problem:  # not TOML, or not UTF-8
        raise FileError(f"{path} is not valid TOML: {problem}.") from None
    version, kind = found.get("version"), found.get("kind")
    if version != VERSION:
        raise FileError(f"{path} is of version {version}; this showthrough reads version {VERSION}.")
    if kind != "bucketized":
        raise FileError(f"{path} describes a release of kind {kind!r}; this showthrough reads: bucketized.")
    date = found.get("date")
    return Manifest(
        name=str(found.get("name") or home.resolve().name),
        date=None if date is None else str(date),
        columns=_columns(found.get("columns"), path),
        types=_table_of_text(found.get("types", {}), "types", path),
        parameters=_table(found.get("parameters", {}), "parameters", path),
        files=_files(found.get("files"), path),
    )


def _columns(found: Any, path: Path) -> dict[str, Any]:
    columns = {"quasi": [], "count": "count", **_table(found, "columns", path)}
    single = [columns.get(role) for role in ("id", "sensitive", "group", "count")]
    quasi = columns["quasi"]
    if not all(isinstance(c, str) for c in single) or not isinstance(quasi, list):
        raise FileError(f"{path} must name id, sensitive and group under [columns], and list quasi.")
    return columns


def _files(found: Any, path: Path) -> dict[str, tuple[str, str]]:
    entries = found if isinstance(found, list) else []
    texts = [e for e in entries if isinstance(e, dict) and all(isinstance(e.get(k), str) for k in _FILE)]
    if not texts or len(texts) < len(entries):
        raise FileError(f"{path} must list its files with role, name and sha256.")
    files = {e["role"]: (e["name"], e["sha256"]) for e in texts}
    if set(files) not in SHAPES or len(files) < len(texts):
        raise FileError(f"{path} must name either one file of rows, or one of records and one of values.")
    for name, _ in files.values():
        if name in ("", ".", "..") or any(c in name for c in "/\\:\x00"):
            raise FileError(f"{path} names the file {name!r}: expected a plain name inside the release folder.")
    return files


_FILE = ("role", "name", "sha256")


def _table(found: Any, name: str, path: Path) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise FileError(f"{path}: expected a table [{name}].")
    return found


def _table_of_text(found: Any, name: str, path: Path) -> dict[str, str]:
    table = _table(found, name, path)
    if not all(isinstance(entry, str) for entry in table.values()):
        raise FileError(f"{path}: every entry of [{name}] must be text.")
    return table
