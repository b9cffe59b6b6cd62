"""Newton's direction where multipliers stop: the quadratic model of F at its least inside a box.

Rows of noisy counts and of ranges stop at kinks of F. Cut to the box a Newton direction may lead upwards, so the model
q(d) = g·d + d·A·d / 2 is minimised inside (Moré and Toraldo 1991): a projected step along the scaled gradient tells
which rows stop, conjugate gradients find where that leads the others, and both go no further than q falls. What is
found descends: where q(d) < 0, g·d is below 0 too.
"""

from __future__ import annotations

import numpy as np

from showthrough.inference.clock import Clock
from showthrough.inference.gradients import System
from showthrough.inference.kernel import Kernel, Point
from showthrough.table.arrays import Flags, Reals

_ROUNDS = 6
_CUTS = 6
_SHORTER = 0.3
_FLOOR = 1e-300


def direction(
    kernel: Kernel, mu: Reals, here: Point, newton: Reals, metric: tuple[Reals, Reals, Reals], clock: Clock
) -> Reals:
    """The direction inside the box; that of ``newton`` if it stays there. ``metric``: diagonal, damping, accuracy."""
    box = kernel.room(mu, here.g)
    inside = np.clip(newton, *box)
    if np.array_equal(inside, newton):
        return newton
    model = _Model(kernel, here, box, metric)
    model.take(inside)
    for _ in range(_ROUNDS):
        if clock.over or not model.descend(clock):
            break
    return model.d


class _Model:
    """The model at one point; every scalar is one per component."""

    def __init__(
        self, kernel: Kernel, here: Point, box: tuple[Reals, Reals], metric: tuple[Reals, Reals, Reals]
    ) -> None:
        self.kernel, self.here, self.g = kernel, here, here.g
        self.low, self.high = box
        self.diagonal, self.damping, self.enough = metric
        self.system = System(kernel, here.x, self.diagonal, self.damping, here.bend)
        self.d, self.bent = np.zeros(self.g.size), np.zeros(self.g.size)  # a direction, and A·d
        self.value = np.zeros(kernel.component_rows.size)

    def take(self, d: Reals) -> Flags:
        """Go to another direction, in each component in which q is less there; says in which."""
        bent = self.system.times(d)
        value = self.kernel.per_component(d * (self.g + 0.5 * bent))
        lower = value < self.value
        own = self.kernel.on_rows(lower)
        self.d, self.bent = np.where(own, d, self.d), np.where(own, bent, self.bent)
        self.value = np.where(lower, value, self.value)
        return lower

    def descend(self, clock: Clock) -> bool:
        """One step along the gradient, one by conjugate gradients; says whether a row has stopped or begun to move."""
        before, stood = self.d.copy(), self._stopped()
        slope = self.system.inverse * self._pull()
        slope = np.where((self.d <= self.low) & (slope < 0) | (self.d >= self.high) & (slope > 0), 0.0, slope)
        bend = self.kernel.per_component(slope * self.system.times(slope))
        length = self.kernel.per_component(slope * self._pull()) / np.maximum(bend, _FLOOR)
        self._cut(self.d, slope, np.where(bend > 0, length, 1.0))
        free = ~self._stopped()
        inner = System(self.kernel, self.here.x, np.where(free, self.diagonal, 0.0), self.damping, self.here.bend)
        way = inner.solve(np.where(free, self._pull(), 0.0), relative=self.enough, clock=clock)
        self._cut(self.d, np.where(free, way, 0.0), np.ones(self.value.size))
        return bool((self._stopped() != stood).any()) and not np.array_equal(self.d, before)

    def _pull(self) -> Reals:
        return -self.g - self.bent

    def _stopped(self) -> Flags:
        return np.asarray((self.d <= self.low) | (self.d >= self.high))

    def _cut(self, start: Reals, way: Reals, length: Reals) -> None:
        """Along a way as far as q falls, at last to where the first row stops."""
        pending = np.ones(length.size, dtype=bool)
        for attempt in range(_CUTS):
            if attempt == _CUTS - 1:
                length = np.minimum(length, self._first(start, way))
            wanted = np.where(self.kernel.on_rows(pending), start + self.kernel.on_rows(length) * way, start)
            pending &= ~self.take(np.clip(wanted, self.low, self.high))
            if not pending.any():
                return
            length = np.where(pending, _SHORTER * length, length)

    def _first(self, start: Reals, way: Reals) -> Reals:
        """How far it is to where the first row stops."""
        to = np.where(way > 0, self.high, self.low) - start
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(way == 0, np.inf, to / way)
        return np.minimum.reduceat(far, self.kernel.component_start)
