"""Whether chains of a sampler agree: split R-hat, and how many independent draws theirs are worth.

Gelman et al., *Bayesian Data Analysis*, 3rd ed., 11.4–11.5: every chain is halved; R-hat compares the halves' means
with their own spread, and the effective sample size adds up autocorrelations until they turn negative (Geyer's
pairs).
"""

from __future__ import annotations

import numpy as np

from showthrough.table.arrays import Reals


def _halves(draws: Reals) -> Reals:
    """[2 · chains, half of the draws, quantities]"""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def _spread(parts: Reals) -> tuple[Reals, Reals]:
    """Per quantity: the variance within parts, and that of all together as it is estimated from both."""
    many = parts.shape[1]
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    return within, within * (many - 1) / many + between


def r_hat(draws: Reals) -> Reals:
    """[quantities] of draws [chains, draws, quantities]; 1 where nothing moves at all.

    >>> r_hat(np.zeros((2, 8, 1))).tolist()
    [1.0]
    """
    within, total = _spread(_halves(draws))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt(total / within)
    return np.where(total < 1e-24, 1.0, np.nan_to_num(found, nan=1.0, posinf=np.inf))


def effective(draws: Reals) -> Reals:
    """[quantities] how many independent draws they are worth; all of them where nothing moves."""
    parts = _halves(draws)
    chains, many, quantities = parts.shape
    within, total = _spread(parts)
    size = 1 << (2 * many - 1).bit_length()
    moved = parts - parts.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(moved, n=size, axis=1)
    products = np.fft.irfft(np.abs(spectrum) ** 2, n=size, axis=1)[:, :many].mean(axis=0) / many
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1 - (within - products) / total
    rho[0] = 1.0
    pairs = rho[: many // 2 * 2].reshape(many // 2, 2, quantities).sum(axis=1)
    positive = np.cumprod(pairs > 0, axis=0)
    falling = np.minimum.accumulate(np.where(positive > 0, pairs, 0.0), axis=0)
    time = np.maximum(-1 + 2 * falling.sum(axis=0), 1 / np.log10(max(chains * many, 10)))
    found = chains * many / time
    return np.where(total < 1e-24, float(chains * many), np.nan_to_num(found, nan=float(chains * many)))
