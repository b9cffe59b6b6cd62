"""A history in one TOML file: releases of any kinds with roles of their own, and the register.

    [[release]]
    file = "2024.csv"               # or a release folder; paths are relative to this file
    id = "pid"
    sensitive = "diagnosis"
    group = "bucket"

    [[release]]
    file = "2025.csv"
    sensitive = "condition"
    quasi = ["zip", "age"]
    hierarchies = { zip = "zip.csv" }
    value_map = "icd.csv"

    [register]
    file = "people.csv"
    id = "pid"
    present = { 2025 = "in-2025.txt" }   # one id per line

Every entry of a release is an option of `read_release`, every entry of the register one of
`read_register`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from showthrough.errors import FileError, InputError
from showthrough.register.locating import names_of
from showthrough.register.register import Register, read_register
from showthrough.release.reading import read_release
from showthrough.release.release import Release
from showthrough.table.files import read_bytes

_PATHS = ("values", "counterfeits", "value_map")


def read_history(path: str | os.PathLike[str]) -> tuple[list[Release], Register | None]:
    """The releases, in order, and the register that a history file names."""
    home = Path(path)
    entries, register = _content(home)
    releases = [_release(home, entry, k) for k, entry in enumerate(entries, start=1)]
    if register is None:
        return releases, None
    names = names_of([r for r in releases if r.sensitive is not None])
    strange = [name for name in _table(register, "present") if name not in names]
    if strange:
        raise InputError(f"{home}, register: present names {strange[0]!r}, but the releases are {', '.join(names)}.")
    return releases, _register(home, register)


def files_of(path: str | os.PathLike[str]) -> list[Path]:
    """The files and folders that a history file names, so that nothing is written over them."""
    home = Path(path)
    entries, register = _content(home)
    told = [e.get(key) for e in [*entries, register or {}] for key in ("file", *_PATHS)]
    told += [name for e in entries for name in _table(e, "hierarchies").values()]
    told += _table(register or {}, "present").values()
    return [home.parent / name for name in told if isinstance(name, str) and "\0" not in name]


def _content(home: Path) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """The entries of the releases and of the register."""
    try:
        found = tomllib.loads(read_bytes(home).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise FileError(f"{home} is not UTF-8 text, which TOML has to be.") from None
    except (ValueError, RecursionError) as problem:
        raise FileError(f"{home} is not valid TOML: {problem}.") from None
    strange = sorted(set(found) - {"release", "register"})
    if strange:
        raise FileError(f"{home}: {strange[0]!r} is unknown; a history file has [[release]] and [register].")
    entries = found.get("release")
    if not isinstance(entries, list) or not entries or not all(isinstance(e, dict) for e in entries):
        raise FileError(f"{home} lists no releases: name each under [[release]] with its file.")
    register = found.get("register")
    if register is not None and not isinstance(register, dict):
        raise FileError(f"{home}: expected a table [register].")
    return entries, register


def _table(entry: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A table inside an entry; whether it is one is checked where it is used."""
    found = entry.get(name)
    return found if isinstance(found, dict) else {}


def read_ids(path: str | os.PathLike[str]) -> list[str]:
    """A list of ids: one per line."""
    try:
        lines = read_bytes(Path(path)).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FileError(f"{os.fspath(path)} is not UTF-8 text: expected one id per line.") from None
    return [line.strip() for line in lines if line.strip()]


def _release(home: Path, entry: Mapping[str, Any], number: int) -> Release:
    where = f"{home}, release {number}"
    options = _options(entry, read_release, where)
    for name in _PATHS:
        if isinstance(options.get(name), str):
            options[name] = home.parent / options[name]
    if "hierarchies" in options:
        trees = options["hierarchies"]
        if not isinstance(trees, dict):
            raise FileError(f"{where}: hierarchies is a table of columns and files.")
        options["hierarchies"] = {c: home.parent / t if isinstance(t, str) else t for c, t in trees.items()}
    options |= {key: str(options[key]) for key in ("date", "name") if key in options}
    release: Release = _call(read_release, home.parent / str(entry["file"]), options, where)
    return release


def _register(home: Path, entry: Mapping[str, Any]) -> Register:
    where = f"{home}, register"
    options = _options(entry, read_register, where)
    if "present" in options:
        lists = options["present"]
        if not isinstance(lists, dict):
            raise FileError(f"{where}: present is a table of releases and lists of ids.")
        options["present"] = {n: read_ids(home.parent / i) if isinstance(i, str) else i for n, i in lists.items()}
    register: Register = _call(read_register, home.parent / str(entry["file"]), options, where)
    return register


def _options(entry: Mapping[str, Any], reader: Any, where: str) -> dict[str, Any]:
    if not isinstance(entry.get("file"), str):
        raise FileError(f'{where}: name its file, such as file = "2024.csv".')
    known = set(signature(reader).parameters) - {"path"}
    options = {k: v for k, v in entry.items() if k != "file"}
    strange = sorted(set(options) - known)
    if strange:
        raise FileError(f"{where}: {strange[0]!r} is unknown; the entries are file, {', '.join(sorted(known))}.")
    return options


def _call(reader: Any, path: Path, options: Mapping[str, Any], where: str) -> Any:
    try:
        return reader(path, **options)
    except (TypeError, AttributeError):  # an entry of the wrong type: a number where a name belongs
        raise InputError(
            f"{where}: an entry has the wrong type; names are text, lists are [..], tables {{..}}."
        ) from None
