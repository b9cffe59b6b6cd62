"""Another coding of the values: last year's ICD-9 beside this year's ICD-10, or "flu" beside "influenza"."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from showthrough.errors import FileError, ReleaseError
from showthrough.release.columns import filled, gaps, group_sizes, listed, named, ordered
from showthrough.release.ranged import refuse_ranges
from showthrough.table.files import read_table
from showthrough.table.frames import scalar, to_polars

if TYPE_CHECKING:
    from showthrough.release.release import Release


def recoded(release: Release, mapping: Mapping[Any, Any]) -> Release:
    """The release with every value replaced by what ``mapping`` gives for it; counts are added up."""
    where = release.name or "The release"
    if release.roles.sensitive is None:
        raise ReleaseError(f"{where} has no values to rename.")
    refuse_ranges(release, "another coding of its values")
    old = release.tally["value"].unique().sort()
    by_text = {_text(key): new for key, new in mapping.items()}
    found = {v: mapping[v] if v in mapping else by_text.get(_text(v)) for v in old.to_list()}
    missing = [v for v, new in found.items() if new is None]
    if missing:
        raise ReleaseError(
            f"{where}: the value map has no entry for {listed(missing)}. It must name every published value "
            "(if it is a file, its first row holds the names of its columns)."
        )
    new = scalar(to_polars({"value": [found[v] for v in old.to_list()]})["value"], "The value map")
    if gaps(new).any():
        raise ReleaseError(
            f"{where}: the value map gives {named(old[gaps(new).arg_max() or 0], 'a published value')} an empty value."
        )
    codes = pl.DataFrame({"value": old, "new": new})
    renamed = release.tally.join(codes, on="value", how="left")
    tally = renamed.group_by("group", pl.col("new").alias("value")).agg(pl.col("n").sum())
    tally = ordered(tally.select("group", "value", "n"))
    assert group_sizes(tally)["n"].equals(group_sizes(release.tally)["n"])  # nobody is lost by renaming
    further = [mapping[v] if v in mapping else by_text.get(_text(v)) for v in release.domain]
    alone = replace(release.roles, also=())  # other sensitive columns stood beside the old values
    return replace(release, roles=alone, beside=None, tally=tally, domain=tuple(v for v in further if v is not None))


def renamed(values: pl.Series, mapping: Mapping[Any, Any]) -> pl.Series:
    """A column with every value replaced by what ``mapping`` gives for it; what it does not name is empty."""
    by_text = {_text(key): new for key, new in mapping.items()}
    old = values.unique().to_list()
    new = [None if v is None else mapping[v] if v in mapping else by_text.get(_text(v)) for v in old]
    codes = pl.DataFrame({"old": pl.Series(old, dtype=values.dtype), "new": to_polars({"new": new})["new"]})
    joined = pl.DataFrame({"old": values}).join(codes, on="old", how="left", nulls_equal=True, maintain_order="left")
    return joined["new"]


def read_value_map(path: str | os.PathLike[str], *, encoding: str | None = None) -> dict[Any, Any]:
    """Published value → common value, from a file with two columns in that order and a header of any names."""
    frame = read_table(path, encoding=encoding)
    source = os.fspath(path)
    if frame.width != 2:
        raise FileError(
            f"{source} has {frame.width} columns; a value map has two: the published value and the common value."
        )
    old, new = (filled(frame, c, lambda row: f"{source}: row {row} has an empty cell.") for c in frame.columns)
    pairs = pl.DataFrame({"old": old, "new": new}).unique(maintain_order=True)
    repeated = pairs.filter(pairs["old"].is_duplicated())
    if repeated.height:
        raise FileError(f"{source} maps {named(repeated['old'][0], 'a value')} to more than one value.")
    return dict(pairs.iter_rows())


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
