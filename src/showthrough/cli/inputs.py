"""What commands read: releases and a register, from files, folders or a history file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from showthrough.errors import InputError
from showthrough.register.history_file import files_of, read_history, read_ids
from showthrough.register.locating import names_of, understood
from showthrough.register.register import Register
from showthrough.release.kind import Shows
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


def located(missing: Sequence[str] | None, locate: str | None, spread: Sequence[str] | None) -> dict[str, Any]:
    """Options of `read_release` about cells and centroids, as far as they were given."""
    found: dict[str, Any] = {}
    if missing:
        found["missing"] = tuple(missing)
    if locate is not None:
        found["locate"] = locate
    if spread:
        found["spread"] = {column: str(width) for column, width in pairs("spread", spread).items()}
    return found


def read_inputs(
    paths: Sequence[Path], values: Sequence[Path] | None, register: Path | None, *, named: Named, **roles: Any
) -> tuple[list[Release], Register | None]:
    """Read every release and the register; tables of values pair up with the releases in order."""
    history = next((path for path in paths if _is_history(path)), None)
    if history is not None:
        if len(paths) > 1:
            raise InputError(f"{history} is a history file, which names all releases: give it alone.")
        told = [k for k, v in roles.items() if v is not None]
        if told or values or register or named.files():
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
        release = read_release(path, pair, **_roles_in(path, roles, register))
        if trees:
            own = {c: t for c, t in trees.items() if c in release.roles.quasi}
            release = release.called(release.name, release.date, release.parameters, {**release.hierarchies, **own})
        releases.append(release)
    columns = list(dict.fromkeys(c for r in releases for c in r.roles.quasi))
    strange = [column for column in trees or {} if column not in columns]
    if strange:
        known = ", ".join(columns) or "none"
        raise InputError(f"--hierarchy names {strange[0]!r}, but the quasi-identifiers of the releases are: {known}.")
    return _recoded(releases, named.value_maps), _register(register, releases, named.present, roles)


def files_read(paths: Sequence[Path], values: Sequence[Path] | None, register: Path | None, named: Named) -> list[Path]:
    """Everything that is read and must not be written over."""
    told = [file for path in paths if _is_history(path) for file in files_of(path)]
    return [*paths, *(values or []), *([register] if register else []), *named.files(), *told]


def _is_history(path: Path) -> bool:
    return path.suffix.lower() == ".toml" and not path.is_dir()


def _roles_in(path: Path, roles: Mapping[str, Any], register: Path | None) -> Mapping[str, Any]:
    """Beside a register, the column of ids may be that of the register alone."""
    from showthrough.table.files import read_table

    if register is None or roles.get("id") is None or roles.get("quasi") is None or path.is_dir():
        return roles
    without = roles["id"] not in read_table(path, encoding=roles.get("encoding")).columns
    return {**roles, "id": None} if without else roles


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
    return _with_known_columns(path, roles, quasi, inside)


def _with_known_columns(
    path: Path, roles: Mapping[str, Any], quasi: Sequence[str], present: Mapping[str, Any] | None
) -> Register:
    """Of the releases' quasi-identifiers those that the register holds."""
    from showthrough.table.files import read_table

    table = read_table(path, encoding=roles.get("encoding"))
    shared = [q for q in quasi if q in table.columns] or None
    return Register.of(table, id=roles.get("id"), quasi=shared, present=present, where=str(path))


def _known(option: str, given: Mapping[str, Any], names: Sequence[str]) -> None:
    strange = [name for name in given if name not in names]
    if strange:
        raise InputError(f"--{option} names {strange[0]!r}, but the releases are {', '.join(names)}.")


def how_understood(releases: Sequence[Release], register: Register | None) -> pl.DataFrame:
    """Every different cell of every release that publishes cells, with its meaning."""
    frames = [
        understood(r, name, register=register).select(pl.lit(name).alias("release"), pl.all())
        for name, r in zip(names_of(releases), releases, strict=True)
        if r.form.shows is Shows.CELLS and r.roles.quasi
    ]
    return pl.concat(frames) if frames else pl.DataFrame()
