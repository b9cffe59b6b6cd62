"""Composition by formulas: basic, advanced, zCDP and RDP. Each gives an ε for a δ, and holds for adaptive choices.

Basic is Lemma 12 of Ganta, Kasiviswanathan, Smith (KDD 2008). Advanced takes the least of Dwork, Rothblum, Vadhan
(2010) for equal items, of Kairouz, Oh, Viswanathan (2015, Theorem 3.5) for any, and of the optimal composition of equal
items (their Theorem 3.3). Rényi divergences add up order by order (Mironov 2017) and are turned into (ε, δ) as in
Canonne, Kamath, Steinke (2020, Proposition 12).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from showthrough.dp.curves import epsilon_at, pure, renyi, rho
from showthrough.dp.items import Item, Mechanism, Parallel, Promise
from showthrough.errors import InputError
from showthrough.table.arrays import Reals

ORDERS = np.concatenate([1 + np.logspace(-4, 0, 120), np.logspace(math.log10(2.05), 6, 260)])


def basic(items: Sequence[Item], delta: float | None) -> tuple[float, float]:
    """The sum of all ε and of all δ; what has no δ of its own (Gaussian noise) shares what is left of ``delta``."""
    bare = sum(_bare(item) for item in items)
    spent = _spent_in_all(items)
    if not bare:
        return math.fsum(n * _promised(item, 0.0) for item, n in Counter(items).items()), spent
    left = (0.0 if delta is None else delta) - spent
    if left <= 0:
        raise InputError(
            "Gaussian noise promises an ε only with a δ: give delta above what the other items take of it.",
            parameters=("delta",),
        )
    return math.fsum(n * _promised(item, left / bare) for item, n in Counter(items).items()), spent + left


def advanced(items: Sequence[Item], delta: float) -> tuple[float, str]:
    """The least of the advanced formulas that apply, and which it is; never more than basic."""
    bare = sum(_bare(item) for item in items)
    share = (delta / (2 * bare)) if bare else 0.0  # half of δ for Gaussian noise, half for composing
    each = [p for item, n in Counter(items).items() for p in _promises(item, share) * n]
    spent = _spent_in_all(items)
    found = [(basic(items, delta)[0], "basic")] if spent < delta or (spent == delta and not bare) else []
    kept = math.fsum(math.log1p(-p.delta) for p in each)  # that none of the δ comes true
    left = -math.expm1(math.log1p(-delta) - kept)
    if left > 0:
        found.append((_of_any(each, left), "advanced (any items)"))
    if len(set(each)) == 1:
        found += _of_equal(each[0], len(each), delta)
    if not found:
        raise InputError("The items take more δ than delta allows.", parameters=("delta",))
    return min(found)


def _of_any(each: Sequence[Promise], slack: float) -> float:
    epsilon = np.array([p.epsilon for p in each])
    drift = float(np.sum(epsilon * np.tanh(epsilon / 2)))
    square = float(np.sum(epsilon**2))
    third = math.log(math.e + math.sqrt(square) / slack)
    spread = min(math.log(1 / slack), third)
    return min(float(epsilon.sum()), drift + math.sqrt(2 * square * spread))


def _of_equal(one: Promise, k: int, delta: float) -> list[tuple[float, str]]:
    found = []
    slack = delta - k * one.delta
    if slack > 0:
        drift = k * one.epsilon * math.expm1(one.epsilon)
        found.append((one.epsilon * math.sqrt(2 * k * math.log(1 / slack)) + drift, "advanced (equal items)"))
    best = optimal(one, k, delta)
    return found if best is None else [*found, (best, "advanced (optimal)")]


def optimal(one: Promise, k: int, delta: float) -> float | None:
    """The smallest ε of k equal promises: that of k randomized responses; None if δ does not suffice for their δ."""
    allowed = -math.expm1(math.log1p(-delta) - k * math.log1p(-one.delta))
    if allowed < 0:
        return None
    j = np.arange(k + 1)
    log_p = -math.log1p(math.exp(-one.epsilon))
    log_q = log_p - one.epsilon
    ways = gammaln(k + 1) - gammaln(j + 1) - gammaln(k - j + 1)
    up, down = ways + (k - j) * log_p + j * log_q, ways + j * log_p + (k - j) * log_q

    def total(epsilon: float) -> float:
        over = (k - 2 * j) * one.epsilon > epsilon
        return float(np.sum(np.exp(up[over]) - np.exp(epsilon + down[over])))

    low, high = 0.0, k * one.epsilon
    if total(0.0) <= allowed:
        return 0.0
    while high - low > 1e-12 * max(1.0, high):
        middle = (low + high) / 2
        low, high = (low, middle) if total(middle) <= allowed else (middle, high)
    return high


def zcdp(items: Sequence[Item], delta: float) -> float:
    """By zCDP alone: the ρ of all items added up, and the best ε that ρ gives at δ."""
    total = sum(rho(item) for item in items)
    if not math.isfinite(total):
        raise InputError("zCDP knows no item with a δ of its own: use basic, advanced or pld.", parameters=("method",))
    simple = total + 2 * math.sqrt(total * math.log(1 / delta))
    return min(simple, _converted(lambda order: order * total, delta))


def rdp(items: Sequence[Item], delta: float) -> float:
    """By Rényi divergences of all orders added up."""
    if not all(math.isfinite(rho(item)) for item in items):
        raise InputError("RDP knows no item with a δ of its own: use basic, advanced or pld.", parameters=("method",))
    kinds = Counter(items)

    def total(order: Reals) -> Reals:
        return np.asarray(sum(n * renyi(item, order) for item, n in kinds.items()), dtype=np.float64)

    return min(_converted(total, delta), sum(map(pure, items)))


def _converted(total, delta: float) -> float:  # type: ignore[no-untyped-def]
    """The least ε over all orders."""

    def epsilon(order: Reals) -> Reals:
        found = total(order) + np.log1p(-1 / order) - (math.log(delta) + np.log(order)) / (order - 1)
        return np.asarray(found, dtype=np.float64)

    rough = epsilon(ORDERS)
    at = int(np.argmin(rough))
    ends = np.log(ORDERS[max(0, at - 1)] - 1), np.log(ORDERS[min(ORDERS.size - 1, at + 1)] - 1)
    fine = minimize_scalar(
        lambda x: float(epsilon(np.array([1 + math.exp(x)]))[0]), bounds=ends, method="bounded", options={"xatol": 1e-9}
    )
    return max(0.0, min(float(rough[at]), float(fine.fun)))


def _bare(item: Item) -> int:
    """How many numbers of an item have noise that promises an ε only with a δ."""
    if isinstance(item, Parallel):
        return max(sum(map(_bare, own)) for own in item.choices())
    return len(item.one_by_one) if isinstance(item, Mechanism) and not item.law.exponential else 0


def _spent_in_all(items: Sequence[Item]) -> float:
    return math.fsum(_spent(item) for item in items)


def _spent(item: Item) -> float:
    if isinstance(item, Promise):
        return item.delta
    return max(sum(map(_spent, own)) for own in item.choices()) if isinstance(item, Parallel) else 0.0


def _promised(item: Item, share: float) -> float:
    """The ε of an item, where each number with Gaussian noise may use a share of δ."""
    if isinstance(item, Promise):
        return item.epsilon
    if isinstance(item, Parallel):
        return max(sum(_promised(one, share) for one in own) for own in item.choices())
    if item.law.exponential:
        return pure(item)
    return sum(epsilon_at(one, share) for one in item.one_by_one)


def _promises(item: Item, share: float) -> list[Promise]:
    """An item as pairs, one for each number that moves; what is 0 is left out."""
    if isinstance(item, Promise):
        return [item]
    if isinstance(item, Parallel):
        return [Promise(max(_promised(item, share), 1e-12), _spent(item) + share * _bare(item))]
    one_by_one = item.one_by_one
    if item.law.exponential:
        return [Promise(pure(one)) for one in one_by_one]
    return [Promise(max(epsilon_at(one, share), 1e-12), share) for one in one_by_one]
