"""Counterfeits that criteria need: where joining groups does not make them diverse, values that are rare there do.

A table in which one value is too frequent for a criterion has no grouping that satisfies it. With values of nobody
beside the frequent one it has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.table.arrays import Flags, Ints

ROUNDS = 100
MOST = 10  # counterfeits for every record, beyond which they do not help
_PART = 25  # one counterfeit at a time for so many records of a group


def filled(past: Past, proposal: Proposal, failing: Callable[[Proposal], Flags]) -> Proposal:
    """Groups that fail a criterion take in counterfeits of what is rarest in them, until none fails, if that helps."""
    found = proposal.numbered()
    for _ in range(ROUNDS):
        kept = int((found.group >= 0).sum())
        groups = np.flatnonzero(failing(found)) if kept else np.empty(0, dtype=np.int64)
        if not groups.size:
            return found
        if found.counterfeits > MOST * kept:
            break
        group, value = _rarest(past, found, groups)
        found = Proposal(
            found.group,
            np.concatenate([found.counterfeit_group, group]).astype(np.int32),
            np.concatenate([found.counterfeit_value, value]).astype(np.int32),
            found.remarks,
        )
    return proposal


def parted(past: Past, proposal: Proposal, failing: Callable[[Proposal], Flags]) -> Proposal:
    """Groups that fail a criterion, without their counterfeits, in parts that show each value once."""
    found = proposal.numbered()
    wrong = np.flatnonzero(failing(found))
    rows, fakes = np.flatnonzero(np.isin(found.group, wrong)), ~np.isin(found.counterfeit_group, wrong)
    key = found.group[rows].astype(np.int64) * past.values.len() + past.value[rows]
    order = np.argsort(key, kind="stable")
    first = np.searchsorted(key[order], key[order])
    turn = np.empty(rows.size, dtype=np.int64)
    turn[order] = np.arange(rows.size) - first
    group, groups = found.group.astype(np.int64), int(found.group.max(initial=-1)) + 1
    group[rows] += turn * groups
    return Proposal(group.astype(np.int32), found.counterfeit_group[fakes], found.counterfeit_value[fakes]).inhabited()


def thinned(past: Past, proposal: Proposal, failing: Callable[[Proposal], Flags], most: int) -> Proposal:
    """Groups that fail a criterion without records of what is most frequent in them, until ``most`` are withheld.

    A record less spares several counterfeits.
    """
    found = proposal.inhabited()
    while found.held < most:
        groups = np.flatnonzero(failing(found))[: most - found.held]
        values = _shown(past, found)[groups].argmax(axis=1)
        pairs = zip(groups.tolist(), values.tolist(), strict=True)
        rows = [np.flatnonzero((found.group == g) & (past.value == v))[:1] for g, v in pairs]
        out = np.concatenate([np.empty(0, dtype=np.int64), *rows])
        if not out.size:
            break
        group = found.group.copy()
        group[out] = -1
        found = replace(found, group=group).inhabited()
    return found


def cheapest(proposals: list[Proposal], failing: Callable[[Proposal], Flags]) -> Proposal:
    """The one with the fewest failing groups; of these the cheapest, and the first of equals."""
    return min(proposals, key=lambda one: (int(failing(one).sum()), one.cost))


def _rarest(past: Past, proposal: Proposal, groups: Ints) -> tuple[Ints, Ints]:
    """Groups, and values that they show least often, the more frequent of the table first; a few in a large group."""
    span, shown = past.values.len(), _shown(past, proposal)[groups]
    frequent = np.argsort(-np.bincount(past.value, minlength=span), kind="stable")
    order = frequent[np.argsort(shown[:, frequent], axis=1, kind="stable")]
    few = np.clip(shown.sum(axis=1) // _PART, 1, max(span // 2, 1))
    return np.repeat(groups, few), order[np.arange(span) < few[:, None]]


def _shown(past: Past, proposal: Proposal) -> Ints:
    """[groups, values] how often each group shows each value."""
    span, kept = past.values.len(), proposal.group >= 0
    group = np.concatenate([proposal.group[kept], proposal.counterfeit_group]).astype(np.int64)
    value = np.concatenate([past.value[kept], proposal.counterfeit_value])
    groups = int(group.max(initial=-1)) + 1
    found: Ints = np.bincount(group * span + value, minlength=groups * span).reshape(groups, span)
    return found
