"""The least value of a smooth convex function between bounds: quasi-Newton steps first, then Newton's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from showthrough.inference.clock import Clock
from showthrough.table.arrays import Flags, Reals

_STEPS = 5_000
_NARROW = 1e-12  # relative fall of the function at which quasi-Newton steps bring nothing more
_NEWTON = 40  # steps
_GRADIENTS = 400  # conjugate gradients of a step
_SMALL = 1e-6  # by how much a point moves, for the slope of the slope; and the shortest part of a step


@dataclass(frozen=True, eq=False)
class Bounded:
    """A function with its slope, and between which bounds each of its arguments may move."""

    value: Callable[[Reals], tuple[float, Reals]]
    low: Reals
    high: Reals

    def free(self, point: Reals, slope: Reals) -> Flags:
        """Which arguments can follow the slope downwards: all but those that would leave their bounds."""
        found: Flags = ~(((point <= self.low) & (slope > 0)) | ((point >= self.high) & (slope < 0)))
        return found


def least(function: Bounded, start: Reals, slope: float, clock: Clock) -> Reals:
    """Where the function is least: no slope that can be followed is above ``slope``, if the time goes so far.

    Quasi-Newton steps cover the ground, but stop where rounding of the function hides how it falls; Newton's steps
    look at the slope alone.
    """
    point = np.clip(start, function.low, function.high)
    return _sharpened(function, _approached(function, point, clock), slope, clock)


def _approached(function: Bounded, start: Reals, clock: Clock) -> Reals:
    from scipy.optimize import Bounds, minimize

    last = [start]

    def noted(now: Reals) -> None:
        last[0] = np.array(now, dtype=np.float64)
        if clock.over:
            raise StopIteration

    if clock.over:
        return start
    minimize(
        function.value,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(function.low, function.high),
        callback=noted,
        options={"maxiter": _STEPS, "maxfun": 2 * _STEPS, "ftol": _NARROW, "gtol": 1e-7, "maxcor": 30},
    )
    return last[0]


def _sharpened(function: Bounded, point: Reals, enough: float, clock: Clock) -> Reals:
    slope = function.value(point)[1]
    steepest = np.abs(slope[function.free(point, slope)]).max(initial=0.0)
    for _ in range(_NEWTON):
        free = function.free(point, slope)
        if clock.over or steepest <= enough:
            break
        direction = np.zeros(point.size)
        direction[free] = _direction(function, point, slope, free, clock)
        part, moved = 1.0, False
        while part > _SMALL and not moved:
            there = np.clip(point + part * direction, function.low, function.high)
            steep = function.value(there)[1]
            most = np.abs(steep[function.free(there, steep)]).max(initial=0.0)
            moved, part = bool(most < steepest), part / 2
        if not moved:
            break
        point, slope, steepest = there, steep, most
    return point


def _direction(function: Bounded, point: Reals, slope: Reals, free: Flags, clock: Clock) -> Reals:
    """Newton's direction for the free arguments by conjugate gradients."""
    left = -slope[free]
    found, along, size = np.zeros(left.size), left.copy(), float(left @ left)
    enough = size * min(0.25, np.sqrt(size)) ** 2
    for _ in range(_GRADIENTS):
        if size <= enough or clock.over:
            break
        far = _SMALL / float(np.abs(along).max())
        moved = np.zeros(point.size)
        moved[free] = far * along
        bent = (function.value(point + moved)[1] - function.value(point - moved)[1])[free] / (2 * far)
        curve = float(along @ bent)
        if curve <= 0:
            break
        found += size / curve * along
        left -= size / curve * bent
        now = float(left @ left)
        along, size = left + now / size * along, now
    return found if found.any() else -slope[free]
