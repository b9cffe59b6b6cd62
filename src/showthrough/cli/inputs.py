"""What commands read: releases and a register, from files, folders or a history file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from showthrough.errors import InputError
from showthrough.register.history_file import read_history, read_ids
from showthrough.register.locating import names_of, understood
from showthrough.register.register import Register, read_register
from showthrough.release.reading import read_release
from showthrough.release.release import Release
from showthrough.table.hierarchy import Hierarchy


@dataclass(frozen=True)
class Named:
    """Options of the form NAME=FILE, by what they are for."""

    present: Mapping[str, Path]
    hierarchies: Mapping[str, Path]
    value_maps: Mapping[str, Path]

    def files(self) -> list[Path]:
        """All files that are named."""
        return [*self.present.values(), *self.hierarchies.values(), *self.value_maps.values()]


def pairs(option: str, given: Sequence[str] | None) -> dict[str, Path]:
    """NAME=FILE as a table."""
    found: dict[str, Path] = {}
    for entry in given or []:
        name, equals, file = entry.partition("=")
        if not (name and equals and file):
            raise InputError(f"--{option} takes NAME=FILE, not {entry!r}.")
        if name in found:
            raise InputError(f"--{option} names {name!r} twice.")
        found[name] = Path(file)
    return found


def read_inputs(
    paths: Sequence[Path], values: Sequence[Path] | None, register: Path | None, *, named: Named, **roles: Any
) -> tuple[list[Release], Register | None]:
    """Read every release and the register; tables of values pair up with the releases in order."""
    if len(paths) == 1 and paths[0].suffix == ".toml":
        told = [k for k, v in roles.items() if v not in (None, ()) and k != "encoding"]
        if told or values or register or named.hierarchies or named.value_maps or named.present:
            raise InputError(
                f"{paths[0]} is a history file, which names files and roles itself: give no other options for them."
            )
        return read_history(paths[0])
    if values and len(values) != len(paths):
        raise InputError(
            f"{len(paths)} releases but {len(values)} tables of values: give --values once per release, in order "
            "(or make release folders, which may be mixed with plain files)."
        )
    trees = {column: Hierarchy.read(file) for column, file in named.hierarchies.items()} or None
    second: Sequence[Path | None] = values or [None] * len(paths)
    releases = []
    for path, pair in zip(paths, second, strict=True):
        release = read_release(path, pair, **roles)
        if trees:
            own = {c: t for c, t in trees.items() if c in release.roles.quasi}
            release = release.called(release.name, release.date, release.parameters, {**release.hierarchies, **own})
        releases.append(release)
    return _recoded(releases, named.value_maps), _register(register, releases, named.present, roles)


def _recoded(releases: list[Release], maps: Mapping[str, Path]) -> list[Release]:
    from showthrough.release.recode import read_value_map

    _known("value-map", maps, names_of(releases))
    named = zip(names_of(releases), releases, strict=True)
    return [r.recoded(read_value_map(maps[name])) if name in maps else r for name, r in named]


def _register(
    path: Path | None, releases: Sequence[Release], present: Mapping[str, Path], roles: Mapping[str, Any]
) -> Register | None:
    if path is None:
        if present:
            raise InputError(
                "--present says who of the register is in a release: name the register with --register FILE."
            )
        return None
    _known("present", present, names_of(releases))
    inside = {name: read_ids(file) for name, file in present.items()} or None
    quasi = list(dict.fromkeys(q for r in releases for q in r.roles.quasi))
    return _with_known_columns(path, roles.get("id"), quasi, inside, roles.get("encoding"))


def _with_known_columns(
    path: Path, id: str | None, quasi: Sequence[str], present: Mapping[str, Any] | None, encoding: str | None
) -> Register:
    """Of the releases' quasi-identifiers those that the register holds."""
    from showthrough.table.files import read_table

    columns = read_table(path, encoding=encoding).columns
    shared = [q for q in quasi if q in columns] or None
    return read_register(path, id=id, quasi=shared, present=present, encoding=encoding)


def _known(option: str, given: Mapping[str, Any], names: Sequence[str]) -> None:
    strange = [name for name in given if name not in names]
    if strange:
        raise InputError(f"--{option} names {strange[0]!r}, but the releases are {', '.join(names)}.")


def how_understood(releases: Sequence[Release], register: Register | None) -> pl.DataFrame:
    """Every different cell of every release that publishes cells, with its meaning."""
    frames = [
        understood(r, name, register=register).select(pl.lit(name).alias("release"), pl.all())
        for name, r in zip(names_of(releases), releases, strict=True)
        if r.kind in ("generalized", "counted") and r.roles.quasi
    ]
    return pl.concat(frames) if frames else pl.DataFrame()
