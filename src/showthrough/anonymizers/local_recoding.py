"""Local recoding: gather near records into groups, then improve the groups block by block.

1. Records that occur often enough to satisfy the requirement as they are stay exact.
2. The rest is grown greedily from the densest places (``k_member.py``).
3. Passes of ruin and recreate (Schrimpf et al., J. Comput. Phys. 2000): neighbouring groups, each time
   neighbours in another sense, are taken apart and grown anew (``regrow.py``); a block keeps whichever grouping loses less.

A step never raises the loss and never breaks the requirement, so every number of passes is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from showthrough.anonymizers.boxes import box
from showthrough.anonymizers.columns import QuasiColumn, combined_key, distinct_rows, row_count
from showthrough.anonymizers.k_member import k_member
from showthrough.anonymizers.loss import group_losses
from showthrough.anonymizers.mondrian import mondrian
from showthrough.anonymizers.regrow import Field, Growth, judge_dense, regrow
from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from showthrough.inference.arrays import Codes, Ints, Reals

START_SPREAD = 0.2
"""Price of a sensitive value that a group has too often, in columns of full loss, in the first growth."""
TRIES = 30
"""Groups tried for a left-over record before the first growth is given up."""
NEIGHBOURS = 12
"""Groups that are taken apart together."""
BATCHES = 3
"""Batches of blocks of like length in one pass."""
SPREADS = (0.0, 0.1, 0.2, 0.4, 0.8)
"""Prices tried for a sensitive value that a group has too often, in columns of full loss."""


@dataclass(frozen=True)
class LocalRecodingResult:
    """Group of each row, how many records stayed exact, and the loss Σ |G|·Σ NCP before and after the passes."""

    group: Codes
    groups: int
    exact: int
    passes: int
    start_loss: float
    loss: float


def local_recoding(
    columns: Sequence[QuasiColumn],
    requirement: Requirement,
    *,
    passes: int = 40,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> LocalRecodingResult:
    """Groups of near records that satisfy the requirement; nothing is suppressed."""
    rows = row_count(columns)
    if rows < requirement.k:
        raise InputError(f"k = {requirement.k} is larger than the table ({rows} rows): lower k or add rows.")
    if not requirement.met(np.zeros(rows, dtype=np.int64), 1)[0]:
        raise InputError("The table as one group does not satisfy the requirement, so no grouping can be made of it.")
    group, rest = _exact(columns, requirement)
    exact = rows - len(rest)
    if not len(rest):
        return LocalRecodingResult(group, int(group.max()) + 1, exact, 0, 0.0, 0.0)
    part = [replace(column, codes=column.codes[rest]) for column in columns]
    work = _Work(part, requirement.part(rest), np.random.default_rng(seed))
    work.start()
    start_loss = work.total
    for number in range(passes):
        if progress is not None:
            progress(number, passes)
        work.improve(number)
    offset = int(group.max()) + 1
    group[rest] = work.group + offset
    return LocalRecodingResult(group, offset + len(work.size), exact, passes, start_loss, work.total)


def _exact(columns: Sequence[QuasiColumn], requirement: Requirement) -> tuple[Codes, Ints]:
    """Groups of equal records that satisfy the requirement as they are, and the rows that remain for grouping."""
    _, inverse, count = distinct_rows(columns)
    met = requirement.met(inverse, len(count))
    while True:
        number = np.where(met, np.cumsum(met) - 1, -1).astype(np.int32)
        rest = np.flatnonzero(~met[inverse])
        if not len(rest) or requirement.part(rest).met(np.zeros(len(rest), dtype=np.int64), 1)[0]:
            return number[inverse], rest
        # what remains could not stand alone: give back the smaller half of the exact groups
        kept = np.flatnonzero(met)
        met[kept[np.argsort(count[kept], kind="stable")][: (len(kept) + 1) // 2]] = False


class _Work:
    """The grouping under improvement: groups 0, 1, … of the records, their sizes and losses."""

    def __init__(self, columns: Sequence[QuasiColumn], requirement: Requirement, generator: np.random.Generator) -> None:
        self.columns, self.requirement, self.generator = columns, requirement, generator
        boxes = [box(column) for column in columns]
        states = [box_.start(column.codes) for box_, column in zip(boxes, columns, strict=True)]
        total = requirement.total
        self.field = Field(boxes, states, requirement, total / max(1, total.sum()))
        self.rows = len(columns[0].codes)
        self.spreads = (0.0,) if requirement.plain else SPREADS
        self.weight = np.array([column.weight for column in columns])
        self._set(np.zeros(self.rows, dtype=np.int64))

    @property
    def total(self) -> float:
        return float(self.size @ self.losses)

    def _set(self, group: Ints) -> None:
        self.group = np.unique(group, return_inverse=True)[1].reshape(-1)
        self.size, losses = group_losses(self.columns, self.group)
        self.losses: Reals = losses @ self.weight

    def start(self) -> None:
        """First grouping: k-member growth, or Mondrian's where the growth cannot satisfy the requirement."""
        by_size = sorted(self.columns, key=lambda column: column.size)
        # small domains first: records that share those values save most by staying together
        order = np.lexsort([column.rank[column.codes] for column in reversed(by_size)])
        group, left = k_member(self.columns, self.requirement, order, self._density(), spread=START_SPREAD)
        placed = self._place(group, left)
        if placed is None:
            self._set(mondrian(self.columns, self.requirement).group.astype(np.int64))
        else:
            self._set(placed)

    def _place(self, group: Ints, left: Ints) -> Ints | None:
        """Left-over records join the groups where they cost least; None when the requirement then fails."""
        if len(left) == self.rows:
            return None
        kept = np.flatnonzero(group >= 0)
        columns = [replace(column, codes=column.codes[kept]) for column in self.columns]
        size, losses = group_losses(columns, group[kept])
        owner = np.argsort(group[kept], kind="stable")
        start = np.cumsum(size) - size
        made = []
        for box_, state in zip(self.field.boxes, self.field.states, strict=True):
            inside = state[:, kept[owner]]
            if box_.words:
                made.append(np.bitwise_or.reduceat(inside, start, axis=1))
            else:
                low, high = np.minimum.reduceat(inside[0], start), np.maximum.reduceat(inside[1], start)
                made.append(np.stack([low, high]))
        lost = (losses @ self.weight).astype(np.float32)
        group = group.copy()
        for row in left.tolist():
            ones = [state[:, row : row + 1] for state in self.field.states]
            parts = zip(self.field.boxes, made, ones, strict=True)
            joint = np.sum([box_.joint(state, one) for box_, state, one in parts], axis=0)
            best = self._cheapest(group, row, (size + 1) * joint - size * lost)
            if best < 0:
                return None
            group[row], lost[best] = best, joint[best]
            size[best] += 1
            for box_, state, one in zip(self.field.boxes, made, ones, strict=True):
                state[:, best : best + 1] = box_.join(state[:, best : best + 1], one)
        return group

    def _cheapest(self, group: Ints, row: int, rise: Reals) -> int:
        """The group with the least rise that still satisfies the requirement with the row in it, -1 if none near does."""
        if self.requirement.plain or self.requirement.sensitive is None:
            return int(rise.argmin())
        near = np.argsort(rise, kind="stable")[:TRIES]
        values = len(self.requirement.total)
        sensitive = self.requirement.sensitive
        counts = np.stack([np.bincount(sensitive[group == code], minlength=values) for code in near])
        counts[:, sensitive[row]] += 1
        flags = judge_dense(self.requirement, counts)
        return int(near[flags.argmax()]) if flags.any() else -1

    def improve(self, number: int) -> None:
        """One pass over all blocks of neighbouring groups."""
        order = self._neighbours()
        by_rows = np.sort(np.repeat(self.size, self.size))
        target = int(max(NEIGHBOURS * np.median(self.size), 1.5 * by_rows[int(0.95 * len(by_rows))]))
        block = np.empty(len(order), dtype=np.int64)
        block[order] = (np.cumsum(self.size[order]) + self.generator.integers(target)) // target
        jitter = 0.5 + self.generator.random(self.rows)
        spread = self.spreads[number % len(self.spreads)]
        # cheap groups first: they lie in dense places, and what is left over then costs least
        self._replace(block, self.losses[self.group] * jitter, Growth(absorb=number % 2 == 1, spread=spread))

    def _replace(self, block: Ints, priority: Reals, growth: Growth) -> None:
        """Grow the groups of each block anew and keep what loses less."""
        block = np.unique(block, return_inverse=True)[1].reshape(-1)
        of_row = block[self.group]
        count = np.bincount(of_row)
        order = np.argsort(of_row, kind="stable")
        begin = np.cumsum(count) - count
        old = np.bincount(block, weights=self.size * self.losses, minlength=len(count))
        group = self.group.copy()
        by_count = np.argsort(count, kind="stable")
        offset = len(self.size)
        # blocks of like length together: a step costs as much as its longest block
        for some in np.array_split(by_count, BATCHES):
            if not len(some):
                continue
            place = np.arange(int(count[some].max()))
            inside = place < count[some][:, None]
            table = np.where(inside, order[np.minimum(begin[some][:, None] + place, self.rows - 1)], -1)
            grown = regrow(self.field, table, priority, growth)
            better = grown.fine & (grown.lost < old[some] - 1e-4)
            code = offset + np.arange(len(some))[:, None] * (len(place) + 1) + grown.assign
            change = inside & better[:, None]
            group[table[change]] = code[change]
            offset += len(some) * (len(place) + 1)
        self._set(group)

    def _density(self) -> Reals:
        """How many records share all columns but one with each record, summed over the column left out."""
        chosen = np.arange(len(self.columns))
        if len(chosen) > 12:
            chosen = np.sort(self.generator.choice(chosen, 12, replace=False))
        near = np.zeros(self.rows)
        for out in chosen:
            others = [column for j, column in enumerate(self.columns) if j != out] or list(self.columns)
            key = combined_key([column.codes for column in others], [column.size for column in others])
            inverse = np.unique(key, return_inverse=True)[1].reshape(-1)
            near += np.minimum(np.bincount(inverse)[inverse], 20)
        return near

    def _member(self) -> Ints:
        """One record of each group."""
        member = np.zeros(len(self.size), dtype=np.int64)
        member[self.group] = np.arange(self.rows)
        return member

    def _neighbours(self) -> Ints:
        """Groups in an order that puts groups side by side which agree on randomly chosen columns and levels."""
        member = self._member()
        fine: list[Ints] = []
        coarse: list[Ints] = []
        for j in self.generator.permutation(len(self.columns)):
            column = self.columns[j]
            code = column.codes[member]
            rank = column.rank[code].astype(np.int64)
            fine.append(rank)
            if column.shown == "range":
                width = int(self.generator.integers(1, max(2, column.size // 4)))
                coarse.append((rank + int(self.generator.integers(width))) // width)
            else:
                levels = [column.rank, *column.levels[:-1]]
                coarse.append(levels[int(self.generator.integers(len(levels)))][code].astype(np.int64))
        return np.lexsort([self.generator.random(len(member)), *fine, *coarse])
