"""The cells of a table of noisy counts: declared by the publisher, never taken from the records.

A cell that is published because somebody is in it tells that somebody is. So every column lists its cells, and every
combination of them is published, whether anybody is in it or not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError, LimitError, ReleaseError
from showthrough.release.cells import CellColumn, covers, read_cells
from showthrough.table.arrays import Ints
from showthrough.table.hierarchy import Hierarchy
from showthrough.table.texts import as_text, days, is_code, number

MOST_CELLS = 2_000_000
_ZEROS = "; values with leading zeros take cells with as many digits, such as 000-017."


@dataclass(frozen=True, eq=False)
class CountedColumn:
    """A column of the table: its declared cells, and the cell of each record."""

    name: str
    cells: pl.Series
    code: Ints

    @property
    def size(self) -> int:
        """How many cells it has."""
        return self.cells.len()


def declared_axes(
    frame: pl.DataFrame, columns: Sequence[str], domain: Mapping[str, Any] | None, trees: Mapping[str, Hierarchy]
) -> dict[str, CountedColumn]:
    """Every column with its declared cells; ``domain`` maps it to values, cells, or a level of its hierarchy."""
    given = {str(c): entry for c, entry in (domain or {}).items()}
    strange = [c for c in given if c not in columns]
    if strange:
        raise InputError(
            f"domain names {strange[0]!r}, which is neither a quasi-identifier nor the sensitive column.",
            parameters=("domain",),
        )
    missing = [c for c in columns if c not in given]
    if missing:
        raise InputError(
            f"Declare the values of {missing[0]!r} with domain=: every cell is published, whether anybody is in it or "
            "not, and cells taken from the records would tell who is.",
            parameters=("domain",),
        )
    cells = {c: _cells(c, given[c], trees.get(c)) for c in columns}
    return {c: CountedColumn(c, own, _located(frame[c], c, own, trees.get(c))) for c, own in cells.items()}


def refuse_huge(axes: Sequence[Sequence[CountedColumn]]) -> None:
    """Refuse tables of more cells than can be published, before any memory is taken for them."""
    total = sum(math.prod(axis.size for axis in own) for own in axes)
    if total > MOST_CELLS:
        raise LimitError(
            f"The domain has {total} cells; up to {MOST_CELLS} are published: take coarser cells, or marginals of "
            "fewer columns.",
            parameters=("domain", "marginals"),
        )


def counted(own: Sequence[CountedColumn]) -> Ints:
    """How many records are in each combination of cells, the last column fastest."""
    shape = tuple(axis.size for axis in own)
    place = np.ravel_multi_index(tuple(axis.code for axis in own), shape)
    return np.bincount(place, minlength=math.prod(shape)).astype(np.int64)


def _cells(name: str, entry: Any, tree: Hierarchy | None) -> pl.Series:
    if isinstance(entry, int) and not isinstance(entry, bool):
        if tree is None or not 0 <= entry < tree.height:
            most = "has no hierarchy" if tree is None else f"has levels 0 to {tree.height - 1}"
            raise InputError(f"domain gives {name!r} a level of its hierarchy, but it {most}.", parameters=("domain",))
        return pl.Series(name, list(dict.fromkeys(tree.labels(entry))), dtype=pl.String)
    if isinstance(entry, (str, bytes, Mapping)) or not isinstance(entry, (Sequence, pl.Series, np.ndarray)):
        raise InputError(
            f"domain lists the values of {name!r}, or names a level of its hierarchy.", parameters=("domain",)
        )
    try:
        column = pl.Series(name, list(entry))
    except (TypeError, pl.exceptions.PolarsError):
        raise InputError(f"domain mixes types in {name!r}: list values of one type.", parameters=("domain",)) from None
    texts = as_text(column, f"The domain: column {name!r}") if column.len() else pl.Series(name, [], dtype=pl.String)
    if not texts.len() or texts.null_count() or (texts.str.strip_chars() == "").any():
        raise InputError(f"domain lists the values of {name!r}, none of them empty.", parameters=("domain",))
    if texts.n_unique() < texts.len():
        raise InputError(f"domain lists a value of {name!r} twice.", parameters=("domain",))
    return column


def _located(column: pl.Series, name: str, cells: pl.Series, tree: Hierarchy | None) -> Ints:
    """The cell of each record: the one that is its value, else the one that covers it."""
    texts = as_text(column, f"The table: column {name!r}")
    each = texts.unique(maintain_order=True)
    printed = as_text(cells, f"The domain: column {name!r}")
    exact = {text: at for at, text in enumerate(printed)}
    owner = np.array([exact.get(text, -1) for text in each], dtype=np.int64)
    if (owner < 0).any():
        owner = _covered(each, owner, name, printed, tree)
    position = pl.Series(owner)
    found = pl.DataFrame({"text": texts}).join(
        pl.DataFrame({"text": each, "cell": position}), on="text", how="left", nulls_equal=True, maintain_order="left"
    )
    return found["cell"].to_numpy().astype(np.int64)


def _covered(values: pl.Series, exact: Ints, name: str, printed: pl.Series, tree: Hierarchy | None) -> Ints:
    """The cell of each value; ``exact`` are the cells that are a value themselves, or −1.

    Cells are read by the domain and by what the value looks like: were they read by all values of the table, as
    elsewhere, then one record could change which cell the others are counted in.
    """
    times = (exact >= 0).astype(np.int64)
    owner = exact.copy()
    looks = np.array([_look(text) if tree is None else "" for text in values])
    for look in dict.fromkeys(looks.tolist()):
        alike = np.flatnonzero(looks == look)
        read = _read(printed, name, look, tree)
        if read is None:
            continue
        found = covers(read, values.gather(alike))
        for at in range(printed.len()):
            own = alike if read.any[read.codes[at]] else alike[_under(found, int(read.codes[at]))]
            own = own[exact[own] != at]
            times[own] += 1
            owner[own] = at
    if (times > 1).any():
        raise InputError(
            f"Cells of {name!r} overlap: a record would be counted in two of them. Declare cells that share no value.",
            parameters=("domain",),
        )
    if (times == 0).any():
        raise InputError(
            f"Some records hold a value of {name!r} that the domain does not list: declare it, or a cell over it"
            f"{_ZEROS if any(is_code(text) for text in values.filter(times == 0)) else '.'}",
            parameters=("domain",),
        )
    return owner


def _read(printed: pl.Series, name: str, look: str, tree: Hierarchy | None) -> CellColumn | None:
    """The cells for values of one look; None where they say nothing to such values, though they can be read."""
    alone = read_cells(printed, name=name, where="The domain", hierarchy=tree, missing=())
    if not look:
        return alone
    try:
        return read_cells(printed, name=name, where="The domain", domain=pl.Series([look]), missing=())
    except ReleaseError:
        return None


def _look(text: str) -> str:
    """A text of the same kind as a value, and as long where length matters; none for text."""
    if is_code(text):
        return "0" * len(text)
    if number(text) is not None:
        return "1" + "0" * (len(text) - 1) if text.isascii() and text.isdigit() else "0.5"
    return "2000-01-01" if days(text) is not None else ""


def _under(found: Any, cell: int) -> Ints:
    own: Ints = found.code[found.start[cell] : found.start[cell + 1]]
    return own
