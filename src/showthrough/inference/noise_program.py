"""The dual of entropy less misfit of noise, for components that are too large for their worlds to be counted.

Legend: m signatures, v variables, rows as in `Rows`. θ is one multiplier per row; z of a variable is the sum of θ over
its rows, in a release with several candidates the logarithm of the sum of e^θ over them, and log prior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.inference.bounded_descent import Bounded, least
from showthrough.inference.clock import Clock
from showthrough.inference.noise_rows import NoisyProblem
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Flags, Ints, Reals, sum_by

_MET = 1e-6  # persons by which a count may be missed


@dataclass(frozen=True)
class ExpectedAnswer:
    """The answer, and by how many persons each component misses a count of the other releases."""

    x: Reals  # [v]
    missed: Reals  # [k]


def solve(reduced: Reduced, noise: NoisyProblem, start: Reals, clock: Clock) -> ExpectedAnswer:
    """Maximise entropy less misfit over the components of a reduced problem, from some multipliers."""
    dual = _Dual(reduced, noise)
    parts = least(Bounded(dual.value, dual.low, dual.high), dual.split(start), _MET, clock)
    theta = dual.joined(parts)
    x, expected = dual.answer(theta)
    low, high = reduced.rows.lower.astype(np.float64), reduced.rows.upper.astype(np.float64)
    missed = np.maximum(np.maximum(low - expected, expected - high), 0.0)
    missed[dual.noisy] = np.abs(dual.slope(parts))[dual.noisy]
    worst = np.zeros(reduced.components)
    np.maximum.at(worst, reduced.row_component, missed)
    return ExpectedAnswer(x, worst)


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
        self.upper = rows.upper[self.ranged].astype(np.float64)
        self.signature: Ints = reduced.signature
        self.prior = np.zeros(rows.variables) if reduced.log_prior is None else reduced.log_prior

    def split(self, theta: Reals) -> Reals:
        """Multipliers of rows as the optimizer has them, inside their bounds."""
        found = np.append(theta, np.maximum(-theta[self.ranged], 0.0))
        found[self.ranged] = np.maximum(theta[self.ranged], 0.0)
        return np.asarray(np.clip(found, self.low, self.high))

    def joined(self, parts: Reals) -> Reals:
        """[rows] one multiplier each."""
        theta = parts[: self.noisy.size].copy()
        theta[self.ranged] -= parts[self.noisy.size :]
        return theta

    def answer(self, theta: Reals) -> tuple[Reals, Reals]:
        """X of each variable, and what each row is expected to hold."""
        return self._answer(theta)[:2]

    def _answer(self, theta: Reals) -> tuple[Reals, Reals, float]:
        rows, reduced = self.reduced.rows, self.reduced
        wide = np.append(theta, 0.0)
        z = self.prior.copy()
        for row in rows.sure:
            z += wide[row]
        if rows.stated.row.size:
            z += sum_by(rows.stated.variable, rows.stated.coefficient * wide[rows.stated.row], z.size)
        within = []
        for own in rows.seats:
            part = wide[own.row]
            top = np.maximum.reduceat(part, own.start[:-1])
            e = np.exp(part - top[own.owner])
            total = np.add.reduceat(e, own.start[:-1])
            z += top + np.log(total)
            within.append(e / total[own.owner])
        top = np.maximum.reduceat(z, reduced.start[:-1])
        e = np.exp(z - top[self.signature])
        total = np.add.reduceat(e, reduced.start[:-1])
        x = e / total[self.signature]
        value = float((reduced.weight * (top + np.log(total))).sum())
        persons = x * reduced.weight[self.signature]
        expected = np.zeros(theta.size + 1)
        for row in rows.sure:
            expected += sum_by(row, persons, expected.size)
        for own, share in zip(rows.seats, within, strict=True):
            expected += sum_by(own.row, persons[own.owner] * share, expected.size)
        if rows.stated.row.size:
            told = rows.stated.coefficient * persons[rows.stated.variable]
            expected += sum_by(rows.stated.row, told, expected.size)
        return x, expected[:-1], value

    def value(self, parts: Reals) -> tuple[float, Reals]:
        """F and its gradient."""
        theta = self.joined(parts)
        _, expected, total = self._answer(theta)
        lower, upper = parts[: theta.size], parts[theta.size :]
        total += float(-(self.count * lower).sum() + 0.5 * (self.square * theta**2).sum() + (self.upper * upper).sum())
        slope = expected - self.count + self.square * theta
        return total, np.append(slope, self.upper - expected[self.ranged])

    def slope(self, parts: Reals) -> Reals:
        """[rows] the gradient where it can be followed: not outwards at a bound."""
        found = self.value(parts)[1][: self.noisy.size]
        low, high, theta = (figure[: found.size] for figure in (self.low, self.high, parts))
        held: Flags = ((theta <= low) & (found > 0)) | ((theta >= high) & (found < 0))
        return np.where(held, 0.0, found)
