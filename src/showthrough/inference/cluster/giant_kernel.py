"""The passes of Newton's method over parts: the driver sends each the rows that it touches, and adds up the replies.

Sums are added in the order of the parts, so that they do not depend on who was quicker. Probabilities stay with the
workers; the driver knows them by a `Place`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

import numpy as np

from showthrough.engines.engine import Engine
from showthrough.inference.cluster import giant_tasks as tasks
from showthrough.inference.cluster.giant_part import GiantPart, Letter, drop, letter
from showthrough.inference.cluster.giant_tasks import Call, Errand, Reply
from showthrough.inference.cluster.giant_worker import Spot, Stay, plain_problem
from showthrough.inference.kernel import Kernel
from showthrough.inference.newton import RESIDUAL
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Codes, Ints, Reals

T = TypeVar("T")


class Posted:
    """A vector over rows that each part can read; its letters live as long as it."""

    def __init__(self, letters: list[Letter]) -> None:
        self.letters = letters
        weakref.finalize(self, drop, letters)


@dataclass(frozen=True, eq=False)
class Place:
    """The probabilities of all parts, by the name that each worker knows them by."""

    spots: list[Spot]
    posted: Posted
    before: Place | None = None


@dataclass
class Traffic:
    """What went to and fro."""

    calls: int = 0
    sent: int = 0  # bytes
    received: int = 0


class Crew:
    """The parts at work on one version of the open problem."""

    def __init__(self, engine: Engine, folder: str, parts: Sequence[GiantPart], stay: Stay) -> None:
        self.engine, self.folder, self.parts, self.stay = engine, folder, parts, stay
        self.traffic = Traffic()
        self._numbers = count()
        self.rows: list[Codes] = []  # [parts] the rows of each among those of the open problem
        self.size = 0

    def begin(self, version: int, rows: list[Codes], size: int) -> None:
        """Work on another version of the problem from now on."""
        self.stay = Stay(self.stay.run, version, self.stay.most)
        self.rows, self.size = rows, size

    def post(self, vector: Reals | Ints) -> Posted:
        """Make a vector over rows ready for all parts."""
        number = next(self._numbers)
        names = [f"vector-{number}-{part.number}" for part in self.parts]
        return Posted([letter(self.folder, n, vector[own]) for n, own in zip(names, self.rows, strict=True)])

    def place(self, vector: Reals, before: Place | None = None, *, floor: float = 0.0, lift: bool = False) -> Place:
        """Name the softmax of multipliers, or probabilities made from others: see `Spot`."""
        posted, number = self.post(vector), next(self._numbers)
        old: Sequence[Spot | None] = [None] * len(self.parts) if before is None else before.spots
        spots = [Spot(number, one, own, floor, lift) for one, own in zip(posted.letters, old, strict=True)]
        return Place(spots, posted, before)

    def ask(
        self, task: Callable[[GiantPart, Errand], T], place: Place | None, *posted: Posted, wish: Any = None
    ) -> list[T]:
        """Let all parts do a task."""
        spots: Sequence[Spot | None] = [None] * len(self.parts) if place is None else place.spots
        calls = {
            part.number: Call(spot, tuple(one.letters[k] for one in posted))
            for k, (part, spot) in enumerate(zip(self.parts, spots, strict=True))
        }
        self.traffic.calls += 1
        self.traffic.sent += sum(one.size for call in calls.values() for one in call.letters)
        return self.engine.map(task, self.parts, Errand(self.stay, self.folder, next(self._numbers), calls, wish))

    def added(self, replies: Sequence[Reply]) -> Reals:
        """[rows] what came back, added in the order of the parts."""
        total = np.zeros(self.size)
        for own, reply in zip(self.rows, replies, strict=True):
            total[own] += reply.rows.read()
            self.traffic.received += reply.rows.size
            reply.rows.drop()
        return total


def figures(replies: Sequence[Reply], number: int = 0) -> list[float]:
    """One figure of each part."""
    return [reply.figures[number] for reply in replies]


class GiantKernel(Kernel):
    """Passes over all parts; probabilities x are a `Place`."""

    def __init__(self, problem: Reduced, crew: Crew) -> None:
        super().__init__(problem)
        self.crew = crew
        self.met = 0  # rows whose count was met at the last multipliers

    def evaluated(self, mu: Reals) -> tuple[Any, Reals, Reals]:
        """The place, F without its linear part, and the persons in each row."""
        self.passes += 1
        place = self.crew.place(mu)
        replies = self.crew.ask(tasks.evaluate, place)
        self.crew.traffic.sent += sum(spot.letter.size for spot in place.spots)
        expected = self.crew.added(replies)
        self.met = int((np.abs(expected - self.count) <= RESIDUAL).sum())
        return place, np.array([sum(figures(replies))]), expected

    def expected_in(self, release: int, mu: Reals) -> Reals:
        """[rows] the persons in each row of one release."""
        self.passes += 1
        return self.crew.added(self.crew.ask(tasks.in_release, self.crew.place(mu), wish=release))

    def farthest(self, x: Any, d: Reals) -> Reals:
        """[1] the most that d changes the logarithm of a probability."""
        return np.array([max(figures(self.crew.ask(tasks.farthest, x, self.crew.post(d))))])

    def alone(self, x: Any, component: int) -> tuple[Kernel, Any]:  # noqa: ARG002 - there is but one
        """All there is."""
        return self, x

    def diagonal(self, x: Any) -> Reals:
        """The diagonal of H."""
        return self.crew.added(self.crew.ask(tasks.diagonal, x))

    def hessian(self, x: Any, d: Reals) -> Reals:
        """H·d without H."""
        self.passes += 1
        return self.crew.added(self.crew.ask(tasks.hessian, x, self.crew.post(d)))


def rows_alone(left: Ints, releases: int) -> Reduced:
    """A problem of which the driver holds nothing but the rows."""
    none = np.empty((releases, 0), dtype=np.int32)
    return plain_problem(np.zeros(1, dtype=np.int64), none, np.empty(0), left)
