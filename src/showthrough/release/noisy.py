"""Noisy releases: counts of values per cell with noise of a known law, as differentially private mechanisms publish.

A row is a cell (or a group) and a value with its noisy count, which may be negative or broken. Several tables over
some of the columns each stand in one release: where a table does not tell a column apart, its cells are empty. Counts
that were made from the noisy ones (whole, not negative, consistent) stand beside them in columns of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from showthrough.errors import InputError, ReleaseError
from showthrough.release import grouped
from showthrough.release.columns import LARGEST, cell_text, filled, listed, named, ordered, table_of
from showthrough.release.kind import Clues, Kind, Shows
from showthrough.release.noise import FIELDS, Noise, declared
from showthrough.release.parts import Parts, Source
from showthrough.release.roles import check_parts, parts_of
from showthrough.table.frames import need_columns, scalar
from showthrough.table.frozen import Frozen

if TYPE_CHECKING:
    from showthrough.release.release import Release


class NoisyKind(Kind):
    """A row for each cell and value, with a count that carries noise."""

    name = "noisy"
    shows = Shows.CELLS
    needs = ("sensitive",)
    options = ("noise", "processed")
    counts_in_rows = True

    def make(self, source: Source) -> Parts:
        """The parts of a release from its rows (cells or group, value, noisy count)."""
        roles = source.roles
        if roles.sensitive is None:
            raise InputError(f"{source.where}: a table of noisy counts needs a sensitive column.")
        if roles.id is not None:
            raise InputError(f"{source.where}: a table of noisy counts holds no persons, so it has no column of ids.")
        if source.counterfeits is not None:
            raise InputError(f"{source.where}: a table of noisy counts has no counterfeits.")
        noise = _noise(source)
        processed = tuple(source.options.get("processed") or ())
        check_parts([*parts_of(roles), ("count", roles.count), *(("processed", c) for c in processed)])
        if roles.quasi or roles.group is not None:
            grouped.check(source, also=(roles.count, *processed))
        else:  # a table of values alone: one group
            need_columns(source.rows, [roles.sensitive, roles.count, *processed], source.where)
        cells = {c: cell_text(source.rows[c], f"{source.where}: column {c!r}") for c in roles.quasi}
        _refuse_strange_tables(source, noise, cells)
        return _parts(source, noise, cells, processed)

    def rows(self, release: Release) -> pl.DataFrame:
        """One row per cell and value, with the noisy count and what was made of it."""
        rows, told = grouped.count_rows(release), release.options["processed"]
        return table_of({**{c: rows[c] for c in rows.columns}, **{c: told[c] for c in told.columns}})

    def by_record(self, release: Release) -> pl.DataFrame:
        """There are no records."""
        refuse_noise(release, "one row for each record")
        raise AssertionError  # every release of this kind has noise

    def clues_in(self, clues: Clues) -> int:
        """What the noise is."""
        return 5 if clues.options.get("noise") else 0

    def entries(self, release: Release) -> dict[str, Any]:
        """Where the noisy counts stand, and those that were made from them; the noise is among the parameters."""
        told: pl.DataFrame = release.options["processed"]
        return {"count": release.roles.count, **({"processed": told.columns} if told.width else {})}

    def options_in(
        self,
        columns: Mapping[str, Any],
        types: Mapping[str, str],  # noqa: ARG002
        parameters: Mapping[str, Any],
    ) -> dict[str, Any]:
        """The noise, as a release.toml says under [parameters]."""
        processed = columns.get("processed", [])
        if not isinstance(processed, list) or not all(isinstance(c, str) for c in processed):
            raise InputError("processed under [columns] must be a list of columns.")
        return {"noise": declared({name: parameters.get(name) for name in FIELDS}), "processed": tuple(processed)}

    def parameters(self, release: Release) -> dict[str, Any]:
        """What the release says of its noise."""
        noise: Noise = release.options["noise"]
        return noise.parameters()

    def members(self, release: Release) -> int:
        """About how many persons there are: the total of the table whose noise adds up to the least."""
        totals = []
        for layer in layers(release):
            assert layer.noise is not None
            spread = layer.noise.law(layer.roles.quasi).variance * max(1, layer.tally.height)
            totals.append((spread, float(layer.tally["n"].sum())))
        return max(0, round(min(totals)[1])) if totals else 0


def options(noise: Mapping[str, Any] | Noise | None, processed: Sequence[str] = ()) -> dict[str, Any]:
    """The noise as an option of the kind; what was not given is left out."""
    if noise is None:
        return {}
    if not isinstance(noise, (Mapping, Noise)):
        raise InputError("noise is a table of mechanism, scale, neighbours and perhaps epsilon, delta, sensitivity.")
    strange = [name for name in noise if name not in FIELDS] if isinstance(noise, Mapping) else []
    if strange:
        raise InputError(f"noise says {', '.join(FIELDS)}; {strange[0]!r} is unknown.", parameters=("noise",))
    made = noise if isinstance(noise, Noise) else declared(noise)
    return {"noise": made, **({"processed": tuple(map(str, processed))} if processed else {})}


def layers(release: Release) -> tuple[Release, ...]:
    """The tables of a noisy release, each as a release of its own: its own columns, groups and noise."""
    noise = release.noise
    assert noise is not None
    if not noise.marginals:
        return (release,)
    return tuple(_layer(release, noise, set(m.quasi)) for m in noise.marginals)


def refuse_noise(release: Release, what: str) -> None:
    """Refuse what needs exact counts."""
    if release.noise is not None:
        raise InputError(
            f"{release.name or 'The release'} publishes counts with noise: {what} needs a table with exact counts."
        )


def _layer(release: Release, noise: Noise, own: set[str]) -> Release:
    quasi = [c for c in release.roles.quasi if c in own]
    told = release.records.select(pl.col(c).is_not_null() for c in release.roles.quasi)
    shown = pl.Series(np.ones(release.labels.len(), dtype=bool))
    for c in release.roles.quasi:
        shown = shown & (told[c] if c in own else ~told[c])
    labels = release.labels.filter(shown)
    rows = release.tally["group"].is_in(labels.implode())
    (table,) = [m for m in noise.marginals if set(m.quasi) == own]
    alone = replace(noise, epsilon=table.epsilon, delta=table.delta, scale=table.scale, marginals=())
    kept: pl.DataFrame = release.options["processed"]
    return replace(
        release,
        name=f"{release.name or 'the release'}: {', '.join(quasi) or 'values'}",
        roles=replace(release.roles, quasi=tuple(quasi)),
        records=release.records.filter(shown).select(quasi),
        tally=release.tally.filter(rows),
        labels=labels,
        size=release.size.filter(shown),
        options=Frozen({**release.options, "noise": alone, "processed": kept.filter(rows) if kept.width else kept}),
        counterfeits=pl.DataFrame(),
        first_row=None if release.first_row is None else release.first_row.filter(shown),
    ).called(f"{release.name or 'the release'}: {', '.join(quasi) or 'values'}", release.date)


def _noise(source: Source) -> Noise:
    noise = source.options.get("noise")
    if not isinstance(noise, Noise):
        raise InputError(
            f"{source.where}: a table of noisy counts says what its noise is: mechanism, scale and neighbours.",
            parameters=("noise",),
        )
    return noise


def _refuse_strange_tables(source: Source, noise: Noise, cells: Mapping[str, pl.Series]) -> None:
    """Every row belongs to one of the tables that the release says it has."""
    known = {frozenset(m.quasi) for m in noise.tables(source.roles.quasi)}
    strange = [c for own in known for c in sorted(own) if c not in source.roles.quasi]
    if strange:
        raise ReleaseError(f"{source.where}: a table is said to have the column {strange[0]!r}, which is not there.")
    told = pl.DataFrame({c: column.is_not_null() for c, column in cells.items()}).with_row_index("row")
    kinds = told.unique([*cells], keep="first", maintain_order=True) if cells else told
    if kinds.height > 1 and not noise.marginals:
        raise ReleaseError(
            f"{source.where}: rows {kinds['row'][0] + 1} and {kinds['row'][1] + 1} are empty in different columns, so "
            "they belong to different tables that each count everybody: list the tables with marginals, each with its "
            "epsilon.",
            parameters=("marginals",),
        )
    for own in kinds.iter_rows(named=True) if cells else ():
        if frozenset(c for c in cells if own[c]) not in known and noise.marginals:
            raise ReleaseError(
                f"{source.where}: row {own['row'] + 1} belongs to none of the tables that it says it has."
            )


def _parts(source: Source, noise: Noise, cells: Mapping[str, pl.Series], processed: Sequence[str]) -> Parts:
    roles, where = source.roles, source.where
    assert roles.sensitive is not None
    sensitive = roles.sensitive
    label, labels, kept, seen = grouped.group_rows(source, cells) if cells or roles.group else _one_group(source)
    value = filled(source.rows, sensitive, lambda row: f"{where}: row {row} is empty in column {sensitive!r}.")
    count = _counts(source.rows, roles.count, where, whole=noise.law(_any(noise)).whole)
    made = {c: _counts(source.rows, c, where, whole=None) for c in processed}
    tally = pl.DataFrame({"group": label, "value": value, "n": count})
    repeated = tally.select("group", "value").is_duplicated()
    if repeated.any():
        first, twice = tally.filter(repeated).row(0)[:2]
        shown = "" if roles.group is not None else f" ({listed(list(kept.row(labels.index_of(first) or 0)))})"
        raise ReleaseError(f"{where}: group {named(first)}{shown} lists the value {named(twice)} more than once.")
    places = ordered(tally.select("group", "value").with_row_index("row"))["row"]
    tally = tally[places]
    size = tally.group_by("group").agg(pl.col("n").sum()).sort("group")["n"].clip(0).round(0).cast(pl.Int64)
    told = {"noise": noise, "processed": table_of({c: made[c].gather(places) for c in processed})}
    return Parts(roles, kept, tally, labels, size, pl.DataFrame(), source=where, first_row=seen, options=Frozen(told))


def _any(noise: Noise) -> Sequence[str]:
    return noise.marginals[0].quasi if noise.marginals else ()


def _one_group(source: Source) -> grouped.Grouped:
    labels = pl.Series("group", [1], dtype=pl.Int64)
    every = pl.Series("group", np.ones(source.rows.height, dtype=np.int64))
    return grouped.Grouped(every, labels, pl.DataFrame(), pl.Series("row", [0], dtype=pl.UInt32))


def _counts(rows: pl.DataFrame, name: str, where: str, *, whole: bool | None) -> pl.Series:
    """A column of counts with noise: numbers, whole ones if the noise is; where nobody says, whole if all are."""
    column = scalar(rows[name], f"{where}: column {name!r}")
    text = column.str.strip_chars() if column.dtype == pl.String else column
    if not (column.dtype == pl.String or column.dtype.is_numeric()):
        text = pl.Series([None] * column.len(), dtype=pl.String)
    number = text.cast(pl.Float64, strict=False)
    bad = (~number.is_finite()).fill_null(True) | (number.abs() > LARGEST).fill_null(True)
    if whole:
        bad = bad | (number != number.round(0)).fill_null(True)
    if bad.any():
        row = int(bad.arg_max() or 0)
        kind = "a whole number, as the noise is whole" if whole else "a number"
        raise ReleaseError(
            f"{where}: row {row + 1} has {named(column[row], 'no count')} in column {name!r}; expected {kind}."
        )
    exact = whole or (whole is None and bool((number == number.round(0)).all()))
    return number.cast(pl.Int64) if exact else number
