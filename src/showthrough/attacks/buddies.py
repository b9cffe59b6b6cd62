"""Records of one value in an earlier and a later release: who may be the same, as a flow that moves.

Every record of the earlier release is one of the later release with the same value and cells that have something in
common: its *buddy*. So the records of a value flow from the groups of the one to the groups of the other, all of them,
and as many into a group as it holds. Flows are changed along paths, one question after the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog


class Buddies:
    """The records of one value: ``supply`` by earlier group, ``room`` by later group, and who is ``near`` whom."""

    def __init__(self, supply: Mapping[int, int], room: Mapping[int, int], near: Mapping[int, Sequence[int]]) -> None:
        self.supply, self.room = dict(supply), dict(room)
        self._near = {g: [h for h in near.get(g, ()) if h in self.room] for g in self.supply}
        self._flow: dict[int, dict[int, int]] = {g: {} for g in self.supply}
        self._held: dict[int, dict[int, int]] = {h: {} for h in self.room}
        self._free = dict(self.room)
        self.left = 0
        """Records without a buddy: 0 if the later release can hold all records of the earlier one."""
        for g, count in self.supply.items():
            self.left += count - self._placed(g, count)

    def most(self, earlier: Collection[int], later: Collection[int]) -> int:
        """How many records of some earlier groups can have their buddies in some later groups, at most."""
        mine = [g for g in earlier if self.supply.get(g)]
        theirs = [h for h in later if self.room.get(h)]
        if not mine or not theirs:
            return 0
        if len(mine) > 1 or len(theirs) > 1:
            return self._most_by_program(mine, theirs)
        g, h = mine[0], theirs[0]
        if h not in self._near[g]:
            return 0
        goal = min(self.supply[g], self.room[h])
        while self._flow[g].get(h, 0) < goal and self._moved(g, h):
            pass
        return self._flow[g].get(h, 0)

    def least_inside(self, later: Collection[int]) -> int:
        """How many records of some later groups are buddies, at least."""
        closed = {h for h in later if self.room.get(h)}
        for h in closed:
            for g in list(self._held[h]):
                while self._held[h].get(g, 0):
                    path = self._path(g, closed)
                    if path is None:
                        break
                    self._shift(g, h, -1)
                    self._apply(path)
        return sum(self.room[h] - self._free[h] for h in closed)

    def _placed(self, g: int, count: int) -> int:
        """Put records of a group somewhere; how many found a place."""
        for h in self._near[g]:
            units = min(self._free[h], count - sum(self._flow[g].values()))
            if units > 0:
                self._shift(g, h, units)
        while sum(self._flow[g].values()) < count:
            path = self._path(g, ())
            if path is None:
                break
            self._apply(path)
        return sum(self._flow[g].values())

    def _moved(self, g: int, h: int) -> bool:
        """One more record of g to h, if somebody there can move; all others keep a place."""
        away = next(other for other, units in self._flow[g].items() if other != h and units)
        if self._free[h]:
            self._shift(g, away, -1)
            self._shift(g, h, 1)
            return True
        goals = {other for other, units in self._flow[g].items() if other != h and units}
        for own in [other for other in self._held[h] if other != g]:
            path = self._path(own, {h}, goals)
            if path is None:
                continue
            end = path[-1][1]
            self._shift(own, h, -1)
            self._shift(g, end if end in goals else away, -1)
            self._apply(path)
            self._shift(g, h, 1)
            return True
        return False

    def _path(self, g: int, closed: Collection[int], goals: Collection[int] = ()) -> list[tuple[int, int]] | None:
        """Moves that give one more record of g a place outside of the ``closed`` groups: (group, where to), in order.

        It ends where there is room, or in one of the ``goals``, where room is made.
        """
        before: dict[int, tuple[int, int]] = {}  # later group: who came, and from which later group
        queue = deque([(g, -1)])
        seen = {g}
        while queue:
            mover, came = queue.popleft()
            for h in self._near[mover]:
                if h in before or h in closed:
                    continue
                before[h] = (mover, came)
                if self._free[h] or h in goals:
                    return self._moves(before, h)
                for other in self._held[h]:
                    if other not in seen:
                        seen.add(other)
                        queue.append((other, h))
        return None

    @staticmethod
    def _moves(before: Mapping[int, tuple[int, int]], end: int) -> list[tuple[int, int]]:
        moves = []
        at = end
        while at != -1:
            mover, came = before[at]
            moves.append((mover, at))
            at = came
        return moves[::-1]

    def _apply(self, moves: Sequence[tuple[int, int]]) -> None:
        """Everybody on the path moves on; the first one comes from outside."""
        for (_, here), (mover, _) in pairwise(moves):
            self._shift(mover, here, -1)
        for mover, to in moves:
            self._shift(mover, to, 1)

    def _shift(self, g: int, h: int, units: int) -> None:
        for table, a, b in ((self._flow, g, h), (self._held, h, g)):
            left = table[a].get(b, 0) + units
            if left:
                table[a][b] = left
            else:
                table[a].pop(b, None)
        self._free[h] -= units

    @cached_property
    def _program(self) -> tuple[list[tuple[int, int]], sp.csr_array, sp.csr_array]:
        """Who can go where, and the rows of what goes out of and into each group."""
        arcs = [(g, h) for g in self.supply for h in self._near[g]]
        place = {g: k for k, g in enumerate(self.supply)}
        later = {h: k for k, h in enumerate(self.room)}
        column, ones = np.arange(len(arcs)), np.ones(len(arcs))
        given = sp.csr_array((ones, ([place[g] for g, _ in arcs], column)), shape=(len(place), len(arcs)))
        taken = sp.csr_array((ones, ([later[h] for _, h in arcs], column)), shape=(len(later), len(arcs)))
        return arcs, given, taken

    def _most_by_program(self, mine: Sequence[int], theirs: Sequence[int]) -> int:
        """Several groups on a side: a linear program, whose ends are whole as the rows are those of a flow."""
        limit = min(sum(self.supply[g] for g in mine), sum(self.room[h] for h in theirs))
        if sum(self._flow[g].get(h, 0) for g in mine for h in theirs) == limit:  # as it is now, and not more can be
            return limit
        arcs, given, taken = self._program
        if not arcs:
            return 0
        inside, into = set(mine), set(theirs)
        cost = np.array([-float(g in inside and h in into) for g, h in arcs])
        room = np.array(list(self.room.values()), dtype=np.float64)
        result = linprog(cost, A_ub=taken, b_ub=room, A_eq=given, b_eq=np.array(list(self.supply.values())))
        return int(np.rint(-result.fun))
