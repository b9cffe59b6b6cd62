"""``release.toml``: what a release folder says of itself, written and read with every entry checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from showthrough.errors import FileError, InputError
from showthrough.release.kinds import known_kind
from showthrough.said import private
from showthrough.table import toml_text
from showthrough.table.files import read_bytes

if TYPE_CHECKING:
    from showthrough.release.kind import Kind
    from showthrough.release.release import Release

NAME = "release.toml"
VERSION = 1
SHAPES = ({"rows"}, {"records", "values"})
COUNTERFEITS = "counterfeits"
HIERARCHIES = "hierarchies.json"
PLAN = "plan.json"


@dataclass(frozen=True)
class Manifest:
    """The entries of a ``release.toml``.

    ``files`` maps rows, or records and values, and perhaps counterfeits to (name, SHA-256). Among the
    columns, a part that no column plays is false.
    """

    kind: str
    name: str
    date: str | None
    columns: Mapping[str, Any]
    types: Mapping[str, str]
    parameters: Mapping[str, Any]
    files: Mapping[str, tuple[str, str]]
    options: Mapping[str, Any]  # what only the kind understands
    hierarchies: str | None = None  # SHA-256 of the file with the hierarchies
    plan: str | None = None  # SHA-256 of the recoding plan; earlier versions did not write it down


def write(
    release: Release,
    types: Mapping[str, str],
    files: Mapping[str, tuple[str, str]],
    *,
    hierarchies: str | None = None,
    plan: str | None = None,
) -> str:
    """The text of the file; the SHA-256 of hierarchies and plan, if there are such."""
    roles = release.roles
    head = {"version": VERSION, "kind": release.kind, "name": release.name}
    if release.date is not None:
        head["date"] = str(release.date)
    columns: dict[str, Any] = {
        "id": roles.id if roles.id is not None else False,
        "sensitive": roles.sensitive if roles.sensitive is not None else False,
        "group": roles.group if roles.group is not None else False,
        "quasi": list(roles.quasi),
    }
    if roles.also:
        columns["also"] = list(roles.also)
    columns |= release.form.entries(release)
    if release.domain:
        columns["domain"] = list(release.domain)
    if release.value_cells:
        columns["value_cells"] = True
    parts = [_entries(head), "[columns]\n" + _entries(columns), "[types]\n" + _entries(types)]
    if release.parameters:
        parts.append("[parameters]\n" + _entries(release.parameters))
    for table, name, sha256 in (("hierarchies", HIERARCHIES, hierarchies), ("plan", PLAN, plan)):
        if sha256 is not None:
            parts.append(f"[{table}]\n" + _entries({"name": name, "sha256": sha256}))
    for role, (name, sha256) in files.items():
        parts.append("[[files]]\n" + _entries({"role": role, "name": name, "sha256": sha256}))
    return "\n".join(parts)


def _entries(table: Mapping[str, Any]) -> str:
    return toml_text.entries(table, into=NAME)


def read(home: Path) -> Manifest:
    """Read the file of a release folder."""
    path = home / NAME
    if not path.is_file():
        raise FileError(f"{home} is a folder without {NAME}: expected a file or a release folder.")
    return parse(read_bytes(path), home)


def parse(raw: bytes, home: Path) -> Manifest:
    """The same of its bytes; ``home`` is where they stand, or are said to."""
    path = home / NAME
    found = toml_text.parse(raw, os.fspath(path))
    version, kind = found.get("version"), found.get("kind")
    if version != VERSION:
        found_version = version if version is None or isinstance(version, int) else private(version)
        raise FileError(f"{path} is of version {found_version}; this showthrough reads version {VERSION}.")
    try:
        form = known_kind(kind, f"{path} describes a release of kind")
    except InputError as problem:
        raise FileError(problem.said) from None
    date = found.get("date")
    columns = _columns(found.get("columns"), form, path)
    types = _table_of_text(found.get("types", {}), "types", path)
    parameters = _table(found.get("parameters", {}), "parameters", path)
    return Manifest(
        kind=form.name,
        name=str(found.get("name") or home.resolve().name),
        date=None if date is None else str(date),
        columns=columns,
        types=types,
        parameters=parameters,
        files=_files(found.get("files"), form, path),
        options=_options(form, (columns, types, parameters), path),
        hierarchies=_sha256("hierarchies", HIERARCHIES, found, path),
        plan=_sha256("plan", PLAN, found, path),
    )


def _sha256(table: str, name: str, found: Mapping[str, Any], path: Path) -> str | None:
    """The hash of a file that a release may have or not."""
    entry = found.get(table)
    if entry is None:
        return None
    if not isinstance(entry, dict) or entry.get("name") != name or not isinstance(entry.get("sha256"), str):
        raise FileError(f"{path}: [{table}] must give name = {name!r} and its sha256.")
    return str(entry["sha256"])


def _options(form: Kind, told: tuple[dict[str, Any], dict[str, str], dict[str, Any]], path: Path) -> dict[str, Any]:
    try:
        return form.options_in(*told)
    except InputError as problem:
        raise FileError(f"{path}: {problem.said}") from None


def _columns(found: Any, form: Kind, path: Path) -> dict[str, Any]:
    columns = {"quasi": [], "also": [], "count": "count", "spread": {}, "domain": [], **_table(found, "columns", path)}
    quasi = columns["quasi"]
    if form.states:
        bare = [role for role in form.states if not _stated(columns.get(role), needed=role in form.needs)]
        if bare or not isinstance(columns["count"], str) or not isinstance(quasi, list):
            *first, last = form.states
            named = f"{', '.join(first)} and {last}" if first else last
            raise FileError(f"{path} must name {named} under [columns], and list quasi.")
    for role in ("id", "sensitive", "group"):
        name = columns.setdefault(role, False)
        if name is not False and not isinstance(name, str):
            raise FileError(f"{path}: {role} under [columns] must be the name of a column, or false.")
        columns[role] = name if isinstance(name, str) else None
    texts = all(
        isinstance(listed, list) and all(isinstance(c, str) for c in listed) for listed in (quasi, columns["also"])
    )
    if not texts or not isinstance(columns["count"], str):
        raise FileError(f"{path} must list quasi under [columns], and name columns by text.")
    if not isinstance(columns["domain"], list) or any(isinstance(v, (list, dict)) for v in columns["domain"]):
        raise FileError(f"{path}: domain under [columns] must be a list of values.")
    if not isinstance(columns.setdefault("value_cells", False), bool):
        raise FileError(f"{path}: value_cells under [columns] must be true or false.")
    _table_of_text(columns["spread"], "columns.spread", path)
    return columns


def _stated(entry: Any, *, needed: bool) -> bool:
    """Whether a role is named, or said to be played by no column."""
    return isinstance(entry, str) or (entry is False and not needed)


def _files(found: Any, form: Kind, path: Path) -> dict[str, tuple[str, str]]:
    entries = found if isinstance(found, list) else []
    texts = [e for e in entries if isinstance(e, dict) and all(isinstance(e.get(k), str) for k in _FILE)]
    if not texts or len(texts) < len(entries):
        raise FileError(f"{path} must list its files with role, name and sha256.")
    files = {e["role"]: (e["name"], e["sha256"]) for e in texts}
    shapes = SHAPES if form.second_table else SHAPES[:1]
    if files.keys() - {COUNTERFEITS} not in shapes or len(files) < len(texts):
        pair = ", or one of records and one of values" if form.second_table else ""
        raise FileError(f"{path} must name {'either ' if pair else ''}one file of rows{pair}.")
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
