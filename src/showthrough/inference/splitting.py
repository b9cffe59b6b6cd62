"""One id as several persons: each covers neighbouring releases, and is named by the first that holds it.

"If the same person appears multiple times in different releases with different SA values, we treat them as
different persons" (Wang, Zhu, Du, Teng, section 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from showthrough.errors import ChangedValueError, ContradictionError, InputError
from showthrough.inference.history import ABSENT, History
from showthrough.register.changed import SPLIT, TOLERATE, Changed
from showthrough.said import private, private_list
from showthrough.table.arrays import Codes, Ints

WHOLE, TOLD, BY_RULE, TOLERATED = range(4)
"""Why a person is part of an id: it is not, the publisher told so, `changed="split"`, or it was tolerated."""

_REASONS = ("whole", "told", SPLIT, "tolerated")


def split_persons(history: History, changed: Ints, *, segment: Ints | None = None, why: int = BY_RULE) -> History:
    """Several persons for each of some columns: one per release, or one per ``segment`` [R, their number].

    Segments are numbers that do not fall from release to release. Who is in one segment only stays whole.
    """
    return split_columns(history, changed, segment=segment, why=why)[0]


def split_columns(
    history: History, changed: Ints, *, segment: Ints | None = None, why: int = BY_RULE
) -> tuple[History, Ints]:
    """The same, and the earlier column of each column."""
    if not changed.size:
        return history, np.arange(history.group_of.shape[1])
    releases = len(history.names)
    codes = history.group_of[:, changed]
    number = np.broadcast_to(np.arange(releases)[:, None], codes.shape) if segment is None else segment
    here = codes != ABSENT
    release, person = np.nonzero(here)
    key = number[release, person] * changed.size + person
    parts, first, part = np.unique(key, return_index=True, return_inverse=True)  # a key appears first in its release
    several = np.bincount(parts % changed.size, minlength=changed.size) > 1
    keep = several[parts % changed.size]
    order = np.flatnonzero(keep)[np.lexsort((parts[keep] % changed.size, release[first[keep]]))]
    place = np.full(parts.size, -1, dtype=np.int64)
    place[order] = np.arange(order.size)
    made = np.full((releases, order.size), ABSENT, dtype=np.int32)
    mine = place[part] >= 0
    made[release[mine], place[part[mine]]] = codes[release[mine], person[mine]]
    return _rearranged(
        history, changed[several], changed[parts[order] % changed.size], made, release[first[order]], why
    )


def _rearranged(
    history: History, gone: Ints, source: Ints, made: Codes, named_by: Ints, why: int
) -> tuple[History, Ints]:
    """The history without some columns, and with parts of them behind those that stay; where each came from."""
    if not gone.size:
        return history, np.arange(history.group_of.shape[1])
    old = history.named
    stay = np.ones(old, dtype=bool)
    stay[gone] = False
    kept = np.flatnonzero(stay)
    column = np.concatenate([kept, source, np.arange(old, history.group_of.shape[1])])
    statements = history.statements
    if statements is not None:
        place = np.full(history.group_of.shape[1], -1, dtype=np.int64)
        place[column] = np.arange(column.size)  # of a person's parts the newest, which stands last
        statements = replace(statements, person=place[statements.person])
    none = np.full(old, ABSENT, dtype=np.int32)
    before = none if history.split_release is None else history.split_release
    reason = np.zeros(old, dtype=np.int8) if history.split_why is None else history.split_why
    found = replace(
        history,
        weight=None if history.weight is None else history.weight[column],
        spare=None if history.spare is None else history.spare[column],
        ids=history.ids.gather(column[: kept.size + source.size]),
        group_of=np.concatenate([history.group_of[:, kept], made, history.group_of[:, old:]], axis=1),
        split_release=np.concatenate([before[kept], named_by]).astype(np.int32),
        split_why=np.concatenate([reason[kept], np.maximum(reason[source], why)]).astype(np.int8),
        statements=statements,
        prior_of=None if history.prior_of is None else history.prior_of[column],
    )
    return found, column


def split_told(history: History) -> History:
    """Split the ids that were told as changed, at the releases where they were."""
    told = history.changed.told
    if not told or history.split_release is not None:
        return history
    strange = sorted({cut for cuts in told.values() for cut in cuts} - set(history.names))
    if strange:
        raise InputError(
            f"changed= speaks of the release {strange[0]!r}, but the releases are {', '.join(history.names)}.",
            parameters=("changed",),
        )
    column = _columns(history, list(told))
    if history.changed.strict and (column < 0).any():
        id = list(told)[int(np.argmin(column))]
        text = f"changed= speaks of {private(repr(id), 'a person')}, whom no release holds."
        raise InputError(text, parameters=("changed",))
    known = np.flatnonzero(column >= 0)
    place = {name: r for r, name in enumerate(history.names)}
    every = [np.array([place[c] for c in cuts], dtype=np.int64) for cuts in told.values()]
    releases = np.arange(len(history.names))
    segment = [(releases[:, None] >= every[k]).sum(axis=1) if every[k].size else releases for k in known]
    numbers = np.stack(segment, axis=1) if segment else np.empty((releases.size, 0), dtype=np.int64)
    return split_persons(history, column[known], segment=numbers, why=TOLD)


def _columns(history: History, ids: list[object]) -> Ints:
    """Where ids stand in the history, or −1; 14 finds "14"."""
    if history.ids.dtype == pl.String:
        asked = pl.Series([str(i) for i in ids], dtype=pl.String)
    else:
        asked = pl.Series([i if not isinstance(i, str) else None for i in ids], strict=False)
        asked = asked.cast(history.ids.dtype, strict=False)
    index = pl.DataFrame({"id": history.ids, "at": np.arange(history.named)})
    found = pl.DataFrame({"id": asked}).join(index, on="id", how="left", maintain_order="left")["at"]
    return np.asarray(found.fill_null(-1).to_numpy(), dtype=np.int64)


def told_from(history: History, releases: list[int]) -> Changed:
    """What to tell of changed values when some of the releases, by their numbers, are looked at alone.

    Who was tolerated as changed in the whole history is so in every part of it.
    """
    changed, why = history.changed, history.split_why
    if why is not None:
        ids = history.ids.gather(np.flatnonzero(why == TOLERATED)).unique(maintain_order=True).to_list()
        changed = changed.and_told(dict.fromkeys(ids, ()))
    return changed.among(history.names, releases)


def parts_of(history: History) -> Mapping[object, tuple[int, ...]]:
    """The ids that stand for several persons, with the releases that name these."""
    if history.split_release is None:
        return {}
    at = np.flatnonzero(history.split_release != ABSENT)
    found: dict[object, list[int]] = {}
    for id, release in zip(history.ids.gather(at).to_list(), history.split_release[at].tolist(), strict=True):
        found.setdefault(id, []).append(release)
    return {id: tuple(sorted(own)) for id, own in found.items()}


def changed_frame(history: History) -> pl.DataFrame:
    """Who stands for several persons: id, release that names the part, and why ("told", "split", "tolerated")."""
    none = history.split_release is None
    at = np.empty(0, dtype=np.int64) if none else np.flatnonzero(history.split_release != ABSENT)
    release = [] if history.split_release is None else history.split_release[at].tolist()
    why = [] if history.split_why is None else history.split_why[at].tolist()
    return pl.DataFrame(
        [
            history.ids.gather(at).alias("id"),
            pl.Series("release", [history.names[r] for r in release], dtype=pl.String),
            pl.Series("why", [_REASONS[k] for k in why], dtype=pl.String),
        ]
    )


@dataclass(frozen=True)
class ChangedCounts:
    """How many persons count as changed, by who says so."""

    told: int = 0
    split: int = 0
    tolerated: int = 0


def changed_counts(history: History) -> ChangedCounts:
    """Persons who were told as changed, split by the caller's choice, and tolerated."""
    frame = changed_frame(history).group_by("id").agg(pl.col("why"))
    words = frame["why"].to_list()
    tolerated = sum("tolerated" in own for own in words)
    by_rule = sum(SPLIT in own and "tolerated" not in own for own in words)
    return ChangedCounts(len(words) - tolerated - by_rule, by_rule, tolerated)


def premise(counts: ChangedCounts) -> str:
    """What every figure leans on, in a sentence: nobody's value changed, but for those who are known."""
    kinds = (
        (counts.told, "told by the publisher"),
        (counts.split, "split because their groups share no value"),
        (counts.tolerated, "tolerated: the smallest set found that makes the releases consistent"),
    )
    known = [f"{n} {words}" for n, words in kinds if n]
    if not known:
        return "Premise: nobody's value changed between releases."
    return f"Premise: nobody's value changed between releases, except for these persons: {'; '.join(known)}."


CHOICES_OF_CHANGED = (
    f'Use changed="split" to treat such an id as one person per release, changed="{TOLERATE}" to take the fewest '
    "persons for changed that make the releases consistent, or say whose value changed: changed= takes ids or "
    "(id, release) pairs."
)
"""What a caller can do about ids whose groups share no value."""
ADVICE = (
    f'If values changed, changed="{TOLERATE}" takes the fewest persons for changed that make the releases '
    "consistent, and changed= takes the ids, or (id, release) pairs, of those who did."
)
"""What a caller can do about a contradiction."""
_IN_VAIN = (
    f'changed="{TOLERATE}" finds nobody here: it looks for the fewest changes among exact counts of single values, and '
    "a table hides or rounds counts, has totals, or has values that are cells. If values changed, changed= takes the "
    "ids, or (id, release) pairs, of those who did."
)


def untolerated(error: ContradictionError) -> ContradictionError:
    """A contradiction beside ranges: says that tolerating does not help there."""
    text = error.said.replace(ADVICE, "").rstrip()
    return type(error)(f"{text} {_IN_VAIN}", parameters=("changed",), contradiction=error.contradiction)


def changed_value_error(history: History, persons: Ints) -> ChangedValueError:
    """Say whose groups share no value, and what the caller can choose."""
    first = int(persons[0])
    fits = [[g for g in history.groups_of(r, first) if g != ABSENT] for r in range(len(history.names))]
    where = [
        f"group {private_list(history.group_name(g) for g in own[:4])}{' …' if own[4:] else ''} of "
        f"{history.names[history.release_of(own[0])]} with " + _some_values(history, own)
        for own in fits
        if own
    ]
    also = f" {len(persons)} persons are concerned in all." if len(persons) > 1 else ""
    return ChangedValueError(
        f"{private(f'Person {history.ids[first]}', 'One person')} is in {'; and in '.join(where)}: no value is in "
        f"all of these groups, so the releases contradict each other unless the value of this person changed.{also} "
        f"{CHOICES_OF_CHANGED}",
        parameters=("changed",),
    )


def _some_values(history: History, groups: list[int]) -> str:
    """The values of some groups; those who may not see them are told how many there are."""
    every = sorted({v for g in groups for v in history.values_in(g)}, key=str)
    return private_list(every[:12], "1 value" if len(every) == 1 else f"{len(every)} values")
