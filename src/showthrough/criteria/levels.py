"""Every level of a release at once, from one count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from showthrough.criteria.alpha_k import AlphaKAnonymity
from showthrough.criteria.beta_likeness import BetaLikeness
from showthrough.criteria.coding import as_numbers
from showthrough.criteria.counts import Counted
from showthrough.criteria.criterion import Criterion
from showthrough.criteria.delta_disclosure import DeltaDisclosure
from showthrough.criteria.implications import CKSafety
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    RecursiveLDiversity,
)
from showthrough.criteria.m_uniqueness import MUniqueness
from showthrough.criteria.several import FrameRoles, count_each
from showthrough.criteria.skyline import SkylinePrivacy
from showthrough.criteria.t_closeness import TCloseness
from showthrough.table.hierarchy import Hierarchy, as_hierarchy

# limits do not matter for the level; l of the recursive reading, k and points of worst knowledge do
_ALWAYS: tuple[tuple[str, Criterion], ...] = (
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
    ("(c,1)-safety", CKSafety(0, 1)),
    ("(c,2)-safety", CKSafety(0, 2)),
    ("skyline privacy at (1,1,1)", SkylinePrivacy(0, (1, 1, 1))),
)


def levels(
    release: Any,
    *,
    sensitive: str | Sequence[str] | None = None,
    quasi: Sequence[str] | None = None,
    others: str = "alone",
    suppressed: str | None = None,
    reference: Any = None,
    hierarchies: Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """The best parameter of every criterion that a release satisfies: criterion, level, sentence.

    Largest k and l, smallest t, α, β; for recursive diversity, δ-disclosure and worst knowledge the number that
    c or δ must exceed. Takes a release, or a frame with its roles. With several sensitive columns each
    is looked at in turn, ``alone`` or with the others as ``quasi``-identifiers (``others``), and a
    first column says which. Groups count published records; where a release declares counterfeits,
    the sentence for k tells the persons. ``reference`` is the table that values are compared with,
    ``hierarchies`` of sensitive columns add the hierarchical t-closeness.
    """
    one = sensitive is None or isinstance(sensitive, str)
    names = () if sensitive is None else (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
    named = None if quasi is None else (quasi,) if isinstance(quasi, str) else tuple(quasi)
    parts = count_each(release, FrameRoles(names, named, others, suppressed), reference)
    trees = trees_of(release, hierarchies)
    found = [(name, of_counted(counted, trees.get(name or ""))) for name, counted in parts]
    if one:
        return found[0][1]
    return pl.concat(frame.select(pl.lit(name).alias("sensitive"), pl.all()) for name, frame in found)


def trees_of(release: Any, hierarchies: Mapping[str, Any] | None) -> dict[str, Hierarchy]:
    """The hierarchies that a release carries and those that are given, which come first."""
    own = getattr(release, "hierarchies", None) or {}
    return {**own, **{column: as_hierarchy(tree) for column, tree in (hierarchies or {}).items()}}


def of_counted(counted: Counted, hierarchy: Hierarchy | None = None) -> pl.DataFrame:
    """The same from counts that were made before."""
    rows: list[tuple[str, float, str]] = []
    for name, criterion in sensible(counted, hierarchy):
        level = criterion.worst(criterion.level(counted.counts))
        rows.append((name, level, criterion.told(level, counted)))
    return pl.DataFrame(rows, schema={"criterion": pl.String, "level": pl.Float64, "sentence": pl.String}, orient="row")


def sensible(counted: Counted, hierarchy: Hierarchy | None = None) -> list[tuple[str, Criterion]]:
    """The criteria that make sense for these counts, by name."""
    found: list[tuple[str, Criterion]] = [("k-anonymity", KAnonymity(1))]
    if not counted.has_values:
        return found
    found += _ALWAYS[:6]
    labels = counted.counts.labels
    has_order = labels is not None and not isinstance(labels.dtype, pl.Struct) and as_numbers(labels) is not None
    distances: dict[str, Any] = {"equal": "equal"}
    if has_order:
        distances["ordered"] = "ordered"
    if hierarchy is not None:
        distances["hierarchical"] = hierarchy
    for name, distance in distances.items():
        found.append((f"t-closeness ({name})", TCloseness(1, distance)))
        if counted.suppressed:
            found.append((f"t-closeness ({name}, kept rows)", TCloseness(1, distance, "kept")))
    return [*found, *_ALWAYS[6:]]
