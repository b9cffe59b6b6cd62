"""What rows of noisy counts add to the dual of maximum entropy: how many persons each asks for, at which multiplier.

A row with entries (y, b) of noise that falls off like e^(−|t|/b) costs P(n) = Σ |y − n| / b where it holds n persons.
At a multiplier θ it asks for the n with −θ among the slopes of P there: a staircase that falls from the largest y to
the smallest between θ = −Σ 1/b, where any larger n will do, and Σ 1/b, where any smaller one will. On a *kink* between
two steps anything between them will do, and the row *rests*. Entries (y, σ) of Gaussian noise add up to one: 1/σ²
is the sum of theirs, y the mean weighed with it, and the row asks for y − σ²θ. The row's part of the dual is less the
sum (the integral) of what it asks for from 0 to θ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from showthrough.inference.noise_rows import Entries
from showthrough.release.noise import Law
from showthrough.table.arrays import Flags, Ints, Reals, sum_by
from showthrough.table.ragged import starts

_ON = 1e-12  # of the width of a staircase: on a kink, but for rounding

Grid = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """Rows at some multipliers: the counts they ask for, their part of −F, and whether they rest on a kink."""

    asked: Reals
    gain: Reals
    resting: Flags


@dataclass(frozen=True)
class NoiseTerms:
    """The noisy rows of a problem. Legend: q rows, K kinks at most; rows with fewer have infinite ones."""

    place: Ints  # [rows of the whole problem] which of the q rows it is; −1: it is exact
    row: Ints  # [q] its number in the problem at hand
    kink: Grid  # [q, K] ascending
    level: Grid  # [q, K + 1] what is asked for before the first kink, between, and after the last
    past: Grid  # [q, K] the sum of what is asked for up to each kink
    square: Reals  # [q] σ² where noise is Gaussian, else 0
    near: Reals  # [q] how near to a kink is on it

    @property
    def kinked(self) -> bool:
        """Whether any row has kinks."""
        return bool(self.kink.size)

    def within(self, row_of: Ints) -> NoiseTerms:
        """The same for some of the rows, by their numbers in the whole problem."""
        own = self.place[row_of]
        row = np.flatnonzero(own >= 0)
        own = own[row]
        chosen = (self.kink[own], self.level[own], self.past[own], self.square[own], self.near[own])
        return NoiseTerms(self.place, row, *chosen)

    def at(self, mu: Reals, expected: Reals) -> Asked:
        """What the rows ask for, given the multipliers and expected counts of all rows."""
        theta, held = mu[self.row], expected[self.row]
        at = np.arange(theta.size)
        before = (self.kink < (theta - self.near)[:, None]).sum(axis=1)
        after = (self.kink <= (theta + self.near)[:, None]).sum(axis=1)
        most, least = self.level[at, before], self.level[at, after]
        on = before < after
        asked = np.where(on, np.clip(held, least, most), most) - self.square * theta
        gain = most * theta - 0.5 * self.square * theta**2
        if self.kinked:
            step = np.maximum(before - 1, 0)
            since = np.where(on, 0.0, theta - self.kink[at, step])
            stood = np.where(on, self.past[at, np.minimum(before, self.kink.shape[1] - 1)], self.past[at, step])
            stairs = np.isfinite(self.kink[:, 0])
            with np.errstate(invalid="ignore"):
                gain = np.where(stairs, stood + np.where(on, 0.0, most * since), gain)
        return Asked(asked, gain, on & (least <= held) & (held <= most))

    def stopped(self, theta: Reals, step: Reals, g: Reals) -> Reals:
        """A step that ends where the line of what rows are expected to hold meets the staircase of what they ask for.

        The line leads from what a row holds (g more than it asks for) to what it asks for at the end of its step.
        """
        if not np.isfinite(self.kink[:, 0]).all():
            stairs = np.flatnonzero(np.isfinite(self.kink[:, 0]))
            found = step.copy()
            own = replace(self, kink=self.kink[stairs], level=self.level[stairs], near=self.near[stairs])
            found[stairs] = own.stopped(theta[stairs], step[stairs], g[stairs])
            return found
        up = self._rising(theta, step, g)
        mirrored = replace(self, kink=-self.kink[:, ::-1], level=-self.level[:, ::-1])
        down = -mirrored._rising(-theta, -step, -g)
        return np.where(step > 0, up, down)

    def _rising(self, theta: Reals, step: Reals, g: Reals) -> Reals:
        """How far rows with a step above 0 go; of the others nothing is meant."""
        at, end = np.arange(theta.size), theta + step
        now = (self.kink <= (theta + self.near)[:, None]).sum(axis=1)  # kinks behind
        stuck = (now > (self.kink < (theta - self.near)[:, None]).sum(axis=1)) & (g >= 0)  # on a kink, for less
        first = self.level[at, now]
        rate = np.divide(-g, step, out=np.zeros(theta.size), where=(step > 0) & (g < 0))
        going = (step > 0) & ~stuck
        found = np.where(going, end, theta)
        for k in range(self.kink.shape[1]):
            kink, below = self.kink[:, k], self.level[:, k + 1]
            reached = going & (k >= now) & (found > kink)
            with np.errstate(divide="ignore", invalid="ignore"):
                further = theta + (below - first - g) / rate  # where the line meets the next step
            beyond = reached & (rate > 0) & (further > kink)
            found = np.where(beyond, np.minimum(further, end), np.where(reached, kink, found))
            going &= ~(reached & ~beyond)
        return found - theta


def noise_terms(row_of: Ints, noisy: tuple[Ints, Reals], told: Entries, laws: tuple[Law, ...], size: int) -> NoiseTerms:
    """The terms of noisy rows; ``noisy`` are these rows and how many persons each can hold at most."""
    rows, most = noisy
    place = np.full(size, -1, dtype=np.int64)
    place[row_of[rows]] = np.arange(rows.size)
    scale = np.array([law.scale for law in laws])[told.law]
    steep = np.array([law.exponential for law in laws])[told.law]
    precision = sum_by(told.row[~steep], scale[~steep] ** -2.0, rows.size)
    weighed = sum_by(told.row[~steep], scale[~steep] ** -2.0 * told.count[~steep], rows.size)
    smooth = precision > 0
    square = np.divide(1.0, precision, out=np.zeros(rows.size), where=smooth)
    entry = np.flatnonzero(steep)
    count = np.clip(told.count[entry], -1.0, most[told.row[entry]] + 1.0)  # beyond it is as far from everything
    order = np.lexsort((-count, told.row[entry]))
    owner, count, slope = told.row[entry][order], count[order], 1.0 / scale[entry][order]
    size_of = np.bincount(owner, minlength=rows.size)
    kinks = int(size_of.max(initial=0)) + 1 if entry.size else 0
    kink, level = np.full((rows.size, kinks), np.inf), np.full((rows.size, kinks + 1), -np.inf)
    level[:, 0] = np.where(smooth, weighed * square, np.inf)
    total = sum_by(owner, slope, rows.size)
    if kinks:
        stairs = np.flatnonzero(size_of)
        rank = np.arange(owner.size) - starts(size_of)[owner]
        kink[stairs, 0] = -total[stairs]
        kink[owner, rank + 1] = -total[owner] + 2 * _running(slope, rank)
        kink[stairs, size_of[stairs]] = total[stairs]
        level[owner, rank + 1] = count
    past = np.zeros_like(kink)
    for k in range(1, kinks):
        with np.errstate(invalid="ignore"):
            past[:, k] = past[:, k - 1] + np.where(
                np.isfinite(kink[:, k]), level[:, k] * (kink[:, k] - kink[:, k - 1]), 0.0
            )
    return NoiseTerms(place, rows, kink, level, past, square, _ON * (1.0 + total))


def _running(slope: Reals, rank: Ints) -> Reals:
    """Sums of slopes within each row, up to and with each; ``rank`` is the place in the row."""
    total = np.cumsum(slope)
    first = np.flatnonzero(rank == 0)
    before = (total - slope)[first]
    return np.asarray(total - np.repeat(before, np.diff(first, append=rank.size)), dtype=np.float64)
