"""All strategies side by side, a row each: what each would tell, and what it would cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import polars as pl

from showthrough.anonymizers.table import ranged
from showthrough.errors import InputError, NotConvergedError
from showthrough.inference.posterior import Posterior
from showthrough.measuring.grouping import Grouping
from showthrough.measuring.loss import Reading, gcp
from showthrough.measuring.utility import utility
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.republishing.figures import certain, over
from showthrough.republishing.price import QUERIES
from showthrough.republishing.strategies import STRATEGIES
from showthrough.republishing.tied import joint

SCHEMA = {
    "strategy": pl.String,
    "newly_certain": pl.Int64,
    "over_limit": pl.Int64,
    "joint_entropy": pl.Float64,
    "counterfeits": pl.Int64,
    "withheld": pl.Int64,
    "gcp_of_groups": pl.Float64,
    "query_error": pl.Float64,
    "seconds": pl.Float64,
    "remark": pl.String,
}


def compare(
    make: Callable[[str], Release],
    history: Sequence[Release],
    *,
    table: pl.DataFrame,
    id: str,
    limit: float | None = None,
    changed: str = "refuse",
    progress: Progress | Callable[[str], None] | None = None,
) -> pl.DataFrame:
    """Make the next release by every strategy and look at it beside the history.

    ``make`` publishes the table by a strategy. Persons are over the limit if their likeliest value is
    likelier, for readers who know everybody's group. A strategy that refuses says why in its remark.
    """
    tell = Progress.of(progress)
    quiet = tell.silent()
    before = joint(history, changed=changed, progress=quiet) if history else None
    already = set() if before is None else certain(before)
    rows = []
    for strategy in STRATEGIES:
        tell.stage(strategy)
        began = time.perf_counter()
        try:
            release = make(strategy)
            seconds = time.perf_counter() - began
            told = _told(joint([*history, release], changed=changed, progress=quiet), already, limit)
            lost = _lost(release, table, id)
        except (InputError, NotConvergedError) as problem:
            rows.append((strategy, *[None] * 7, time.perf_counter() - began, problem.shareable))
            continue
        made = release.made
        rows.append((strategy, *told, made.counterfeits, made.suppressed, *lost, seconds, ""))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _told(post: Posterior, already: set[str], limit: float | None) -> tuple[int, int | None, float]:
    """Persons newly certain, persons over the limit, entropy."""
    return len(certain(post) - already), None if limit is None else int(over(post, limit).sum()), post.entropy


def _lost(release: Release, table: pl.DataFrame, id: str) -> tuple[float | None, float | None]:
    """GCP of the groups, and the median error of counting queries."""
    grouping = Grouping.of_release(table, release, id=id)
    numeric = tuple(c for c in grouping.quasi if ranged(table[c]))
    loss = gcp(grouping, Reading("set", numeric=numeric)) if grouping.quasi else None
    if len(grouping.quasi) < 2:
        return loss, None
    return loss, utility(release, table, id=id, workload=QUERIES).query_error_median
