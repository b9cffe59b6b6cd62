"""All worlds of the groups of one release, weighed by what is known of the members: what each member has in them."""

from __future__ import annotations

import numpy as np

from showthrough.attacks.gibbs import sampled_worlds
from showthrough.attacks.group_members import GroupMembers
from showthrough.attacks.weighted_worlds import states, weighed_alike
from showthrough.table import ragged
from showthrough.table.arrays import Ints, Reals

_STATES = 20_000
_ROUNDS = 1000
_BATCH = 2_000_000


def worlds(seats: GroupMembers, logs: Reals, rng: np.random.Generator) -> Reals:
    """[entries] P(value | member) over all worlds of each group, weighed by exp(logs); sampled in large groups."""
    found = np.zeros(seats.value.size)
    first, alike = _alike(seats)
    entry, size = seats.start[first], np.diff(np.append(first, seats.members))
    weights = np.exp(logs - np.maximum.reduceat(logs, seats.start[:-1])[seats.member])
    large = np.zeros(int(seats.group.max(initial=-1)) + 1, dtype=bool)
    for counts, own in alike.items():
        work = states(counts, sum(counts))
        if _many(counts):
            large[seats.group[first[own]]] = True
            continue
        cells = sum(counts) * len(counts)
        for part in np.array_split(np.array(own), max(1, work * len(own) // _BATCH)):
            index = ragged.ranges(entry[part], np.full(part.size, cells)).reshape(part.size, size[part[0]], len(counts))
            found[index] = weighed_alike(counts, weights[index])
    if large.any():
        found += sampled_worlds(seats, logs, rng, _ROUNDS, large)
    return found


def countable(seats: GroupMembers) -> bool:
    """Whether all groups are small enough to be worked out exactly."""
    return not any(_many(counts) for counts in _alike(seats)[1])


def _many(counts: tuple[int, ...]) -> bool:
    return states(counts, sum(counts)) * len(counts) > _STATES


def _alike(seats: GroupMembers) -> tuple[Ints, dict[tuple[int, ...], list[int]]]:
    """The first member of each group, and the groups by the counts that they publish."""
    first = np.flatnonzero(np.diff(seats.group, prepend=-1))
    kinds, column = np.diff(seats.start)[first], seats.column[seats.start[first]]
    found: dict[tuple[int, ...], list[int]] = {}
    for at in range(first.size):
        found.setdefault(tuple(seats.count[column[at] : column[at] + kinds[at]].tolist()), []).append(at)
    return first, found
