"""Super-populations drawn by chance, and exact small cases, for estimates of uniqueness."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import comb, factorial


def seated(persons: int, alpha: float, theta: float, seed: int) -> list[int]:
    """The group of each person: the next one joins a group of f with probability (f − α)/(θ + i), else a new one."""
    chance = random.Random(seed)
    group: list[int] = []
    sizes: list[int] = []
    for i in range(persons):
        new = chance.random() * (theta + i) < theta + alpha * len(sizes)
        chosen = len(sizes)
        while not new:  # a group by size, kept with probability (f − α)/f: together in proportion to f − α
            chosen = group[chance.randrange(i)]
            if chance.random() * sizes[chosen] < sizes[chosen] - alpha:
                break
        if new:
            sizes.append(0)
        group.append(chosen)
        sizes[chosen] += 1
    return group


def partitions(n: int, most: int | None = None) -> Iterator[list[int]]:
    """Ways to write n as a sum of sizes."""
    if n == 0:
        yield []
        return
    for first in range(min(n, most or n), 0, -1):
        for rest in partitions(n - first, first):
            yield [first, *rest]


def ways(sizes: list[int]) -> int:
    """How many partitions of labelled persons have these sizes."""
    found = factorial(sum(sizes))
    for size in sizes:
        found //= factorial(size)
    for often in Counter(sizes).values():
        found //= factorial(often)
    return found


def alone_given_alone(sizes: list[int], people: int) -> Fraction:
    """P(alone in the population | alone in the sample), sizes of the population's groups as often as in the sample."""
    n = sum(sizes)
    weight = {i: Fraction(comb(i, 1) * comb(people - i, n - 1), comb(people, n)) for i in set(sizes)}
    return weight[1] * sizes.count(1) / sum((weight[i] for i in sizes), Fraction(0))


def size_given_found(found: int, fraction: float, most: int = 20_000) -> Iterator[tuple[int, float]]:
    """P(F | f) for Bernoulli sampling and a prior ∝ 1/F, by adding up."""
    weight = fraction**found
    all_ = [(size, 0.0) for size in range(found)]
    for size in range(found, most):
        all_.append((size, weight / size))
        weight *= (1 - fraction) * (size + 1) / (size + 1 - found)
    total = sum(chance for _, chance in all_)
    yield from ((size, chance / total) for size, chance in all_)
