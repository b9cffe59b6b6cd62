"""Release folders: the data beside ``release.toml`` with kind, columns, types and SHA-256 of each file."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from showthrough.errors import FileError, InputError, InternalError, ReleaseError
from showthrough.release import link as private
from showthrough.release import manifest
from showthrough.release.kinds import KINDS
from showthrough.release.parts import Source
from showthrough.release.roles import make_roles
from showthrough.release.typed import type_name, typed
from showthrough.storage.leftovers import settle, steady
from showthrough.storage.staged import special
from showthrough.storage.system import write_bytes
from showthrough.storage.unit import Unit
from showthrough.table.files import parse_table, read_bytes
from showthrough.table.hierarchy import Hierarchy

if TYPE_CHECKING:
    from showthrough.release.kind import Kind
    from showthrough.release.release import Release

FORMATS = ("csv", "parquet")

_ROLES = ("rows", "records", "values", manifest.COUNTERFEITS)
_OWN_FILES = {
    manifest.NAME,
    manifest.HIERARCHIES,
    manifest.PLAN,
    private.INSIDE,  # of earlier versions
    *(f"{role}.{f}" for role in _ROLES for f in FORMATS),
}


def save(
    release: Release, folder: str | os.PathLike[str], *, format: str, overwrite: bool, link: bool | None = None
) -> None:
    """Write the folder and the private link beside it as one unit."""
    with Unit() as unit:
        text = fill(release, reserve(unit, folder, overwrite=overwrite), format=format)
        put_link(unit, release, folder, text, wanted=link)
        unit.commit()


def reserve(unit: Unit, folder: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """An empty folder to `fill`, which becomes ``folder`` with its unit; until then no other run can write it."""

    def fits() -> None:
        _refuse_foreign(Path(folder), overwrite=overwrite)
        _refuse_foreign_link(private.beside(folder), overwrite=overwrite)

    settle(folder)
    fits()
    return unit.folder(folder, replace=overwrite, still=fits)


def fill(release: Release, work: Path, *, format: str, plan: bytes | None = None) -> bytes:
    """Write the files of a release and its ``plan`` into an empty folder and read them back; gives its manifest."""
    made = as_parts(release, format=format, plan=plan)
    for name, content in made.items():
        write_bytes(work / name, content)
    _refuse_other_data(release, lambda: load(work, link=False), format)
    return made[manifest.NAME]


def as_parts(release: Release, *, format: str, plan: bytes | None = None) -> dict[str, bytes]:
    """The files of a release folder by name, the manifest last."""
    if format not in FORMATS:
        raise FileError(f"A release folder is written as one of {', '.join(FORMATS)}, not {format!r}.")
    tables = _tables(release)
    types = {c.name: _type_name(c, format) for c in _typed_columns(release, tables)}
    made = {f"{role}.{format}": _as_bytes(frame, format) for role, frame in tables.items()}
    files = {role: (name, _sha256(made[name])) for role, name in ((role, f"{role}.{format}") for role in tables)}
    more = {manifest.HIERARCHIES: _hierarchies(release), manifest.PLAN: plan}
    made |= {name: content for name, content in more.items() if content is not None}
    hashes = [None if content is None else _sha256(content) for content in more.values()]
    text = manifest.write(release, types, files, hierarchies=hashes[0], plan=hashes[1])
    return {**made, manifest.NAME: text.encode(errors="replace")}


def carried(release: Release) -> dict[str, bytes]:
    """The files of a folder that surely reads as the release: of CSV, or of Parquet where CSV cannot carry it."""
    for format in FORMATS:
        try:
            made = as_parts(release, format=format)
            _refuse_other_data(release, partial(from_parts, made, where=release.name or "The release"), format)
        except FileError:
            if format == FORMATS[-1]:
                raise
        else:
            return made
    raise InternalError("There is a format.")


def from_parts(parts: Mapping[str, bytes], *, where: str) -> Release:
    """The release whose folder has these files, checked as `load` does; ``where`` stands in messages."""
    home = Path(where)
    return _understood(home, manifest.parse(_part(parts, home / manifest.NAME), home), lambda path: _part(parts, path))


def _part(parts: Mapping[str, bytes], path: Path) -> bytes:
    if path.name not in parts:
        raise FileError(f"There is no file {path}.")
    return parts[path.name]


def read_parts(folder: str | os.PathLike[str]) -> dict[str, bytes]:
    """The files that a release folder consists of, byte for byte, as its manifest names them."""
    home = Path(folder)

    def read() -> dict[str, bytes]:
        refuse_links_out(home)
        found = manifest.read(home)
        more = {manifest.HIERARCHIES: found.hierarchies, manifest.PLAN: found.plan}
        named = [
            *(name for name, _ in found.files.values()),
            *(name for name, sha in more.items() if sha),
            manifest.NAME,
        ]
        return {name: read_bytes(home / name) for name in named}

    return steady(folder, read)


def put_link(
    unit: Unit, release: Release, folder: str | os.PathLike[str], text: bytes, *, wanted: bool | None = None
) -> None:
    """Write the private link of the release with its folder, whose manifest is ``text``.

    ``wanted`` None writes the link that the release carries, if it carries one; a link that stood beside a folder
    that is replaced goes with it.
    """
    if wanted and release.link is None:
        why = " It publishes its ids itself." if release.roles.id is not None else ""
        raise ReleaseError(f"{release.name or 'The release'} carries no private link: nothing was written.{why}")
    target = private.beside(folder)
    if wanted is False or release.link is None or release.roles.id is not None:
        unit.remove(target)
        return
    raw = private.as_bytes(release.link, text, column=release.link_id)
    try:
        same = private.same(private.from_bytes(raw, release, manifest=text, where="The link"), release.link)
    except InputError:
        same = False
    if not same:
        raise FileError("The ids hold text that a csv file does not carry: nothing was written.")
    unit.file(target, private=True).write(raw)


def load(folder: str | os.PathLike[str], *, link: bool | str | os.PathLike[str] = True) -> Release:
    """Read a release folder and check every file against its hash, also while another run replaces it.

    ``link`` True takes the private link that stands beside the folder, if one does; or name its file.
    """
    return steady(folder, lambda: _load(folder, link))


def _load(folder: str | os.PathLike[str], link: bool | str | os.PathLike[str]) -> Release:
    home = Path(folder)
    refuse_links_out(home)
    return _linked(_understood(home, manifest.read(home), read_bytes), home, link)


def _understood(home: Path, found: manifest.Manifest, bytes_of: Callable[[Path], bytes]) -> Release:
    """The release that a manifest describes, with its files from wherever they stand."""
    from showthrough.release.release import from_source

    if found.plan is not None:
        _checked(bytes_of, home / manifest.PLAN, found.plan)
    columns = found.columns
    main = home / found.files["rows" if "rows" in found.files else "records"][0]
    second = home / found.files["values"][0] if "values" in found.files else main
    tables = {
        role: _read(_checked(bytes_of, home / name, sha256), home / name, _types_in(role, found))
        for role, (name, sha256) in found.files.items()
    }
    roles = {role: columns[role] for role in ("id", "sensitive", "group", "quasi", "count", "spread")}
    if columns["also"]:
        roles["sensitive"] = [columns["sensitive"], *columns["also"]]
    source = Source(
        tables["rows" if "rows" in tables else "records"],
        make_roles((), **roles),
        os.fspath(main),
        tables.get("values"),
        os.fspath(second),
        counterfeits=tables.get(manifest.COUNTERFEITS),
        options=found.options,
    )
    trees = {}
    if found.hierarchies is not None:
        path = home / manifest.HIERARCHIES
        trees = _read_hierarchies(_checked(bytes_of, path, found.hierarchies), path)
    release = from_source(found.kind, source).called(found.name, found.date, found.parameters, trees)
    release = replace(release, domain=tuple(columns["domain"]))
    return release.with_value_cells() if columns["value_cells"] else release


def _linked(release: Release, home: Path, link: bool | str | os.PathLike[str]) -> Release:
    """The release with its private link, where there is one and it is wanted."""
    if link is False or (link is True and release.roles.id is not None):
        return release
    own = read_bytes(home / manifest.NAME)
    if link is not True:
        return private.attached(release, Path(link), manifest=own)
    found, inside = private.beside(home), home / private.INSIDE
    if os.path.lexists(found):
        without = ". Give link=False to read the release without it"
        if not private.is_link(found, advice=without):
            raise FileError(
                f"{found} has the name of a private link but is none: take it away, or give link=False to read the "
                "release without it.",
                parameters=("link",),
            )
        return private.attached(release, found, manifest=own)
    return private.attached(release, inside) if inside.exists() else release


def _hierarchies(release: Release) -> bytes | None:
    """Labels of a hierarchy mean nothing without it: it is published with the cells."""
    if not release.hierarchies:
        return None
    rows = {
        column: [list(row) for row in zip(*tree.levels, strict=True)] for column, tree in release.hierarchies.items()
    }
    return json.dumps(rows, ensure_ascii=False, indent=0).encode(errors="replace")


def _read_hierarchies(raw: bytes, path: Path) -> dict[str, Hierarchy]:
    try:
        found = json.loads(raw.decode())
        return {str(column): Hierarchy.from_rows(rows) for column, rows in found.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise FileError(f"{path} does not hold hierarchies: expected rows of labels per column.") from None


def _types_in(role: str, found: manifest.Manifest) -> dict[str, str]:
    """The types of the columns of a file; counts are read by their own rule, and so are counterfeits."""
    if role == manifest.COUNTERFEITS:
        return {}
    counts = _holds_counts(KINDS[found.kind], role)
    return {c: t for c, t in found.types.items() if not counts or c != found.columns["count"]}


def _tables(release: Release) -> dict[str, pl.DataFrame]:
    fake = {manifest.COUNTERFEITS: release.counterfeits} if release.counterfeits.height else {}
    return {**release.form.tables(release), **fake}


def _typed_columns(release: Release, tables: Mapping[str, pl.DataFrame]) -> list[pl.Series]:
    """The columns whose types are written down: all but counts and those of counterfeits."""
    return [
        frame[name]
        for role, frame in tables.items()
        for name in frame.columns
        if role != manifest.COUNTERFEITS
        if name != release.roles.count or not _holds_counts(release.form, role)
    ]


def _holds_counts(form: Kind, role: str) -> bool:
    return role == "values" or form.counts_in_rows


def _type_name(column: pl.Series, format: str) -> str:
    known = type_name(column)
    if known is None and format == "csv":
        raise FileError(
            f"Column {column.name!r} is of type {column.dtype}, which CSV does not carry: nothing was written. "
            'Save with format="parquet".'
        )
    return known or "other"


def _as_bytes(frame: pl.DataFrame, format: str) -> bytes:
    stream = io.BytesIO()
    if format == "csv":
        frame.write_csv(stream)
    else:
        frame.write_parquet(stream)
    return stream.getvalue()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def checked_bytes(path: Path, sha256: str) -> bytes:
    """The bytes of a file that has the hash that its manifest says."""
    return _checked(read_bytes, path, sha256)


def _checked(bytes_of: Callable[[Path], bytes], path: Path, sha256: str) -> bytes:
    raw = bytes_of(path)
    if _sha256(raw) != sha256:
        raise FileError(f"{path} is not the file that was saved: its SHA-256 differs from the one in {manifest.NAME}.")
    return raw


def refuse_links_out(home: Path) -> None:
    """A release folder that somebody hands on must not read other files of whoever opens it."""
    try:
        own = sorted(path for path in home.iterdir() if path.name in _OWN_FILES)
    except OSError:  # the manifest is sought next, and says so
        return
    root = os.path.realpath(home)
    for path in own:
        if path.is_symlink() and os.path.dirname(os.path.realpath(path)) != root:
            raise FileError(f"{path} is a link out of the release folder: put the file itself there.")
        if special(path):
            raise FileError(f"{path} is a pipe or a device: put a file there.")


def _read(raw: bytes, path: Path, types: Mapping[str, str]) -> pl.DataFrame:
    frame = parse_table(raw, os.fspath(path))
    if raw[:4] == b"PAR1":
        return frame
    where, stated, held = os.fspath(path), os.fspath(path.parent / manifest.NAME), set(frame.columns)
    return frame.with_columns([typed(frame[c], t, where=where, stated=stated) for c, t in types.items() if c in held])


def _refuse_foreign(target: Path, *, overwrite: bool) -> None:
    """Only a release folder may be overwritten, and only if nobody put other files into it."""
    if not os.path.lexists(target):
        return
    if not overwrite:
        raise FileError(
            f"{target} exists already: nothing was written. overwrite=True replaces a release folder.",
            parameters=("overwrite",),
        )
    if not (target / manifest.NAME).is_file():
        raise FileError(f"{target} is not a release folder: nothing was written.")
    others = sorted({p.name for p in target.iterdir()} - _OWN_FILES)
    if others:
        raise FileError(f"{target} holds {others[0]!r}, which is no part of a release: nothing was written.")


def _refuse_foreign_link(path: Path, *, overwrite: bool) -> None:
    """What stands where the private link goes is replaced only if it is one, and only on request."""
    if not os.path.lexists(path):
        return
    if not private.is_link(path):
        raise FileError(f"{path} has the name of a private link but is none: nothing was written.")
    if not overwrite:
        raise FileError(
            f"{path} exists already, the private link of a release: nothing was written. overwrite=True replaces it.",
            parameters=("overwrite",),
        )


def _refuse_other_data(release: Release, read: Callable[[], Release], format: str) -> None:
    """What was written must read as what was given; CSV cannot carry every text."""
    try:
        back = read()
        same = all(a.equals(b) for a, b in zip(_tables(release).values(), _tables(back).values(), strict=True))
    except InputError:
        same = False
    if not same:
        hint = ' Save with format="parquet".' if format == "csv" else ""
        raise FileError(f"The release holds text that a {format} file does not carry: nothing was written.{hint}")
