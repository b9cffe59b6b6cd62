"""Maximum entropy on a dense linear system: infeasible-start Newton on the KKT conditions."""

from __future__ import annotations

import numpy as np


def most_even(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The x > 0 with A x = b of largest entropy, to about 1e-12; every entry must be able to be positive."""
    x, nu = np.full(A.shape[1], 0.5), np.zeros(A.shape[0])

    def remainder(x: np.ndarray, nu: np.ndarray) -> np.ndarray:
        return np.concatenate([np.log(x) + 1 + A.T @ nu, A @ x - b])

    for _ in range(300):
        r = remainder(x, nu)
        if np.abs(r).max() < 1e-13:
            break
        kkt = np.block([[np.diag(1 / x), A.T], [A, np.zeros((A.shape[0],) * 2)]])
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
    return x
