"""Shares of worlds as a frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from showthrough.inference.integral import world_shares
from showthrough.inference.solved import Solved


def worlds_frame(solved: Solved, ids: Iterable[Any] | None, *, most_states: int, seconds: float) -> pl.DataFrame:
    """In what share of worlds persons have their values: id, value, p, error, by, counts."""
    people = solved.called(ids)
    if ids is None:  # where releases may contradict each other there may be no world
        people = people[solved.consistent[solved.of_person[people]]]
    asked, refuse = solved.of_person[people], ids is not None
    found = world_shares(solved.face, solved.mu, asked, most_states=most_states, seconds=seconds, refuse=refuse)
    known = np.flatnonzero(~np.isnan(found.share) & solved.pairs.alive)
    columns = [
        pl.Series("p", found.share[known]),
        pl.Series("error", found.error[known]),
        pl.Series("by", np.where(found.sampled[known], "sampled", "counted"), dtype=pl.String),
        pl.Series("counts", np.where(found.seated[known], "values and seats", "values"), dtype=pl.String),
    ]
    told = np.isin(asked, solved.pairs.signature[known])
    return solved.per_person(known, *columns, people=people[told])
