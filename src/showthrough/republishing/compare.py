"""All strategies side by side on one page: what each would tell, and what it would cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.inference.posterior import Posterior
from showthrough.inference.run import infer
from showthrough.release.release import Release

STRATEGIES = ("independent", "history-guided", "m-invariance", "guarded")
SCHEMA = {
    "strategy": pl.String,
    "newly_certain": pl.Int64,
    "over_limit": pl.Int64,
    "joint_entropy": pl.Float64,
    "counterfeits": pl.Int64,
    "withheld": pl.Int64,
    "gcp": pl.Float64,
    "seconds": pl.Float64,
    "remark": pl.String,
}


def compare(
    make: Callable[[str], Release], history: Sequence[Release], *, limit: float | None, progress: Callable[[str], None]
) -> pl.DataFrame:
    """Make the next release by every strategy and look at it beside the history.

    ``make`` publishes by a strategy; persons are over the limit if their likeliest value is likelier.
    """
    before = infer(history) if history else None
    rows = [_row(strategy, make, history, before, limit, progress) for strategy in STRATEGIES]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _row(
    strategy: str,
    make: Callable[[str], Release],
    history: Sequence[Release],
    before: Posterior | None,
    limit: float | None,
    progress: Callable[[str], None],
) -> tuple[Any, ...]:
    progress(strategy)
    began = time.perf_counter()
    try:
        release = make(strategy)
    except InputError as problem:
        return strategy, None, None, None, None, None, None, time.perf_counter() - began, problem.shareable
    seconds = time.perf_counter() - began
    joint = infer([*history, _tied(release)])
    certain = _certain(joint)
    known = set() if before is None else _certain(before)
    top = joint.pairs.p[joint.pairs.best][joint.of_person[: joint.history.named]]
    over = None if limit is None else int((top > limit + 2e-5).sum())
    made = release.made
    gcp = None if made is None or made.utility is None else made.utility.gcp_set
    return (
        strategy,
        len(certain - known),
        over,
        joint.entropy,
        0 if made is None else made.counterfeits,
        0 if made is None else made.suppressed,
        gcp,
        seconds,
        "",
    )


def _tied(release: Release) -> Release:
    """The release as seen by a reader who knows who is in which group."""
    if release.kind == "bucketized" and release.roles.id is not None:
        return release
    link = release.groups()
    frame = _spread(link, release)
    return Release.bucketized(
        frame, id="id", sensitive="value", group="group", name=release.name,
        counterfeits=dict(release.counterfeits.iter_rows()) or None,
    )  # fmt: skip


def _spread(link: pl.DataFrame, release: Release) -> pl.DataFrame:
    """One row per published value, beside the members of its group; counterfeits have no id."""
    values = release.tally.select(pl.col("group", "value").repeat_by("n").explode()).sort("group", maintain_order=True)
    place = pl.int_range(pl.len()).over("group")
    members = link.select("id", pl.col("group").cast(values["group"].dtype)).with_columns(place.alias("k"))
    return values.with_columns(place.alias("k")).join(members, on=["group", "k"], how="left").drop("k")


def _certain(post: Posterior) -> set[str]:
    sure = (post.pairs.left() == 1)[post.of_person[: post.history.named]]
    return set(post.history.ids.gather(np.flatnonzero(sure)).cast(pl.String))
