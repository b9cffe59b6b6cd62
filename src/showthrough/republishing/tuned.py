"""States of the search for a cheaper release, and the steps between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from showthrough.republishing.beliefs import Belief
from showthrough.republishing.proposal import Proposal
from showthrough.table.arrays import Flags, Ints


@dataclass(frozen=True, eq=False)
class Tuned:
    """A proposal and what readers would believe."""

    group: Ints  # [rows] −1: held back
    fakes: Ints  # [groups, values]
    belief: Belief

    @cached_property
    def shown(self) -> Ints:
        """[groups, values] what is published, counterfeits included."""
        return self.belief.counts.astype(np.int64)

    @cached_property
    def real(self) -> Ints:
        """[groups] members who are no counterfeits."""
        return np.bincount(self.group[self.group >= 0], minlength=self.fakes.shape[0])

    @cached_property
    def held(self) -> int:
        """Records held back."""
        return int((self.group < 0).sum())

    @cached_property
    def price(self) -> int:
        """Counterfeits and records held back."""
        return int(self.fakes.sum()) + self.held

    def proposal(self) -> Proposal:
        """As it is published; groups of counterfeits alone are left out."""
        group, value = np.nonzero(self.fakes)
        number = self.fakes[group, value]
        return Proposal(
            self.group.astype(np.int32),
            np.repeat(group, number).astype(np.int32),
            np.repeat(value, number).astype(np.int32),
        ).inhabited()


@dataclass(frozen=True, eq=False)
class Steps:
    """Single steps: one record or counterfeit of a kind with a value from one group to another (−1: out)."""

    kind: Ints
    value: Ints
    source: Ints
    target: Ints
    row: Ints  # a record that is meant, −1: a counterfeit

    def of(self, chosen: Ints | Flags) -> Steps:
        """Some of them."""
        return Steps(self.kind[chosen], self.value[chosen], self.source[chosen], self.target[chosen], self.row[chosen])

    @property
    def ways(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """Value, source, target and row of each."""
        return self.value.tolist(), self.source.tolist(), self.target.tolist(), self.row.tolist()

    @cached_property
    def price(self) -> Ints:
        """[steps] what each adds to the price."""
        fake = self.row < 0
        out, back = (self.target < 0).astype(np.int64), (self.source < 0).astype(np.int64)
        return np.where(fake, back - out, out - back)

    @cached_property
    def held(self) -> Ints:
        """[steps] what each adds to the records held back."""
        return np.where(self.row < 0, 0, self.price)
