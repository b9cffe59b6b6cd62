"""The dual of entropy less misfit of noise, for components that are too large for their worlds to be counted.

Legend: m signatures, v variables, rows as in `Rows`. θ is one multiplier per row; z of a variable is the sum of θ over
its rows, in a release with several candidates the logarithm of the sum of e^θ over them, and log prior.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from showthrough.inference.clock import Clock
from showthrough.inference.noise_rows import NoisyProblem
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Ints, Reals, sum_by

_STEPS = 50  # of Newton, for each height of the barrier
_BARRIERS = tuple(10.0**-k for k in range(1, 9))  # nats
_CONJUGATE = 300  # gradients for one of them
_AWAY = 0.95  # of the way to a bound
_MET = 1e-8  # persons by which rows may be missed
_SHORTEST = 1e-10  # part of a step, below which rounding decides
_STIFF = 1e-9  # added to curvature that may be flat


@dataclass(frozen=True)
class ExpectedAnswer:
    """The answer, and by how many persons each component misses a count of the other releases."""

    x: Reals  # [v]
    missed: Reals  # [k]


def solve(reduced: Reduced, noise: NoisyProblem, start: Reals, clock: Clock) -> ExpectedAnswer:
    """Maximise entropy less misfit over the components of a reduced problem, from some multipliers, in time."""
    dual = _Dual(reduced, noise)
    parts = _descended(dual, dual.split(start), clock)
    x, expected = dual.answer(dual.joined(parts))
    low, high = reduced.rows.lower.astype(np.float64), reduced.rows.upper.astype(np.float64)
    missed = np.maximum(np.maximum(low - expected, expected - high), 0.0)
    slope = dual.value(parts)[1]
    room = np.minimum(np.where(slope > 0, parts - dual.low, dual.high - parts), 1.0)  # what F can still fall by
    missed[dual.noisy] = (np.abs(slope) * room)[: low.size][dual.noisy]
    worst = np.zeros(reduced.components)
    np.maximum.at(worst, reduced.row_component, missed)
    return ExpectedAnswer(x, worst)


def _descended(dual: _Dual, parts: Reals, clock: Clock) -> Reals:
    """Newton steps along the central path: bounds are kept away from by a barrier that becomes lower and lower."""
    for barrier in _BARRIERS if dual.bounded.any() else (0.0,):
        value, slope = dual.value(parts, barrier)
        for _ in range(_STEPS):
            if np.abs(slope).max(initial=0.0) <= max(_MET, 0.1 * barrier) or clock.left() <= 0:
                break
            direction = _direction(dual, parts, slope, barrier)
            length = dual.furthest(parts, direction)
            while length > _SHORTEST:
                found, ahead = dual.value(parts + length * direction, barrier)
                if found <= value + 1e-4 * length * float(slope @ direction):
                    break
                length /= 2
            else:
                break  # rounding decides
            parts, value, slope = parts + length * direction, found, ahead
    return parts


def _direction(dual: _Dual, parts: Reals, slope: Reals, barrier: float) -> Reals:
    """The Newton direction, by conjugate gradients as far as it pays."""
    curve, diagonal = dual.curvature(parts, barrier)
    scale = 1.0 / np.maximum(diagonal, 1e-12)
    direction, rest = np.zeros(parts.size), -slope
    size = float(np.linalg.norm(rest))
    goal = min(0.1, size**0.5) * size
    ahead = scale * rest
    way, energy = ahead.copy(), float(rest @ ahead)
    for _ in range(_CONJUGATE):
        bent = curve(way) + _STIFF * diagonal * way
        bend = float(way @ bent)
        if bend <= 0:
            break
        direction += energy / bend * way
        rest = rest - energy / bend * bent
        if float(np.linalg.norm(rest)) <= goal:
            break
        ahead = scale * rest
        before, energy = energy, float(rest @ ahead)
        way = ahead + energy / before * way
    return direction


class _Dual:
    """F(θ) with its gradient; ranged rows have two multipliers, the second of them behind all others."""

    def __init__(self, reduced: Reduced, noise: NoisyProblem) -> None:
        self.reduced, rows = reduced, reduced.rows
        self.noisy = np.zeros(rows.size, dtype=bool)
        self.noisy[noise.of(reduced)] = True
        self.ranged = np.flatnonzero(rows.ranged & ~self.noisy)
        self.count = rows.lower.astype(np.float64)
        self.square = np.zeros(rows.size)
        ends: list[tuple[float | None, float | None]] = [(None, None)] * rows.size
        for row in np.flatnonzero(self.noisy).tolist():
            self.count[row], law = noise.left(reduced, row)
            if law.exponential:
                ends[row] = (-1 / law.scale, 1 / law.scale)
            else:
                self.square[row] = law.scale**2
        for row in self.ranged.tolist():
            ends[row] = (0.0, None)
        ends += [(0.0, None)] * self.ranged.size
        self.low = np.array([-np.inf if low is None else low for low, _ in ends])
        self.high = np.array([np.inf if high is None else high for _, high in ends])
        self.bounded = np.isfinite(self.low) | np.isfinite(self.high)
        self.upper = rows.upper[self.ranged].astype(np.float64)
        self.signature: Ints = reduced.signature
        self.prior = np.zeros(rows.variables) if reduced.log_prior is None else reduced.log_prior

    def split(self, theta: Reals) -> Reals:
        """Multipliers of rows, two of ranged ones, well inside their bounds."""
        found = np.append(theta, np.maximum(-theta[self.ranged], 0.0))
        found[self.ranged] = np.maximum(theta[self.ranged], 0.0)
        wide = np.minimum(0.05 * (self.high - self.low), 0.1)
        return np.asarray(np.clip(found, self.low + wide, self.high - wide))

    def joined(self, parts: Reals) -> Reals:
        """[rows] one multiplier each."""
        theta = parts[: self.noisy.size].copy()
        theta[self.ranged] -= parts[self.noisy.size :]
        return theta

    def furthest(self, parts: Reals, direction: Reals) -> float:
        """How far one can go without coming to a bound, at most all the way."""
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction < 0, (self.low - parts) / direction, (self.high - parts) / direction)
        return min(1.0, _AWAY * float(np.where(direction == 0, np.inf, room).min(initial=np.inf)))

    def answer(self, theta: Reals) -> tuple[Reals, Reals]:
        """X of each variable, and what each row is expected to hold."""
        found = self._model(theta)
        return found.x, self._sums(found.persons, found.within)

    def value(self, parts: Reals, barrier: float = 0.0) -> tuple[float, Reals]:
        """F and its gradient, with a barrier that keeps away from bounds."""
        theta = self.joined(parts)
        found = self._model(theta)
        expected = self._sums(found.persons, found.within)
        lower, upper = parts[: theta.size], parts[theta.size :]
        total = found.value - float((self.count * lower).sum()) + float((self.upper * upper).sum())
        total += 0.5 * float((self.square * theta**2).sum())
        slope = np.append(expected - self.count + self.square * theta, self.upper - expected[self.ranged])
        for end, sign in ((self.low, 1), (self.high, -1)) if barrier else ():
            away = np.where(np.isfinite(end), sign * (parts - end), 1.0)
            total -= barrier * float(np.log(away).sum())
            slope -= np.where(np.isfinite(end), sign * barrier / away, 0.0)
        return total, slope

    def curvature(self, parts: Reals, barrier: float = 0.0) -> tuple[Callable[[Reals], Reals], Reals]:
        """How the gradient bends along a direction, and a diagonal that is about as steep."""
        rows, reduced = self.reduced.rows, self.reduced
        found = self._model(self.joined(parts))
        first = reduced.start[:-1]
        ends = np.zeros(parts.size)
        for end in (self.low, self.high):
            away = np.where(np.isfinite(end), parts - end, 1.0)
            ends += np.where(np.isfinite(end), barrier / away**2, 0.0)

        def bend(way: Reals) -> Reals:
            wide = np.append(self.joined(way), 0.0)
            z, means = self._along(wide, found.within)
            z -= np.add.reduceat(found.x * z, first)[self.signature]
            bent = self._sums(found.persons * z, found.within)
            more = np.zeros(rows.size + 1)
            for own, share, mean in zip(rows.seats, found.within, means, strict=True):
                apart = found.persons[own.owner] * share * (wide[own.row] - mean[own.owner])
                more += sum_by(own.row, apart, more.size)
            bent = bent + more[:-1] + self.square * wide[:-1]
            return np.append(bent, -bent[self.ranged]) + ends * way

        diagonal = self._sums(found.persons * (1 - found.x), found.within, squared=True) + self.square
        return bend, np.append(diagonal, diagonal[self.ranged]) + ends

    def _along(self, wide: Reals, within: Sequence[Reals]) -> tuple[Reals, list[Reals]]:
        """[v] the sum of a figure of rows over each variable, in releases with candidates its mean; and these means."""
        rows = self.reduced.rows
        z = np.zeros(rows.variables)
        for row in rows.sure:
            z += wide[row]
        if rows.stated.row.size:
            z += sum_by(rows.stated.variable, rows.stated.coefficient * wide[rows.stated.row], z.size)
        means = [
            np.add.reduceat(share * wide[own.row], own.start[:-1])
            for own, share in zip(rows.seats, within, strict=True)
        ]
        return z + sum(means, start=np.zeros(z.size)), means

    def _sums(self, persons: Reals, within: Sequence[Reals], *, squared: bool = False) -> Reals:
        """[rows] what variables add up to, each with its part of the candidates."""
        rows = self.reduced.rows
        total = np.zeros(rows.size + 1)
        for row in rows.sure:
            total += sum_by(row, persons, total.size)
        for own, share in zip(rows.seats, within, strict=True):
            total += sum_by(own.row, persons[own.owner] * share, total.size)
        if rows.stated.row.size:
            times = rows.stated.coefficient.astype(np.float64)
            times = times**2 if squared else times
            total += sum_by(rows.stated.row, times * persons[rows.stated.variable], total.size)
        return total[:-1]

    def _model(self, theta: Reals) -> _Model:
        """The probabilities that multipliers make."""
        rows, reduced = self.reduced.rows, self.reduced
        wide = np.append(theta, 0.0)
        z, within = self.prior.copy(), []
        for own in rows.seats:
            part = wide[own.row]
            top = np.maximum.reduceat(part, own.start[:-1])
            e = np.exp(part - top[own.owner])
            total = np.add.reduceat(e, own.start[:-1])
            z += top + np.log(total)
            within.append(e / total[own.owner])
        for row in rows.sure:
            z += wide[row]
        if rows.stated.row.size:
            z += sum_by(rows.stated.variable, rows.stated.coefficient * wide[rows.stated.row], z.size)
        top = np.maximum.reduceat(z, reduced.start[:-1])
        e = np.exp(z - top[self.signature])
        total = np.add.reduceat(e, reduced.start[:-1])
        x = e / total[self.signature]
        value = float((reduced.weight * (top + np.log(total))).sum())
        return _Model(x, x * reduced.weight[self.signature], tuple(within), value)


@dataclass(frozen=True)
class _Model:
    """Probabilities of variables, in persons, the part of each candidate, and the sum of logarithms."""

    x: Reals
    persons: Reals
    within: tuple[Reals, ...]
    value: float
