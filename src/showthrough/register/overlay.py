"""One column of several releases laid on top of each other: the parts of it that some cell tells from the others.

A part is shown by one value that lies in it. Numbers that are whole in all cells are whole. Characters that masks hide
stand for anything: a mask and what masks share are shown by a value with characters that no cell has.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.release.cells import CellColumn, CellKind, ColumnKind, read_cells, runs
from showthrough.table.arrays import Flags
from showthrough.table.ragged import owners
from showthrough.table.texts import plain

if TYPE_CHECKING:
    from showthrough.release.release import Release

STAR = "*"
_MOST_MASKS = 20_000  # with what they share
_LETTERS = [chr(code) for code in (*range(ord("0"), ord("9") + 1), *range(ord("a"), ord("z") + 1))]
_STRANGE = "\ue000"  # of Unicode's private use: no cell has it


def column_parts(tables: Sequence[tuple[Release, str]], column: str) -> pl.Series:
    """A value for each part of a column that cells of the tables (with their names) tell apart; None: any value."""
    read = [listed_cells(r, name, column) for r, name in tables]
    values = {p for own in read for p in _values_in(own)} | _mask_values(read, column)
    points = pl.Series("value", sorted(values), dtype=pl.String)
    if not points.len():
        return pl.Series("value", [None], dtype=pl.String)
    covered = np.concatenate([covering(listed_cells(r, n, column, points), points) for r, n in tables])
    _, first = np.unique(covered, axis=1, return_index=True)  # values that the same cells cover are one
    first = np.sort(first)
    return points.gather(first[covered[:, first].any(axis=0)])


def listed_cells(release: Release, name: str, column: str, points: pl.Series | None = None) -> CellColumn:
    """The cells of a column, those of its groups first, then those of groups that hold nobody."""
    more = release.options.get("listed", {}).get(column, ())
    return read_cells(
        pl.Series("cell", [*release.records[column], *more], dtype=pl.String),
        name=column,
        where=name,
        hierarchy=release.hierarchies.get(column),
        domain=points,
    )


def covering(cells: CellColumn, points: pl.Series) -> Flags:
    """[cells, points] which cells cover which values."""
    low_high = runs(cells, points)
    found = np.zeros((len(cells.cells), points.len()), dtype=bool)
    cell = owners(low_high.start)
    for k, low, high in zip(cell, low_high.low, low_high.high, strict=True):
        found[k, low:high] = True
    found[cells.any] = True
    return found


def _values_in(cells: CellColumn) -> set[str]:
    """Values at and beside the ends of intervals, and the members of all other cells."""
    found: set[str] = set()
    ends: set[Decimal] = set()
    for cell in cells.cells:
        found |= set(cell.members)
        for end in (cell.low, cell.high):
            if isinstance(end, Decimal):
                ends.add(end)
            elif isinstance(end, dt.date):
                found |= {(end + dt.timedelta(days=k)).isoformat() for k in (-1, 0, 1)}
            elif end is not None:
                found.add(end)
    if cells.kind is ColumnKind.NUMBER:
        ends |= {Decimal(text) for text in found}
        beside = {end + k for end in ends for k in (-1, 1)}
        if not all(end == end.to_integral_value() for end in ends):
            beside |= {(a + b) / 2 for a, b in pairwise(sorted(ends))}
        found |= {plain(end) for end in ends | beside}
    return found


def _mask_values(read: Sequence[CellColumn], column: str) -> set[str]:
    """A value for each mask and for what masks share, which no finer cell covers."""
    masks = {cell.text for own in read for cell in own.cells if cell.kind is CellKind.MASK}
    if not masks:
        return set()
    spans = any(cell.kind is CellKind.INTERVAL for own in read for cell in own.cells)
    if spans:  # ends of intervals lie inside of masks that hide the last digits, and these are intervals too
        if not all(mask.rstrip(STAR).isdigit() for mask in masks):
            raise InputError(
                f"Column {column!r} hides characters in one place and shows ranges in another: they can be laid on top "
                "of each other only where stars hide the last digits of numbers."
            )
        return {mask.replace(STAR, digit) for mask in masks for digit in "09"}
    shared = set(masks)
    while True:
        more = {both for a in shared for b in masks if (both := _shared(a, b)) is not None} - shared
        if not more:
            break
        shared |= more
        if len(shared) > _MOST_MASKS:
            raise InputError(f"Column {column!r} hides characters in more than {_MOST_MASKS} ways.")
    texts = masks | {member for own in read for cell in own.cells for member in cell.members}
    used: dict[int, set[str]] = {}
    for text in texts:
        for at, letter in enumerate(text):
            used.setdefault(at, set()).add(letter)
    free = {at: next((c for c in _LETTERS if c not in own), _STRANGE) for at, own in used.items()}
    return {"".join(free[at] if c == STAR else c for at, c in enumerate(mask)) for mask in shared}


def _shared(a: str, b: str) -> str | None:
    """What two masks cover both, as a mask; None: nothing."""
    if len(a) != len(b):
        return None
    pairs = list(zip(a, b, strict=True))
    if any(x != y and STAR not in (x, y) for x, y in pairs):
        return None
    return "".join(y if x == STAR else x for x, y in pairs)
