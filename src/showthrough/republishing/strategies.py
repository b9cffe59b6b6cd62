"""The known ways to publish the next table: alone, guided by the last groups, or m-invariant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from showthrough.anonymizers.remark import Remark
from showthrough.anonymizers.table import Table
from showthrough.criteria.l_diversity import DistinctLDiversity, EntropyLDiversity, FrequencyLDiversity
from showthrough.criteria.m_uniqueness import MUniqueness
from showthrough.errors import InputError, NotEligibleError
from showthrough.republishing.history_guided import Repair, history_guided
from showthrough.republishing.m_invariance import m_invariant
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.table.arrays import Codes, Ints
from showthrough.table.codes import positions
from showthrough.table.ragged import owners, starts

STRATEGIES = ("independent", "history-guided", "m-invariance", "guarded")
REPAIRS = ("report", "counterfeits", "dissolve", "hold")


def values_wanted(criteria: Sequence[Any]) -> int | None:
    """The l or m that the criteria ask for, if they do."""
    wanted = [
        float(c.m if isinstance(c, MUniqueness) else c.l)
        for c in criteria
        if isinstance(c, (MUniqueness, DistinctLDiversity, FrequencyLDiversity, EntropyLDiversity))
    ]
    return int(np.ceil(max(wanted))) if wanted else None


def values_per_group(criteria: Sequence[Any], strategy: str) -> int:
    """The same for a strategy that cannot do without."""
    wanted = values_wanted(criteria)
    if wanted is None:
        raise InputError(
            f"The strategy {strategy} needs to know how many values a group must hold: give MUniqueness(m) or an "
            "l-diversity in criteria=.",
            parameters=("criteria",),
        )
    return wanted


def by_signature(
    table: Table, past: Past, m: int, *, hold_back: bool, seed: int, rows: Ints | None = None, short: bool = False
) -> Proposal:
    """m-invariance: whoever was published keeps the values of the group.

    ``rows`` are the records to place, the others get no group. With ``short`` persons who were
    published with fewer than m values keep those, among themselves, instead of being refused.
    """
    chosen = np.arange(table.rows) if rows is None else rows
    value, signature = past.part(chosen)
    length = np.array([len(s) for s in past.signatures] or [0])
    few = (signature >= 0) & (length[signature] < m) if short else np.zeros(chosen.size, dtype=bool)
    group = np.full(chosen.size, -1, dtype=np.int32)
    fakes: list[tuple[Codes, Codes]] = []
    held = base = 0
    for mine in (np.flatnonzero(~few), np.flatnonzero(few)):
        if not mine.size:
            continue
        try:
            found = m_invariant(
                value[mine],
                int(length[signature[mine]].min()) if few[mine[0]] else m,
                signature=signature[mine],
                signatures=past.signatures,
                columns=table.part(chosen[mine]).columns,
                hold_back=hold_back,
                seed=seed,
            )
        except NotEligibleError as problem:
            raise problem.naming(f"the value {past.values[problem.code]!r}") from None
        group[mine] = np.where(found.group >= 0, found.group + base, -1)
        fakes.append((found.counterfeit_group + np.int32(base), found.counterfeit_value))
        base, held = base + found.groups, held + found.held.size
    fake_group, fake_value = (np.concatenate(part) for part in zip(*fakes, strict=True))
    if rows is None and not (group >= 0).any():
        raise InputError(f"Every record would have to be held back for groups of {m} different values: lower m.")
    return Proposal(group, fake_group, fake_value, (spent(fake_group.size, held),))


def spent(counterfeits: int, held: int) -> Remark:
    """What a proposal adds and leaves out."""
    words = "{counterfeits:counterfeit|counterfeits}, {held:record|records} held back."
    return Remark.of("spent", words, counterfeits=counterfeits, held=held)


def guided(past: Past, l: int, *, repair: str, seed: int) -> tuple[Proposal, Ints]:
    """History-guided: keep the last groups, fill the slots of those who left; and the groups that give them away."""
    if repair not in REPAIRS:
        raise InputError(f"repair is one of {', '.join(REPAIRS)}, not {repair!r}.")
    slot_group, slot_value = slots(past)
    chosen: Repair = repair  # type: ignore[assignment]
    # whoever was published before the last release but not in it has no group to come back to
    back = (past.signature >= 0) & (past.last_group < 0)
    rows = np.flatnonzero(~back)
    found = history_guided(
        past.value[rows],
        l,
        old_group=past.last_group[rows],
        slot_group=slot_group,
        slot_value=slot_value,
        repair=chosen,
        seed=seed,
    )
    returned = int(back.sum())
    words = "{filled} of {slots} slots of departed persons were filled."
    remarks = [
        Remark.of("slots", words, filled=slot_group.size - found.unfilled.size, slots=slot_group.size),
        spent(found.counterfeit_group.size, found.held.size + returned),
    ]
    if returned:
        words = "{returned:of them returns|of them return} after an absence: their groups are no longer published."
        remarks.append(Remark.of("returned", words, returned=returned))
    if found.unfilled.size and repair == "report":
        words = (
            "{empty:slot stays|slots stay} empty and {at_risk:departed person|departed persons} can be told from them: "
            "choose a repair."
        )
        remarks.append(Remark.of("empty slots", words, empty=found.unfilled.size, at_risk=found.at_risk.size))
    group = np.full(past.value.size, -1, dtype=np.int32)
    group[rows] = found.group
    proposal = Proposal(group, found.counterfeit_group, found.counterfeit_value, tuple(remarks))
    return proposal, np.unique(slot_group[found.at_risk])


def departed(past: Past, table: Table, groups: Ints) -> tuple[str, ...]:
    """The persons who were in these groups of the newest release and are not in the table."""
    if past.newest is None or not groups.size:
        return ()
    link = past.newest.groups()
    inside = np.isin(positions(link["group"], past.newest.labels), groups)
    ids = link["id"].cast(pl.String).filter(pl.Series(inside))
    here = table.frame[table.id or ""].cast(pl.String).filter(pl.Series(past.last_group >= 0))
    return tuple(sorted(ids.filter(~ids.is_in(here.implode()))))


def slots(past: Past) -> tuple[Ints, Ints]:
    """Values of the newest release that nobody in the table has any more: group and value of each.

    The values of a group less those of its members who are still there belong to those who left.
    """
    empty = np.empty(0, dtype=np.int64)
    if past.newest is None:
        return empty, empty
    release, span = past.newest, past.values.len()
    tally = release.tally
    dtype = past.values.dtype
    key = positions(tally["group"], release.labels).astype(np.int64) * span + positions(
        tally["value"].cast(dtype), past.values
    )
    left = np.zeros(release.labels.len() * span, dtype=np.int64)
    left[key] = tally["n"].to_numpy()
    stayed = np.flatnonzero(past.last_group >= 0)
    np.subtract.at(left, past.last_group[stayed].astype(np.int64) * span + past.value[stayed], 1)
    if (left < 0).any():
        raise InputError("More persons of a group have a value than the last release published of it: values changed.")
    slot = owners(starts(left))
    return slot // span, slot % span
