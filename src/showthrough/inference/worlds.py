"""Possible worlds of one component: assignments of whole values to persons, counted exactly.

MaxEnt and linear programs may allow what no assignment of whole values allows. Here persons are decided about along
the `Line` of the component, each person on a value and, where it fits several groups, on one candidate per release. So
what is counted is *values and seats*: a world of values weighs the number of its seatings, as somebody holds who finds
every seating as likely as any other. Equal states are counted once (a transfer matrix over dictionaries); forward and
backward counts give the share of worlds in which a person has a value, in whole numbers of any size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, inf
from time import monotonic

from showthrough.inference.reduce import Reduced
from showthrough.inference.world_layers import Layer, Line, State, line

MOST_STATES = 1_000_000

Move = tuple[State, State, int, int]  # from, to, persons, arrangements


@dataclass(frozen=True)
class Count:
    """How many worlds a component has (or what they weigh), and in what share of them a person has each value."""

    total: int
    share: dict[int, Fraction]  # variable of the full problem → share


class TooManyStates(Exception):  # noqa: N818 - an answer, not an error for users
    """The component is too large to be counted within the limit."""


def count(
    reduced: Reduced,
    component: int,
    *,
    most_states: int = MOST_STATES,
    deadline: float = inf,
    believed: bool = False,
    noise: Mapping[int, Sequence[int]] | None = None,
) -> Count:
    """Count the worlds of a component in at most ``most_states`` steps, before the deadline.

    If ``believed``, each weighs what the prior makes it: the product over all persons. ``noise`` says of rows what a
    world weighs besides, by what is left of the row in it.
    """
    budget = Budget(most_states, deadline)
    budget.spend()
    decided = line(reduced, component, believed=believed)
    forward: list[dict[State, int]] = [{decided.first: 1}]
    moves: list[list[Move]] = []
    for at, layer in enumerate(decided.layers):
        reached, steps = _forward(decided, at, layer, forward[-1], budget, noise or {})
        forward.append(reached)
        moves.append(steps)
    total = sum(forward[-1].values())
    if not total:
        return Count(0, {})
    share: dict[int, Fraction] = {}
    backward = dict.fromkeys(forward[-1], 1)
    for at in range(len(moves) - 1, -1, -1):
        backward, hits = _backward(forward[at], moves[at], backward)
        layer = decided.layers[at]
        if layer.variable >= 0:
            variable = int(reduced.variable_of[layer.variable])
            share[variable] = Fraction(hits, total * decided.weight[layer.signature])
    return Count(total, share)


def _forward(
    decided: Line,
    at: int,
    layer: Layer,
    before: dict[State, int],
    budget: Budget,
    noise: Mapping[int, Sequence[int]],
) -> tuple[dict[State, int], list[Move]]:
    """The states after a decision with the ways to each, and all moves to them."""
    reached: dict[State, int] = {}
    steps: list[Move] = []
    told = zip(layer.rows, layer.touches, strict=True)
    closing = [(noise[row], t.slot, t.times) for row, t in told if t.closes and row in noise]
    opened = dict(layer.opens)
    for state, ways in before.items():
        budget.spend()
        for n, pool, following in layer.steps(decided.entering(at, state)):
            budget.spend()
            weight = 1 if layer.variable < 0 else decided.belief.get(layer.variable, 1)
            budget.spend_on_digits(min(n, pool - n) + n * (weight.bit_length() - 1))
            arrangements = comb(pool, n) * weight**n
            for own, slot, times in closing:
                factor = own[opened.get(slot, state[slot]) - times * n]
                budget.spend_on_digits(factor.bit_length())
                arrangements *= factor
            if not arrangements:
                continue
            reached[following] = reached.get(following, 0) + ways * arrangements
            steps.append((state, following, n, arrangements))
    return reached, steps


def _backward(forward: dict[State, int], moves: list[Move], after: dict[State, int]) -> tuple[dict[State, int], int]:
    """The ways from each state to the end, and the persons that the decision places, added up over all worlds."""
    before: dict[State, int] = {}
    hits = 0
    for state, following, n, arrangements in moves:
        ways = after.get(following, 0) * arrangements
        if ways:
            before[state] = before.get(state, 0) + ways
            hits += forward[state] * ways * n
    return before, hits


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
