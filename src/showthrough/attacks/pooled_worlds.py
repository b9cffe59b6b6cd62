"""Worlds of several releases at once, weighed by what is known of persons: messages between persons and groups.

Each group of each release is worked out exactly (`group_worlds.py`), with what the other releases say of its members
as their weights; what it says of a member beyond these weights is its message to the other releases (the sum-product
algorithm). One release is exact; several are nearly so where ties between groups run in large circles, as they do
where releases were made independently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from showthrough.attacks.group_members import GroupMembers
from showthrough.attacks.group_worlds import worlds
from showthrough.table.arrays import Ints, Reals

ROUNDS = 200
CLOSE = 1e-5
"""Beliefs that move by less have arrived."""
_KEPT = 0.5  # of the last message: messages that turn around each other calm down
_FAR = 40.0  # logarithms that differ by more are nothing and all


@dataclass(frozen=True)
class Agreed:
    """Beliefs on which the messages settled."""

    p: Reals  # [entries]
    moved: float  # by the last round
    converged: bool


def agreed(
    every: GroupMembers,
    releases: Sequence[GroupMembers],
    logs: Reals,
    over: Callable[[], bool] = lambda: False,
) -> Agreed:
    """[entries of ``every``] P(value | person) over the worlds that fit all releases, weighed by exp(logs).

    ``every`` has one member per person with all values that it may have.
    """
    rng = np.random.default_rng(0)  # groups of few worlds are not sampled
    places = [_entries(every, own) for own in releases]
    said = [np.zeros(logs.size) for _ in releases]
    p, moved = every.normalised(logs), np.inf
    for _ in range(ROUNDS if releases else 0):
        for own, place, at in zip(releases, places, range(len(releases)), strict=True):
            others = logs + sum(said[k] for k in range(len(releases)) if k != at)
            told = _message(own, place, others, rng)
            fresh = np.zeros(logs.size)
            fresh[place[place >= 0]] = told[place >= 0]
            said[at] = fresh if len(releases) == 1 else _KEPT * said[at] + (1 - _KEPT) * fresh
        last, p = p, every.normalised(logs + sum(said))
        moved = float(np.abs(p - last).max(initial=0.0))
        if moved < CLOSE or over():
            break
    return Agreed(p, moved, moved < CLOSE)


def _entries(every: GroupMembers, own: GroupMembers) -> Ints:
    """[entries of a release] which entry of everybody's it is; −1: nobody knows who it is, or it cannot be."""
    values = int(max(every.value.max(initial=0), own.value.max(initial=0))) + 1
    key = every.person[every.member] * values + every.value
    order = np.argsort(key, kind="stable")
    wanted = own.person[own.member] * values + own.value
    at = np.minimum(np.searchsorted(key[order], wanted), max(key.size - 1, 0))
    found = order[at]
    return np.where((own.person[own.member] >= 0) & (key[found] == wanted), found, -1)


def _message(own: GroupMembers, place: Ints, others: Reals, rng: np.random.Generator) -> Reals:
    """[entries of a release] what its groups say beyond what the others say, in logarithms."""
    weights = np.where(place >= 0, others[place], 0.0)
    known = own.person[own.member] >= 0
    weights[known & (place < 0)] = -np.inf  # another release rules it out
    top = np.maximum.reduceat(weights, own.start[:-1])[own.member]
    weights = np.maximum(weights - top, -_FAR)
    found = np.log(np.maximum(worlds(own, weights, rng), np.exp(-_FAR))) - weights
    mean = np.add.reduceat(found, own.start[:-1]) / np.diff(own.start)
    told: Reals = np.clip(found - mean[own.member], -_FAR, _FAR)
    return told
