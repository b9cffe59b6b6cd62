"""Local repairs of a proposal; inference judges each before it stays.

*swap*: records with the same value change places, so that every group keeps its values and the members
share more of them with their earlier groups. *merge*: a leaking group joins the nearest group, first one
with the same values. *regroup*: the records of leaking groups move into groups with the values of their
last group, with counterfeits where values are missing (m-invariance on the part that leaks). *withhold*:
records are left out, and counterfeits keep the values of their groups. *trim*: counterfeits that the
limits do not need are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.remark import Remark
from showthrough.anonymizers.table import Table
from showthrough.errors import InputError
from showthrough.republishing.extents import CellShapes
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.strategies import by_signature
from showthrough.table.arrays import Flags

SWAPPED = 5000  # records among which partners are sought
AROUND = 2000  # neighbours on each side among which partners for a group are sought
CHOICE = 2  # of these, the nearest
REACH = 3  # neighbours on each side for single changes
PARTNERS = 40  # records of the same value that are looked at for each


def swap(past: Past, proposal: Proposal, touched: Flags) -> Proposal | None:
    """Exchange records of the same value so that members share more values with their last groups."""
    rows = np.flatnonzero(touched & (past.signature >= 0))
    if not 0 < rows.size <= SWAPPED:
        return None
    values = values_of_groups(past, proposal)
    signature = [frozenset(s) for s in past.signatures]
    group, moved = proposal.group.copy(), False

    def shared(row: int, g: int) -> int:
        return len(signature[past.signature[row]] & values[g])

    by_value: dict[int, list[int]] = {}
    for row in rows.tolist():
        by_value.setdefault(int(past.value[row]), []).append(row)
    for same in by_value.values():
        for k, one in enumerate(same):
            for other in same[k + 1 : k + PARTNERS]:
                a, b = int(group[one]), int(group[other])
                if a == b:
                    continue
                now = min(shared(one, a), shared(other, b)), shared(one, a) + shared(other, b)
                then = min(shared(one, b), shared(other, a)), shared(one, b) + shared(other, a)
                if then > now:
                    group[one], group[other], moved = b, a, True
    return replace(proposal, group=group) if moved else None


def merge(
    table: Table, past: Past, proposal: Proposal, leaking: npt.NDArray[np.integer], *, alike: bool = False
) -> Proposal | None:
    """Join each leaking group with the nearest group: one with the same values, or else any (unless ``alike``)."""
    groups = int(proposal.group.max(initial=-1)) + 1
    if groups < 2 or not leaking.size:
        return None
    partners = _partners(table, past, proposal, leaking, alike=alike)
    target = np.arange(groups)
    used = np.zeros(groups, dtype=bool)
    for g, near in partners:
        if used[g] or not near:
            continue
        partner = next((b for b in near if not used[b]), near[0])
        target[g] = target[partner]  # a partner that has joined another takes this one along
        used[g] = used[partner] = True
    if not used.any():
        return None
    moved = np.where(proposal.group >= 0, target[proposal.group], -1).astype(np.int32)
    fakes = target[proposal.counterfeit_group].astype(np.int32)
    return replace(proposal, group=moved, counterfeit_group=fakes).numbered()


def _partners(
    table: Table, past: Past, proposal: Proposal, leaking: npt.NDArray[np.integer], *, alike: bool
) -> list[tuple[int, list[int]]]:
    """For each leaking group those whose cells widen least by taking it: two with the same values, two of any."""
    inside = np.flatnonzero(proposal.group >= 0)
    extents = CellShapes.of(table.columns).extents(inside, proposal.group[inside])
    kinds, kind_of = values_of_groups(past, proposal), dict[frozenset[int], int]()
    kind = np.array([kind_of.setdefault(frozenset(kinds[g]), len(kind_of)) for g in extents.number.tolist()])
    order = np.argsort(_middles(table, proposal, len(kinds))[extents.number], kind="stable")
    found = []
    for place in np.flatnonzero(np.isin(extents.number[order], leaking)).tolist():
        own = int(order[place])
        near = order[max(0, place - AROUND) : place + AROUND + 1]
        near = near[(near != own) & ((kind[near] == kind[own]) | (not alike))]
        ahead = near[np.argsort(extents.joining(own, near), kind="stable")]
        best = np.concatenate([ahead[kind[ahead] == kind[own]][:CHOICE], ahead[:CHOICE]])
        found.append((int(extents.number[own]), extents.number[best].tolist()))
    return found


def moves(
    table: Table, past: Past, proposal: Proposal, *, people: Flags, leaking: npt.NDArray[np.integer]
) -> Iterator[tuple[Proposal, Remark]]:
    """Single changes that may help a leaking group, mildest first: an exchange of two records, or one merger.

    ``people`` marks the records of persons over a limit.
    """
    groups = int(proposal.group.max(initial=-1)) + 1
    order = np.argsort(_middles(table, proposal, groups), kind="stable")
    position = np.empty(groups, dtype=np.int64)
    position[order] = np.arange(groups)
    near = [order[max(0, position[g] - REACH) : position[g] + REACH + 1] for g in range(groups)]
    for g in leaking.tolist():
        beside = [int(h) for h in near[g] if h != g]
        inside = np.flatnonzero((proposal.group == g) & people)
        for one in inside[:REACH].tolist():
            others = np.flatnonzero(np.isin(proposal.group, beside))
            same = past.value[others] == past.value[one]  # equal values leave both groups as they are
            for other in [*others[same][:REACH].tolist(), *others[~same][: 2 * REACH].tolist()]:
                group = proposal.group.copy()
                group[one], group[other] = group[other], group[one]
                yield replace(proposal, group=group), Remark("exchanged", "exchanged two records")
        for h in beside:
            target = np.arange(groups)
            target[g] = h
            joined = np.where(proposal.group >= 0, target[proposal.group], -1).astype(np.int32)
            fakes = target[proposal.counterfeit_group].astype(np.int32)
            yield (
                replace(proposal, group=joined, counterfeit_group=fakes).numbered(),
                Remark("merged", "merged two groups"),
            )


def regroup(
    table: Table, past: Past, proposal: Proposal, touched: Flags, *, m: int, hold_back: bool, seed: int
) -> Proposal | None:
    """Move the records of leaking groups into groups with the values of their last group."""
    rows = np.flatnonzero(touched)
    try:
        part = by_signature(table, past, m, hold_back=hold_back, seed=seed, rows=rows, short=True)
    except InputError:
        return None
    gone = np.isin(proposal.counterfeit_group, np.unique(proposal.group[rows]))
    base = int(proposal.group.max(initial=-1)) + 1
    group = proposal.group.copy()
    group[rows] = np.where(part.group >= 0, part.group + base, -1)
    return Proposal(
        group,
        np.concatenate([proposal.counterfeit_group[~gone], part.counterfeit_group + base]),
        np.concatenate([proposal.counterfeit_value[~gone], part.counterfeit_value]),
        proposal.remarks,
    ).numbered()


def without(past: Past, proposal: Proposal, rows: Flags) -> Proposal:
    """Withhold records; what is left of their groups keeps its values by counterfeits, or goes with them."""
    group = proposal.group.copy()
    out = np.flatnonzero(rows & (proposal.group >= 0))
    group[out] = -1
    left = np.bincount(group[group >= 0], minlength=int(proposal.group.max(initial=-1)) + 1)
    fake_group = np.concatenate([proposal.counterfeit_group, proposal.group[out]])
    fake_value = np.concatenate([proposal.counterfeit_value, past.value[out]])
    alive = left[fake_group] > 0
    return Proposal(group, fake_group[alive], fake_value[alive], proposal.remarks).numbered()


def withholding(
    past: Past, proposal: Proposal, people: Flags, leaking: npt.NDArray[np.integer]
) -> Iterator[tuple[Proposal, Remark]]:
    """Single records, or single groups, left out."""
    for row in np.flatnonzero(people & (proposal.group >= 0)).tolist():
        yield without(past, proposal, np.arange(people.size) == row), Remark("withheld", "withheld a record")
    for g in leaking.tolist():
        rows = proposal.group == g
        if (proposal.group[~rows] >= 0).any():
            yield without(past, proposal, rows), Remark("withheld", "withheld a group")


def trimmed(proposal: Proposal, past: Past, *, values: int, among: Flags) -> Proposal | None:
    """Drop counterfeits (those marked) from groups that keep more than enough values; None if there are none."""
    kinds = [len(v) for v in values_of_groups(past, proposal)]
    drop = np.zeros(proposal.counterfeits, dtype=bool)
    for k in np.flatnonzero(among).tolist():
        g = int(proposal.counterfeit_group[k])
        if kinds[g] > values:
            kinds[g] -= 1
            drop[k] = True
    if not drop.any():
        return None
    return replace(
        proposal,
        counterfeit_group=proposal.counterfeit_group[~drop],
        counterfeit_value=proposal.counterfeit_value[~drop],
    )


def values_of_groups(past: Past, proposal: Proposal) -> list[set[int]]:
    """The values that each group publishes."""
    found: list[set[int]] = [set() for _ in range(int(proposal.group.max(initial=-1)) + 1)]
    for g, v in zip(proposal.group.tolist(), past.value.tolist(), strict=True):
        if g >= 0:
            found[g].add(v)
    for g, v in zip(proposal.counterfeit_group.tolist(), proposal.counterfeit_value.tolist(), strict=True):
        found[g].add(v)
    return found


def _middles(table: Table, proposal: Proposal, groups: int) -> np.ndarray:
    """[groups] the mean place of the members in the order of the quasi-identifiers."""
    place = np.lexsort([c.rank[c.codes] for c in table.columns[::-1]]) if table.columns else np.arange(table.rows)
    rank = np.empty(table.rows)
    rank[place] = np.arange(table.rows)
    kept = np.flatnonzero(proposal.group >= 0)
    size = np.maximum(np.bincount(proposal.group[kept], minlength=groups), 1)
    middle: np.ndarray = np.bincount(proposal.group[kept], weights=rank[kept], minlength=groups) / size
    return middle
