"""The criteria that a caller asks for as the one requirement that an algorithm sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from showthrough.anonymizers.refusals import out_of_reach
from showthrough.anonymizers.requirement import Requirement
from showthrough.criteria.alpha_k import AlphaKAnonymity
from showthrough.criteria.average_risk import AverageRisk, Uniqueness
from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.t_closeness import TCloseness
from showthrough.table.arrays import Flags

if TYPE_CHECKING:
    from showthrough.anonymizers.table import Table


def requirement(table: Table, criteria: Sequence[Any], *, suppress: bool = False) -> Requirement:
    """Criteria on sizes and shares as one requirement; refused if it is out of reach and no row may be suppressed."""
    ready = [searchable(c) for c in criteria]
    k = max([1, *(c.k for c in ready if isinstance(c, (KAnonymity, AlphaKAnonymity)))])
    others = [c for c in ready if not isinstance(c, KAnonymity)]
    if not others:
        return Requirement(k)

    def allowed(counts: GroupCounts) -> Flags:
        met: Flags = others[0].met(others[0].level(counts))
        for criterion in others[1:]:
            met = met & criterion.met(criterion.level(counts))
        return met

    refusal = None if suppress or table.rows < k else out_of_reach(table.counts, table.values, others)
    if refusal is not None:
        raise refusal
    return Requirement(k, table.value, allowed, labels=table.values)


def searchable(criterion: Any) -> Any:
    """The criterion for single groups: which rows are kept, and what all make together, is not known before all are."""
    if isinstance(criterion, (AverageRisk, Uniqueness)):
        return KAnonymity(criterion.k)
    return replace(criterion, reference="all") if isinstance(criterion, TCloseness) else criterion
