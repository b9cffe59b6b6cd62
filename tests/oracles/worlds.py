"""All assignments of whole values to persons that fit a history, by plain search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from fractions import Fraction

from tests.oracles import History, common_values, people

World = dict[Hashable, Hashable]


def worlds(history: History) -> Iterator[World]:
    """Every possible world."""
    everybody = people(history)
    open_values = {p: sorted(common_values(history, p), key=repr) for p in everybody}
    stock = [[Counter(values) for _, values in release] for release in history]
    homes = {
        p: [(r, g) for r, release in enumerate(history) for g, (persons, _) in enumerate(release) if p in persons]
        for p in everybody
    }
    world: World = {}

    def place(k: int) -> Iterator[World]:
        if k == len(everybody):
            yield dict(world)
            return
        person = everybody[k]
        for value in open_values[person]:
            if all(stock[r][g][value] > 0 for r, g in homes[person]):
                for r, g in homes[person]:
                    stock[r][g][value] -= 1
                world[person] = value
                yield from place(k + 1)
                for r, g in homes[person]:
                    stock[r][g][value] += 1

    yield from place(0)


def posterior(history: History) -> tuple[int, dict[Hashable, dict[Hashable, Fraction]]]:
    """Number of worlds, and the share of worlds in which a person has a value."""
    total, hits = 0, {p: Counter[Hashable]() for p in people(history)}
    for world in worlds(history):
        total += 1
        for person, value in world.items():
            hits[person][value] += 1
    if total == 0:
        return 0, {}
    return total, {p: {v: Fraction(n, total) for v, n in c.items()} for p, c in hits.items()}
