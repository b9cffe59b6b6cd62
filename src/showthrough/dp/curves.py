"""What one item promises by itself: its largest loss, its δ at an ε, its Rényi divergence, its zCDP.

Whole noise has formulas of its own: those of continuous noise say less than it costs.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfcx, logsumexp, ndtr

from showthrough.dp.items import Item, Mechanism, Parallel, Promise
from showthrough.release.noise import DISCRETE_GAUSSIAN, GAUSSIAN, GEOMETRIC
from showthrough.table.arrays import Reals

_SUMMED = 2_000.0  # wider discrete Gaussians are not summed up number by number


def pure(item: Item) -> float:
    """The ε that holds with δ = 0; infinite where none does."""
    if isinstance(item, Promise):
        return item.epsilon if item.delta == 0 else math.inf
    if isinstance(item, Parallel):
        return max(sum(map(pure, own)) for own in item.choices())
    return sum(item.shifts) / item.scale if item.law.exponential else math.inf


def rho(item: Item) -> float:
    """The zCDP of an item; infinite where it has none."""
    if isinstance(item, Promise):
        return item.epsilon**2 / 2 if item.delta == 0 else math.inf
    if isinstance(item, Parallel):
        return max(sum(map(rho, own)) for own in item.choices())
    if item.law.exponential:  # each number that moves by itself has an ε, and these add up
        return sum((s / item.scale) ** 2 / 2 for s in item.shifts)
    return sum(s * s for s in item.shifts) / (2 * item.scale**2)


def renyi(item: Item, order: Reals) -> Reals:
    """The Rényi divergence at each order above 1; infinite where there is none."""
    if isinstance(item, Promise):
        return _of_promise(item, order)
    if isinstance(item, Parallel):
        worst = [sum((renyi(one, order) for one in own), np.zeros_like(order)) for own in item.choices()]
        return np.asarray(np.maximum.reduce(worst), dtype=np.float64)
    if not item.law.exponential:  # of whole noise it is at most this (Canonne, Kamath, Steinke 2020)
        return order * rho(item)
    moved = _of_geometric if item.mechanism == GEOMETRIC else _of_laplace
    return np.asarray(sum(moved(s / item.scale, s, order) for s in item.shifts), dtype=np.float64)


def delta_at(item: Mechanism, epsilon: float) -> float:
    """The smallest δ at this ε of a mechanism with one number that moves; of wide discrete Gaussians a larger one."""
    (shift,) = item.shifts
    if item.mechanism == GAUSSIAN:
        return _delta_of_gaussian(shift / item.scale, epsilon)
    if item.mechanism == DISCRETE_GAUSSIAN:
        wide = item.scale > _SUMMED
        return _delta_of_rho(rho(item), epsilon) if wide else _delta_of_discrete_gaussian(item, epsilon)
    return max(0.0, _delta_of_exponential(item, epsilon))


def epsilon_at(item: Mechanism, delta: float) -> float:
    """The smallest ε at this δ of a mechanism with one number that moves, rounded up."""
    most = pure(item)
    if delta <= 0:
        return most
    if delta_at(item, 0.0) <= delta:
        return 0.0
    high = 1.0
    while delta_at(item, high) > delta:
        high *= 2
        if high > 1e9:
            return math.inf
    low = 0.0
    while high - low > 1e-12 * max(1.0, high):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_at(item, middle) <= delta else (middle, high)
    return min(high, most)


def _of_promise(item: Promise, order: Reals) -> Reals:
    """Whatever promises ε is made from randomized response with that ε, which has this divergence."""
    if item.delta > 0:
        return np.full_like(order, math.inf)
    yes, no = -math.log1p(math.exp(-item.epsilon)), -item.epsilon - math.log1p(math.exp(-item.epsilon))
    both = np.logaddexp(order * yes + (1 - order) * no, order * no + (1 - order) * yes)
    return np.asarray(np.maximum(both, 0.0) / (order - 1), dtype=np.float64)


def _of_laplace(loss: float, shift: float, order: Reals) -> Reals:  # noqa: ARG001
    """Mironov 2017, Table II; ``loss`` is shift over scale."""
    up = np.log(order / (2 * order - 1)) + (order - 1) * loss
    down = np.log((order - 1) / (2 * order - 1)) - order * loss
    return np.asarray(np.logaddexp(up, down) / (order - 1), dtype=np.float64)


def _of_geometric(loss: float, shift: float, order: Reals) -> Reals:
    """The sum over all whole numbers: below 0, from 1 to below the shift, and from the shift on."""
    step = loss / shift
    head = math.log(math.tanh(step / 2)) - math.log(-math.expm1(-step))  # the probability of 0, and of all below
    below = head + (order - 1) * loss
    above = head - order * loss
    parts = [below, above]
    if shift > 1:
        slope = (2 * order - 1) * step  # of the logarithm of the terms between, which fall
        total = _log_geometric_sum(slope, int(shift) - 1)
        parts.append(math.log(math.tanh(step / 2)) + (order - 1) * loss + total)
    return np.asarray(np.maximum(logsumexp(np.stack(parts), axis=0), 0.0) / (order - 1), dtype=np.float64)


def _log_geometric_sum(slope: Reals, terms: int) -> Reals:
    """The logarithm of e^(−slope) + … + e^(−terms · slope)."""
    return np.asarray(-slope + np.log(-np.expm1(-terms * slope)) - np.log(-np.expm1(-slope)), dtype=np.float64)


def _delta_of_gaussian(ratio: float, epsilon: float) -> float:
    """Φ(−low) − e^ε Φ(−high) (Balle, Wang 2018), where Φ(−x) is e^(−x²/2) erfcx(x/√2)/2 and ε is (high² − low²)/2."""
    low, high = epsilon / ratio - ratio / 2, epsilon / ratio + ratio / 2
    tail = math.exp(-(low**2) / 2) / 2
    if low < 0:
        return max(0.0, float(ndtr(-low)) - tail * float(erfcx(high / math.sqrt(2))))
    return max(0.0, tail * float(erfcx(low / math.sqrt(2)) - erfcx(high / math.sqrt(2))))


def _delta_of_exponential(item: Mechanism, epsilon: float) -> float:
    """Laplace by its closed form, geometric by summing over where the loss is above ε."""
    (shift,), scale = item.shifts, item.scale
    loss = shift / scale
    if epsilon >= loss:
        return 0.0
    if item.mechanism != GEOMETRIC:
        return -math.expm1((epsilon - loss) / 2)
    # the loss at x is (shift − 2x)/scale between 0 and the shift: above ε below this x
    last = math.ceil((shift - epsilon * scale) / 2) - 1
    return _geometric_up_to(last, scale) - math.exp(epsilon) * _geometric_up_to(last - int(shift), scale)


def _geometric_up_to(x: int, scale: float) -> float:
    """P(noise ≤ x)."""
    a = math.exp(-1 / scale)
    return math.exp(x / scale) / (1 + a) if x < 0 else 1 - math.exp(-(x + 1) / scale) / (1 + a)


def _delta_of_discrete_gaussian(item: Mechanism, epsilon: float) -> float:
    """Summed over the whole numbers at which the loss is above ε."""
    (shift,), scale = item.shifts, item.scale
    last = math.ceil(shift / 2 - epsilon * scale**2 / shift) - 1
    reach = math.ceil(40 * scale) + int(shift) + 2
    if last < -reach:
        return 0.0
    x = np.arange(-reach, min(last, reach) + 1, dtype=np.float64)
    law = item.law
    one, other = law.log_density(x), law.log_density(x - shift)
    return max(0.0, float(np.sum(np.exp(one) - np.exp(epsilon + other))))


def _delta_of_rho(rho: float, epsilon: float) -> float:
    """Of zCDP, at the best of several orders: Canonne, Kamath, Steinke (2020), Proposition 12."""
    order = 1 + (epsilon / rho + 1) / 2 * np.geomspace(1e-3, 1e3, 241)
    found = (order - 1) * (order * rho - epsilon) + order * np.log1p(-1 / order) - np.log(order - 1)
    return min(1.0, math.exp(min(0.0, float(found.min()))))
