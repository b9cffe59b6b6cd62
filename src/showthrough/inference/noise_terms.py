"""What rows of noisy counts add to the dual of maximum entropy: how many persons each asks for, at which multiplier.

A row that holds n persons costs P(n) = Σ |y − n| / b over its entries (y, b) whose noise falls off like e^(−|t|/b), and
(y − n)² / 2σ² for each entry (y, σ) of Gaussian noise, which add up to one: 1/σ² is the sum of theirs, y their mean
weighed with it. At a multiplier θ the row asks for the n with −θ among the slopes of P there. Without Gaussian noise
that is a staircase, which falls from the largest y to the smallest between θ = −Σ 1/b, where any larger n will do, and
Σ 1/b, where any smaller one will; on a *kink* between two stairs anything between them will do, and the row *rests*.
With it stairs are joined by slopes of −σ², and there is no first and no last one. The row's part of the dual is less
the integral of what it asks for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from showthrough.inference.noise_stairs import StairPieces
from showthrough.table.arrays import Flags, Ints, Reals

_ON = 1e-12  # of the largest kink: on a kink, but for rounding
_FALL = 1e-9  # persons between two counts that are different

KinkFlags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RowsAsked:
    """Rows at some multipliers: the counts they ask for, their part of −F, whether they rest, and how F bends."""

    asked: Reals
    gain: Reals
    resting: Flags
    bend: Reals


@dataclass(frozen=True)
class NoiseTerms:
    """The noisy rows of a problem, of which there are q; the pieces of each are as in `StairPieces`."""

    place: Ints  # [rows of the whole problem] which of the q rows it is; −1: it is exact
    row: Ints  # [q] its number in the problem at hand
    pieces: StairPieces

    @cached_property
    def near(self) -> Reals:
        """[q] how near to a kink is on it."""
        kink = self.pieces.kink
        return np.asarray(_ON * np.abs(np.where(np.isfinite(kink), kink, 0.0)).max(axis=1, initial=0.0))

    @cached_property
    def falls(self) -> KinkFlags:
        """[q, K] kinks between two counts, which rows rest on."""
        high, low = self.pieces.on_kinks()
        with np.errstate(invalid="ignore"):
            return np.isfinite(self.pieces.kink) & (high - low > _FALL)

    @cached_property
    def kinked(self) -> bool:
        """Whether any row has kinks to rest on."""
        return bool(self.falls.any())

    def within(self, row_of: Ints) -> NoiseTerms:
        """The same for some of the rows, by their numbers in the whole problem."""
        own = self.place[row_of]
        row = np.flatnonzero(own >= 0)
        return NoiseTerms(self.place, row, self.pieces.only(own[row]))

    def sharpened(self, times: float) -> NoiseTerms:
        """The same where missing a count costs so many times as much."""
        return replace(self, pieces=self.pieces.sharpened(times))

    def steepest(self, held: Reals) -> float:
        """The largest multiplier, about, that these rows can come to, while they hold these persons or so."""
        kink, bend, level = self.pieces.kink, self.pieces.bend[:, 0], self.pieces.level[:, 0]
        last = np.abs(np.where(np.isfinite(kink), kink, 0.0)).max(axis=1, initial=0.0)
        miss = np.divide(np.abs(level - held), bend, out=np.zeros(held.size), where=bend > 0)
        return float((last + miss).max(initial=0.0))

    def at(self, mu: Reals, expected: Reals) -> RowsAsked:
        """What the rows ask for, given the multipliers and expected counts of all rows."""
        theta, held = mu[self.row], expected[self.row]
        before, after = self._behind(theta, -1), self._behind(theta, 1)
        on = before < after
        (most, gain, bend), (least, past, bent) = self.pieces.at(before, theta), self.pieces.at(after, theta)
        asked = np.where(on, np.clip(held, least, most), most)
        gain = np.where(np.isfinite(gain), gain, past)
        resting = on & (most - least > _FALL) & (least <= held) & (held <= most)
        return RowsAsked(asked, gain, resting, np.where(on, np.maximum(bend, bent), bend))

    def _behind(self, theta: Reals, side: int) -> Ints:
        """[q] how many kinks are behind a multiplier, without those that it is on (−1), or with them (1)."""
        return np.asarray((self.pieces.kink < (theta + side * self.near)[:, None]).sum(axis=1))

    def room(self, theta: Reals, g: Reals) -> tuple[Reals, Reals]:
        """[q] how far rows can go down and up: to the next kink, from one only to where they are missing persons."""
        at, near, kink = theta[:, None], self.near[:, None], np.where(self.falls, self.pieces.kink, np.nan)
        on = (np.abs(kink - at) <= near).any(axis=1)
        above = np.where(kink > at + near, kink, np.inf).min(axis=1, initial=np.inf) - theta
        below = np.where(kink < at - near, kink, -np.inf).max(axis=1, initial=-np.inf) - theta
        return np.where(on & (g <= 0), 0.0, below), np.where(on & (g >= 0), 0.0, above)
