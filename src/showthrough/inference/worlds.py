"""Possible worlds of one component: assignments of whole values to persons, counted exactly.

MaxEnt and linear programs may allow what no assignment of whole values allows. Here signatures are
placed one after the other; the state is what is left of the rows that are still open, and equal
states are counted once (a transfer matrix over dictionaries). Forward and backward counts give the
share of worlds in which a person has a value, in whole numbers of any size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np

from showthrough.inference.arrays import Ints
from showthrough.inference.reduce import Reduced

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


def count(reduced: Reduced, component: int, *, most_states: int = MOST_STATES) -> Count:
    """Count the worlds of a component; at most ``most_states`` steps from state to state."""
    order = _order(reduced, component)
    places = _places(reduced, order)
    forward: list[dict[State, int]] = [{tuple(places.left): 1}]
    moves: list[list[Move]] = []
    spent = 0
    for at, signature in enumerate(order):
        layer: dict[State, int] = {}
        steps: list[Move] = []
        for state, ways in forward[-1].items():
            for following, placed, arrangements in _placements(places, at, int(reduced.weight[signature]), state):
                layer[following] = layer.get(following, 0) + ways * arrangements
                steps.append((state, following, placed, arrangements))
                spent += 1
                if spent > most_states:
                    raise TooManyStates
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


def _placements(places: _Places, at: int, weight: int, state: State) -> Iterator[tuple[State, tuple[int, ...], int]]:
    """All ways to give the persons of a signature their values: next state, numbers, arrangements."""
    own, last = places.own[at], places.last[at]
    now, placed = list(state), [0] * len(own)

    def fill(k: int, left: int, ways: int) -> Iterator[tuple[State, tuple[int, ...], int]]:
        if k == len(own):
            if left == 0 and all(now[r] == 0 for r in last):
                yield tuple(now), tuple(placed), ways
            return
        for n in range(min([left, *(now[r] for r in own[k])]) + 1):
            for r in own[k]:
                now[r] -= n
            placed[k] = n
            yield from fill(k + 1, left - n, ways * comb(left, n))
            for r in own[k]:
                now[r] += n
        placed[k] = 0

    yield from fill(0, weight, 1)


def size_of(reduced: Reduced) -> Ints:
    """[k] number of variables of each component."""
    owner = np.repeat(reduced.signature_component, np.diff(reduced.start))
    return np.bincount(owner, minlength=reduced.components).astype(np.int64)
