"""What to ask of tables that lie on top of each other: hidden counts, pieces, and what one cell leaves of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from showthrough.attacks.refinement import PRINTED, Counts
from showthrough.table.arrays import Ints
from showthrough.table.ragged import starts

CELL, HIDDEN, PIECE, DIFFERENCE = "cell", "hidden", "piece", "difference"
"""What is asked about: a cell of a table, a count that it hides, a piece of the common refinement,
or what one cell leaves of another."""
MOST = 50_000
"""Pieces and differences that are asked about, at most."""


@dataclass(frozen=True, eq=False)
class Question:
    """How many persons some unknowns hold."""

    found: str
    cell: str
    value: object
    at: Ints
    published: tuple[int, int] | None = None
    table: str | None = None  # that hides the count


def hidden(counts: Counts) -> list[Question]:
    """Every count that is printed as a range."""
    A = counts.matrix
    return [
        Question(
            HIDDEN,
            row.cell,
            row.value,
            A.indices[A.indptr[k] : A.indptr[k + 1]].astype(np.int64),
            (row.low, row.high),
            row.name,
        )
        for k, row in enumerate(counts.rows)
        if row.kind == PRINTED and row.low < row.high
    ]


def unpublished(counts: Counts) -> list[Question]:
    """Pieces and differences that no table has as a cell, with each value and with all; the smallest first."""
    printed = {pieces.tobytes() for _, _, pieces in counts.regions}
    found: list[Question] = []
    for kind, cell, pieces in sorted(_regions(counts, printed), key=lambda own: own[2].size):
        for value in (None, *counts.values) if len(counts.values) > 1 else (counts.values or [None]):
            found.append(Question(kind, cell, value, np.sort(counts.unknowns_of(pieces, value))))
        if len(found) >= MOST:
            return found
    for piece, cell, first in counts.seats():
        for k, value in enumerate(counts.values):
            found.append(Question(PIECE, f"{counts.pieces.example[piece]}, in {cell}", value, np.array([first + k])))
        if len(counts.values) > 1:
            every = first + np.arange(len(counts.values))
            found.append(Question(PIECE, f"{counts.pieces.example[piece]}, in {cell}", None, every))
    return found


def _regions(counts: Counts, printed: set[bytes]) -> Iterator[tuple[str, str, Ints]]:
    seen = set(printed)
    for piece, words in enumerate(counts.pieces.example):
        own = np.array([piece])
        if own.tobytes() not in seen:
            seen.add(own.tobytes())
            yield PIECE, words, own
    for words, own in _differences(counts):
        if own.size and own.tobytes() not in seen:
            seen.add(own.tobytes())
            yield DIFFERENCE, words, own


def _differences(counts: Counts) -> Iterator[tuple[str, Ints]]:
    """What a cell of one table, or all of its cells in there, leaves of a cell of another table."""
    regions = counts.regions
    sizes = np.array([own.size for _, _, own in regions], dtype=np.int64)
    if not sizes.size:
        return
    at = np.concatenate([own for _, _, own in regions])
    M = sp.csr_array((np.ones(at.size), at, starts(sizes)), shape=(sizes.size, counts.pieces.size))
    shared = sp.coo_array(M @ M.T)
    inside = (shared.data == sizes[shared.col]) & (sizes[shared.col] < sizes[shared.row])
    tables = np.array([table for table, _, _ in regions])
    inside &= tables[shared.row] != tables[shared.col]
    within: dict[tuple[int, int], list[int]] = {}
    for outer, inner in zip(shared.row[inside].tolist(), shared.col[inside].tolist(), strict=True):
        within.setdefault((outer, int(tables[inner])), []).append(inner)
    for (outer, table), inner in within.items():
        _, cell, pieces = regions[outer]
        for k in inner:
            yield f"{cell} without {regions[k][1]}", np.setdiff1d(pieces, regions[k][2])
        if len(inner) > 1:
            every = np.unique(np.concatenate([regions[k][2] for k in inner]))
            yield f"{cell} without the cells of {counts.names[table]} in it", np.setdiff1d(pieces, every)


def matrix(questions: list[Question], unknowns: int) -> sp.csr_array:
    """[questions, unknowns]"""
    sizes = np.array([q.at.size for q in questions], dtype=np.int64)
    at = np.concatenate([np.empty(0, dtype=np.int64), *(q.at for q in questions)])
    return sp.csr_array((np.ones(at.size), at, starts(sizes)), shape=(sizes.size, unknowns))
