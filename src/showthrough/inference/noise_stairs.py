"""What noisy counts ask for at each multiplier, piece by piece, from their entries: stairs, slopes between, and ramps.

`noise_terms` says what that is and what it is for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from showthrough.inference.noise_rows import NoisyEntries
from showthrough.release.noise import Law
from showthrough.table.arrays import Flags, Ints, Reals, sum_by
from showthrough.table.ragged import starts

PieceGrid = npt.NDArray[np.float64]


@dataclass(frozen=True)
class StairPieces:
    """What each row asks for: between two kinks, before the first and after the last, level − bend · (θ − anchor).

    Legend: q rows, K kinks at most; rows with fewer have infinite ones behind them.
    """

    kink: PieceGrid  # [q, K] ascending
    level: PieceGrid  # [q, K + 1]
    anchor: PieceGrid  # [q, K + 1]
    bend: PieceGrid  # [q, K + 1]
    past: PieceGrid  # [q, K + 1] the integral from some multiplier to the anchor

    def only(self, rows: Ints) -> StairPieces:
        """Those of some rows."""
        return StairPieces(self.kink[rows], self.level[rows], self.anchor[rows], self.bend[rows], self.past[rows])

    def sharpened(self, times: float) -> StairPieces:
        """The same where missing a count costs so many times as much."""
        return StairPieces(self.kink * times, self.level, self.anchor * times, self.bend / times, self.past * times)

    def on_kinks(self) -> tuple[PieceGrid, PieceGrid]:
        """[q, K] what is asked for on each kink, coming from below and from above it."""
        kink = np.where(np.isfinite(self.kink), self.kink, 0.0)
        high = self.level[:, :-1] - self.bend[:, :-1] * (kink - self.anchor[:, :-1])
        return high, self.level[:, 1:] - self.bend[:, 1:] * (kink - self.anchor[:, 1:])

    def at(self, piece: Ints, theta: Reals) -> tuple[Reals, Reals, Reals]:
        """What is asked for, the integral (infinite where anything would do), and how that bends, in some pieces."""
        at = np.arange(theta.size)
        level, bend = self.level[at, piece], self.bend[at, piece]
        since, told = theta - self.anchor[at, piece], np.isfinite(level)
        gain = self.past[at, piece] + np.where(told, level, 0.0) * since - 0.5 * bend * since**2
        return level - bend * since, np.where(told, gain, np.inf), bend


def pieces_of(told: NoisyEntries, laws: tuple[Law, ...], most: Reals, *, ramped: bool = False) -> StairPieces:
    """The pieces of rows that hold at most so many persons each.

    If ``ramped`` there are slopes from the middle of each stair to that of the next: near, and quickly found.
    """
    scale = np.array([law.scale for law in laws])[told.law]
    steep = np.array([law.exponential for law in laws])[told.law]
    precision = sum_by(told.row[~steep], scale[~steep] ** -2.0, most.size)
    weighed = sum_by(told.row[~steep], scale[~steep] ** -2.0 * told.count[~steep], most.size)
    square = np.divide(1.0, precision, out=np.zeros(most.size), where=precision > 0)
    stairs = _Staircase(most.size, told.row[steep], (told.count[steep], 1.0 / scale[steep]), most)
    made = _PiecesMade(stairs, precision > 0)
    made.smooth(weighed * square, square)
    if ramped:
        made.ramps()
    else:
        made.alone()
    return made.pieces()


class _Staircase:
    """NoisyEntries as stairs: descending counts, and the multipliers from where to where each is asked for."""

    def __init__(self, rows: int, owner: Ints, told: tuple[Reals, Reals], most: Reals) -> None:
        count = np.clip(told[0], -1.0, most[owner] + 1.0)  # beyond it is as far from everything
        order = np.lexsort((-count, owner))
        self.owner, self.count, slope = owner[order], count[order], told[1][order]
        self.size = np.bincount(self.owner, minlength=rows)
        self.rank = np.arange(self.owner.size) - starts(self.size)[self.owner]
        total = sum_by(self.owner, slope, rows)[self.owner]
        first = np.flatnonzero(self.rank == 0)
        up_to = np.cumsum(slope)
        up_to -= np.repeat((up_to - slope)[first], np.diff(first, append=up_to.size))
        self.last = self.rank == self.size[self.owner] - 1
        self.end = np.where(self.last, total, 2 * up_to - total)
        self.begin = np.where(self.rank == 0, -total, 2 * (up_to - slope) - total)


class _PiecesMade:
    """StairPieces on the way; ``smooth`` are rows with Gaussian noise."""

    def __init__(self, stairs: _Staircase, smooth: Flags) -> None:
        self.stairs, self.is_smooth = stairs, smooth
        rows, kinks = smooth.size, int((stairs.size * np.where(smooth, 2, 1) + 2).max(initial=1))
        self.kink, self.level = np.full((rows, kinks), np.inf), np.full((rows, kinks + 1), -np.inf)
        self.anchor, self.bend = np.zeros((rows, kinks + 1)), np.zeros((rows, kinks + 1))
        self.level[:, 0] = np.inf

    def smooth(self, count: Reals, square: Reals) -> None:
        """Slopes of rows with Gaussian noise, and stairs among them."""
        own = np.flatnonzero(self.is_smooth[self.stairs.owner])
        self.level[self.is_smooth, 0] = count[self.is_smooth]
        self.bend[self.is_smooth] = square[self.is_smooth, None]
        o, r, y = self.stairs.owner[own], 2 * self.stairs.rank[own], self.stairs.count[own]
        pulled = (count[o] - y) / square[o]
        self.kink[o, r], self.kink[o, r + 1] = self.stairs.begin[own] + pulled, self.stairs.end[own] + pulled
        self.level[o, r + 1], self.level[o, r + 2] = y, y
        self.anchor[o, r + 1], self.anchor[o, r + 2] = self.kink[o, r], self.kink[o, r + 1]
        self.bend[o, r + 1] = 0.0
        top = o[r == 0]
        self.level[top, 0], self.anchor[top, 0] = y[r == 0], self.kink[top, 0]

    def alone(self) -> None:
        """Stairs of rows without Gaussian noise."""
        own = np.flatnonzero(~self.is_smooth[self.stairs.owner])
        o, r = self.stairs.owner[own], self.stairs.rank[own]
        self.kink[o, r] = self.stairs.begin[own]
        last = self.stairs.last[own]
        self.kink[o[last], r[last] + 1] = self.stairs.end[own][last]
        self.level[o, r + 1], self.anchor[o, r + 1] = self.stairs.count[own], self.stairs.begin[own]

    def ramps(self) -> None:
        """Slopes between the middles of stairs of rows without Gaussian noise."""
        own = np.flatnonzero(~self.is_smooth[self.stairs.owner])
        o, r, y = self.stairs.owner[own], self.stairs.rank[own], self.stairs.count[own]
        begin, end, last = self.stairs.begin[own], self.stairs.end[own], self.stairs.last[own]
        middle, first = 0.5 * (begin + end), r == 0
        self.kink[o, r + 1], self.level[o, r + 2], self.anchor[o, r + 2] = middle, y, middle
        self.kink[o[first], 0], self.kink[o[last], r[last] + 2] = begin[first], end[last]
        self.level[o[first], 1], self.anchor[o[first], 1] = y[first], begin[first]
        on = np.flatnonzero(~last)
        self.bend[o[on], r[on] + 2] = (y[on] - y[on + 1]) / (middle[on + 1] - middle[on])

    def pieces(self) -> StairPieces:
        """With the integral of what is asked for, up to every anchor from the first."""
        past = np.zeros_like(self.level)
        for k in range(2, self.level.shape[1]):
            since = self.anchor[:, k] - self.anchor[:, k - 1]
            there = np.isfinite(self.kink[:, k - 1]) & np.isfinite(self.level[:, k])
            flat = np.where(np.isfinite(self.level[:, k - 1]), self.level[:, k - 1], 0.0)
            past[:, k] = np.where(there, past[:, k - 1] + flat * since - 0.5 * self.bend[:, k - 1] * since**2, 0.0)
        return StairPieces(self.kink, self.level, self.anchor, self.bend, past)
