"""Microaggregated releases: the centroid of its group instead of each record's quasi-identifiers.

Domingo-Ferrer and Torra, *Ordinal, Continuous and Heterogeneous k-Anonymity through
Microaggregation*, Data Mining and Knowledge Discovery 11, 2005: the mean of numbers, the median of
ordered levels, the mode of names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from showthrough.errors import InputError, ReleaseError
from showthrough.release import grouped
from showthrough.release.columns import cell_text, listed
from showthrough.release.parts import Parts, Source
from showthrough.release.roles import check_parts, parts_of
from showthrough.table.frames import scalar
from showthrough.table.frozen import Frozen

LOCATE = ("nearest", "within")
_CODE = r"^[+-]?0\d"  # 02139 is a name made of digits, not a number


def make(source: Source) -> Parts:
    """The parts of a release from its rows."""
    roles, where = source.roles, source.where
    if roles.id is not None:
        raise InputError(f"{where}: a microaggregated release does not publish ids.")
    check_parts(parts_of(roles))
    _check_options(source)
    grouped.check(source)
    ordinal = {c: _levels(c, source.ordinal[c], where) for c in source.ordinal}
    cells = {c: _centroids(source, c, ordinal.get(c)) for c in roles.quasi}
    spread = {c: _spread(source, c) for c in roles.spread.values()}
    parts = grouped.parts_of_rows(source, {**cells, **spread})
    return replace(parts, ordinal=Frozen(ordinal), locate=source.locate)


def _check_options(source: Source) -> None:
    roles, where = source.roles, source.where
    if source.locate not in LOCATE:
        raise InputError(f"{where}: persons are located by one of {', '.join(LOCATE)}, not {source.locate!r}.")
    if source.locate == "within" and not roles.spread:
        raise InputError(f'{where}: locate="within" needs the published spread of the groups: name its columns.')
    if isinstance(source.nominal, str):
        raise InputError(f"{where}: nominal is a list of columns.")
    for what, names in (("spread", roles.spread), ("ordinal", source.ordinal), ("nominal", source.nominal)):
        other = [name for name in names if name not in roles.quasi]
        if other:
            raise InputError(f"{where}: {what} names {other[0]!r}, which is none of the quasi-identifiers.")
    both = [name for name in source.nominal if name in source.ordinal]
    if both:
        raise InputError(f"{where}: the column {both[0]!r} is either ordinal or nominal, not both.")


def _levels(name: str, levels: Sequence[Any], where: str) -> tuple[str, ...]:
    texts = () if isinstance(levels, str) else tuple(str(level) for level in levels)
    if len(texts) < 2 or len(set(texts)) < len(texts):
        raise InputError(f"{where}: the levels of {name!r} must be a list of two or more, lowest first, each once.")
    return texts


def _centroids(source: Source, name: str, levels: tuple[str, ...] | None) -> pl.Series:
    what = f"{source.where}: column {name!r}"
    if levels is not None:
        text = cell_text(source.rows[name], what)
        other = text.filter(~text.is_in(list(levels)) & text.is_not_null()).unique(maintain_order=True)
        if other.len():
            raise ReleaseError(f"{what} holds {listed(other.to_list(), 3)}, which is none of its levels.")
        return text
    column = scalar(source.rows[name], what)
    if column.dtype.is_temporal():
        raise ReleaseError(f"{what} holds {column.dtype}: give the centroids of dates and times as numbers.")
    if name in source.nominal or column.dtype == pl.Boolean:
        return cell_text(column, what)
    if column.dtype.is_numeric():
        return _finite(column, what)
    return _numbers_of_text(cell_text(column, what), what)


def _numbers_of_text(text: pl.Series, what: str) -> pl.Series:
    """Numbers if all cells are (NA and NaN are gaps among them), names if none is; CSV does not say which."""
    trimmed = text.str.strip_chars()
    cells = trimmed.set(trimmed.str.to_lowercase().is_in(["na", "nan"]), None)
    number = cells.cast(pl.Float64, strict=False)
    if number.null_count() == cells.len() or cells.str.contains(_CODE).any():
        return text
    odd = cells.filter(number.is_null() & cells.is_not_null())
    if odd.len():
        raise ReleaseError(
            f"{what} holds numbers and also {odd[0]!r}: expected numbers alone, or name it as ordinal or nominal."
        )
    return _finite(number, what)


def _finite(column: pl.Series, what: str) -> pl.Series:
    number = scalar(column.cast(pl.Float64) if column.dtype.is_decimal() else column, what)
    if number.dtype == pl.Float64:
        if not number.drop_nulls().is_finite().all():
            raise ReleaseError(f"{what} holds a number that is not finite.")
        return number + 0.0  # -0.0 and 0.0 are the same centroid
    return number


def _spread(source: Source, name: str) -> pl.Series:
    what = f"{source.where}: column {name!r}"
    column = scalar(source.rows[name], what)
    if column.dtype == pl.String:
        text = cell_text(column, what).str.strip_chars()
        column = text.cast(pl.Float64, strict=False)
        if column.null_count() > text.null_count():
            odd = text.filter(column.is_null() & text.is_not_null())[0]
            raise ReleaseError(f"{what} holds {odd!r}; expected the spread of the group, a number of 0 or more.")
    if not column.dtype.is_numeric():
        raise ReleaseError(f"{what} holds {column.dtype}; expected the spread of the group, a number of 0 or more.")
    number = _finite(column, what)
    if (number < 0).any():
        raise ReleaseError(f"{what} holds a negative number; expected the spread of the group, 0 or more.")
    return number


def options(ordinal: Mapping[Any, Sequence[Any]] | None, nominal: Sequence[Any]) -> dict[str, Any]:
    """The options of this kind with the names of columns as text."""
    given = nominal if isinstance(nominal, str) else tuple(str(c) for c in nominal)
    return {"ordinal": {str(c): levels for c, levels in (ordinal or {}).items()}, "nominal": given}
