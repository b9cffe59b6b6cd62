"""Anatomy (Xiao, Tao, VLDB'06): groups of l records with l different sensitive values.

Group creation takes one record from each of the l values with most records left, again and again.
Values whose remaining counts differ by at most one are dealt in a cycle, so many groups are made in
one array operation; every group still takes the l largest lists, ties in random order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from showthrough.errors import InputError
from showthrough.said import private
from showthrough.table.arrays import Codes, Ints
from showthrough.table.ragged import offsets, ranges, starts


@dataclass(frozen=True)
class AnatomyResult:
    """Group of each row (-1: suppressed), number of groups, residues placed after creation."""

    group: Codes
    groups: int
    residues: int
    suppressed: int


def too_frequent(sensitive: npt.NDArray[np.integer], l: int) -> Ints:
    """Value codes with more than n/l records, most frequent first: the table is l-eligible when there is none."""
    count = np.bincount(sensitive)
    codes = np.flatnonzero(count * l > len(sensitive))
    return codes[np.argsort(-count[codes], kind="stable")]


def surplus(sensitive: npt.NDArray[np.integer], l: int) -> Ints:
    """For each value code: how many of its records must go so that the rest is l-eligible, as few as possible."""
    count = np.bincount(sensitive).astype(np.int64)
    if l == 1:
        return np.zeros_like(count)
    # the largest cap c with Σ min(count, c) ≥ c·l: keeping more of any value would break eligibility
    low, high = 0, int(count.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(count, middle).sum()) >= middle * l:
            low = middle
        else:
            high = middle - 1
    return count - np.minimum(count, low)


def anatomy(
    sensitive: npt.NDArray[np.integer],
    l: int,
    *,
    seed: int = 0,
    suppression_limit: int = 0,
    names: Sequence[Any] | None = None,
) -> AnatomyResult:
    """Groups of at least l records in which no sensitive value occurs twice.

    When some value has more than n/l records, surplus records (chosen by the seed) are suppressed if
    there are at most ``suppression_limit`` of them; otherwise the table is refused, by the value's name in ``names``.
    """
    rows = len(sensitive)
    if l < 1:
        raise InputError(f"l must be at least 1, found {l}.")
    if rows < l:
        raise InputError(f"l = {l} is larger than the table ({rows} rows): lower l or add rows.")
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(rows)
    order = shuffled[np.argsort(sensitive[shuffled], kind="stable")]  # by value, random inside a value
    count = np.bincount(sensitive).astype(np.int64)
    drop = surplus(sensitive, l)
    _check(sensitive, l, drop, suppression_limit, names)
    order = order[offsets(count) < (count - drop)[sensitive[order]]]
    count = count - drop
    value, group = _create(count, l, generator)
    groups = int(group[-1]) + 1
    by_value = np.argsort(value, kind="stable")
    taken = np.bincount(value, minlength=len(count))
    picked = order[ranges(starts(count)[:-1], taken)]
    result = np.full(rows, -1, dtype=np.int64)
    result[picked] = group[by_value]
    residues = np.setdiff1d(order, picked)
    for row in generator.permutation(residues).tolist():
        owners = np.ones(groups, dtype=bool)
        owners[result[(sensitive == sensitive[row]) & (result >= 0)]] = False
        result[row] = generator.choice(np.flatnonzero(owners))
    kept = result >= 0
    result[kept] = generator.permutation(groups)[result[kept]]  # the number of a group says nothing about its making
    return AnatomyResult(result.astype(np.int32), groups, len(residues), int(drop.sum()))


def _check(sensitive: npt.NDArray[np.integer], l: int, drop: Ints, limit: int, names: Sequence[Any] | None) -> None:
    if not drop.any():
        return
    rows, needed = len(sensitive), int(drop.sum())
    frequent = too_frequent(sensitive, l)
    if needed == rows:
        found = len(np.unique(sensitive))
        raise InputError(f"l = {l} needs at least {l} different sensitive values, found {found}: lower l.")
    if needed > limit:
        code = int(frequent[0]) if len(frequent) else int(np.argmax(drop))
        most = int(np.count_nonzero(sensitive == code))
        value = f"value code {code}" if names is None else private(f"the value {names[code]!r}", "a value")
        raise InputError(
            f"The table is not {l}-eligible: Anatomy needs every value in at most one of {l} rows, but "
            f"{value} has {most} of {rows}: at most {rows // l} are possible. Lower l to {max(1, rows // most)}, or "
            f"allow {needed} suppressed row{'' if needed == 1 else 's'}."
        )


def _create(count: Ints, l: int, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Value and group of every pick of the group creation, group by group."""
    left = count.copy()
    values: list[Ints] = []
    groups: list[Ints] = []
    made = 0
    while True:
        order = np.argsort(-left, kind="stable")
        if len(left) < l or left[order[l - 1]] < 1:
            break
        level = int(left[order[l - 1]])
        always = np.flatnonzero(left >= level + 2)
        cycle = np.concatenate(
            [
                generator.permutation(np.flatnonzero(left == level + 1)),
                generator.permutation(np.flatnonzero(left == level)),
            ]
        )
        rounds = _rounds(left, level, l - len(always), always, cycle)
        turns = l - len(always)
        dealt = cycle[np.arange(rounds * turns) % len(cycle)].reshape(rounds, turns)
        picks = np.hstack([np.broadcast_to(always, (rounds, len(always))), dealt])
        values.append(picks.reshape(-1))
        groups.append(np.repeat(np.arange(made, made + rounds), l))
        made += rounds
        left -= np.bincount(values[-1], minlength=len(left))
    return np.concatenate(values), np.concatenate(groups)


def _rounds(left: Ints, level: int, turns: int, always: Ints, cycle: Ints) -> int:
    """Groups that can be made before the l largest lists are no longer the ``always`` ones and the cycle."""
    size = len(cycle)
    lower = left[left < level]
    following = int(lower.max()) if len(lower) else 0
    high = int(np.count_nonzero(left == level + 1))
    rounds = ((level - following) * size + high) // turns  # the cycle reaches the next lower list
    if len(always) and size > turns:  # the cycle falls slower than the lists above it
        rounds = min(rounds, 1 + (int(left[always].min()) - level - 1) * size // (size - turns))
    if size > turns:
        rounds = min(rounds, max(4 * size, 256))  # new random order of the ties every few turns
    return max(1, rounds)
