"""Release folders: the data beside ``release.toml`` with kind, columns, types and SHA-256 of each file."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from showthrough import said
from showthrough.errors import FileError, InputError, ReleaseError
from showthrough.release import link as private
from showthrough.release import manifest
from showthrough.release.kinds import KINDS
from showthrough.release.parts import Source
from showthrough.release.roles import make_roles
from showthrough.table.files import parse_table, read_bytes, umask, unwritable
from showthrough.table.hierarchy import Hierarchy

if TYPE_CHECKING:
    from showthrough.release.kind import Kind
    from showthrough.release.release import Release

FORMATS = ("csv", "parquet")

_TYPES: dict[str, pl.DataType] = {
    "text": pl.String(),
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "boolean": pl.Boolean(),
    "date": pl.Date(),
}
LINK = "link.csv"
_ROLES = ("rows", "records", "values", manifest.COUNTERFEITS)
_OWN_FILES = {
    manifest.NAME,
    manifest.HIERARCHIES,
    "plan.json",
    LINK,
    *(f"{role}.{f}" for role in _ROLES for f in FORMATS),
}


def save(release: Release, folder: str | os.PathLike[str], *, format: str, overwrite: bool, link: bool = False) -> None:
    """Write the folder under a temporary name, read it back, and move it into place."""
    if link and release.link is None:
        why = " It publishes its ids itself." if release.roles.id is not None else ""
        raise ReleaseError(f"{release.name or 'The release'} carries no private link: nothing was written.{why}")
    if format not in FORMATS:
        raise FileError(f"A release folder is written as one of {', '.join(FORMATS)}, not {format!r}.")
    target = Path(folder)
    _refuse_foreign(target, overwrite=overwrite)
    tables = _tables(release)
    types = {c.name: _type_name(c, format) for c in _typed_columns(release, tables)}
    with _beside(target) as work:
        files = {role: _write(frame, work / f"{role}.{format}", format) for role, frame in tables.items()}
        text = manifest.write(release, types, files, _write_hierarchies(release, work))
        (work / manifest.NAME).write_bytes(text.encode(errors="replace"))
        if link and release.link is not None:
            _write_link(release.link, work / LINK)
        _refuse_other_data(release, work, format, link=link)
        work.chmod(0o777 & ~umask())
        _move_into_place(work, target)


def load(folder: str | os.PathLike[str]) -> Release:
    """Read a release folder and check every file against its hash."""
    from showthrough.release.release import from_source

    home = Path(folder)
    found = manifest.read(home)
    columns = found.columns
    main = home / found.files["rows" if "rows" in found.files else "records"][0]
    second = home / found.files["values"][0] if "values" in found.files else main
    tables = {role: _read(home / name, sha256, _types_in(role, found)) for role, (name, sha256) in found.files.items()}
    roles = {role: columns[role] for role in ("id", "sensitive", "group", "quasi", "count", "spread")}
    source = Source(
        tables["rows" if "rows" in tables else "records"],
        make_roles((), **roles),
        os.fspath(main),
        tables.get("values"),
        os.fspath(second),
        counterfeits=tables.get(manifest.COUNTERFEITS),
        options=found.options,
    )
    trees = {} if found.hierarchies is None else _read_hierarchies(home, found.hierarchies)
    release = from_source(found.kind, source).called(found.name, found.date, found.parameters, trees)
    release = replace(release, domain=tuple(columns["domain"]))
    if (home / LINK).exists():
        where = os.fspath(home / LINK)
        return replace(release, link=private.checked(release, parse_table(read_bytes(home / LINK), where), where=where))
    return release


def _write_hierarchies(release: Release, work: Path) -> str | None:
    """Labels of a hierarchy mean nothing without it: it is published with the cells."""
    if not release.hierarchies:
        return None
    rows = {
        column: [list(row) for row in zip(*tree.levels, strict=True)] for column, tree in release.hierarchies.items()
    }
    raw = json.dumps(rows, ensure_ascii=False, indent=0).encode(errors="replace")
    (work / manifest.HIERARCHIES).write_bytes(raw)
    return hashlib.sha256(raw).hexdigest()


def _read_hierarchies(home: Path, sha256: str) -> dict[str, Hierarchy]:
    path = home / manifest.HIERARCHIES
    raw = read_bytes(path)
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise FileError(f"{path} is not the file that was saved: its SHA-256 differs from the one in {manifest.NAME}.")
    try:
        found = json.loads(raw.decode())
        return {str(column): Hierarchy.from_rows(rows) for column, rows in found.items()}
    except (ValueError, TypeError, AttributeError):
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


def _write_link(link: pl.DataFrame, path: Path) -> None:
    """Readable by its owner alone from the first byte on."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        link.write_csv(stream)
    path.chmod(0o600)


def _type_name(column: pl.Series, format: str) -> str:
    known = next((name for name, kind in _TYPES.items() if column.dtype == kind), None)
    if known is None and format == "csv":
        raise FileError(
            f"Column {column.name!r} is of type {column.dtype}, which CSV does not carry: nothing was written. "
            'Save with format="parquet".'
        )
    return known or "other"


def _write(frame: pl.DataFrame, path: Path, format: str) -> tuple[str, str]:
    stream = io.BytesIO()
    if format == "csv":
        frame.write_csv(stream)
    else:
        frame.write_parquet(stream)
    path.write_bytes(stream.getvalue())
    return path.name, hashlib.sha256(stream.getvalue()).hexdigest()


def _read(path: Path, sha256: str, types: Mapping[str, str]) -> pl.DataFrame:
    raw = read_bytes(path)
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise FileError(f"{path} is not the file that was saved: its SHA-256 differs from the one in {manifest.NAME}.")
    frame = parse_table(raw, os.fspath(path))
    if raw[:4] == b"PAR1":
        return frame
    return frame.with_columns([_typed(frame[c], t, path) for c, t in types.items() if c in frame.columns])


def _typed(column: pl.Series, type_name: str, path: Path) -> pl.Series:
    kind = _TYPES.get(type_name)
    if kind is None:
        raise FileError(f"{path.parent / manifest.NAME}: unknown type {said.private(repr(type_name))}.")
    try:
        if kind == pl.Boolean:
            return column.replace_strict({"true": True, "false": False, None: None}, return_dtype=pl.Boolean)
        return column.str.to_date("%Y-%m-%d") if kind == pl.Date else column.cast(kind)
    except pl.exceptions.PolarsError:
        raise FileError(f"{path}: column {column.name!r} is not all of type {type_name}.") from None


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


def _refuse_other_data(release: Release, work: Path, format: str, *, link: bool) -> None:
    """What was written must read as what was given; CSV cannot carry every text."""
    try:
        back = load(work)
        same = all(a.equals(b) for a, b in zip(_tables(release).values(), _tables(back).values(), strict=True))
        same = same and (not link or _link_text(release) == _link_text(back))
    except InputError:
        same = False
    if not same:
        hint = ' Save with format="parquet".' if format == "csv" else ""
        raise FileError(f"The release holds text that a {format} file does not carry: nothing was written.{hint}")


def _link_text(release: Release) -> set[tuple[str, str]]:
    """The link as text: its file does not carry the type of the ids."""
    return set() if release.link is None else set(release.link.select(pl.all().cast(pl.String)).iter_rows())


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A temporary folder beside ``target`` that is gone after the block, whatever happens."""
    work: Path | None = None
    try:
        work = Path(tempfile.mkdtemp(prefix=".showthrough.", dir=target.parent))
        yield work
    except OSError as problem:
        raise unwritable(target, problem) from None
    finally:
        if work is not None:
            shutil.rmtree(work, ignore_errors=True)


def _move_into_place(work: Path, target: Path) -> None:
    """Put ``work`` where ``target`` is; if that fails, the old folder comes back."""
    if not target.exists():
        work.rename(target)
        return
    with _beside(target) as aside:
        old = aside / "old"
        try:
            target.rename(old)
            work.rename(target)
        except BaseException:
            if old.exists() and not target.exists():
                old.rename(target)
            raise
