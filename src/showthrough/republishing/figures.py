"""What the publisher wants to know of a joint posterior: who is certain, and how likely the likeliest value is."""

from __future__ import annotations

import numpy as np
import polars as pl

from showthrough.inference.posterior import Posterior
from showthrough.policy.policy import SLACK
from showthrough.table.arrays import Flags, Reals


def certain(post: Posterior) -> set[str]:
    """The ids of the persons who can have one value only."""
    sure = (post.pairs.left() == 1)[post.of_person[: post.history.named]]
    return set(post.history.ids.gather(np.flatnonzero(sure)).cast(pl.String))


def likeliest(post: Posterior) -> Reals:
    """[named] the probability of each person's likeliest value."""
    top: Reals = post.pairs.p[post.pairs.best][post.of_person[: post.history.named]]
    return top


def over(post: Posterior, limit: float) -> Flags:
    """[named] whose likeliest value exceeds the limit."""
    found: Flags = likeliest(post) > limit + SLACK
    return found
