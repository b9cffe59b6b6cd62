"""Slow truths about privacy: losses enumerated number by number, on all neighbouring tables."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

Losses = Mapping[float, float]
"""How likely each loss is; math.inf where one table makes an output that the other cannot."""


def of_counts(noise: Mapping[int, float], shift: int) -> Losses:
    """The losses of one count with whole noise that moves by ``shift``."""
    found: Counter[float] = Counter()
    for x, p in noise.items():
        other = noise.get(x - shift, 0.0)
        found[round(math.log(p / other), 12) if other else math.inf] += p
    return found


def both(one: Losses, other: Losses) -> Losses:
    """The losses of two independent outputs."""
    found: Counter[float] = Counter()
    for a, p in one.items():
        for b, q in other.items():
            found[round(a + b, 11)] += p * q
    return found


def together(parts: Iterable[Losses]) -> Losses:
    """The losses of several independent outputs."""
    total: Losses = {0.0: 1.0}
    for part in parts:
        total = both(total, part)
    return total


def delta(losses: Losses, epsilon: float) -> float:
    """The δ at ε."""
    over = ((loss, p) for loss, p in losses.items() if loss > epsilon)
    return math.fsum(p * (1.0 if loss == math.inf else -math.expm1(epsilon - loss)) for loss, p in over)


def geometric(scale: float, reach: int = 60) -> dict[int, float]:
    """Discrete Laplace noise, but for tails that are cut off."""
    weight = {x: math.exp(-abs(x) / scale) for x in range(-reach, reach + 1)}
    total = (1 + math.exp(-1 / scale)) / (1 - math.exp(-1 / scale))
    return {x: w / total for x, w in weight.items()}


def discrete_gaussian(scale: float, reach: int = 60) -> dict[int, float]:
    """Discrete Gaussian noise, but for tails that are cut off."""
    weight = {x: math.exp(-x * x / (2 * scale**2)) for x in range(-reach, reach + 1)}
    total = math.fsum(weight.values())
    return {x: w / total for x, w in weight.items()}


def response(epsilon: float, amiss: float = 0.0) -> Losses:
    """Randomized response, which fails altogether with probability ``amiss``: the worst that promises (ε, δ)."""
    yes = (1 - amiss) / (1 + math.exp(-epsilon))
    return {epsilon: yes, -epsilon: 1 - amiss - yes, **({math.inf: amiss} if amiss else {})}
