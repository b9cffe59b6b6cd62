"""Bounds of published cells: the smallest and largest number of persons that a count can stand for.

What is hidden or rounded in one table is often told by the others: by totals over it, by a table that counts the
same persons in another way, by persons of a register. Each count is a row, and a row is a sum over variables, so its
ends are two linear programs over its component. Rows whose count is known need none. Of the others, single rows
(`intervals`) give ends that hold; every solution of a program is a point that fits, and settles the ends of all rows
that it reaches. Counts are whole, so what a program finds is rounded inwards. What time leaves open keeps the ends
of single rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from showthrough.inference.clock import Clock
from showthrough.inference.islands import labelled
from showthrough.inference.program import cheapest_point, program
from showthrough.inference.reduce import Reduced, reduce
from showthrough.inference.remaining import Remaining
from showthrough.inference.solved import Solved
from showthrough.table.arrays import Flags, Ints, sum_by

_ROUNDING = 1e-6  # persons


@dataclass(frozen=True)
class CellBounds:
    """[rows] the least and the most persons of each published row, and whether nothing tighter is true of sums."""

    lower: Ints
    upper: Ints
    sharp: Flags


def cells_frame(solved: Solved, seconds: float | None, release: int | None) -> pl.DataFrame:
    """The bounds of all cells, as `Posterior.cells` hands them out."""
    h = solved.history
    found = cell_bounds(solved, Clock(math.inf if seconds is None else seconds))
    rows = np.arange(h.row_count.size)
    of_release = np.repeat(np.arange(len(h.names)), np.diff(h.first_group))[h.row_group]
    if release is not None:
        rows = rows[np.isin(of_release, h.layers_of([h.heads.index(release)]))]
    group, upper = h.row_group[rows], h.row_count if h.row_upper is None else h.row_upper
    distinct, which = np.unique(group, return_inverse=True)
    cells = pl.Series("cell", [h.group_name(int(g)) for g in distinct], dtype=pl.String).gather(which)
    values = pl.Series("value", [*h.values, None, *(c.label for c in h.covers)], strict=False)
    lost = _contradictory(solved)[group]
    ends = [pl.Series(name, own[rows]) for name, own in (("lower", found.lower), ("upper", found.upper))]
    return pl.DataFrame(
        [
            pl.Series("release", list(h.names), dtype=pl.String).gather(of_release[rows]),
            cells,
            values.gather(h.row_value[rows]),
            pl.Series("published_lower", h.row_count[rows]),
            pl.Series("published_upper", upper[rows]),
            *(end.set(pl.Series(lost), None) for end in ends),
            pl.Series("sharp", found.sharp[rows] & ~lost),
        ]
    )


def _contradictory(solved: Solved) -> Flags:
    """[groups] those on islands of which nothing is known."""
    bad, found = np.flatnonzero(~solved.speaking), np.zeros(int(solved.history.first_group[-1]), dtype=bool)
    if bad.size:
        island = labelled(solved.problem)
        found = np.isin(island.group, island.signature[bad])
    return found


def cell_bounds(solved: Solved, clock: Clock) -> CellBounds:
    """The ends of every published row, made sharp as far as time allows."""
    face, problem = solved.face, solved.problem
    published = solved.history.row_count.size
    free = Remaining.of(problem, face.alive, face.choices)
    taken = problem.rows.lower - free.left  # what certain persons hold of each row
    lower, upper = _quick(solved, clock)
    reduced = reduce(problem, face.alive, face.rows)
    gone = np.ones(problem.rows.size, dtype=bool)
    gone[reduced.row_of] = False
    lower[gone] = upper[gone] = taken[gone]
    found = CellBounds(lower, upper, lower == upper)
    for part in sorted(reduced.parts(), key=lambda own: own.rows.terms) if reduced.components else ():
        if clock.over:
            break
        if not found.sharp[part.row_of].all():
            _sharpen(found, part, taken, clock)
    return CellBounds(lower[:published], upper[:published], found.sharp[:published])


def _quick(solved: Solved, clock: Clock) -> tuple[Ints, Ints]:
    """[rows] what single rows say: the published ends, and the sums of what everybody can hold."""
    face, known = solved.face, solved.intervals(clock)
    rows = face.rows
    least, most = np.zeros(rows.size + 1), np.zeros(rows.size + 1)
    for row in rows.sure:
        least += sum_by(row, known.least, rows.size + 1)
        most += sum_by(row, known.most, rows.size + 1)
    for own in rows.seats:
        alone = np.diff(own.start) == 1
        single = own.start[:-1][alone]
        least += sum_by(own.row[single], known.least[alone], rows.size + 1)
        possible = rows.open(own, face.alive)
        most += sum_by(own.row[possible], known.most[own.owner[possible]], rows.size + 1)
    low = np.maximum(rows.lower, np.ceil(least[:-1] - _ROUNDING)).astype(np.int64)
    high = np.minimum(rows.upper.astype(np.float64), np.floor(most[:-1] + _ROUNDING)).astype(np.int64)
    empty = low > high  # the releases contradict each other
    return np.where(empty, rows.lower, low), np.where(empty, rows.upper, high)


def _sharpen(found: CellBounds, part: Reduced, taken: Ints, clock: Clock) -> None:
    """Programs for the rows of one component whose ends no point has reached."""
    lp = program(part, 0)
    A, _ = lp.with_slack()
    relation = A[lp.relation][:, : lp.A.shape[1]]
    row_of, rest = lp.row_of, taken[lp.row_of].astype(np.float64)
    low, high = np.full(row_of.size, np.inf), np.full(row_of.size, -np.inf)  # seen so far
    for k in np.flatnonzero(~found.sharp[row_of]).tolist():
        row, known = int(row_of[k]), True
        for sign in (1.0, -1.0):
            reached = low[k] <= found.lower[row] + _ROUNDING if sign > 0 else high[k] >= found.upper[row] - _ROUNDING
            if reached:
                continue
            point = None if clock.over else cheapest_point(lp, sign * relation[[k]].toarray()[0], clock)
            if point is None:
                known = False
                continue
            sums = relation @ point + rest
            np.minimum(low, sums, out=low)
            np.maximum(high, sums, out=high)
            if sign > 0:
                found.lower[row] = max(found.lower[row], math.ceil(sums[k] - _ROUNDING))
            else:
                found.upper[row] = min(found.upper[row], math.floor(sums[k] + _ROUNDING))
        found.sharp[row] = known
