"""The algorithm of a publisher, run again on other tables; and what it published, class by class."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from showthrough.errors import CriterionError, InputError
from showthrough.release.kind import Shows
from showthrough.release.release import Release
from showthrough.republishing.anonymize import anonymize

_BETWEEN = "\x1f"
_FIELD = "\x1e"


def class_keys(release: Release) -> list[str]:
    """What each group publishes, in the order of its labels, as one text: its cells or records, and its values."""
    values = (
        release.tally.filter(pl.col("n") > 0)
        .select("group", pl.concat_str(pl.col("value").cast(pl.String), pl.lit(_FIELD), pl.col("n")).alias("own"))
        .group_by("group")
        .agg(pl.col("own").sort().str.join(_BETWEEN).alias("values"))
    )
    cells = release.cells()
    label = cells.columns[0]
    shown = [pl.col(c).cast(pl.String).fill_null("") for c in cells.columns[1:]]
    if release.roles.id is not None and release.form.shows is Shows.EXACT:
        cells = cells.with_columns(release.records[release.roles.id].cast(pl.String).alias("\0id"))
        shown.append(pl.col("\0id"))
    row = pl.concat_str(shown, separator=_FIELD) if shown else pl.lit("")
    looks = (
        cells.select(pl.col(label).alias("group"), row.alias("row"))
        .group_by("group")
        .agg(pl.col("row").sort().str.join(_BETWEEN).alias("rows"))
    )
    both = pl.DataFrame({"group": release.labels}).join(values, on="group", how="left", maintain_order="left")
    both = both.join(looks, on="group", how="left", maintain_order="left")
    return (
        both.select(pl.concat_str(pl.col("rows", "values").fill_null(""), separator=_BETWEEN * 2)).to_series().to_list()
    )


@dataclass
class Publisher:
    """An algorithm that publishes tables; what it refuses is None."""

    run: Callable[[pl.DataFrame, int], Release | None]
    seeded: bool
    """Whether it draws at random from a seed that nobody knows."""
    replays: int = 0
    refused: int = 0
    why: str = field(default="")

    @classmethod
    def of(cls, given: Any, release: Release) -> Publisher:
        """From a function, or the arguments of `anonymize`; what they leave out is as the release says."""
        if isinstance(given, Mapping):
            chosen: dict[str, Any] = {
                "id": "id",
                "sensitive": release.sensitive,
                "quasi": list(release.roles.quasi),
                "quasi_anyway": list(release.roles.quasi),
                "publish_ids": release.roles.id is not None,
                **given,
            }
            if "table" in chosen:
                raise InputError(
                    "publish= holds the arguments of anonymize() without its table.", parameters=("publish",)
                )
            if release.hierarchies and "hierarchies" not in chosen:
                chosen["hierarchies"] = dict(release.hierarchies)
            if "seed" in chosen:
                return cls(lambda table, _: anonymize(table, **chosen), False)
            return cls(lambda table, seed: anonymize(table, seed=seed, **chosen), True)
        if not callable(given):
            raise InputError(
                "publish= is the algorithm: a function from a table to a release, or the arguments of anonymize().",
                parameters=("publish",),
            )
        if "seed" in inspect.signature(given).parameters:
            return cls(lambda table, seed: given(table, seed=seed), True)
        return cls(lambda table, _: given(table), False)

    def classes(self, table: pl.DataFrame, seed: int) -> Counter[str] | None:
        """What it publishes of a table, as classes and how often each; None if it refuses."""
        self.replays += 1
        try:
            found = self.run(table, seed)
        except (InputError, CriterionError) as problem:
            self.refused, self.why = self.refused + 1, problem.shareable
            return None
        if found is None:
            self.refused += 1
            return None
        if not isinstance(found, Release):
            raise InputError(
                "The function of publish= returns a release, or None if it refuses.", parameters=("publish",)
            )
        return Counter(class_keys(found))
