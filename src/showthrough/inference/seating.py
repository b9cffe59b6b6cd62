"""Who can sit in which group of one release, whatever the values: a flow of persons into groups of published sizes.

Where somebody fits several groups, the sizes alone often tell who is where: a group of seven whom only seven persons
fit takes all seven, and none of them is in the group of suppressed rows that everybody fits. Rows tell this together,
never one by one, and there are many such persons, so they are found at once. Take any seating: what lies in different
strong components of its residual graph never changes. A level for each component, one more than those it follows, is a
weighing of all rows of the groups, and this one weighing proves every seat that is ruled out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.inference.face import Contradicted, Face, WeighingStep
from showthrough.inference.flow import heights, route
from showthrough.inference.rows import Seats
from showthrough.table.arrays import Ints

_DEEPEST = 10_000  # levels; nobody reads a proof of more, and weights stay small


def seated_releases(face: Face) -> list[Seats]:
    """Releases with exact counts in which somebody fits several groups."""
    problem = face.problem
    ranged = set(problem.row_release[problem.rows.ranged].tolist()) if not problem.rows.exact else set()
    return [own for own in problem.rows.seats if own.release not in ranged]


def take_seats(face: Face, own: Seats) -> bool:
    """Exclude the candidates of a release that the sizes of its groups rule out; says whether there were any."""
    seating = _Seating.of(face, own)
    if not seating.code.size:
        return False
    flow, feasible, unmet = route(
        seating.code, seating.group, seating.room, seating.demand, np.zeros_like(seating.room)
    )
    if not feasible:
        inside = np.zeros(seating.demand.size, dtype=np.int64)
        inside[unmet] = -1
        weights = seating.weights(inside)
        if face.weigh(weights).overfull:
            raise Contradicted(weights)
        return False
    level = heights(seating.demand.size, (seating.code, seating.group), seating.room, flow)
    if not 0 < int(level.max()) <= _DEEPEST:
        return False
    weights = seating.weights(-level)
    weights //= max(1, int(np.gcd.reduce(weights)))
    weighed = face.weigh(weights)
    if weighed.overfull:
        raise Contradicted(weights)
    zeros = np.flatnonzero(weighed.zeros()) if weighed.proven else np.empty(0, dtype=np.int64)
    if not zeros.size:
        return False
    rows = np.flatnonzero(weights)
    face.exclude(zeros, WeighingStep(rows, weights[rows], np.zeros(rows.size, dtype=np.int64)))
    return True


@dataclass(frozen=True)
class _Seating:
    """A bipartite graph: kinds of persons (by the groups they fit), then groups, then the outside; one edge per fit."""

    face: Face
    release: int
    code: Ints  # [edges] nodes
    group: Ints  # [edges] nodes
    room: Ints  # [edges]
    demand: Ints  # [nodes] persons above 0, seats below
    outside: int  # the last node

    @classmethod
    def of(cls, face: Face, own: Seats) -> _Seating:
        problem = face.problem
        rows = problem.rows
        at = np.flatnonzero(rows.open(own, face.alive))
        kinds, kind = np.unique(problem.places.codes[own.release], return_inverse=True)
        first = int(problem.row_group[problem.row_release == own.release].min(initial=0))
        size = int(problem.row_group[problem.row_release == own.release].max(initial=-1)) + 1 - first
        group_of_row = np.append(problem.row_group - first, size).astype(np.int64)
        key = kind.take(problem.signature.take(own.owner.take(at))) * (size + 1) + group_of_row.take(own.row.take(at))
        code, group = np.divmod(np.unique(key), size + 1)
        persons = np.bincount(kind, weights=problem.weight, minlength=kinds.size).astype(np.int64)
        mine = np.flatnonzero(problem.row_release == own.release)
        seats = np.bincount(problem.row_group[mine] - first, weights=rows.lower[mine], minlength=size).astype(np.int64)
        demand = np.concatenate([persons, -seats, [0]])
        demand[-1] = -int(demand.sum())
        return cls(face, own.release, code, kinds.size + group, persons[code], demand, demand.size - 1)

    def weights(self, figure: Ints) -> Ints:
        """The weights of all rows: for each row of the release what its group has, less what the outside has."""
        problem = self.face.problem
        mine = np.flatnonzero(problem.row_release == self.release)
        first = self.outside - 1 - int(problem.row_group[mine].max(initial=0))
        found = np.zeros(problem.rows.size, dtype=np.int64)
        found[mine] = figure[first + problem.row_group[mine]] - figure[self.outside]
        return found
