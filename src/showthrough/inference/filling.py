"""Who can have which value in one release, whatever the others say: a flow of persons into the rows of their group.

Two persons for whom only two values are left fill the two rows of these values, if each counts one, and nobody else of
the group has them. No row tells this alone, and no value does. As in `seating`, a level for each strong component of
what one filling leaves open is a weighing of the rows, each group by itself, which proves all that is ruled out.
"""

from __future__ import annotations

import numpy as np

from showthrough.inference.face import Contradicted, Face, WeighingStep
from showthrough.inference.flow import heights, route
from showthrough.inference.remaining import Remaining
from showthrough.inference.rows import Rows
from showthrough.table.arrays import Ints

LARGE = 500_000  # variables


def worth_filling(rows: Rows, open_ones: int) -> bool:
    """Whether to fill rows: where counts are hidden, or little is open.

    Of exact counts the flows between releases and the multipliers that run off tell nearly all of it, and a flow over
    millions of variables takes as much time and memory as all the rest.
    """
    return open_ones > 0 and (open_ones <= LARGE or bool(rows.ranged.any()))


def filled_releases(face: Face) -> list[int]:
    """Releases that count single values and in which everybody's group is known."""
    problem = face.problem
    several = set() if problem.several is None else set(problem.row_release[problem.several].tolist())
    return [r for r in problem.rows.sure_release if r not in several]


def fill_rows(face: Face, free: Remaining, release: int) -> bool:
    """Exclude the values that the rows of a release rule out together; says whether there were any.

    ``free`` is what is open.
    """
    filling = _Filling(face, free.tightened(face.rows), release)
    if not filling.room.size:
        return False
    flow, feasible, unmet = route(filling.tail, filling.head, filling.room, filling.demand, np.zeros_like(filling.room))
    if not feasible:
        inside = np.zeros(filling.demand.size, dtype=np.int64)
        inside[unmet] = -1
        weights = filling.weights(inside, None)
        if face.weigh(weights).overfull:
            raise Contradicted(weights)
        return False
    ends = filling.tail, filling.head
    weights = filling.weights(-heights(filling.demand.size, ends, filling.room, flow), flow)
    weighed = face.weigh(weights)
    zeros = np.flatnonzero(weighed.zeros()) if weighed.proven else np.empty(0, dtype=np.int64)
    if not zeros.size:
        return False
    rows = np.flatnonzero(weights)
    face.exclude(zeros, WeighingStep(rows, weights[rows], face.problem.row_group[rows].astype(np.int64)))
    return True


class _Filling:
    """Nodes are signatures, then rows of the release, then the outside; edges what is open, then ranges."""

    def __init__(self, face: Face, free: Remaining, release: int) -> None:
        problem = face.problem
        row = free.row[problem.rows.sure_release.index(release)]
        self.size, self.free = problem.rows.size, free
        present = np.zeros(problem.signatures, dtype=bool)
        present[free.signature[row != self.size]] = True
        at = np.flatnonzero(present[free.signature])  # what is in no row leaves its person outside
        persons, tail = np.unique(free.signature[at], return_inverse=True)
        self.rows = np.unique(row[at])
        self.rows = self.rows[self.rows < self.size].astype(np.int64)
        self.first, self.outside = persons.size, persons.size + self.rows.size
        head = np.searchsorted(self.rows, row[at])  # one past the last: the outside
        tail, head = self._once(tail, head)
        weight = problem.weight[persons].astype(np.int64)
        left = np.maximum(free.left[self.rows], 0)
        spare = free.most[self.rows] - left
        wide = np.flatnonzero(spare > 0)
        self.tail = np.concatenate([tail, persons.size + wide])
        self.head = np.concatenate([persons.size + head, np.full(wide.size, self.outside)])
        self.room = np.concatenate([weight[tail], spare[wide]]).astype(np.int64)
        self.persons = tail.size
        demand = np.concatenate([weight, -left, [0]])
        demand[-1] = -int(demand.sum())
        self.demand = demand

    def _once(self, tail: Ints, head: Ints) -> tuple[Ints, Ints]:
        """The same edges, none of them twice: several values may be in no row."""
        return np.divmod(np.unique(tail * np.int64(self.rows.size + 1) + head), self.rows.size + 1)

    def weights(self, figure: Ints, flow: Ints | None) -> Ints:
        """[rows] what each row has, less what the outside has.

        A row that nobody more enters, and that certain persons have brought above its lower count, holds nobody down.
        """
        found = np.zeros(self.size, dtype=np.int64)
        found[self.rows] = figure[self.first : self.outside] - figure[self.outside]
        if flow is not None:
            entered = np.zeros(self.outside + 1, dtype=np.int64)
            np.add.at(entered, self.head[: self.persons], flow[: self.persons])
            idle = (entered[self.first : self.outside] == 0) & (self.free.left[self.rows] < 0)
            found[self.rows[idle]] = 0
        return found
