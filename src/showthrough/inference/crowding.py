"""Rows that are full of persons who have nowhere else to go, found with a hint where to look.

Seven persons all of whose values lie in three rows, of whatever releases and values, that count seven together leave no
room for anybody else there. Which rows is not known, and there are too many sets of them; but multipliers that run off
tell where it may be. Each value of each person is taken for one row, that with the lowest figure of a hint; then it is
a flow of persons into rows that take as many as they count at most. As in `seating`, a level for each strong component
of what one flow leaves open is a weighing. A variable that is in further rows scores no higher for it, so the
weighing proves what it excludes whatever the hint was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from showthrough.inference import graphs
from showthrough.inference.clock import Clock
from showthrough.inference.face import Face, WeighingStep
from showthrough.inference.flow import heights, route
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Ints, Reals

_NEXT_TO_NOTHING = 10_000  # of the variables, one


def take_crowded(face: Face, reduced: Reduced, hints: Sequence[Reals], clock: Clock) -> bool:
    """Exclude what full rows rule out, guided by figures of the rows that remain; says whether there was anything.

    After the hints some rows are taken by chance, for as long as that finds more than next to nothing.
    """
    if not reduced.rows.sure.size:
        return False
    rng, found = np.random.default_rng(0), 0
    tries = deque(hints)
    while tries and not clock.over:
        hint = tries.popleft()
        taken = _take(face, reduced, hint)
        found += taken
        if taken > reduced.rows.variables // _NEXT_TO_NOTHING:
            tries.append(hint if tries else -rng.random(hint.size))
    return found > 0


def _take(face: Face, reduced: Reduced, hint: Reals) -> int:
    """How many terms one hint excludes."""
    found = _levels(face, reduced, hint)
    if found is None:
        return 0
    weights = np.zeros(face.problem.rows.size, dtype=np.int64)
    weights[reduced.row_of] = found
    weighed = face.weigh(weights)
    zeros = np.flatnonzero(weighed.zeros()) if weighed.proven else np.empty(0, dtype=np.int64)
    if zeros.size:
        rows = np.flatnonzero(found)
        face.exclude(zeros, WeighingStep(reduced.row_of[rows], found[rows], _clusters(reduced, rows)))
    return int(zeros.size)


def _levels(face: Face, reduced: Reduced, hint: Reals) -> Ints | None:
    """[rows] weights, none of them above 0; None if no row is full."""
    rows, persons, size = reduced.rows, reduced.weight.astype(np.int64), reduced.rows.size
    open_ones = np.flatnonzero(face.possible[reduced.variable_of])
    sure = rows.sure[:, open_ones]
    figure = np.append(hint, 0.0)[sure]
    row = np.take_along_axis(sure, figure.argmin(axis=0)[None, :], axis=0)[0]
    row = np.where(figure.min(axis=0) < 0, row, size).astype(np.int64)
    tail, head = np.divmod(np.unique(reduced.signature[open_ones] * np.int64(size + 1) + row), size + 1)
    outside = persons.size + size
    used = np.unique(head[head < size])
    tails = np.concatenate([tail, persons.size + used])
    heads = np.concatenate([persons.size + head, np.full(used.size, outside)])
    room = np.concatenate([persons[tail], rows.upper[used]]).astype(np.int64)
    demand = np.zeros(outside + 1, dtype=np.int64)
    demand[: persons.size], demand[-1] = persons, -int(persons.sum())
    flow, feasible, _ = route(tails, heads, room, demand, np.zeros_like(room))
    if not feasible:
        return None
    level = heights(demand.size, (tails, heads), room, flow)
    weights = np.minimum(level[outside] - level[persons.size : outside], 0)
    idle = np.ones(size, dtype=bool)
    idle[used] = False
    weights[idle] = 0
    return weights if weights.any() else None


def _clusters(reduced: Reduced, rows: Ints) -> Ints:
    """Which of the rows hang together by the persons in them: each such set is an argument of its own."""
    size, own = reduced.rows.size, np.zeros(reduced.rows.size + 1, dtype=bool)
    own[rows] = True
    inside = own[reduced.rows.sure]
    release, variable = np.nonzero(inside)
    tail = reduced.signature[variable]
    _, label = graphs.components(
        reduced.weight.size + size, tail, reduced.weight.size + reduced.rows.sure[release, variable].astype(np.int64)
    )
    return np.unique(label[reduced.weight.size + rows], return_inverse=True)[1]
