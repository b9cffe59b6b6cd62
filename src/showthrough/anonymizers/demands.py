"""The criteria that a caller asks for as the one requirement that an algorithm sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from showthrough.anonymizers.refusals import out_of_reach
from showthrough.anonymizers.requirement import Requirement
from showthrough.criteria.alpha_k import AlphaKAnonymity
from showthrough.criteria.average_risk import AverageRisk, Uniqueness
from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import OnColumn
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.t_closeness import TCloseness
from showthrough.table.arrays import Flags

if TYPE_CHECKING:
    from showthrough.anonymizers.table import Table


def requirement(table: Table, criteria: Sequence[Any], *, suppress: int = 0) -> Requirement:
    """Criteria on sizes and shares as one requirement; refused if that is out of reach without so many rows."""
    ready = [searchable(c) for c in criteria]
    k = max([1, *(c.k for c in map(bare, ready) if isinstance(c, (KAnonymity, AlphaKAnonymity)))])
    others = [c for c in ready if not isinstance(c, KAnonymity)]
    if not others:
        return Requirement(k)
    if table.rows >= k:
        refuse_out_of_reach(table, others, spare=suppress)
    return Requirement(k, table.value, lambda counts: satisfied(table, counts, others), labels=table.values)


def satisfied(table: Table, counts: GroupCounts, criteria: Sequence[Any]) -> Flags:
    """Which groups satisfy all criteria, those on one of several sensitive columns by that column."""
    met: Flags = np.ones(counts.groups, dtype=bool)
    joint = [c for c in criteria if isinstance(c, OnColumn)]
    if joint and table.joint is not None:
        met &= table.joint.met(counts, joint)
    for criterion in criteria:
        if not isinstance(criterion, OnColumn):
            met &= criterion.met(criterion.level(counts))
    return met


def refuse_out_of_reach(table: Table, criteria: Sequence[Any], *, spare: int = 0) -> None:
    """Refuse criteria that the whole table fails as one group, and would without ``spare`` rows."""
    plain = [c for c in criteria if not isinstance(c, OnColumn)]
    found = out_of_reach(table.counts, table.values, plain, spare=spare) if plain else None
    for one in criteria:
        if found is None and isinstance(one, OnColumn) and table.joint is not None:
            total = table.joint.total(one.column, table.counts)
            found = out_of_reach(*total, [one.criterion], spare=spare, of=one.column)
    if found is not None:
        raise found


def bare(criterion: Any) -> Any:
    """The criterion itself, whichever column it is judged by."""
    return criterion.criterion if isinstance(criterion, OnColumn) else criterion


def searchable(criterion: Any) -> Any:
    """The criterion for single groups: which rows are kept, and what all make together, is not known before all are."""
    if isinstance(criterion, OnColumn):
        return replace(criterion, criterion=searchable(criterion.criterion))
    if isinstance(criterion, (AverageRisk, Uniqueness)):
        return KAnonymity(criterion.k)
    return replace(criterion, reference="all") if isinstance(criterion, TCloseness) else criterion
