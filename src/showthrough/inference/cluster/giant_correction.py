"""The last step of a component in parts: from multipliers that are nearly right to probabilities that meet the counts.

The same steps as `correction`, of one component. A linear step is mass·(1 + tangent), so the point after several is
known by where it began and the sum of their directions: workers need no state of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from showthrough.inference.clock import Clock
from showthrough.inference.cluster import giant_tasks as tasks
from showthrough.inference.cluster.giant_kernel import GiantKernel, Place, Posted, figures
from showthrough.inference.cluster.giant_tasks import Doubt, Lifted
from showthrough.inference.correction import CLOSED
from showthrough.inference.gradients import System
from showthrough.table.arrays import Reals

_MET = 2e-12  # persons; as in `correction`
_ENOUGH_MET = 8e-12
_CLEARLY = 1e5
_NOTHING = (1e-9, 1e-7, 1e-6)
_SWEEPS = 6
_PROGRESS = 0.5
_LIFTED = (1e-3, 1e-5, 1e-7)
_LONGER = (4.0, 16.0, 64.0)
_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Finish:
    """A point that meets the counts, as far as it does: a place, the step from there, and what is then made nothing."""

    place: Place
    step: Posted
    cut: float
    mu: Reals
    gap: float  # nats
    met: bool
    doubts: list[Doubt]  # [parts]
    doubtful: int
    direction: Reals  # along which the doubtful fall
    kept: tuple[Place | Posted, ...] = ()  # what the doubts speak of

    def better_than(self, other: Finish | None, gain: float = 1.0) -> bool:
        """Whether it meets the counts where another one does not, or leaves at most so much of its gap."""
        if other is None or not other.met:
            return True
        return self.met and self.gap <= gain * other.gap


def finish(kernel: GiantKernel, mu: Reals, clock: Clock) -> Finish:
    """A last full Newton step in mu, and a point that meets the counts."""
    work = _Finishing(kernel, mu)
    work.meet(clock)
    first, missed, direction = (work.place, work.step), work.missed, work.direction
    limit = _CLEARLY * max(missed, work.floor)
    doubtful = work.least <= limit
    work.clip()
    for nothing in _NOTHING:
        if work.missed <= work.met:
            break
        work.clear(nothing)
        work.meet(clock)
        work.clip()
    place, step, met = work.place, work.step, work.missed <= work.met
    mu, gap = work.moved(direction, place, step)
    doubts, number, falls = work.doubts(first, limit, ()), 0, direction
    if doubtful:
        number = work.count(doubts)
    if number and not clock.over:
        lifted, along = work.lifted(place, step, clock)
        doubts = work.doubts(first, limit, lifted)
        number = work.count(doubts)
        falls = along if number else falls
    return Finish(place, step, _ROUNDING, mu, gap, met, doubts, number, falls, (*first, *work.kept))


@dataclass
class _Finishing:
    """A point on its way to the counts."""

    kernel: GiantKernel
    mu: Reals
    kept: list[Place | Posted] = field(default_factory=list)

    def __post_init__(self) -> None:
        point = self.kernel.at(self.mu)
        self.given = point
        largest = float(self.kernel.count.max(initial=0.0))
        self.floor = 1e-15 * max(1.0, largest)
        self.met = max(_ENOUGH_MET, 10 * self.floor)
        self._begin(point.x, point.g)

    def _begin(self, place: Place, g: Reals) -> None:
        self.place, self.g, self.direction = place, g, np.zeros(g.size)
        self.step, self.least = self.kernel.crew.post(self.direction), 1.0
        self.missed = float(np.abs(g).max(initial=0.0))

    def _after(self, place: Place, step: Posted, cut: float = 0.0) -> tuple[Reals, float, float]:
        """What a step misses of the counts, the least probability, and how far anybody's are from adding up."""
        self.kernel.passes += 1
        replies = self.kernel.crew.ask(tasks.moved, place, step, wish=cut)
        left = self.kernel.crew.added(replies) - self.kernel.count
        return left, min(figures(replies)), max(figures(replies, 1))

    def meet(self, clock: Clock, near: float = _MET) -> None:
        """Correct until the counts are met up to ``near``, or get no nearer."""
        kernel = self.kernel
        system = System(kernel, self.place, kernel.diagonal(self.place))
        for sweep in range(_SWEEPS):
            unsure = self.least <= _CLEARLY * max(self.missed, self.floor)
            if self.missed <= self.floor or clock.over or (sweep and self.missed <= near and not unsure):
                return
            enough = np.clip(np.array([0.2 * near / max(self.missed, self.floor)]), 1e-8, 1e-2)
            direction = self.direction + system.solve(-self.g, relative=enough, clock=clock)
            step = kernel.crew.post(direction)
            left, least, _ = self._after(self.place, step)
            missed, before = float(np.abs(left).max(initial=0.0)), self.missed
            if missed >= before:
                return
            self.step, self.direction, self.g, self.missed, self.least = step, direction, left, missed, least
            if missed > _PROGRESS * before:
                return

    def clip(self) -> None:
        """Make what is below nothing nothing; what that misses counts."""
        self.g, _, short = self._after(self.place, self.step, _ROUNDING)
        self.missed = max(float(np.abs(self.g).max(initial=0.0)), short)

    def clear(self, nothing: float) -> None:
        """Take out next to nothing, and begin again from what is left."""
        self._again(self.kernel.crew.place(self.direction, self.place, floor=nothing))

    def _again(self, place: Place) -> None:
        none = self.kernel.crew.post(np.zeros(self.kernel.crew.size))
        left, _, _ = self._after(place, none)
        self._begin(place, left)

    def moved(self, direction: Reals, place: Place, step: Posted) -> tuple[Reals, float]:
        """The multipliers after the step and what they leave of the gap; where forced zeros fall, longer ones."""
        best, least = self.mu + direction, self._gap(place, step, self.mu + direction)
        for length in (0.0, *_LONGER):
            if least <= CLOSED:
                break
            further = self.mu + length * direction
            gap = self._gap(place, step, further)
            best, least = (further, gap) if gap < least else (best, least)
        return best, least

    def _gap(self, place: Place, step: Posted, mu: Reals) -> float:
        self.kernel.passes += 1
        found = sum(figures(self.kernel.crew.ask(tasks.gap, place, step, self.kernel.crew.post(mu), wish=_ROUNDING)))
        return found if np.isfinite(found) else np.inf

    def doubts(
        self, first: tuple[Place, Posted], limit: float, lifted: tuple[tuple[Place, Posted, float], ...]
    ) -> list[Doubt]:
        """[parts] what is doubtful."""
        place, step = first
        return [
            Doubt(spot, one, limit, tuple(Lifted(p.spots[k], s.letters[k], c) for p, s, c in lifted))
            for k, (spot, one) in enumerate(zip(place.spots, step.letters, strict=True))
        ]

    def count(self, doubts: list[Doubt]) -> int:
        """How many are doubtful."""
        by_number = {part.number: own for part, own in zip(self.kernel.crew.parts, doubts, strict=True)}
        return int(sum(figures(self.kernel.crew.ask(tasks.count_doubtful, None, wish=by_number))))

    def lifted(self, place: Place, step: Posted, clock: Clock) -> tuple[tuple[tuple[Place, Posted, float], ...], Reals]:
        """Points where nothing is small and that meet the counts, and the direction along which forced zeros fall."""
        found: list[tuple[Place, Posted, float]] = []
        end = self.direction
        for height in _LIFTED:
            self._again(self.kernel.crew.place(end, place, floor=height, lift=True))
            near = height / _CLEARLY
            self.meet(clock, near)
            self.kept += [self.place, self.step]
            if self.missed <= max(near, self.met) and self.least >= 0:
                found.append((self.place, self.step, _CLEARLY * max(self.missed, self.floor)))
            if clock.over:
                break
        self.kept += [place, step]
        return tuple(found), self.direction
