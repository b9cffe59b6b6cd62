"""Maximum entropy person by person: dense primal Newton on the support that linear programs leave."""

from __future__ import annotations

import numpy as np

from tests.oracles import History
from tests.oracles.linear import Pair, bounds, system


def maximum_entropy(history: History) -> dict[Pair, float]:
    """P(value | person) to about 1e-12 (infeasible-start Newton on the KKT system)."""
    pairs, A, b = system(history)
    limits = bounds(history)
    free = np.array([limits[pair][1] > 1e-7 for pair in pairs])
    A = A[:, free]
    x, nu = np.full(free.sum(), 0.5), np.zeros(A.shape[0])

    def remainder(x: np.ndarray, nu: np.ndarray) -> np.ndarray:
        return np.concatenate([np.log(x) + 1 + A.T @ nu, A @ x - b])

    for _ in range(200):
        r = remainder(x, nu)
        if np.abs(r).max() < 1e-13:
            break
        zero = np.zeros((A.shape[0], A.shape[0]))
        kkt = np.block([[np.diag(1 / x), A.T], [A, zero]])
        step = np.linalg.lstsq(kkt, -r, rcond=1e-13)[0]
        dx, dnu = step[: x.size], step[x.size :]
        shrink = dx < 0
        t = min(1.0, 0.99 * float((-x[shrink] / dx[shrink]).min())) if shrink.any() else 1.0
        while t > 1e-12 and np.linalg.norm(remainder(x + t * dx, nu + t * dnu)) > (1 - 0.1 * t) * np.linalg.norm(r):
            t *= 0.5
        if t <= 1e-12:
            break
        x, nu = x + t * dx, nu + t * dnu
    assert np.abs(A @ x - b).max() < 1e-9, "the oracle did not converge"
    found = dict.fromkeys(pairs, 0.0)
    for pair, p in zip([q for q, f in zip(pairs, free, strict=True) if f], x, strict=True):
        found[pair] = float(p)
    return found
