"""Noise from OpenDP (the extra `dp`): no noise is made at home, and nobody can give it a seed.

What a mechanism promises is what OpenDP's own map says of it; a scale that does not reach the promise is widened.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from showthrough.errors import InputError, LimitError
from showthrough.release.noise import NARROWEST, WIDEST, Law, moved
from showthrough.table.arrays import Ints, Reals

INSTALL = 'pip install "showthrough[dp]"'
LARGEST_COUNT = 2**53


def scale_for(mechanism: str, epsilon: float, delta: float, neighbours: str) -> float:
    """The narrowest noise that promises (ε, δ) for a table of counts."""
    distance = moved(mechanism, neighbours)
    law = Law(mechanism, 1.0)
    if law.exponential:
        scale = distance / epsilon
        _refuse_wide(scale)
        while _promised(mechanism, scale, neighbours, 0.0) > epsilon:  # rounding
            scale = float(np.nextafter(scale, math.inf))
        return scale
    low, high = NARROWEST, distance * math.sqrt(2 * math.log(1.25 / delta)) / min(epsilon, 1.0)
    while _promised(mechanism, high, neighbours, delta) > epsilon:
        low, high = high, high * 2
        _refuse_wide(high)
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _promised(mechanism, middle, neighbours, delta) > epsilon else (low, middle)
    return high


def with_noise(counts: Ints, law: Law) -> Ints | Reals:
    """The counts with noise of this law on each."""
    if counts.size and (counts.min() < 0 or counts.max() > LARGEST_COUNT):
        raise LimitError(f"Counts from 0 to {LARGEST_COUNT} are published with noise.")
    made = _measurement(law.mechanism, law.scale)
    if law.whole:
        return np.asarray(made(counts.tolist()), dtype=np.int64)
    return np.asarray(made(counts.astype(np.float64).tolist()), dtype=np.float64)


def _promised(mechanism: str, scale: float, neighbours: str, delta: float) -> float:
    """The ε that OpenDP gives a mechanism."""
    library, made = _library(), _measurement(mechanism, scale)
    distance = moved(mechanism, neighbours)
    if Law(mechanism, scale).exponential:
        return float(made.map(int(distance) if Law(mechanism, scale).whole else distance))
    return float(library.c.make_zCDP_to_approxDP(made).map(distance).epsilon(delta))


def _measurement(mechanism: str, scale: float) -> Any:
    library, law = _library(), Law(mechanism, scale)
    atoms = library.atom_domain(T="i64") if law.whole else library.atom_domain(T="f64", nan=False)
    domain = library.vector_domain(atoms)
    if law.exponential:
        return (domain, library.l1_distance(T="i64" if law.whole else "f64")) >> library.m.then_laplace(scale)
    return (domain, library.l2_distance(T="f64")) >> library.m.then_gaussian(scale)


def _refuse_wide(scale: float) -> None:
    if not NARROWEST <= scale <= WIDEST:
        raise InputError(
            f"epsilon asks for noise of scale {scale:g}; noise from {NARROWEST:g} to {WIDEST:g} is made.",
            parameters=("epsilon",),
        )


def _library() -> Any:
    try:
        import opendp.prelude as library
    except ImportError:
        raise InputError(f"Noise is made by the library opendp: {INSTALL}.") from None
    library.enable_features("contrib")
    return library
