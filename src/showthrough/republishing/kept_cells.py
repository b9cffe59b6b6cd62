"""The last groups go on, with newcomers where they fit: a start for guards against readers who locate persons.

A release that shows the cells and values of the last one tells such readers least. Whoever left has left a slot; a
newcomer with the same value takes it, in the group whose cells it widens least. The other newcomers join the groups
that they fit best, or have groups of their own. Groups that fail a criterion join their neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from showthrough.anonymizers.table import Table
from showthrough.errors import InputError
from showthrough.republishing.drafts import Drafts
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.repairs import merge
from showthrough.republishing.strategies import slots
from showthrough.table.arrays import Flags, Ints, Reals

MERGES = 24
MOST = 4_000_000  # pairs of a newcomer and a slot up to which the best of all assignments is found
AT_ONCE = 2_000_000  # pairs of a newcomer and a group that are looked at


def kept_cells(
    table: Table,
    past: Past,
    drafts: Drafts,
    criteria: tuple[object, ...],
    grouped: Callable[[Table], Proposal | None] | None = None,
) -> Proposal | None:
    """Everybody in the group of the last release, newcomers where they fit; None where no group goes on.

    With ``grouped`` newcomers for whom there is no slot have groups of their own, if it makes some.
    """
    if past.newest is None or not (past.last_group >= 0).any():
        return None
    group = past.last_group.astype(np.int64)
    extents = _extents(table, group, past.newest.labels.len())
    empty = extents[0].sum(axis=1) == 0  # groups that everybody has left
    _fill_slots(table, past, group, extents, empty)
    left = np.flatnonzero(group < 0)
    if grouped is None:
        _join(table, group, extents, left, empty)
    else:
        apart = grouped(table.part(left)) if left.size else None
        if apart is None or not (apart.group >= 0).all():
            return None
        group[left] = empty.size + apart.group
    proposal: Proposal | None = Proposal(group.astype(np.int32)).numbered()
    for _ in range(MERGES):
        if proposal is None:
            return None
        failing = np.flatnonzero(drafts.failing(proposal, criteria))
        if not failing.size:
            return proposal
        proposal = merge(table, past, proposal, failing)
    return None


def all_back(table: Table, proposal: Proposal) -> Proposal:
    """Everybody who is withheld back in the group whose cells that widens least."""
    group, left = proposal.group.astype(np.int64), np.flatnonzero(proposal.group < 0)
    groups = int(group.max(initial=-1)) + 1
    if left.size and groups:
        _join(table, group, _extents(table, group, groups), left, np.zeros(groups, dtype=bool))
    return replace(proposal, group=group.astype(np.int32))


def _join(table: Table, group: Ints, extents: list[Flags], left: Ints, empty: Flags) -> None:
    """Everybody who is left over in the group that is widened least."""
    for rows in np.array_split(left, 1 + left.size * empty.size // AT_ONCE):
        wider = _widening(table, extents, rows, np.arange(empty.size))
        wider[:, empty] = np.inf
        group[rows] = wider.argmin(axis=1)


def _fill_slots(table: Table, past: Past, group: Ints, extents: list[Flags], empty: Flags) -> None:
    """Give slots to newcomers with the same value, so that cells widen least."""
    try:
        slot_group, slot_value = slots(past)
    except InputError:  # values changed within groups: which slots are free is not known
        return
    open_slots = ~empty[slot_group]
    new = np.flatnonzero(group < 0)
    for value in np.unique(slot_value[open_slots]).tolist():
        rows = new[past.value[new] == value]
        places = slot_group[open_slots & (slot_value == value)]
        if not 0 < rows.size * places.size <= MOST:
            continue
        one, other = linear_sum_assignment(_widening(table, extents, rows, places))
        group[rows[one]] = places[other]


def _extents(table: Table, group: Ints, groups: int) -> list[Flags]:
    """[columns][groups, codes] which values the cell of a group covers."""
    inside = np.flatnonzero(group >= 0)
    found = []
    for column in table.columns:
        span = len(column.labels)
        seen = np.zeros((groups, span), dtype=bool)
        seen[group[inside], column.codes[inside]] = True
        if column.shown == "range":
            seen = np.logical_or.accumulate(seen, axis=1) & np.logical_or.accumulate(seen[:, ::-1], axis=1)[:, ::-1]
        found.append(seen)
    return found


def _widening(table: Table, extents: list[Flags], rows: Ints, groups: Ints) -> Reals:
    """[rows, groups] how many cells a record would widen; of equals, the smaller group of cells."""
    found = np.zeros((rows.size, groups.size))
    for column, seen in zip(table.columns, extents, strict=True):
        share = seen.mean(axis=1)[groups]
        found += np.where(seen[groups][:, column.codes[rows]].T, 0.0, column.weight) + 1e-3 * share
    return found
