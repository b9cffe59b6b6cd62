"""Possible worlds of one component: assignments of whole values to persons, counted exactly.

MaxEnt and linear programs may allow what no assignment of whole values allows. Here signatures are
placed one after the other; the state is what is left of the rows that are still open, and equal
states are counted once (a transfer matrix over dictionaries). Forward and backward counts give the
share of worlds in which a person has a value, in whole numbers of any size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb, inf
from time import monotonic

import numpy as np

from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Ints

MOST_STATES = 200_000

State = tuple[int, ...]
Move = tuple[State, State, tuple[int, ...], int]  # from, to, persons per value, arrangements


@dataclass(frozen=True)
class Count:
    """How many worlds a component has, and in what share of them a person has each value."""

    total: int
    share: dict[int, Fraction]  # variable of the full problem → share


class TooManyStates(Exception):  # noqa: N818 - an answer, not an error for users
    """The component is too large to be counted within the limit."""


def count(reduced: Reduced, component: int, *, most_states: int = MOST_STATES, deadline: float = inf) -> Count:
    """Count the worlds of a component in at most ``most_states`` steps, before the deadline."""
    order = _order(reduced, component)
    places = _places(reduced, order)
    forward: list[dict[State, int]] = [{tuple(places.left): 1}]
    moves: list[list[Move]] = []
    budget = Budget(most_states, deadline)
    for at, signature in enumerate(order):
        layer: dict[State, int] = {}
        steps: list[Move] = []
        for state, ways in forward[-1].items():
            weight = int(reduced.weight[signature])
            for following, placed, arrangements in _placements(places, at, weight, state, budget):
                layer[following] = layer.get(following, 0) + ways * arrangements
                steps.append((state, following, placed, arrangements))
        forward.append(layer)
        moves.append(steps)
    total = sum(forward[-1].values())
    return Count(total, _shares(reduced, order, forward, moves, total) if total else {})


def _shares(
    reduced: Reduced,
    order: list[int],
    forward: list[dict[State, int]],
    moves: list[list[Move]],
    total: int,
) -> dict[int, Fraction]:
    backward = dict.fromkeys(forward[-1], 1)
    share: dict[int, Fraction] = {}
    for at in range(len(order) - 1, -1, -1):
        first = int(reduced.start[order[at]])
        weight = int(reduced.weight[order[at]])
        hits = [0] * (int(reduced.start[order[at] + 1]) - first)
        before: dict[State, int] = {}
        for state, following, placed, arrangements in moves[at]:
            after = backward.get(following, 0) * arrangements
            if not after:
                continue
            before[state] = before.get(state, 0) + after
            worlds = forward[at][state] * after
            for k, n in enumerate(placed):
                hits[k] += worlds * n
        for k, n in enumerate(hits):
            share[int(reduced.variable_of[first + k])] = Fraction(n, total * weight)
        backward = before
    return share


def _order(reduced: Reduced, component: int) -> list[int]:
    """Signatures so that neighbours follow each other: few rows are open at a time."""
    mine = np.flatnonzero(reduced.signature_component == component)
    on_row: dict[int, list[int]] = {}
    rows_of: dict[int, list[int]] = {}
    for s in mine.tolist():
        rows = np.unique(reduced.row[:, reduced.start[s] : reduced.start[s + 1]])
        rows_of[s] = [int(r) for r in rows if r != reduced.rows]
        for r in rows_of[s]:
            on_row.setdefault(r, []).append(s)
    left = {r: len(members) for r, members in on_row.items()}
    order: list[int] = []
    waiting = set(rows_of)
    near: set[int] = set()
    while waiting:
        # the signature that opens the fewest new rows and closes the most
        best = min(
            near or waiting,
            key=lambda s: (
                sum(left[r] == len(on_row[r]) for r in rows_of[s]) - sum(left[r] == 1 for r in rows_of[s]),
                s,
            ),
        )
        order.append(best)
        waiting.discard(best)
        for r in rows_of[best]:
            left[r] -= 1
            near.update(on_row[r])
        near &= waiting
    return order


@dataclass(frozen=True)
class _Places:
    """Where each row stands in a state."""

    left: list[int]  # the counts before anybody is placed
    own: list[list[list[int]]]  # for each signature in order, for each variable: places of its rows
    last: list[list[int]]  # places of the rows that no later signature touches: they must be empty then


def _places(reduced: Reduced, order: list[int]) -> _Places:
    rows = [
        [
            [int(r) for r in reduced.row[:, v] if r != reduced.rows]
            for v in range(int(reduced.start[s]), int(reduced.start[s + 1]))
        ]
        for s in order
    ]
    closing = {r: at for at, variables in enumerate(rows) for own in variables for r in own}
    place = {r: k for k, r in enumerate(closing)}
    return _Places(
        left=[int(reduced.count[r]) for r in closing],
        own=[[[place[r] for r in own] for own in variables] for variables in rows],
        last=[[place[r] for r, when in closing.items() if when == at] for at in range(len(order))],
    )


def _placements(
    places: _Places, at: int, weight: int, state: State, budget: Budget
) -> Iterator[tuple[State, tuple[int, ...], int]]:
    """All ways to give the persons of a signature their values: next state, numbers, arrangements.

    A row that closes here must be emptied, so its variable has no choice (unless several seats share
    the row); the others together must hold whoever is left.
    """
    own, closing = places.own[at], set(places.last[at])
    uses = Counter(r for rows in own for r in rows)
    shared = [r for r, n in uses.items() if n > 1]
    now = list(state)
    most = [min([weight, *(now[r] for r in rows)]) for rows in own]
    least = [max([0, *(now[r] for r in rows if r in closing and uses[r] == 1)]) for rows in own]
    after = [(0, 0)] * (len(own) + 1)  # least and most that the variables from here on can hold
    for k in range(len(own) - 1, -1, -1):
        after[k] = (after[k + 1][0] + least[k], after[k + 1][1] + most[k])
    placed: list[int] = []
    ways, left, k, n = 1, weight, 0, least[0]
    trail: list[tuple[int, int]] = []  # (ways, left) before each placed number
    while True:
        budget.spend()
        low, high = max(least[k], left - after[k + 1][1]), min(most[k], left - after[k + 1][0])
        n = max(n, low)
        if n <= high:
            trail.append((ways, left))
            placed.append(n)
            ways, left = ways * comb(left, n), left - n
            if k + 1 < len(own):
                k, n = k + 1, least[k + 1]
                continue
            for rows, count in zip(own, placed, strict=True):
                for r in rows:
                    now[r] -= count
            if not any(now[r] for r in closing) and all(now[r] >= 0 for r in shared):
                yield tuple(now), tuple(placed), ways
            now = list(state)
        elif not placed:
            return
        else:
            k -= 1
        # the next number at this place, or at the one before
        ways, left = trail.pop()
        n = placed.pop() + 1


@dataclass
class Budget:
    """Steps and time that may be spent."""

    steps: int
    deadline: float = inf

    def spend(self) -> None:
        """One step; raises when there are none left."""
        self.steps -= 1
        if self.steps < 0 or (self.steps % 256 == 0 and monotonic() > self.deadline):
            raise TooManyStates


def size_of(reduced: Reduced) -> Ints:
    """[k] number of variables of each component."""
    owner = np.repeat(reduced.signature_component, np.diff(reduced.start))
    return np.bincount(owner, minlength=reduced.components).astype(np.int64)
