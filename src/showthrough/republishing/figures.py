"""What the publisher wants to know of a joint posterior: who is certain, and how likely the likeliest value is."""

from __future__ import annotations

import polars as pl

from showthrough.inference.posterior import Posterior
from showthrough.policy.judging import SLACK
from showthrough.table.arrays import Flags


def certain(post: Posterior) -> set[str]:
    """The ids of the persons whose value is proven certain."""
    return set(post.ids.filter(pl.Series(post.certain())).cast(pl.String))


def over(post: Posterior, limit: float) -> Flags:
    """Whose likeliest value exceeds the limit, in the order of ``post.ids``."""
    found: Flags = ~(post.largest() <= limit + SLACK)  # who has no figure may be over it
    return found
