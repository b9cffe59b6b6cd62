"""By how many records worlds with a value differ from worlds without it, once they are coupled.

Whoever holds p for the probability of a value weighs the worlds of a component: all alike, or as a prior makes them. A
coupling of the worlds with the value and the worlds without it spreads the weight of each of the former over the
latter; d is the smallest number for which there is one that only joins worlds in which at most d persons have
different values. It is a flow: worlds with the value are the sources, those without it the sinks, edges join what is
near, and d suffices if everything can be sent. Pairing each world with some near one is not enough.

Persons of one signature are alike, so worlds are enumerated as *arrangements*: how many persons of each signature have
each value, the asked person apart. Moving as few as possible of them, drawn at random, turns evenly spread persons of
one arrangement into evenly spread ones of another, and no two worlds of two arrangements differ less: the smallest d is
that of arrangements (docs/privacy.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, gcd, inf

import numpy as np

from showthrough.inference import graphs
from showthrough.inference.reduce import Reduced
from showthrough.inference.world_layers import State, line
from showthrough.inference.worlds import Budget, TooManyStates

MOST_PAIRS = 40_000  # of worlds with and without a value that are joined

Matrix = np.ndarray[tuple[int, int], np.dtype[np.int64]]
Arrangement = tuple[int, ...]  # persons by variable of the component


@dataclass(frozen=True)
class Arrangements:
    """What each arrangement of a component weighs; ``variables`` are those of the reduced problem, in order."""

    variables: tuple[int, ...]
    signature: tuple[int, ...]
    weight: dict[Arrangement, int]


def arranged(reduced: Reduced, component: int, *, most: int, deadline: float = inf) -> Arrangements:
    """All arrangements of a component, weighed as the prior and the number of worlds make them.

    Raises `TooManyStates` where that takes more than ``most`` steps.
    """
    budget = Budget(most, deadline)
    decided = line(reduced, component, believed=True)
    found: dict[tuple[State, Arrangement], int] = {(decided.first, ()): 1}
    variables, signature = [], []
    for at, layer in enumerate(decided.layers):
        value = layer.variable >= 0
        if value:
            variables.append(layer.variable)
            signature.append(layer.signature)
        belief = decided.belief.get(layer.variable, 1) if value else 1
        reached: dict[tuple[State, Arrangement], int] = {}
        for (state, chosen), ways in found.items():
            for n, pool, following in layer.steps(decided.entering(at, state)):
                budget.spend()
                ways_on = ways * comb(pool, n) * belief**n
                if ways_on:
                    key = (following, (*chosen, n) if value else chosen)
                    reached[key] = reached.get(key, 0) + ways_on
        found = reached
    weight: dict[Arrangement, int] = {}
    for (_, chosen), ways in found.items():
        weight[chosen] = weight.get(chosen, 0) + ways
    order = sorted(range(len(variables)), key=variables.__getitem__)
    return Arrangements(
        tuple(variables[k] for k in order),
        tuple(signature[k] for k in order),
        {tuple(own[k] for k in order): ways for own, ways in weight.items()},
    )


def smallest_distance(found: Arrangements, variable: int, *, cell_of: dict[int, int] | None = None) -> int:
    """The smallest d for a person of the signature of a variable (of the reduced problem) and its value.

    With ``cell_of`` (variable → a number for each cell and value of a noisy table, nothing where it does not count)
    only records are counted whose cell changes. Raises `TooManyStates` where there are too many worlds to couple.
    """
    mine = found.variables.index(variable)
    own = [k for k, s in enumerate(found.signature) if s == found.signature[mine]]
    apart = _apart(found, own)
    with_it = {world: ways for world, ways in apart.items() if world[0] == mine}
    without = {world: ways for world, ways in apart.items() if world[0] != mine}
    if not with_it or not without:
        return 0
    if len(with_it) * len(without) > MOST_PAIRS:
        raise TooManyStates
    if cell_of is None:
        return _least(1 + _moves(_others(with_it), _others(without)), [*with_it.values()], [*without.values()])
    spread = np.zeros((len(found.variables), 1 + max(cell_of.values(), default=0)), dtype=np.int64)
    for k, v in enumerate(found.variables):
        if v in cell_of:
            spread[k, cell_of[v]] = 1
    cells = [np.array([world for _, world in own], dtype=np.int64) @ spread for own in (with_it, without)]
    return _least(_moves(*cells), [*with_it.values()], [*without.values()])


def _apart(found: Arrangements, own: list[int]) -> dict[tuple[int, Arrangement], int]:
    """Arrangements with one person of a signature taken out: (place of its variable, all with it) → weight."""
    apart: dict[tuple[int, Arrangement], int] = {}
    for world, ways in found.weight.items():
        for k in own:
            if world[k]:
                apart[k, world] = ways * world[k]
    return apart


def _others(worlds: dict[tuple[int, Arrangement], int]) -> Matrix:
    """[worlds, variables] persons by variable, without the one who was taken out."""
    found = np.array([world for _, world in worlds], dtype=np.int64)
    found[np.arange(len(worlds)), [k for k, _ in worlds]] -= 1
    return found


def _moves(one: Matrix, other: Matrix) -> Matrix:
    """How many records must be replaced to turn the counts of each world into those of each other."""
    more = one[:, None, :] - other[None, :, :]
    found: Matrix = np.maximum(np.maximum(more, 0).sum(axis=2), np.maximum(-more, 0).sum(axis=2))
    return found


def _least(distance: Matrix, supply: list[int], demand: list[int]) -> int:
    """The smallest distance within which all of the supply reaches the demand, both taken as shares."""
    common = gcd(gcd(*supply), gcd(*demand))
    supply, demand = [n // common for n in supply], [n // common for n in demand]
    sources, sinks = sum(supply), sum(demand)
    reached = _coupled(distance, [n * sinks for n in supply], [n * sources for n in demand])
    known = np.unique(distance).tolist()
    low, high = 0, len(known) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(known[middle]) else (middle + 1, high)
    return int(known[low])


def _coupled(distance: Matrix, supply: list[int], demand: list[int]) -> Callable[[int], bool]:
    """Whether a coupling joins only what is so near."""
    m, k = distance.shape
    source, sink = m + k, m + k + 1

    def reached(d: int) -> bool:
        near, far = np.nonzero(distance <= d)
        tail = [source] * m + near.tolist() + list(range(m, m + k))
        head = [*range(m), *(far + m).tolist(), *([sink] * k)]
        room = [*supply, *([sum(supply)] * near.size), *demand]
        return graphs.flow_value(tail, head, room, source, sink) == sum(supply)

    return reached
