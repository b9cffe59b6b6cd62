"""All strategies of publishing the next table, side by side: nothing is written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import polars as pl

from showthrough.anonymizers.noisy_counts import DP_COUNTS
from showthrough.errors import FieldError, InputError, PolicyError
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.report.origin import Origin
from showthrough.report.publish import ComparisonContent, comparison_content
from showthrough.republishing.anonymize import anonymize
from showthrough.republishing.strategies_compared import compare
from showthrough.requests.informed import known_from
from showthrough.requests.publish import PublishRequest, read_all

_ANYTHING = {"hold_back": True, "exposed": "accept", "best_effort": True}  # so that a comparison has a guarded release


@dataclass(frozen=True, eq=False)
class CompareResult:
    """All strategies on the same table, a row each."""

    request: PublishRequest
    strategies: pl.DataFrame
    made: Origin

    def content(self) -> ComparisonContent:
        """What a report says; nobody is named in it."""
        return replace(comparison_content(self.strategies), made=self.made)


def run_compare(request: PublishRequest, progress: Progress | Callable[[str], None] | None = None) -> CompareResult:
    """All strategies on the same table; nothing is written."""
    tell = Progress.of(progress)
    if request.method == DP_COUNTS:
        raise InputError(
            f"{DP_COUNTS} has no strategies to compare; what one more noisy release would cost is told by dp.compose.",
            parameters=("method",),
        )
    if request.id is None:
        raise FieldError("id", "is missing: strategies are compared by what they tell of persons.")
    with contextlib.nullcontext() if request.ledger is None else request.ledger.open() as ledger:
        table, arguments, _ = read_all(request, tell, ledger)
    history, refused, limits = arguments.pop("history"), dict[str, str](), request.guarding()

    def make(strategy: str) -> Release:
        policy = limits if strategy == "guarded" else None
        if strategy == "guarded" and policy is None:
            raise InputError(
                "The guard needs a limit, such as policy=Policy(max_posterior=0.5).", parameters=("policy",)
            )
        known = known_from(request.knowledge, request.prior) if strategy == "guarded" else {}
        arguments["readers"] = request.readers if strategy == "guarded" else "groups"
        more = {**arguments, **known, "history": history, "progress": tell.silent(), "policy": policy}
        try:
            with request.past.doubting_the_register():
                release = anonymize(table, strategy=strategy, **more)
            if release.made.untied is not None:
                refused[strategy] = release.made.untied
            return release
        except PolicyError as problem:
            refused[strategy] = f"As asked it is refused: {problem.shareable} Shown is the best effort."
            return anonymize(table, strategy=strategy, **more | _ANYTHING)

    found = compare(
        make,
        history,
        table=table,
        id=request.id,
        limit=None if limits is None else limits.max_posterior,
        changed=request.changed,
        progress=tell,
    )
    told = pl.col("strategy").replace_strict(refused, default=None, return_dtype=pl.String)
    found = found.with_columns(pl.coalesce(told, "remark").alias("remark")) if refused else found
    return CompareResult(request, found, Origin.now(request.files()))
