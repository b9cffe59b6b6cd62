"""From files to releases."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from showthrough.errors import FileError, InputError
from showthrough.release import folder, microaggregated
from showthrough.release.parts import Source
from showthrough.release.recode import read_value_map
from showthrough.release.release import Release, from_source
from showthrough.release.roles import known_kind, make_roles
from showthrough.table.datapackage import read_datapackage
from showthrough.table.files import read_table
from showthrough.table.frames import need_columns
from showthrough.table.frozen import Frozen
from showthrough.table.hierarchy import as_hierarchy


@dataclass(frozen=True)
class Given:
    """The roles that the caller named for a plain file."""

    id: str | None = None
    sensitive: str | None = None
    group: str | None = None
    quasi: Sequence[str] | None = None
    count: str | None = None
    spread: Mapping[str, str] | None = None


def read_release(
    path: str | os.PathLike[str],
    values: str | os.PathLike[str] | None = None,
    *,
    id: str | None = None,
    sensitive: str | None = None,
    group: str | None = None,
    quasi: Sequence[str] | None = None,
    count: str | None = None,
    kind: str | None = None,
    spread: Mapping[str, str] | None = None,
    ordinal: Mapping[str, Sequence[Any]] | None = None,
    nominal: Sequence[str] = (),
    locate: str = "nearest",
    counterfeits: str | os.PathLike[str] | None = None,
    value_map: str | os.PathLike[str] | Mapping[Any, Any] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    name: str | None = None,
    date: str | None = None,
    encoding: str | None = None,
) -> Release:
    """Read a release from a CSV or Parquet file, a pair of them, or a release folder.

    A release folder carries kind and roles in its ``release.toml``; for a plain file name the
    columns. ``values`` is the second table of Anatomy's pair (group, value, count). CSV columns are
    read as text: ``02139`` stays ``02139``. Without ``kind``, a file with ``id`` and ``group`` is
    bucketized, one with a ``count`` column and no ids counted, one with ``spread`` or ``ordinal``
    microaggregated, and one with ``quasi`` alone generalized; without ``sensitive`` such a file acts as
    a register. A ``datapackage.json`` beside the file fills in roles that are not named. ``hierarchies``
    maps columns to a `Hierarchy`, an ARX hierarchy file or a nested dict. ``counterfeits`` is a file
    with groups and counts; ``value_map`` one with two columns, published value and common value, below
    a header of any names (or a mapping). Quasi-identifiers that read as one of ``missing`` (such as "?")
    are suppressed cells, besides the usual marks and those that the package names.
    """
    source = os.fspath(path)
    if os.path.isdir(source):
        loaded = _from_folder(source, values, counterfeits)
        loaded = replace(loaded, name=loaded.name if name is None else name, date=loaded.date if date is None else date)
    else:
        if not os.path.exists(source):
            raise FileError(f"There is no file {source}.")
        described = read_datapackage(source) or {}
        given = fill_roles(Given(id, sensitive, group, quasi, count, spread), described)
        marks = {column: tuple(getattr(info, "missing", ())) for column, info in described.items()}
        plain = {"encoding": encoding, "counterfeits": counterfeits, "missing": (tuple(missing), marks)}
        options = {**microaggregated.options(ordinal, nominal), "locate": locate}
        loaded = _from_file(source, values, given, kind=kind, plain=plain, options=options)
        loaded = loaded.called(_stem(source) if name is None else name, date)
        loaded = replace(loaded, domain=_declared(loaded, described))
    if hierarchies is not None:
        loaded = replace(loaded, hierarchies=Frozen({c: as_hierarchy(h) for c, h in hierarchies.items()}))
    if value_map is None:
        return loaded
    coding = value_map if isinstance(value_map, Mapping) else read_value_map(value_map, encoding=encoding)
    return loaded.recoded(coding)


def fill_roles(given: Given, described: Mapping[str, Any]) -> Given:
    """Roles that the caller left open, from a description of the columns with ``role``.

    What the caller says comes first. Two columns of one role are an error, except quasi-identifiers.
    """
    found: dict[str, list[str]] = {}
    for column, info in described.items():
        role = getattr(info, "role", None)
        if role is not None:
            found.setdefault(str(role), []).append(str(column))
    filled: dict[str, Any] = {}
    for role in ("id", "sensitive", "group", "count"):
        names = found.get(role, [])
        if getattr(given, role) is None and len(names) > 1:
            raise InputError(f"{len(names)} columns are described as {role}: name the one that is meant with --{role}.")
        if getattr(given, role) is None and names:
            filled[role] = names[0]
    if given.quasi is None and "quasi" in found:
        filled["quasi"] = tuple(found["quasi"])
    return replace(given, **filled)


def _declared(release: Release, described: Mapping[str, Any]) -> tuple[Any, ...]:
    """All values of the sensitive column, where the description lists them."""
    values = getattr(described.get(release.sensitive or ""), "enum", ())
    if not values or release.sensitive is None:
        return ()
    return tuple(pl.Series(list(values), dtype=pl.String).cast(release.tally["value"].dtype, strict=False).drop_nulls())


def _with_gaps(
    rows: pl.DataFrame, quasi: Sequence[str] | None, missing: Sequence[str], described: Mapping[str, Sequence[str]]
) -> pl.DataFrame:
    """Cells that stand for a missing value become empty."""
    found = []
    for column in quasi or ():
        marks = [mark for mark in (*missing, *described.get(column, ())) if mark]
        if marks and column in rows.columns and rows[column].dtype == pl.String:
            cells = rows[column]
            found.append(cells.set(cells.str.strip_chars().is_in(marks).fill_null(False), None))
    return rows.with_columns(found) if found else rows


def _from_folder(source: str, values: object, counterfeits: object) -> Release:
    for what, table in (("values", values), ("counterfeits", counterfeits)):
        if table is not None:
            raise InputError(f"{source} is a release folder, which holds its own {what}: give it no table of {what}.")
    return folder.load(source)


def _from_file(
    source: str,
    values: str | os.PathLike[str] | None,
    given: Given,
    *,
    kind: str | None,
    plain: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Release:
    if kind is not None:
        kind = known_kind(kind, f"{source} is said to be of kind")
        _need_roles(source, kind, given)
    elif given.count is None or given.id is not None or values is not None:
        kind = _guess(source, given, pair=values is not None, options=options)
    rows = read_table(source, encoding=plain["encoding"])
    if kind != "bucketized":
        rows = _with_gaps(rows, given.quasi, *plain["missing"])
    if kind is None:  # a count was named: the file has it, or it is what the command line always says
        kind = _counted_or_other(source, rows.columns, given, options)
    _check_only_microaggregated(source, kind, given, options)
    if values is not None and kind != "bucketized":
        raise InputError(f"{source}: only a bucketized release has a second table of values, not a {kind} one.")
    count = given.count or "count"
    columns = [c for c in rows.columns if kind != "counted" or c != count]
    named = {"id": given.id, "sensitive": given.sensitive, "group": given.group, "spread": given.spread}
    fake = plain["counterfeits"]
    tables = Source(
        rows,
        make_roles(columns, quasi=given.quasi, count=count, **named),  # type: ignore[arg-type]
        source,
        None if values is None else read_table(values, encoding=plain["encoding"]),
        source if values is None else os.fspath(values),
        None if fake is None else read_table(fake, encoding=plain["encoding"]),
        **options,
    )
    return from_source(kind, tables)


def _check_only_microaggregated(source: str, kind: str, given: Given, options: Mapping[str, Any]) -> None:
    """Options that another kind would silently ignore."""
    said = {**options, "spread": given.spread, "locate": None if options["locate"] == "nearest" else options["locate"]}
    strange = [name for name in ("spread", "ordinal", "nominal", "locate") if said[name]]
    if strange and kind != "microaggregated":
        raise InputError(
            f"{source} is taken for a {kind} release, but {strange[0]} describes a microaggregated one: say which with "
            "its kind."
        )


_NEEDS: dict[str, tuple[tuple[str, ...], ...]] = {  # of each tuple, one
    "bucketized": (("sensitive",), ("group",)),
    "generalized": (("quasi",),),
    "counted": (("sensitive",),),
    "microaggregated": (("quasi",),),
}


def _need_roles(source: str, kind: str, given: Given) -> None:
    """A kind that was named has the roles it needs."""
    missing = [f"--{roles[0]}" for roles in _NEEDS[kind] if all(getattr(given, role) is None for role in roles)]
    if missing:
        raise InputError(
            f"{source} is a plain file without a release.toml: a {kind} release needs {', '.join(missing)}."
        )


def _guess(source: str, given: Given, *, pair: bool, options: Mapping[str, Any]) -> str:
    """The kind that the roles tell."""
    if not pair and given.id is None and given.quasi is not None:
        if given.spread or options["ordinal"]:
            return "microaggregated"
        if given.group is None:
            return "generalized"
        raise InputError(
            f"{source} has quasi-identifiers and a group column but no ids: say with --kind whether it is bucketized "
            "(the quasi-identifiers are exact), generalized, counted or microaggregated."
        )
    if given.id is not None and given.quasi is not None and given.sensitive is None and not pair:
        return "generalized"
    needed = ("id", "sensitive", "group")
    missing = [f"--{role}" for role in needed if getattr(given, role) is None]
    if missing:
        raise InputError(
            f"{source} is a plain file without a release.toml: name its columns with {', '.join(missing)}. "
            "A release without ids needs --quasi, or --kind."
        )
    return "bucketized"


def _counted_or_other(source: str, columns: Sequence[str], given: Given, options: Mapping[str, Any]) -> str:
    count = given.count or "count"
    if count in columns and given.sensitive is not None and (given.group is not None or given.quasi is not None):
        return "counted"
    if count != "count":
        need_columns(pl.DataFrame(schema=list(columns)), [count], source)
    return _guess(source, given, pair=False, options=options)


def _stem(path: str) -> str:
    """The name of a file without ending; bytes that are no text would break every report."""
    return os.fsencode(Path(path).stem.removesuffix(".csv")).decode(errors="replace")
