"""Where the maximum-entropy probability of a pair lies, whatever time left open: what a verdict is based on.

Of an answer that meets the counts no probability, and no sum over values of one person, is further than √(gap/2) from
the maximum (Pinsker's inequality, island by island). The maximum moreover fits the releases, so it lies within the
bounds of the pair. Where no point that meets the counts is known there are only the bounds, and they hold if the
releases are consistent.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from showthrough.inference.bounds import limits
from showthrough.inference.clock import Clock
from showthrough.inference.nearness import windows
from showthrough.inference.solved import Solved
from showthrough.table.arrays import Reals


def ranges_frame(solved: Solved, seconds: float, within: float | None) -> pl.DataFrame:
    """The ranges of everybody, as `Posterior.ranges` hands them out."""
    low, high = ranges(solved, Clock(seconds), within=within)
    pairs = np.flatnonzero(solved.pairs.alive)
    loose = (solved.hanging | ~solved.speaking)[solved.pairs.signature[pairs]]
    columns = pl.Series("low", low[pairs]), pl.Series("high", high[pairs]), pl.Series("conditional", loose)
    return solved.per_person(pairs, *columns)


def ranges(solved: Solved, clock: Clock, *, within: float | None = None) -> tuple[Reals, Reals]:
    """[pairs] the ends of where the probability lies; with ``within``, that of all values so near to the pair's."""
    pairs = solved.pairs
    open_signatures = np.flatnonzero(~solved.answered)
    found = limits(solved, open_signatures, clock)
    bar = _error_bars(solved)[pairs.signature]
    p, lower, upper = pairs.p, found.lower, found.upper
    if within is not None:
        near = windows(pairs, solved.history.values, within)
        p = near.sums(p)
        inside, outside = near.sums(lower), near.totals(lower) - near.sums(lower)
        beside = near.totals(upper) - near.sums(upper)
        lower, upper = np.maximum(inside, 1.0 - beside), np.minimum(near.sums(upper), 1.0 - outside)
    low, high = np.maximum(lower, p - bar), np.minimum(upper, p + bar)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _error_bars(solved: Solved) -> Reals:
    """[m] how far any probability of a signature can be from the answer; 1 where that is not known."""
    if solved.gap is None:
        return np.where(solved.consistent, 0.0, 1.0)
    bar = np.minimum(1.0, np.sqrt(np.maximum(solved.gap, 0.0) / 2))
    return np.where(solved.consistent & np.isfinite(bar), bar, 1.0)
