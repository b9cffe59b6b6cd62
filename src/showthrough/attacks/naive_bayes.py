"""Attributes that are independent given the value: the model that all groups share, learned from who may have what.

P(attributes | value) = Π over attributes of P(attribute | value), each with a Dirichlet prior over the declared
domain of the attribute that counts everything `PRIOR` times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.attacks.group_members import GroupMembers
from showthrough.table.arrays import Ints, Reals

PRIOR = 1.0


@dataclass(frozen=True)
class Attributes:
    """The attributes of persons as codes."""

    codes: Ints  # [persons, attributes] −1: not known
    sizes: tuple[int, ...]  # of their domains
    notes: tuple[str, ...] = ()


class NaiveBayes:
    """The tables P(attribute | value), laid end to end, as the entries of seats look them up."""

    def __init__(self, attributes: Attributes, seats: GroupMembers, values: int) -> None:
        self.values, self._sizes, self._seats = values, attributes.sizes, seats
        self._first = np.cumsum([0, *attributes.sizes])[:-1]
        self.rows = int(sum(attributes.sizes))
        codes = np.concatenate([attributes.codes, np.full((1, len(attributes.sizes)), -1)])[seats.person]
        place = np.where(codes >= 0, codes + self._first, self.rows)  # one row more, for what is not known
        self._cell = [place[seats.member, a] * values + seats.value for a in range(len(attributes.sizes))]

    def counts(self, weights: Reals) -> Reals:
        """[rows, values] how often each attribute goes with each value, if the entries weigh so much."""
        found = np.zeros((self.rows + 1) * self.values)
        for cell in self._cell:
            found += np.bincount(cell, weights=weights, minlength=found.size)
        return found.reshape(-1, self.values)[:-1]

    def counted(self, entry: Ints) -> Reals:
        """The same if every member has one entry."""
        found = np.zeros((self.rows + 1) * self.values)
        for cell in self._cell:
            found += np.bincount(cell[entry], minlength=found.size)
        return found.reshape(-1, self.values)[:-1]

    def mean(self, counts: Reals) -> Reals:
        """[rows, values] P(attribute | value) from counts and the prior: what maximizes both together."""
        return self._shares(counts + PRIOR)

    def drawn(self, counts: Reals, rng: np.random.Generator) -> Reals:
        """[rows, values] P(attribute | value) drawn from what counts and prior leave open."""
        return self._shares(np.maximum(rng.standard_gamma(counts + PRIOR), 1e-300))

    def _shares(self, weights: Reals) -> Reals:
        """Each attribute's part of the table made to add up to 1 for every value."""
        if not self._sizes:
            return weights
        total = np.add.reduceat(weights, self._first, axis=0)
        found: Reals = weights / np.repeat(total, self._sizes, axis=0)
        return found

    def logs(self, shares: Reals) -> Reals:
        """[entries] ln P(attributes of the member | value)."""
        table = np.concatenate([np.log(shares), np.zeros((1, self.values))]).ravel()
        found = np.zeros(self._seats.value.size)
        for cell in self._cell:
            found += table[cell]
        return found
