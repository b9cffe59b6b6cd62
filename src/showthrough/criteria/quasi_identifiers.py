"""Which columns of a table tell its rows apart: a finder of quasi-identifiers.

Motwani, Xu, *Efficient Algorithms for Masking and Finding Quasi-Identifiers* (VLDB PDM 2007): the
distinction of a set of columns is the share of different rows among all, its separation the share of pairs of rows that
differ in it. Both grow with the set, so a set that tells enough apart is not made larger.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.coding import codes, combine, dense
from showthrough.criteria.parameters import number, whole
from showthrough.errors import InputError
from showthrough.numerals import number_of
from showthrough.progress import Progress
from showthrough.table.arrays import Ints
from showthrough.table.frames import need_columns, scalar, to_polars

_DENSE = 4  # keys that reach no further than so many times the rows are counted in an array rather than sorted
_COUNTED = 100  # sets between two words about how far the work is
ToldApart = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class QuasiIdentifiers:
    """Sets of columns by how well they tell rows apart."""

    sets: pl.DataFrame
    """columns, distinction, separation, unique (share of rows alone with their cells); by distinction."""
    rows: int
    complete: bool
    """Whether all sets were looked at; otherwise their number or the time ran out."""

    def __str__(self) -> str:
        first = self.sets.row(0, named=True)
        told = (
            f"Of {number_of(self.sets.height, 'set')} of columns, {', '.join(first['columns'])} tell most of "
            f"{number_of(self.rows, 'row')} apart: {100 * first['distinction']:.3g} % different, "
            f"{100 * first['separation']:.3g} % of pairs told apart, {100 * first['unique']:.3g} % unique."
        )
        return told if self.complete else f"{told} Not all sets were looked at."


def quasi_identifiers(
    table: Any,
    *,
    columns: Sequence[str] | None = None,
    most: int = 3,
    enough: float = 0.8,
    sets: int = 10_000,
    seconds: float = 60.0,
    progress: Progress | Callable[[str], None] | None = None,
) -> QuasiIdentifiers:
    """Sets of up to ``most`` columns, ranked by distinction, then separation, then fewest columns.

    A set whose distinction reaches ``enough`` is not made larger. At most ``sets`` sets are looked at, and no new one
    after ``seconds``; the columns that tell most apart come first. An empty cell is a cell of its own.
    """
    _check(most, enough, sets, seconds)
    frame = to_polars(table)
    names = _named(frame, columns)
    tell = Progress.of(progress)
    tell.stage("looking for quasi-identifiers")
    end = time.monotonic() + seconds
    coded = [_dense(code) for code in codes([scalar(frame[c], f"Column {c!r}") for c in names])]
    found: dict[tuple[int, ...], ToldApart] = {}
    complete = True
    for chosen in _candidates(len(names), min(most, len(names)), found):
        late = bool(found) and (tell.satisfied or time.monotonic() >= end)
        if not late and any(found[part][0] >= enough for part in _smaller(chosen) if part in found):
            continue
        if late or len(found) >= sets:
            complete = False
            break
        if len(found) % _COUNTED == 0:
            tell.count(len(found), sets)
        found[chosen] = measured(_sizes([coded[c] for c in chosen], frame.height))
    return QuasiIdentifiers(_ranked(names, found), frame.height, complete)


def measured(size: Ints) -> ToldApart:
    """Distinction, separation and share of unique rows where so many rows agree in all columns.

    >>> measured(np.array([2, 1, 2]))  # age of the paper's table 1: 8 of 10 pairs
    (0.6, 0.8, 0.2)
    """
    rows = int(size.sum())
    pairs, alike = rows * (rows - 1), int((size * (size - 1)).sum())
    apart = 1.0 if pairs == 0 else (pairs - alike) / pairs
    return size.size / rows, apart, int((size == 1).sum()) / rows


def _check(most: int, enough: float, sets: int, seconds: float) -> None:
    of = "The finder of quasi-identifiers"
    whole(of, "most", most)
    whole(of, "sets", sets)
    number(of, "enough", enough, least=0, most=1)
    number(of, "seconds", seconds, least=0)


def _named(frame: pl.DataFrame, columns: Sequence[str] | None) -> list[str]:
    names = frame.columns if columns is None else [columns] if isinstance(columns, str) else list(columns)
    need_columns(frame, names, "The table")
    if not names or frame.height == 0:
        raise InputError("Quasi-identifiers are looked for among columns of rows: expected at least one of each.")
    if len(set(names)) < len(names):
        raise InputError("A column is listed twice: name each once.", parameters=("columns",))
    return names


def _dense(coded: tuple[Ints, int]) -> tuple[Ints, int]:
    return dense(coded[0])


def _sizes(columns: Sequence[tuple[Ints, int]], rows: int) -> Ints:
    """How many rows have each combination of cells."""
    room = 1
    for _, size in columns:
        room *= size
    key = combine(columns, rows)
    if room <= _DENSE * rows:
        often = np.bincount(key)
        return often[often > 0]
    return np.unique(key, return_counts=True)[1]


def _smaller(chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The set without each of its columns."""
    return combinations(chosen, len(chosen) - 1)


def _candidates(width: int, most: int, found: Mapping[tuple[int, ...], ToldApart]) -> Iterator[tuple[int, ...]]:
    """Sets by number of columns, made of smaller ones that were found; who asks fills ``found`` meanwhile.

    Sets and columns that tell much apart are made larger first, so that a search that ends early has seen them.
    """
    yield from ((c,) for c in range(width))
    order = sorted(range(width), key=lambda c: (-found[c,][0], -found[c,][1], c))
    for size in range(1, most):
        parents = sorted((p for p in found if len(p) == size), key=lambda p: (-found[p][0], -found[p][1], p))
        for parent in parents:
            for column in order:
                chosen = tuple(sorted({*parent, column}))
                if len(chosen) > size and chosen not in found and all(part in found for part in _smaller(chosen)):
                    yield chosen


def _ranked(names: Sequence[str], found: Mapping[tuple[int, ...], ToldApart]) -> pl.DataFrame:
    order = sorted(found, key=lambda chosen: (-found[chosen][0], -found[chosen][1], len(chosen), chosen))
    rows = [([names[c] for c in chosen], *found[chosen]) for chosen in order]
    shares = dict.fromkeys(("distinction", "separation", "unique"), pl.Float64())
    return pl.DataFrame(rows, schema={"columns": pl.List(pl.String), **shares}, orient="row")
