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
`read_register`. What stands above the first table holds for every release that does not say otherwise.
The commands put their options into the same entries, so both are checked and read by the same code.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import NoneType
from typing import Any, Self

from showthrough.errors import FieldError, FileError, InputError
from showthrough.register.locating import names_of
from showthrough.register.register import Register, read_register
from showthrough.release.counted import CountedKind
from showthrough.release.link import beside
from showthrough.release.reading import read_release
from showthrough.release.recode import read_value_map
from showthrough.release.release import Release
from showthrough.said import private
from showthrough.table.entries import Entries
from showthrough.table.files import read_bytes, read_table
from showthrough.table.hierarchy import Hierarchy


@dataclass(frozen=True)
class FileEntry(Entries):
    """What a table that names one file begins with."""

    file: str

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], *, where: str = "") -> Self:
        """Made from plain data; a date or a number may be a name."""
        if not isinstance(given.get("file"), str):
            raise FileError(f'{where or cls.__name__}: name its file, such as file = "2024.csv".')
        names = {k: str(given[k]) for k in ("name", "date") if isinstance(given.get(k), (int, float, dt.date))}
        return super().from_dict({**given, **names}, where=where)

    def options(self) -> dict[str, Any]:
        """All but the file, as far as it was given."""
        given = {f.name: getattr(self, f.name) for f in fields(self)[1:]}
        return {name: entry for name, entry in given.items() if entry is not None and entry != ()}


@dataclass(frozen=True)
class ReleaseEntry(FileEntry):
    """A release: its file or folder, and the options of `read_release`."""

    values: str | None = None
    id: str | None = None
    sensitive: str | None = None
    group: str | None = None
    quasi: tuple[str, ...] | None = None
    count: str | None = None
    kind: str | None = None
    spread: Mapping[str, str] | None = None
    ordinal: Mapping[str, tuple[Any, ...]] | None = None
    nominal: tuple[str, ...] = ()
    locate: str | None = None
    suppressed: Mapping[str, Any] | None = None
    rounding: int | str | tuple[Any, ...] | None = None
    totals: tuple[str, ...] | Mapping[str, tuple[str, ...]] | None = None
    population: str | None = None
    noise: Mapping[str, Any] | None = None
    value_cells: bool | None = None
    counterfeits: str | None = None
    value_map: str | Mapping[str, Any] | None = None
    hierarchies: Mapping[str, str | Mapping[str, Any]] | None = None
    missing: tuple[str, ...] = ()
    name: str | None = None
    date: str | None = None
    encoding: str | None = None
    link: str | bool | None = None

    def options(self) -> dict[str, Any]:
        """The same; no quasi-identifiers at all are something else than none that were named."""
        return super().options() | ({} if self.quasi is None else {"quasi": self.quasi})


@dataclass(frozen=True)
class RegisterEntry(FileEntry):
    """The register: its file, and the options of `read_register`.

    ``present`` maps a release to a file of ids or to the ids. ``only_published`` takes of the columns those
    that a release publishes as quasi-identifiers.
    """

    id: str | None = None
    quasi: tuple[str, ...] | None = None
    present: Mapping[str, str | tuple[str | int | float, ...]] | None = None
    encoding: str | None = None
    only_published: bool = False


@dataclass(frozen=True)
class HistoryEntries(Entries):
    """A history file, or the options of a command that say the same.

    The roles hold for every release that does not name its own, ``hierarchies`` for every release with that
    column, ``value_maps`` for the releases of that name. Beside a register, ``id`` may be the column of
    the register alone. ``link`` says whether the private links beside release folders are read; in an audit
    true uses them beside a register too.
    """

    release: tuple[ReleaseEntry, ...]
    register: RegisterEntry | None = None
    id: str | None = None
    sensitive: str | None = None
    group: str | None = None
    quasi: tuple[str, ...] | None = None
    count: str | None = None
    kind: str | None = None
    spread: Mapping[str, str] | None = None
    locate: str | None = None
    suppressed: Mapping[str, Any] | None = None
    rounding: int | str | tuple[Any, ...] | None = None
    totals: tuple[str, ...] | Mapping[str, tuple[str, ...]] | None = None
    population: str | None = None
    value_cells: bool | None = None
    missing: tuple[str, ...] = ()
    encoding: str | None = None
    link: bool | None = None
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    value_maps: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """There is a release."""
        if not self.release:
            raise FieldError("release", "lists no releases: name each with its file.")

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], *, where: str = "") -> Self:
        """Made from plain data."""
        said = where or cls.__name__
        listed = given.get("release", [])
        tables = isinstance(listed, list) and all(isinstance(e, Mapping) for e in listed)
        if (not tables or not listed) and not set(given) - set(_FIELDS):
            raise FileError(f"{said} lists no releases: name each under [[release]] with its file.")
        if not isinstance(given.get("register"), (Mapping, NoneType)):
            raise FileError(f"{said}: expected a table [register].")
        return super().from_dict(given, where=where)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """From a file; paths are relative to it."""
        home = Path(path)
        return cls.from_toml(read_bytes(home), where=str(home)).under(home.parent)

    def under(self, folder: Path) -> Self:
        """The same with paths seen from a folder."""
        release = tuple(_moved(entry, folder) for entry in self.release)
        register = None if self.register is None else _moved(self.register, folder)
        trees, maps = _each(self.hierarchies, folder), _each(self.value_maps, folder)
        return replace(self, release=release, register=register, hierarchies=trees, value_maps=maps)

    def files(self) -> list[Path]:
        """All files and folders that are read, so that nothing is written over them."""
        entries = [*self.release, *([self.register] if self.register else [])]
        told = [getattr(entry, name, None) for entry in entries for name in ("file", *_PATHS)]
        told += [file for entry in entries for name in _TABLES for file in (getattr(entry, name, None) or {}).values()]
        told += [*self.hierarchies.values(), *self.value_maps.values()]
        named = [Path(name) for name in told if isinstance(name, str) and "\0" not in name]
        return [*named, *(beside(path) for path in named if os.path.isdir(path))]

    def load(self) -> tuple[list[Release], Register | None]:
        """Read the releases, in order, and the register."""
        trees = {column: Hierarchy.read(file) for column, file in self.hierarchies.items()}
        releases = [self._release(entry, k, trees) for k, entry in enumerate(self.release, start=1)]
        columns = list(dict.fromkeys(c for r in releases for c in r.roles.quasi))
        valued = [r.sensitive for r in releases if r.value_cells and r.sensitive is not None]
        _known("hierarchies", trees, [*columns, *valued], "the quasi-identifiers of the releases are:")
        _known("value_maps", self.value_maps, names_of(releases))
        releases = [
            r.recoded(read_value_map(self.value_maps[name])) if name in self.value_maps else r
            for name, r in zip(names_of(releases), releases, strict=True)
        ]
        return releases, None if self.register is None else self._register(self.register, releases, columns)

    def _release(self, entry: ReleaseEntry, number: int, trees: Mapping[str, Hierarchy]) -> Release:
        options = entry.options()
        shared = {name: getattr(self, name) for name in _SHARED}
        shared = {name: given for name, given in shared.items() if given is not None and given != ()}
        if self.quasi is not None:
            shared["quasi"] = self.quasi
        if os.path.isdir(entry.file):  # a folder says itself how its counts are printed
            shared = {name: given for name, given in shared.items() if name not in CountedKind.options}
        if "id" in shared and "id" not in options and self._without_ids(entry, {**shared, **options}):
            del shared["id"]
        found: Release = _call(read_release, entry.file, {**shared, **options}, f"release {number}")
        mine = (*found.roles.quasi, *([found.sensitive] if found.value_cells else []))
        own = {c: t for c, t in trees.items() if c in mine}
        return found.called(found.name, found.date, found.parameters, {**found.hierarchies, **own}) if own else found

    def _without_ids(self, entry: ReleaseEntry, options: Mapping[str, Any]) -> bool:
        """Whether the column of ids is that of the register alone."""
        if self.register is None or "quasi" not in options or os.path.isdir(entry.file):
            return False
        return options["id"] not in read_table(entry.file, encoding=options.get("encoding")).columns

    def _register(self, entry: RegisterEntry, releases: Sequence[Release], columns: Sequence[str]) -> Register:
        told = names_of([r for r in releases if r.sensitive is not None])
        _known("present", entry.present or {}, told)
        options = entry.options()
        options.pop("only_published", None)
        shared = {"id": self.id, "encoding": self.encoding}
        options = {name: given for name, given in shared.items() if given is not None} | options
        if entry.only_published:
            held = read_table(entry.file, encoding=options.get("encoding")).columns
            options["quasi"] = [c for c in columns if c in held] or None
        if entry.present:
            inside = entry.present.items()
            options["present"] = {n: read_ids(ids) if isinstance(ids, str) else ids for n, ids in inside}
        register: Register = _call(read_register, entry.file, options, "register")
        return register


_SHARED = (
    "id", "sensitive", "group", "quasi", "count", "kind", "spread", "locate", "suppressed", "rounding", "totals",
    "population", "value_cells", "missing", "encoding", "link",
)  # fmt: skip
_PATHS = ("values", "counterfeits", "value_map", "link")
_TABLES = ("hierarchies", "present")
_FIELDS = [f.name for f in fields(HistoryEntries)]


def read_history(path: str | os.PathLike[str]) -> tuple[list[Release], Register | None]:
    """The releases, in order, and the register that a history file names."""
    entries = HistoryEntries.read(path)
    try:
        return entries.load()
    except FieldError as problem:
        raise problem.at(os.fspath(path)) from None


def files_of(path: str | os.PathLike[str]) -> list[Path]:
    """The files and folders that a history file names, so that nothing is written over them."""
    return HistoryEntries.read(path).files()


def read_ids(path: str | os.PathLike[str]) -> list[str]:
    """A list of ids: one per line."""
    try:
        lines = read_bytes(Path(path)).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FileError(f"{os.fspath(path)} is not UTF-8 text: expected one id per line.") from None
    return [line.strip() for line in lines if line.strip()]


def _moved(entry: Any, folder: Path) -> Any:
    """An entry with its paths seen from a folder."""
    given = {name: getattr(entry, name, None) for name in ("file", *_PATHS, *_TABLES)}
    moved: dict[str, Any] = {name: os.fspath(folder / told) for name, told in given.items() if isinstance(told, str)}
    moved |= {name: _each(told, folder) for name, told in given.items() if name in _TABLES and told}
    return replace(entry, **moved)


def _each(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    return {name: os.fspath(folder / told) if isinstance(told, str) else told for name, told in table.items()}


def _known(name: str, given: Mapping[str, Any], names: Sequence[str], are: str = "the releases are") -> None:
    strange = [entry for entry in given if entry not in names]
    if strange:
        found = private(repr(strange[0]), "an unknown one")
        raise FieldError(name, f"names {found}, but {are} {', '.join(names) or 'none'}.")


def _call(reader: Callable[..., Any], path: str, options: Mapping[str, Any], where: str) -> Any:
    try:
        return reader(path, **options)
    except (TypeError, AttributeError):  # a table inside an entry that is none of what its reader knows
        raise InputError(
            f"{where}: an entry has the wrong type; names are text, lists are [..], tables {{..}}."
        ) from None
