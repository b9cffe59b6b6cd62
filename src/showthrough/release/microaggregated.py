"""Microaggregated releases: the centroid of its group instead of each record's quasi-identifiers.

Domingo-Ferrer and Torra, *Ordinal, Continuous and Heterogeneous k-Anonymity through
Microaggregation*, Data Mining and Knowledge Discovery 11, 2005: the mean of numbers, the median of
ordered levels, the mode of names. A record that shows no centroid in any column is suppressed: it may be
anybody's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from showthrough.errors import InputError, ReleaseError
from showthrough.release import grouped
from showthrough.release.cells import MISSING
from showthrough.release.columns import cell_text, listed, named, table_of
from showthrough.release.kind import Clues, Kind, Shows
from showthrough.release.parts import Parts, Source
from showthrough.release.roles import check_parts, parts_of
from showthrough.table.frames import scalar
from showthrough.table.frozen import Frozen

if TYPE_CHECKING:
    from showthrough.release.release import Release

LOCATE = ("nearest", "within")
DEFAULTS: Mapping[str, Any] = Frozen({"ordinal": {}, "nominal": (), "locate": "nearest"})
_CODE = r"^[+-]?0\d"  # 02139 is a name made of digits, not a number


class MicroaggregatedKind(Kind):
    """Records with the centroid of their group and perhaps its spread."""

    name = "microaggregated"
    shows = Shows.CENTROIDS
    needs = ("quasi",)
    options = ("spread", "ordinal", "nominal", "locate")
    from_groups = True
    several_values = True

    def make(self, source: Source) -> Parts:
        """The parts of a release from its rows."""
        roles, where = source.roles, source.where
        if roles.id is not None:
            raise InputError(f"{where}: a microaggregated release does not publish ids.")
        check_parts(parts_of(roles))
        chosen = {name: source.options.get(name, default) for name, default in DEFAULTS.items()}
        _check_options(source, **chosen)
        grouped.check(source)
        source = replace(source, rows=_hidden(source.rows, roles.quasi, chosen["nominal"]))
        ordinal = {c: _levels(c, levels, where) for c, levels in chosen["ordinal"].items()}
        cells = {c: _centroids(source, c, ordinal.get(c), nominal=c in chosen["nominal"]) for c in roles.quasi}
        spread = {c: _spread(source, c) for c in roles.spread.values()}
        parts = grouped.parts_of_rows(source, {**cells, **spread})
        return replace(parts, options={"ordinal": Frozen(ordinal), "locate": chosen["locate"]})

    def rows(self, release: Release) -> pl.DataFrame:
        """One row per record."""
        return grouped.rows(release)

    def clues_in(self, clues: Clues) -> int:
        """Quasi-identifiers with a spread or with ordered levels."""
        told = clues.roles
        if clues.pair or told.id is not None or told.quasi is None:
            return 0
        return 2 if told.spread or clues.options["ordinal"] else 0

    def entries(self, release: Release) -> dict[str, Any]:
        """Spread and levels of the columns, and how persons are located."""
        return {"spread": dict(release.roles.spread), "ordinal": dict(release.ordinal), "locate": release.locate}

    def options_in(
        self,
        columns: Mapping[str, Any],
        types: Mapping[str, str],
        parameters: Mapping[str, Any],  # noqa: ARG002
    ) -> dict[str, Any]:
        """Columns of text without levels are names."""
        found = {name: columns[name] for name in ("ordinal", "locate") if name in columns}
        levels = found.get("ordinal", {})
        _check_entries(levels, found.get("locate", ""))
        names = [c for c in columns["quasi"] if types.get(c) == "text" and c not in levels]
        return {**found, "nominal": names}

    def located_by_guess(self, release: Release) -> bool:
        """The nearest centroid need not be that of the person's own group."""
        return release.locate == "nearest"


def _hidden(rows: pl.DataFrame, quasi: Sequence[str], nominal: Sequence[str]) -> pl.DataFrame:
    """Suppressed records show nothing, however that is printed, and neither does a star that is not a name."""
    if set(quasi) <= set(nominal):
        return rows  # a star may be a name like any other
    stars, marked = {}, []
    for name in quasi:
        column = rows[name].alias("cell")  # methods of a series take a name such as ^q$ for a pattern
        if column.dtype == pl.String:
            text = column.str.strip_chars()
            stars[name] = (text.str.strip_chars("*") == "").fill_null(True)
            marked.append(text.is_in(MISSING).fill_null(True) | stars[name])
        else:
            stars[name] = column.is_null()
            marked.append(column.is_null() | (column.is_nan().fill_null(True) if column.dtype.is_float() else False))
    suppressed = np.logical_and.reduce([own.to_numpy() for own in marked])
    nothing = {c: pl.Series(suppressed if c in nominal else stars[c].to_numpy() | suppressed) for c in stars}
    return table_of({c: rows[c].alias("cell").set(nothing[c], None) if c in nothing else rows[c] for c in rows.columns})


def _check_entries(levels: Any, locate: Any) -> None:
    """What a release.toml says was written by anybody."""
    if not isinstance(levels, Mapping):
        raise InputError("expected a table [columns.ordinal].")
    if not all(isinstance(own, list) and all(isinstance(level, str) for level in own) for own in levels.values()):
        raise InputError("every entry of [columns.ordinal] must be a list of levels.")
    if not isinstance(locate, str):
        raise InputError("locate is not text: it must list quasi under [columns], and name columns by text.")


def _check_options(source: Source, ordinal: Mapping[str, Any], nominal: Sequence[str], locate: str) -> None:
    roles, where = source.roles, source.where
    if locate not in LOCATE:
        raise InputError(f"{where}: persons are located by one of {', '.join(LOCATE)}, not {locate!r}.")
    if locate == "within" and not roles.spread:
        raise InputError(f'{where}: locate="within" needs the published spread of the groups: name its columns.')
    if isinstance(nominal, str):
        raise InputError(f"{where}: nominal is a list of columns.")
    for what, names in (("spread", roles.spread), ("ordinal", ordinal), ("nominal", nominal)):
        other = [name for name in names if name not in roles.quasi]
        if other:
            raise InputError(f"{where}: {what} names {other[0]!r}, which is none of the quasi-identifiers.")
    both = [name for name in nominal if name in ordinal]
    if both:
        raise InputError(f"{where}: the column {both[0]!r} is either ordinal or nominal, not both.")


def _levels(name: str, levels: Sequence[Any], where: str) -> tuple[str, ...]:
    texts = () if isinstance(levels, str) else tuple(str(level) for level in levels)
    if len(texts) < 2 or len(set(texts)) < len(texts):
        raise InputError(f"{where}: the levels of {name!r} must be a list of two or more, lowest first, each once.")
    return texts


def _centroids(source: Source, name: str, levels: tuple[str, ...] | None, *, nominal: bool) -> pl.Series:
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
    if nominal or column.dtype == pl.Boolean:
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
            f"{what} holds numbers and also {named(odd[0], 'text')}: expected numbers alone, or name it as ordinal "
            "or nominal."
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
            raise ReleaseError(
                f"{what} holds {named(odd, 'text')}; expected the spread of the group, a number of 0 or more."
            )
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
