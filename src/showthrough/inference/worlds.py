"""Possible worlds of one component: assignments of whole values to persons, counted exactly.

MaxEnt and linear programs may allow what no assignment of whole values allows. Here signatures are
placed one after the other, each person on a value and, where it fits several groups, on one candidate per
release (so a world of values weighs the number of its seatings); the state is what is left of the rows that
are still open, and equal states are counted once (a transfer matrix over dictionaries). Forward and backward
counts give the share of worlds in which a person has a value, in whole numbers of any size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
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
    budget = Budget(most_states, deadline)
    choices = {
        s: _choices(reduced, s, budget) for s in np.flatnonzero(reduced.signature_component == component).tolist()
    }
    order = _order(choices)
    places = _places(reduced, choices, order)
    forward: list[dict[State, int]] = [{tuple(places.left): 1}]
    moves: list[list[Move]] = []
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
    if not total:
        return Count(0, {})
    share: dict[int, Fraction] = {}
    for at, hits in _shares(order, forward, moves):
        weight = int(reduced.weight[order[at]])
        for choice, n in zip(choices[order[at]], hits, strict=True):
            variable = int(reduced.variable_of[choice.variable])
            share[variable] = share.get(variable, Fraction(0)) + Fraction(n, total * weight)
    return Count(total, share)


@dataclass(frozen=True)
class Choice:
    """A value with one candidate per release: the rows that it counts in, and how often in each."""

    variable: int
    rows: tuple[tuple[int, int], ...]


def _choices(reduced: Reduced, signature: int, budget: Budget) -> list[Choice]:
    """Everything that a person of a signature can be; combinations are written down one by one, within the budget."""
    rows, found = reduced.rows, []
    for v in range(int(reduced.start[signature]), int(reduced.start[signature + 1])):
        own = [(int(r), 1) for r in rows.sure[:, v] if r != rows.size]
        own += [
            (int(rows.stated.row[k]), int(rows.stated.coefficient[k]))
            for k in np.flatnonzero(rows.stated.variable == v)
        ]
        seats = [rows_of.row[rows_of.start[v] : rows_of.start[v + 1]].tolist() for rows_of in rows.seats]
        for seat in product(*seats):
            budget.spend()
            found.append(Choice(v, tuple(own + [(r, 1) for r in seat if r != rows.size])))
    return found


def _shares(
    order: list[int], forward: list[dict[State, int]], moves: list[list[Move]]
) -> Iterator[tuple[int, list[int]]]:
    """For each signature in order (from the last), in how many worlds a person takes each choice, added up."""
    backward = dict.fromkeys(forward[-1], 1)
    for at in range(len(order) - 1, -1, -1):
        hits: list[int] = []
        before: dict[State, int] = {}
        for state, following, placed, arrangements in moves[at]:
            hits = hits or [0] * len(placed)
            after = backward.get(following, 0) * arrangements
            if not after:
                continue
            before[state] = before.get(state, 0) + after
            worlds = forward[at][state] * after
            for k, n in enumerate(placed):
                hits[k] += worlds * n
        yield at, hits
        backward = before


def _order(choices: dict[int, list[Choice]]) -> list[int]:
    """Signatures so that neighbours follow each other: few rows are open at a time."""
    rows_of = {s: sorted({r for choice in own for r, _ in choice.rows}) for s, own in choices.items()}
    on_row: dict[int, list[int]] = {}
    for s, rows in rows_of.items():
        for r in rows:
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
    """Where each row stands in a state, which holds what is left of the upper counts."""

    left: list[int]  # before anybody is placed
    spare: list[int]  # what may be left in the end
    signed: set[int]  # places that may run below what is left on the way: statements
    own: list[list[list[tuple[int, int]]]]  # for each signature in order, for each choice: places of its rows
    last: list[list[int]]  # places of the rows that no later signature touches


def _places(reduced: Reduced, choices: dict[int, list[Choice]], order: list[int]) -> _Places:
    rows = [[choice.rows for choice in choices[s]] for s in order]
    closing = {r: at for at, own in enumerate(rows) for taken in own for r, _ in taken}
    place = {r: k for k, r in enumerate(closing)}
    stated = set(reduced.rows.stated.row.tolist())
    return _Places(
        left=[int(reduced.rows.upper[r]) for r in closing],
        spare=[int(reduced.rows.upper[r] - reduced.rows.lower[r]) for r in closing],
        signed={place[r] for r in closing if r in stated},
        own=[[[(place[r], n) for r, n in taken] for taken in own] for own in rows],
        last=[[place[r] for r, when in closing.items() if when == at] for at in range(len(order))],
    )


def _placements(
    places: _Places, at: int, weight: int, state: State, budget: Budget
) -> Iterator[tuple[State, tuple[int, ...], int]]:
    """All ways to give the persons of a signature their choices: next state, numbers, arrangements.

    A row that closes here must be emptied down to its spare, so its choice has no choice (unless several share
    the row); the others together must hold whoever is left.
    """
    own, closing = places.own[at], set(places.last[at])
    uses = Counter(r for rows in own for r, _ in rows)
    now = list(state)
    plain = [[r for r, _ in rows if r not in places.signed] for rows in own]
    most = [min([weight, *(now[r] for r in rows)]) for rows in plain]
    least = [max([0, *(now[r] - places.spare[r] for r in rows if r in closing and uses[r] == 1)]) for rows in plain]
    after = [(0, 0)] * (len(own) + 1)  # least and most that the choices from here on can hold
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
            budget.spend_on_digits(min(n, left - n))
            ways, left = ways * comb(left, n), left - n
            if k + 1 < len(own):
                k, n = k + 1, least[k + 1]
                continue
            for rows, count in zip(own, placed, strict=True):
                for r, times in rows:
                    now[r] -= times * count
            if _fits(places, now, closing, uses):
                yield tuple(now), tuple(placed), ways
            now = list(state)
        elif not placed:
            return
        else:
            k -= 1
        # the next number at this place, or at the one before
        ways, left = trail.pop()
        n = placed.pop() + 1


def _fits(places: _Places, now: list[int], closing: set[int], uses: Counter[int]) -> bool:
    """Whether no row is overfull, and none that closes here is left with more than it may be."""
    if any(not 0 <= now[r] <= places.spare[r] for r in closing):
        return False
    return all(now[r] >= 0 for r, n in uses.items() if n > 1 and r not in places.signed)


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

    def spend_on_digits(self, size: int) -> None:
        """Numbers of about ``size`` binary digits take as long as many steps: the time grows with the square."""
        self.steps -= size * size >> 15
        if self.steps < 0:
            raise TooManyStates


def size_of(reduced: Reduced) -> Ints:
    """[k] number of variables of each component."""
    owner = np.repeat(reduced.signature_component, np.diff(reduced.start))
    return np.bincount(owner, minlength=reduced.components).astype(np.int64)
