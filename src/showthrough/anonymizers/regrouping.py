"""The grouping that local recoding improves by ruin and recreate.

With k alone all groups are small and alike: every pass takes the whole table apart, in blocks of
neighbouring groups (``regrow.py``). With a predicate on the sensitive values few large groups make
most of the loss, since early groups use up the values that late ones need: a pass then also takes
single costly groups apart together with what lies around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from showthrough.anonymizers.group_loss import group_losses
from showthrough.anonymizers.k_member import density, k_member
from showthrough.anonymizers.left_over_records import settle
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.anonymizers.regrow import Growth, Records, regrow
from showthrough.anonymizers.requirement import Requirement
from showthrough.table.arrays import Ints, Reals
from showthrough.table.ragged import starts

NEIGHBOURS = 12
"""Groups that are taken apart together in a block."""
BATCHES = 3
"""Batches of blocks of like length in one pass."""
SPREADS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Prices tried for a sensitive value that a group has too often, in columns of full loss."""
AROUND = 800
"""Records taken apart around a costly group, between 0.3 and 1.5 times as many."""
TARGETS = 20
"""Costly groups taken apart in one pass."""


class Regrouping:
    """Groups 0, 1, … of the records, their sizes and losses; every change keeps the requirement."""

    def __init__(
        self, columns: Sequence[QuasiColumn], requirement: Requirement, group: Ints, generator: np.random.Generator
    ) -> None:
        self.columns, self.requirement, self.generator = columns, requirement, generator
        self.records = Records.of(columns, requirement)
        self.rows = len(columns[0].codes)
        self.weight = np.array([column.weight for column in columns])
        self.density = density(columns, generator)
        self._set(group)

    @property
    def total(self) -> float:
        """Σ |G| · Σ NCP over the groups."""
        return float(self.size @ self.losses)

    def improve(self, number: int) -> None:
        """One pass: blocks of neighbouring groups, and costly groups where a predicate makes them."""
        by_rows = np.sort(np.repeat(self.size, self.size))
        usual = float(by_rows[int(0.95 * len(by_rows))])
        if self.requirement.plain or usual < 4 * NEIGHBOURS:
            self._blocks(int(max(NEIGHBOURS * np.median(self.size), 1.5 * usual)), number)
        if not self.requirement.plain:
            for _ in range(TARGETS):
                self._around()

    def _set(self, group: Ints) -> None:
        self.group: Ints = np.unique(group, return_inverse=True)[1].reshape(-1)
        self.size, losses = group_losses(self.columns, self.group)
        self.losses: Reals = losses @ self.weight

    def _blocks(self, target: int, number: int) -> None:
        """Take all groups apart in blocks of about ``target`` records and keep what loses less."""
        order = self._neighbours()
        block = np.empty(len(order), dtype=np.int64)
        block[order] = (np.cumsum(self.size[order]) + self.generator.integers(target)) // target
        block = np.unique(block, return_inverse=True)[1].reshape(-1)
        jitter = 0.5 + self.generator.random(self.rows)
        # cheap groups first: they lie in dense places, and what is left over then costs least
        priority = self.losses[self.group] * jitter
        spread = 0.0 if self.requirement.plain else SPREADS[number % 4]
        growth = Growth(absorb=number % 2 == 1, spread=spread)
        of_row = block[self.group]
        count = np.bincount(of_row)
        order = np.argsort(of_row, kind="stable")
        begin = starts(count)[:-1]
        old = np.bincount(block, weights=self.size * self.losses, minlength=len(count))
        group = self.group.copy()
        offset = len(self.size)
        # blocks of like length together: a step costs as much as its longest block
        batches = 1 if count.max() < 1.5 * np.median(count) else BATCHES
        for some in np.array_split(np.argsort(count, kind="stable"), batches):
            if not len(some):
                continue
            place = np.arange(int(count[some].max()))
            inside = place < count[some][:, None]
            table = np.where(inside, order[np.minimum(begin[some][:, None] + place, self.rows - 1)], -1)
            grown = regrow(self.records, table, priority, growth)
            better = grown.fine & (grown.lost < old[some] - 1e-4)
            code = offset + np.arange(len(some))[:, None] * (len(place) + 1) + grown.assign
            change = inside & better[:, None]
            group[table[change]] = code[change]
            offset += len(some) * (len(place) + 1)
        self._set(group)

    def _around(self) -> None:
        """Take one costly group apart with what lies around it, grow anew, and keep what loses less."""
        generator = self.generator
        cost = self.size * self.losses
        if not cost.any():
            return
        target = int(generator.choice(len(cost), p=cost / cost.sum()))
        chosen = self._near(target, int(AROUND * generator.choice([0.3, 0.6, 1.0, 1.5])))
        inside = np.zeros(len(self.size), dtype=bool)
        inside[chosen] = True
        rows = np.flatnonzero(inside[self.group])
        jitter = 0.7 + 0.6 * generator.random(len(rows))
        priority = [self.density[rows] * jitter, jitter, -self.losses[self.group[rows]] * jitter][generator.integers(3)]
        columns = [replace(column, codes=column.codes[rows]) for column in self.columns]
        requirement = self.requirement.part(rows)
        states = [state[:, rows] for state in self.records.states]
        alone = None if self.records.alone is None else self.records.alone[rows]
        records = replace(self.records, states=states, requirement=requirement, alone=alone)
        grown = grow(columns, records, np.arange(len(rows)), priority, float(generator.choice(SPREADS)))
        if grown is None:
            return
        size, losses = group_losses(columns, grown)
        if size @ (losses @ self.weight) < cost[chosen].sum() - 1e-4:
            group = self.group.copy()
            group[rows] = len(self.size) + grown
            self._set(group)

    def _near(self, target: int, rows: int) -> Ints:
        """The group and the groups nearest to one of its records, about ``rows`` records in all."""
        row = int(self.generator.choice(np.flatnonzero(self.group == target)))
        distance = np.zeros(self.rows)
        for box_, state in zip(self.records.boxes, self.records.states, strict=True):
            distance += box_.joint(state, state[:, row : row + 1]) * self.generator.uniform(0.5, 1.5)
        if self.generator.random() < 0.5:
            near = np.full(len(self.size), np.inf)
            np.minimum.at(near, self.group, distance)
        else:
            near = np.bincount(self.group, weights=distance) / self.size
        near[target] = -1.0
        order = np.argsort(near, kind="stable")
        enough = np.searchsorted(np.cumsum(self.size[order]), max(rows, int(1.5 * self.size[target]))) + 1
        return order[:enough]

    def _neighbours(self) -> Ints:
        """Groups in an order that puts groups side by side which agree on randomly chosen columns and levels."""
        member = np.zeros(len(self.size), dtype=np.int64)
        member[self.group] = np.arange(self.rows)
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


def grow(columns: Sequence[QuasiColumn], records: Records, order: Ints, density: Reals, spread: float) -> Ints | None:
    """k-member growth with the left-over records placed; None when the requirement cannot be kept that way."""
    group, _ = k_member(columns, records.requirement, order, density, spread=spread)
    return settle(columns, records, group)
