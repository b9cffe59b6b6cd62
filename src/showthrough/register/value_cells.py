"""Values that are published as cells: a range of incomes, a chapter of diagnoses, a set, anything.

Where the value of a record is itself generalized, it says that the person's value is one of several. Which values there
are depends on all releases together: the finest that any of their cells tells apart. So all values of a history are put
on top of each other, and those that the same cells cover are one *part*, a value of the history. A published value that
is exact is a part of its own and keeps its name; of a cell that nobody tells apart further, the part is called as that
cell; pieces of ranges are called by their ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from showthrough.release.cells import CellColumn, CellKind, ColumnKind, read_cells, runs
from showthrough.table.arrays import Flags
from showthrough.table.frozen import Frozen
from showthrough.table.ragged import owners
from showthrough.table.texts import as_text, number, plain

if TYPE_CHECKING:
    from showthrough.release.release import Release
    from showthrough.table.hierarchy import Hierarchy


_FEW = 3  # values that name a part together


def resolved(releases: Sequence[Release], domain: Iterable[Any] = ()) -> list[Release]:
    """The releases with the values of the history that each published value stands for, where values are cells."""
    asked = [r.value_cells for r in releases]
    if not any(asked):
        return list(releases)
    exact = [as_text(r.tally["value"], "values") for r, cells in zip(releases, asked, strict=True) if not cells]
    known = list(dict.fromkeys([*(v for own in exact for v in own), *map(str, domain)]))
    told = list(dict.fromkeys(str(v) for r, cells in zip(releases, asked, strict=True) if cells for v in _shown(r)))
    parts = _parts(told, known, _tree(releases))
    return [_standing_for(r, parts) if cells else r for r, cells in zip(releases, asked, strict=True)]


def _shown(release: Release) -> list[Any]:
    return [v for v in release.tally["value"].unique(maintain_order=True) if v not in _totalled(release)]


def _totalled(release: Release) -> Mapping[Any, tuple[Any, ...]]:
    """Of a margin over values: the values under each total."""
    return release.covers if release.part_of is not None else {}


def _standing_for(release: Release, parts: Mapping[str, tuple[str, ...]]) -> Release:
    """The release whose values stand for parts; totals stand for all parts under them."""
    value = as_text(release.tally["value"], "values")
    covers: dict[str, tuple[str, ...]] = {v: parts[v] for v in value.unique().to_list() if v in parts}
    covers = {label: own for label, own in covers.items() if own != (label,)}
    for label, under in _totalled(release).items():
        covers[label] = tuple(dict.fromkeys(p for v in under for p in parts.get(str(v), (str(v),))))
    tally = release.tally.with_columns(value.alias("value"))
    return replace(release, tally=tally, covers=Frozen(covers))


def _tree(releases: Sequence[Release]) -> Hierarchy | None:
    """The hierarchy of the values, of the first release that has one."""
    asked = [(r, r.sensitive) for r in releases if r.value_cells and r.sensitive is not None]
    return next((r.hierarchies[column] for r, column in asked if column in r.hierarchies), None)


def _parts(told: list[str], known: list[str], tree: Hierarchy | None) -> dict[str, tuple[str, ...]]:
    """For each cell the parts that it stands for."""
    cells = _read(told, known, tree)
    points = _points(cells, known, tree)
    covered = _covering(cells, points)
    for text in known:  # exact values are told apart from all others
        mine = points == text
        if mine.any():
            covered = np.vstack([covered, mine.to_numpy()])
    patterns, which = np.unique(covered, axis=1, return_inverse=True)
    which = which.ravel()
    exact = {cell.members[0] for cell in cells.cells if cell.kind is CellKind.EXACT} | set(known)
    names = _names(cells, points, which, exact, patterns)
    held = patterns[: len(cells.cells)]
    found = {}
    for k, cell in enumerate(cells.cells):
        own = np.flatnonzero(held[k])
        found[cell.text if cell.text else ""] = tuple(names[p] for p in own)
    return found


def _read(told: list[str], known: list[str], tree: Hierarchy | None) -> CellColumn:
    domain = pl.Series(known, dtype=pl.String) if known else None
    column = pl.Series("value", told, dtype=pl.String)
    return read_cells(column, name="value", where="The published values", hierarchy=tree, domain=domain, missing=("",))


def _points(cells: CellColumn, known: list[str], tree: Hierarchy | None) -> pl.Series:
    """Every value that some cell may tell from another."""
    found = {*known, *(member for cell in cells.cells for member in cell.members)}
    if tree is not None:
        found |= set(tree.leaves)
    if cells.kind is ColumnKind.NUMBER:
        ends = {end for cell in cells.cells for end in (cell.low, cell.high) if isinstance(end, Decimal)}
        ends |= {Decimal(text) for text in found if number(text) is not None}
        beside = {end + k for end in ends for k in (-1, 1)}
        if not all(end == end.to_integral_value() for end in ends):
            beside |= {(a + b) / 2 for a, b in pairwise(sorted(ends))}
        return pl.Series("value", [plain(end) for end in sorted(ends | beside)], dtype=pl.String)
    for cell in cells.cells:
        found |= {str(end) for end in (cell.low, cell.high) if end is not None}
    return pl.Series("value", sorted(found), dtype=pl.String)


def _covering(cells: CellColumn, points: pl.Series) -> Flags:
    """[cells, points] which cells cover which values."""
    low_high = runs(cells, points)
    found = np.zeros((len(cells.cells), points.len()), dtype=bool)
    for k, low, high in zip(owners(low_high.start), low_high.low, low_high.high, strict=True):
        found[k, low:high] = True
    found[cells.any] = True
    return found


def _names(
    cells: CellColumn, points: pl.Series, which: np.ndarray[Any, Any], exact: set[str], patterns: Flags
) -> list[str]:
    """What each part is called: an exact value, a cell, or the ends of a piece; each name once."""
    held = patterns[: len(cells.cells)]
    size = held.astype(np.int64) @ np.bincount(which, minlength=patterns.shape[1])
    texts, names = points.to_list(), []
    taken: set[str] = set()
    for part in range(patterns.shape[1]):
        mine = np.flatnonzero(which == part)
        single = [texts[k] for k in mine if texts[k] in exact]
        over = np.flatnonzero(held[:, part])
        name = single[0] if single else ""
        if not single and over.size:
            least = int(over[np.argmin(size[over])])
            whole = size[least] == mine.size
            name = cells.cells[least].text or "any"
            if cells.kind is ColumnKind.NUMBER:
                name = name if whole else _piece(texts, mine)
            elif mine.size == 1 or not whole:
                name = " or ".join(texts[k] for k in mine) if mine.size <= _FEW else f"other {name}"
        while name in taken:
            name = f"{name}'"
        taken.add(name)
        names.append(name)
    return names


def _piece(texts: list[str], mine: np.ndarray[Any, Any]) -> str:
    """Numbers of a piece by its ends; those before and after all cells have one end."""
    first, last = texts[mine[0]], texts[mine[-1]]
    lead = "" if mine[-1] - mine[0] + 1 == mine.size else "other "
    if mine[0] == 0 and mine[-1] == len(texts) - 1:
        return "other"
    if mine[0] == 0:
        return f"{lead}<={last}"
    if mine[-1] == len(texts) - 1:
        return f"{lead}>={first}"
    return f"{lead}{first}-{last}" if first != last else first
