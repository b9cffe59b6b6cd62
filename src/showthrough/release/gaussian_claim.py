"""Whether Gaussian noise can give the ε and δ that a release claims.

Tables with noise of scales σ₁, σ₂, … that a record moves by Δ each are together as one count that moves by
μ = Δ·√(Σ 1/σ²) in units of its noise, and δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), no less (Balle and Wang, ICML 2018).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

_FLAT = 30.0  # beyond, e^ε·Φ is taken from the tail of Φ
_WHOLE = 0.5  # of δ: what wide whole noise may differ by from continuous noise, at small ε
_SMALL = 0.5
_ONE_COUNT = 1.2  # a sensitivity above is that of two counts
_WIDE = 50.0  # scales of whole noise from here on are not summed
_REACH = 14.0  # scales from 0 within which noise is summed


def least_delta(sensitivity: float, scales: Sequence[float], epsilon: float) -> float:
    """The δ that tables with continuous Gaussian noise have at ε, together.

    >>> round(least_delta(1.0, [1.0], 1.0), 6)
    0.126937
    """
    mu = sensitivity * math.sqrt(math.fsum(scale**-2 for scale in scales))
    high, low = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    return max(0.0, _below(high) - _raised(epsilon, low))


def claims_too_much(
    sensitivity: float, scales: Sequence[float], claim: tuple[float, float], *, whole: bool
) -> float | None:
    """The δ that the noise has at the claimed ε, at least, where it is more than the claimed δ; None: may be true."""
    epsilon, delta = claim
    if not whole:
        least = least_delta(sensitivity, scales, epsilon) * (1 - 1e-6)
    elif min(scales) < _WIDE:
        least = _whole_delta(min(scales), epsilon, 2 if sensitivity > _ONE_COUNT else 1) * (1 - 1e-6)
    else:
        least = least_delta(sensitivity, scales, epsilon) * _WHOLE if epsilon <= _SMALL else 0.0
    return least if delta < least else None


def _whole_delta(scale: float, epsilon: float, counts: int) -> float:
    """The δ of whole noise on one count, or two, that move by one each: the privacy loss depends on their sum."""
    reach = math.ceil(_REACH * scale) + 2
    x = np.arange(-reach, reach + 1, dtype=np.float64)
    p = np.exp(-0.5 * (x / scale) ** 2)
    p /= p.sum()
    together = p if counts == 1 else np.convolve(p, p)
    loss = (counts + 2 * np.arange(-counts * reach, counts * reach + 1, dtype=np.float64)) / (2 * scale**2)
    return float((together * np.maximum(0.0, -np.expm1(np.minimum(0.0, epsilon - loss)))).sum())


def _below(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _raised(epsilon: float, x: float) -> float:
    """e^ε·Φ(x) for x below 0, also where e^ε is too large for a number."""
    if x > -_FLAT and epsilon < 700.0:
        return math.exp(epsilon) * _below(x)
    exponent = epsilon - x * x / 2
    return math.exp(exponent) / (-x * math.sqrt(2 * math.pi)) if exponent > -700.0 else 0.0
