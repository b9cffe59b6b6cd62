"""Attempts that leave persons over a limit, for a best effort: those that no other one beats in all respects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from showthrough.anonymizers.table import Table
from showthrough.republishing.proposal import Proposal


@dataclass(frozen=True, eq=False)
class Attempt:
    """A proposal, how many persons it leaves over a limit, and what readers lose by it."""

    persons: int
    proposal: Proposal
    loss: float

    def beats(self, other: Attempt) -> bool:
        """Whether it is at least as good in persons, in price and in what readers lose."""
        cheaper = self.proposal.cost <= other.proposal.cost and self.loss <= other.loss
        return self.persons <= other.persons and cheaper


@dataclass(eq=False)
class Front:
    """The attempts at releases of a table."""

    table: Table
    attempts: list[Attempt] = field(default_factory=list)

    def remember(self, persons: int, proposal: Proposal) -> None:
        """Keep an attempt unless another one beats it."""
        new = Attempt(persons, proposal, proposal.loss(self.table))
        if not any(one.beats(new) for one in self.attempts):
            self.attempts = [new, *(one for one in self.attempts if not new.beats(one))]

    def offered(self, satisfies: Callable[[Proposal], bool]) -> Iterator[Attempt]:
        """What may be published: few withheld, criteria held, the fewest persons over a limit first."""
        kept = (one for one in self.attempts if not one.proposal.cost[0])
        yield from (one for one in sorted(kept, key=lambda one: one.persons) if satisfies(one.proposal))


def spread(attempts: list[Attempt], number: int) -> list[Attempt]:
    """The first, the last, and others evenly between them."""
    if len(attempts) <= number:
        return attempts
    return [attempts[k] for k in np.unique(np.linspace(0, len(attempts) - 1, number).round().astype(int))]
