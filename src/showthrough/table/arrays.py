"""The array types of the package."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def sum_by(keys: npt.NDArray[np.integer], weights: Reals, size: int) -> Reals:
    """Σ of ``weights`` for each key below ``size``."""
    return np.bincount(keys, weights=weights, minlength=size).astype(np.float64, copy=False)
