"""The prior as a frame: what a reader believes of everybody before any release."""

from __future__ import annotations

import numpy as np
import polars as pl

from showthrough.inference.posterior import Posterior


def believed(post: Posterior) -> pl.DataFrame | None:
    """id, value, p (and release where ids are split) of persons with a prior; None if the reader has none."""
    solved = post._solved
    h = solved.history
    if h.prior is None or h.prior_of is None:
        return None
    people = np.flatnonzero(h.prior_of[: h.named] < len(h.prior) - 1)  # the last row is nobody's
    person = np.repeat(people, h.values.len())
    value = h.values.gather(np.tile(np.arange(h.values.len()), people.size)).alias("value")
    return pl.DataFrame([*solved.who(person), value, pl.Series("p", h.prior[h.prior_of[people]].ravel())])
