"""From files to releases."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from showthrough.errors import FileError, InputError
from showthrough.release import folder, microaggregated, noisy, ranged
from showthrough.release import link as private
from showthrough.release.kind import Clues, Kind, Shows
from showthrough.release.kinds import KINDS, known_kind
from showthrough.release.parts import Source
from showthrough.release.recode import read_value_map
from showthrough.release.release import Release, from_source
from showthrough.release.roles import Given, make_roles
from showthrough.storage.leftovers import settle
from showthrough.table.datapackage import read_datapackage
from showthrough.table.files import read_table
from showthrough.table.frames import need_columns
from showthrough.table.frozen import Frozen
from showthrough.table.hierarchy import as_hierarchy

_EXACT = " (the quasi-identifiers are exact)"


def read_release(
    path: str | os.PathLike[str],
    values: str | os.PathLike[str] | None = None,
    *,
    id: str | None = None,
    sensitive: str | Sequence[str] | None = None,
    group: str | None = None,
    quasi: Sequence[str] | None = None,
    count: str | None = None,
    kind: str | None = None,
    spread: Mapping[str, str] | None = None,
    ordinal: Mapping[str, Sequence[Any]] | None = None,
    nominal: Sequence[str] = (),
    locate: str = "nearest",
    suppressed: Mapping[str, Any] | None = None,
    rounding: Any = None,
    totals: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    population: str | None = None,
    noise: Mapping[str, Any] | None = None,
    value_cells: bool = False,
    counterfeits: str | os.PathLike[str] | None = None,
    value_map: str | os.PathLike[str] | Mapping[Any, Any] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    name: str | None = None,
    date: str | None = None,
    encoding: str | None = None,
    link: bool | str | os.PathLike[str] = True,
) -> Release:
    """Read a release from a CSV or Parquet file, a pair of them, or a release folder.

    A release folder carries kind and roles in its ``release.toml`` (of several sensitive columns ``sensitive`` takes
    another one); for a plain file name the columns. ``values``
    is the second table of Anatomy's pair (group, value, count). CSV columns are read as text: ``02139`` stays
    ``02139``. Without ``kind``, a file with ``id`` and ``group`` is bucketized, one with a ``count`` column and no
    ids counted, one with ``spread`` or ``ordinal`` microaggregated, and one with ``quasi`` alone generalized;
    without ``sensitive`` it acts as a register. A ``datapackage.json`` beside the file fills in roles that are not
    named. ``hierarchies`` maps columns to a `Hierarchy`, an ARX hierarchy file or a nested dict. ``counterfeits``
    is a file with groups and counts; ``value_map`` one with two columns, published value and common value, below a
    header (or a mapping). Quasi-identifiers that read as one of ``missing`` (such as "?") are suppressed cells, as
    the usual marks are. Counts are printed as in `Release.counted`; ``noise`` says what `Release.noisy` is told of
    theirs (mechanism, scale, neighbours, …). ``link`` is the file of the private link.
    """
    source = os.fspath(path)
    settle(source)
    if os.path.isdir(source):
        loaded = _looked_at(_from_folder(source, values, counterfeits, link), sensitive)
        loaded = replace(loaded, name=loaded.name if name is None else name, date=loaded.date if date is None else date)
    else:
        described = _described(source)
        given = fill_roles(Given(id, sensitive, group, quasi, count, spread), described)
        marks = {column: tuple(getattr(info, "missing", ())) for column, info in described.items()}
        plain = {"encoding": encoding, "counterfeits": counterfeits, "missing": (tuple(missing), marks), "link": link}
        printed = ranged.options(suppressed, rounding, totals, population)
        options = {**microaggregated.options(ordinal, nominal), "locate": locate, **printed, **noisy.options(noise)}
        loaded = _from_file(source, values, given, kind=kind, plain=plain, options=options)
        loaded = loaded.called(_stem(source) if name is None else name, date)
        loaded = replace(loaded, domain=_declared(loaded, described))
    loaded = _with_trees(replace(loaded, read_from=source), hierarchies, value_cells=value_cells)
    return loaded if value_map is None else loaded.recoded(_coding(value_map, encoding))


def _looked_at(release: Release, sensitive: Any) -> Release:
    """The release by the sensitive column that was named, if it has several."""
    return release.by(sensitive) if isinstance(sensitive, str) and sensitive in release.roles.also else release


def _with_trees(release: Release, hierarchies: Mapping[str, Any] | None, *, value_cells: bool) -> Release:
    found = release.with_value_cells() if value_cells else release
    if hierarchies is None:
        return found
    return replace(found, hierarchies=Frozen({c: as_hierarchy(h) for c, h in hierarchies.items()}))


def _described(source: str) -> Mapping[str, Any]:
    """What a datapackage says of the columns of a file, which has to be there."""
    if not os.path.exists(source):
        raise FileError(f"There is no file {source}.")
    return read_datapackage(source) or {}


def _coding(value_map: str | os.PathLike[str] | Mapping[Any, Any], encoding: str | None) -> Mapping[Any, Any]:
    return value_map if isinstance(value_map, Mapping) else read_value_map(value_map, encoding=encoding)


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
            raise InputError(
                f"{len(names)} columns are described as {role}: name the one that is meant with {role}=.",
                parameters=(role,),
            )
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


def _from_folder(source: str, values: object, counterfeits: object, link: bool | str | os.PathLike[str]) -> Release:
    for what, table in (("values", values), ("counterfeits", counterfeits)):
        if table is not None:
            raise InputError(f"{source} is a release folder, which holds its own {what}: give it no table of {what}.")
    return folder.load(source, link=link)


def _from_file(
    source: str,
    values: str | os.PathLike[str] | None,
    given: Given,
    *,
    kind: str | None,
    plain: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Release:
    form: Kind | None = None
    clues = Clues(given, values is not None, options)
    if kind is not None:
        form = known_kind(kind, f"{source} is said to be of kind")
        _need_roles(source, form, given)
    elif given.count is None or given.id is not None or values is not None:
        form = _guessed(source, clues)
    rows = read_table(source, encoding=plain["encoding"])
    if form is None:  # a count was named: the file has it, or it is what the command line always says
        form = _guessed(source, replace(clues, columns=rows.columns))
    if form.shows is not Shows.EXACT:
        rows = _with_gaps(rows, given.quasi, *plain["missing"])
    _refuse_strange_options(source, form, given, options)
    if values is not None and not form.second_table:
        able = " or ".join(k.name for k in KINDS.values() if k.second_table)
        raise InputError(f"{source}: only a {able} release has a second table of values, not a {form.name} one.")
    count = given.count or "count"
    columns = [c for c in rows.columns if not form.counts_in_rows or c != count]
    named = {"id": given.id, "sensitive": given.sensitive, "group": given.group, "spread": given.spread}
    fake = plain["counterfeits"]
    tables = Source(
        rows,
        make_roles(columns, quasi=given.quasi, count=count, **named),
        source,
        None if values is None else read_table(values, encoding=plain["encoding"]),
        source if values is None else os.fspath(values),
        None if fake is None else read_table(fake, encoding=plain["encoding"]),
        options=options,
    )
    made = from_source(form.name, tables)
    return made if isinstance(plain["link"], bool) else private.attached(made, Path(plain["link"]))


def _refuse_strange_options(source: str, form: Kind, given: Given, options: Mapping[str, Any]) -> None:
    """Options that another kind would silently ignore."""
    said = {"spread": given.spread, **options, "locate": None if options["locate"] == "nearest" else options["locate"]}
    strange = [name for name, choice in said.items() if choice and name not in form.options]
    if strange:
        other = " or ".join(k.name for k in KINDS.values() if strange[0] in k.options)
        raise InputError(
            f"{source} is taken for a {form.name} release, but {strange[0]} describes a {other} one: say which with "
            "its kind."
        )


def _need_roles(source: str, form: Kind, given: Given) -> None:
    """A kind that was named has the roles it needs."""
    missing = [role for role in form.needs if getattr(given, role) is None]
    if missing:
        needed = ", ".join(f"{role}=" for role in missing)
        raise InputError(
            f"{source} is a plain file without a release.toml: a {form.name} release needs {needed}.",
            parameters=tuple(missing),
        )


def _guessed(source: str, clues: Clues) -> Kind:
    """The kind that most clues speak for."""
    found = max(KINDS.values(), key=lambda kind: kind.clues_in(clues))
    given, count = clues.roles, clues.roles.count or "count"
    if clues.columns is not None and count != "count" and not found.counts_in_rows:
        need_columns(pl.DataFrame(schema=list(clues.columns)), [count], source)
    if found.clues_in(clues):
        return found
    if not clues.pair and given.id is None and given.quasi is not None:
        *first, last = (k.name + _EXACT * (k.shows is Shows.EXACT) for k in KINDS.values())
        raise InputError(
            f"{source} has quasi-identifiers and a group column but no ids: say with kind= whether it is "
            f"{', '.join(first)} or {last}.",
            parameters=("kind",),
        )
    missing = [f"{role}=" for role in ("id", "sensitive", "group") if getattr(given, role) is None]
    raise InputError(
        f"{source} is a plain file without a release.toml: name its columns with {', '.join(missing)}. "
        "A release without ids needs quasi=, or kind=.",
        parameters=("id", "sensitive", "group", "quasi", "kind"),
    )


def _stem(path: str) -> str:
    """The name of a file without ending; bytes that are no text would break every report."""
    return os.fsencode(Path(path).stem.removesuffix(".csv")).decode(errors="replace")
