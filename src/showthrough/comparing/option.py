"""One way to publish: how a release is made of a part of the table, and what a reader has beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.l_diversity import FrequencyLDiversity
from showthrough.errors import ParameterError
from showthrough.measuring.queries import Workload
from showthrough.measuring.utility import utility
from showthrough.release.release import Release
from showthrough.republishing.anonymize import anonymize


@dataclass(frozen=True)
class ToCompare:
    """The table and its columns, and how strict methods that make groups are."""

    table: pl.DataFrame
    id: str
    sensitive: str
    quasi: tuple[str, ...]
    hierarchies: Mapping[str, Any]
    k: int = 5
    l: int = 3


@dataclass(frozen=True)
class Option:
    """A way to publish; ``epsilon`` is what one release spends, None where nothing is promised."""

    name: str
    make: Callable[[pl.DataFrame, str, int], Release]
    """A release of some rows of the table, called so, by a seed."""
    by_register: bool = True
    """Whether readers find persons by their quasi-identifiers, or by ids that are published."""
    epsilon: float | None = None
    words: str = ""

    def error(self, rows: pl.DataFrame, release: Release, workload: Workload) -> float | None:
        """The median relative error of counting queries on a release of some rows."""
        return utility(release, rows, workload=workload).query_error_median


def grouping(asked: ToCompare, method: str) -> Option:
    """A method that puts persons into groups: distinct values in each with Anatomy, k rows in each with the others."""
    if method not in ("anatomy", "mondrian", "mondrian-relaxed", "local-recoding", "mdav"):
        raise ParameterError(
            f"Methods to compare are anatomy, mondrian, mondrian-relaxed, local-recoding and mdav, not {method!r}.",
            parameters=("methods",),
        )
    by_values = method == "anatomy"
    limit = FrequencyLDiversity(asked.l) if by_values else KAnonymity(asked.k)
    shown = f"{method}, l = {asked.l}" if by_values else f"{method}, k = {asked.k}"
    make = partial(_grouped, asked, method, (limit,))
    return Option(shown, make, by_register=not by_values)


def _grouped(
    asked: ToCompare, method: str, criteria: Sequence[Any], rows: pl.DataFrame, name: str, seed: int
) -> Release:
    by_values = method == "anatomy"
    return anonymize(
        rows,
        method=method,
        id=asked.id,
        sensitive=asked.sensitive,
        quasi=asked.quasi,
        hierarchies={c: tree for c, tree in asked.hierarchies.items() if c in asked.quasi},
        criteria=criteria,
        publish_ids=by_values,
        quasi_anyway=asked.quasi,
        name=name,
        seed=seed,
    )
