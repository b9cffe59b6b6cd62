"""Ranges with a wall inside each end, which Newton's method can follow: the way to which ends are reached.

A row whose count may lie from lower to upper has a multiplier with a sign. Among thousands of such rows the one that
changes its sign first stops all others, so the method begins with a smooth problem (Fiacco and McCormick 1968):

    F(mu) = … − Σ_rows min over t in (lower, upper) of  t · mu − tau · log(t − lower) − tau · log(upper − t)

t(mu) is the count that a row asks for, and the curvature of this term is 1 / (tau/(t − lower)² + tau/(upper − t)²).
As tau falls to nothing, rows whose count rests between its ends have multipliers that fall with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.inference.rows import Rows
from showthrough.table.arrays import Flags, Reals

_FLOOR = 1e-300
FIRST = 1.0
"""Tau at first."""
LAST = 1e-8
"""Tau at last, where it is plain which rows rest."""
FALL = 5.0
"""By what tau is divided each time."""


@dataclass(frozen=True)
class Walled:
    """Rows at some multipliers: the counts they ask for beyond the lower end, their part of F, and its curvature."""

    asked: Reals
    gain: Reals
    bend: Reals


class Barrier:
    """The walls of all ranges for one tau; exact counts have none."""

    def __init__(self, rows: Rows, tau: float) -> None:
        self.tau, self.width = tau, (rows.upper - rows.lower).astype(np.float64)
        self.wide = self.width > 0

    def near(self, mu: Reals) -> Reals:
        """[rows] how far the count that is asked for is from the nearer end; 0 where the count is exact."""
        size, tau = np.abs(mu), self.tau
        b = size * self.width + 2 * tau  # size · s² − b · s + tau · width = 0, the smaller root without cancellation
        root = np.hypot(size * self.width, 2 * tau)  # of b² − 4 · size · tau · width, whatever runs off
        return np.asarray(2 * tau * self.width / (b + root))

    def at(self, mu: Reals) -> Walled:
        """What the rows ask for."""
        s, width = self.near(mu), self.width
        asked = np.where(mu >= 0, s, width - s)
        near, far = np.maximum(s, _FLOOR), np.maximum(width - s, _FLOOR)
        logs = np.where(self.wide, np.log(near) + np.log(far), 0.0)
        with np.errstate(over="ignore", divide="ignore"):  # an end that is all but reached has no curvature
            bend = np.where(self.wide, 1.0 / (self.tau / near**2 + self.tau / far**2), 0.0)
        return Walled(asked, asked * mu - self.tau * logs, bend)

    def resting(self, mu: Reals) -> Flags:
        """Rows that are further from their ends than their multipliers are from 0."""
        s = self.near(mu)
        return np.asarray(self.wide & (s * s > self.tau))
