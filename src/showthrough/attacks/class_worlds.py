"""Worlds of a block of classes: who of its persons has which of its values, persons who look alike taken together.

A world of a block is how many persons of each *type* (alike in quasi-identifiers and in the classes that they fit)
have each value; it stands for as many assignments as there are ways to choose them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import comb, exp, lgamma, prod

import numpy as np

from showthrough.table.arrays import Flags, Ints, Reals

_UNSEEN = 3.0  # rejected worlds that may be there though so many draws met none


@dataclass
class ClassBlock:
    """Classes that are tied together by persons who fit several of them, and what replays told of them."""

    classes: tuple[int, ...]
    persons: Ints
    kind: Ints  # [persons] the type of each, from 0
    values: Ints  # [seats] the published values, with repetition
    can: Flags  # [types, values of the table]
    domain: int
    worlds: list[tuple[Ints, int]] | None = None  # all of them, if they are few: matrices and weights
    queue: list[int] = field(default_factory=list)  # the listed ones as they are tried; who fails once has another try
    tried: int = 0  # of the queue, or as many as were drawn
    accepted: int = 0
    weight: float = 0.0
    total: Reals = field(default_factory=lambda: np.zeros((0, 0)))  # [types, values] Σ of accepted matrices
    every: Reals = field(default_factory=lambda: np.zeros((0, 0)))  # and of all that were drawn
    state: Ints | None = None  # [persons] values of the last accepted world

    def __post_init__(self) -> None:
        self.sizes: Ints = np.bincount(self.kind, minlength=self.can.shape[0])
        self.total, self.every = np.zeros(self.can.shape), np.zeros(self.can.shape)

    @property
    def closed(self) -> bool:
        """Whether all its persons are published, so that it has as many values as persons."""
        return self.values.size == self.persons.size

    @property
    def settled(self) -> bool:
        """Whether every world has been tried."""
        return self.worlds is not None and self.tried >= len(self.queue)

    def enumerate(self, most: int) -> bool:
        """List all worlds, if they are not more than that."""
        counts = np.bincount(self.values, minlength=self.domain)
        there = np.flatnonzero(counts)
        if not self.closed or (self.can[:, there].all() and _at_least(self.sizes, counts) > most):
            return False
        found = []
        for small, weight in _matrices(self.sizes, counts[there], self.can[:, there]):
            matrix = np.zeros(self.can.shape, dtype=np.int64)
            matrix[:, there] = small
            found.append((matrix, weight))
            if len(found) > most:
                return False
        self.worlds, self.queue = found, list(range(len(found)))
        return True

    @property
    def listed(self) -> tuple[Ints, int] | None:
        """The listed world whose turn it is: its matrix and weight; None where worlds are drawn."""
        return None if self.worlds is None else self.worlds[self.queue[self.tried]]

    def failed(self) -> None:
        """The world whose turn it is did not come out; perhaps because of others, so it has a second try at the end."""
        if self.worlds is not None and self.tried < len(self.worlds):
            self.queue.append(self.queue[self.tried])

    def drawn(self, rng: np.random.Generator) -> Ints:
        """[persons] values of a world at random: every assignment alike; who is not published may have any value."""
        rest = rng.integers(self.domain, size=self.persons.size - self.values.size)
        found: Ints = rng.permutation(np.concatenate([self.values, rest]))
        return found

    def spelled(self, matrix: Ints, rng: np.random.Generator) -> Ints:
        """[persons] values of a world that is given by its matrix."""
        found = np.empty(self.persons.size, dtype=np.int64)
        for kind in range(self.sizes.size):
            who = np.flatnonzero(self.kind == kind)
            found[rng.permutation(who)] = np.repeat(np.arange(self.domain), matrix[kind])
        return found

    def matrix(self, values: Ints) -> Ints:
        """[types, values] how many of each type have each value."""
        found: Ints = np.zeros(self.can.shape, dtype=np.int64)
        np.add.at(found, (self.kind, values), 1)
        return found

    def count(self, matrix: Ints, weight: float, share: float = 1.0) -> None:
        """The algorithm would have published a world, or does for a share of its seeds."""
        self.accepted += 1
        self.weight += weight * share
        self.total += matrix * (weight * share)

    def credibility(self) -> Reals | None:
        """[types, values] P(value | somebody of this type); None if no world was accepted.

        Where worlds were drawn, what chance made of all drawn ones is taken out: their mean is known.
        """
        if not self.weight:
            return None
        found: Reals = self.total / (self.weight * self.sizes[:, None])
        if self.worlds is not None:
            return found
        free = (self.persons.size - self.values.size) / self.domain
        mean = (np.bincount(self.values, minlength=self.domain) + free) / self.persons.size
        found = np.clip(found - self.every / (self.tried * self.sizes[:, None]) + mean, 0.0, 1.0)
        found /= found.sum(axis=1, keepdims=True)
        return found

    @property
    def worth(self) -> int:
        """Accepted worlds that would tell as much if chance in what was drawn were not taken out."""
        return int(self.accepted * self.tried / (self.tried - self.accepted + _UNSEEN))


def _at_least(sizes: Ints, counts: Ints) -> float:
    """A bound from below on how many matrices there are: assignments, over those of the same matrix at most."""
    logs = lgamma(sizes.sum() + 1) - sum(lgamma(n + 1) for n in [*counts.tolist(), *sizes.tolist()])
    return exp(min(logs, 700.0))


def _matrices(sizes: Ints, counts: Ints, can: Flags) -> Iterator[tuple[Ints, int]]:
    """All matrices with these sums of rows and columns and no entry where it cannot be, with their weights."""
    rows = sizes.size
    chosen = np.zeros((rows, counts.size), dtype=np.int64)

    def row(at: int, left: tuple[int, ...], weight: int) -> Iterator[tuple[Ints, int]]:
        if at == rows:
            yield chosen.copy(), weight
            return
        for split in _splits(int(sizes[at]), left, can[at]):
            chosen[at] = split
            ways, open_seats = 1, int(sizes[at])
            for n in split:
                ways *= comb(open_seats, n)
                open_seats -= n
            yield from row(at + 1, tuple(have - n for have, n in zip(left, split, strict=True)), weight * ways)

    yield from row(0, tuple(counts.tolist()), 1)


def _splits(many: int, left: tuple[int, ...], can: Flags) -> Iterator[tuple[int, ...]]:
    """All ways to take so many from what is left of each value."""
    if not left:
        if not many:
            yield ()
        return
    most = min(many, left[0]) if can[0] else 0
    if sum(left) < many:
        return
    for n in range(most, -1, -1):
        for rest in _splits(many - n, left[1:], can[1:]):
            yield (n, *rest)


def joint(blocks: list[ClassBlock], most: int) -> bool:
    """Whether all blocks together have at most so many worlds, and list them."""
    for block in blocks:
        if not block.enumerate(most):
            return False
    return prod(len(block.worlds or ()) for block in blocks) <= most
