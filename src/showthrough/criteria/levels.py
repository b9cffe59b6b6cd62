"""Every level of a release at once, from one count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from showthrough.criteria.alpha_k import AlphaKAnonymity
from showthrough.criteria.beta_likeness import BetaLikeness
from showthrough.criteria.coding import as_numbers
from showthrough.criteria.counts import Counted
from showthrough.criteria.criterion import Checked
from showthrough.criteria.delta_disclosure import DeltaDisclosure
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    RecursiveLDiversity,
)
from showthrough.criteria.m_uniqueness import MUniqueness
from showthrough.criteria.several import Roles, count_each
from showthrough.criteria.t_closeness import TCloseness

# the parameters do not matter for the level, only l of the recursive reading does
_ALWAYS: tuple[tuple[str, Checked], ...] = (
    ("distinct l-diversity", DistinctLDiversity(1)),
    ("frequency l-diversity", FrequencyLDiversity(1)),
    ("entropy l-diversity", EntropyLDiversity(1)),
    ("recursive (c,2)-diversity", RecursiveLDiversity(1, 2)),
    ("recursive (c,3)-diversity", RecursiveLDiversity(1, 3)),
    ("(α,k)-anonymity", AlphaKAnonymity(1, 1)),
    ("basic β-likeness", BetaLikeness(0)),
    ("enhanced β-likeness", BetaLikeness(0, enhanced=True)),
    ("δ-disclosure", DeltaDisclosure(1)),
    ("δ-disclosure of occurring values", DeltaDisclosure(1, occurring=True)),
    ("m-uniqueness", MUniqueness(1)),
)


def levels(
    release: Any,
    *,
    sensitive: str | Sequence[str] | None = None,
    quasi: Sequence[str] | None = None,
    others: str = "alone",
    suppressed: str | None = None,
    reference: Any = None,
) -> pl.DataFrame:
    """The best parameter of every criterion that a release satisfies: criterion, level, sentence.

    Largest k and l, smallest t, α, β; for recursive diversity and δ-disclosure the number that c or
    δ must exceed. Takes a release, or a frame with its roles. With several sensitive columns each
    is looked at in turn, ``alone`` or with the others as ``quasi``-identifiers (``others``), and a
    first column says which.
    """
    one = sensitive is None or isinstance(sensitive, str)
    names = () if sensitive is None else (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
    named = None if quasi is None else (quasi,) if isinstance(quasi, str) else tuple(quasi)
    parts = count_each(release, Roles(names, named, others, suppressed), reference)
    if one:
        return of_counted(parts[0][1])
    return pl.concat(of_counted(counted).select(pl.lit(name).alias("sensitive"), pl.all()) for name, counted in parts)


def of_counted(counted: Counted) -> pl.DataFrame:
    """The same from counts that were made before."""
    rows: list[tuple[str, float, str]] = []
    for name, criterion in listed(counted):
        level = criterion.worst(criterion.level(counted.counts))
        rows.append((name, level, criterion.says(level)))
    return pl.DataFrame(rows, schema={"criterion": pl.String, "level": pl.Float64, "sentence": pl.String}, orient="row")


def listed(counted: Counted) -> list[tuple[str, Checked]]:
    """The criteria that make sense for these counts, by name."""
    found: list[tuple[str, Checked]] = [("k-anonymity", KAnonymity(1))]
    if not counted.has_values:
        return found
    found += _ALWAYS[:6]
    labels = counted.counts.labels
    has_order = labels is not None and not isinstance(labels.dtype, pl.Struct) and as_numbers(labels) is not None
    for distance in ("equal", "ordered") if has_order else ("equal",):
        found.append((f"t-closeness ({distance})", TCloseness(1, distance)))
        if counted.suppressed:
            found.append((f"t-closeness ({distance}, kept rows)", TCloseness(1, distance, "kept")))
    return [*found, *_ALWAYS[6:]]
