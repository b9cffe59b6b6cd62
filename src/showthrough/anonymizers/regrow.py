"""Greedy growth of groups in many blocks of records at once.

In every block a group starts from a seed and takes, record by record, the one that widens it least
(the k-member rule of Byun et al., DASFAA'07) until it satisfies the requirement; then the next seed
is taken. All blocks take their step together, so a step is a few array operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.boxes import Box, Singles, State, box
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.anonymizers.requirement import Requirement
from showthrough.criteria.counts import GroupCounts
from showthrough.table.arrays import Codes, Flags, Ints, Reals

FAR = np.float32(1e6)
"""Loss of a record that is already taken: above any real loss."""
TRIES = 6
"""Groups tried for a left-over record before its block is given up."""


@dataclass(frozen=True)
class Records:
    """The records to group: their boxes, what is required, and the share of each sensitive value in the table."""

    boxes: Sequence[Box]
    states: Sequence[State]
    requirement: Requirement
    share: Reals
    alone: Singles | None = None
    """What each record costs by itself, where that is not nothing."""

    @classmethod
    def of(cls, columns: Sequence[QuasiColumn], requirement: Requirement) -> Records:
        """All records of a table."""
        boxes = [box(column) for column in columns]
        states = [one.start(column.codes) for one, column in zip(boxes, columns, strict=True)]
        share = requirement.total / max(1, requirement.total.sum())
        if all(column.often is None for column in columns):
            return cls(boxes, states, requirement, share)
        alone = np.sum([one.loss(state) for one, state in zip(boxes, states, strict=True)], axis=0)
        return cls(boxes, states, requirement, share, alone)


@dataclass(frozen=True)
class Growth:
    """How one pass grows.

    ``absorb`` takes records that fit into a complete group at no loss; ``spread`` is the price of a
    sensitive value that the group already has too often.
    """

    absorb: bool = False
    spread: float = 0.0


@dataclass(frozen=True)
class Regrown:
    """Group of each place of each block, whether all groups of a block satisfy the requirement, and what they lose."""

    assign: Codes
    fine: Flags
    lost: Reals


def regrow(records: Records, blocks: Ints, priority: Reals, growth: Growth) -> Regrown:
    """Group the records of each block anew; seeds are taken in order of ``priority``, lowest first; -1 pads a block."""
    grower = _Grower(records, blocks, priority, growth)
    while grower.open.any():
        grower.step()
    grower.place_the_rest()
    lost = (grower.sizes * grower.losses.astype(np.float64)).sum(axis=1)
    return Regrown(grower.assign, grower.fine, lost)


class _Grower:
    """Mutable state of one pass; arrays are [blocks, places] or [blocks, groups]."""

    def __init__(self, records: Records, blocks: Ints, priority: Reals, growth: Growth) -> None:
        self.records, self.growth = records, growth
        count, places = blocks.shape
        self.every = np.arange(count)
        self.place = np.broadcast_to(np.arange(places), blocks.shape).copy()
        valid = blocks >= 0
        self.record = np.where(valid, blocks, 0)
        self.states = [state[:, self.record] for state in records.states]
        self.taken = np.where(valid, np.float32(0), FAR)
        self.priority = np.where(valid, priority[self.record], np.inf)
        self.left = valid.sum(axis=1)
        self.assign = np.full(blocks.shape, -1, dtype=np.int32)
        self.current = np.full(count, -1)
        self.size = np.zeros(count, dtype=np.int64)
        self.loss = np.zeros(count, dtype=np.float32)
        self.met = np.ones(count, dtype=bool)
        self.box: list[State] = [np.zeros_like(state[:, :, 0]) for state in self.states]
        most = places // records.requirement.k + 2
        self.sizes = np.zeros((count, most), dtype=np.int64)
        self.losses = np.zeros((count, most), dtype=np.float32)
        self.made: list[State] = [np.zeros((*state.shape[:2], most), dtype=state.dtype) for state in self.states]
        self.fine = np.ones(count, dtype=bool)
        requirement = records.requirement
        self.sensitive = None if requirement.plain else requirement.sensitive
        values = 0 if self.sensitive is None else len(records.share)
        self.counts = np.zeros((count, values), dtype=np.int32)
        self.histories = np.zeros((count, most if values else 0, values), dtype=np.int32)
        self.value: Ints = self.record if self.sensitive is None else self.sensitive[self.record].astype(np.int64)

    @property
    def open(self) -> Flags:
        return np.asarray(self.left > 0)

    def step(self) -> None:
        """Every block with records left takes one: into its group, or as the seed of the next."""
        self._pack()
        active = self.open
        joint = self.taken.copy()
        for box_, state, own in zip(self.records.boxes, self.states, self.box, strict=True):
            joint += box_.joint(own[:, :, None], state)
        wanted = joint if not self.growth.spread else joint + self._excess()
        pick = wanted.argmin(axis=1)
        fresh = self.met
        if self.growth.absorb and self.sensitive is None:
            fresh = fresh & ~((joint[self.every, pick] <= self.loss + 1e-6) & (self.current >= 0))
        pick = np.where(fresh, self.priority.argmin(axis=1), pick)
        joined = joint[self.every, pick]
        self.current = np.where(active & fresh, self.current + 1, self.current)
        self.size = np.where(active, np.where(fresh, 1, self.size + 1), self.size)
        alone = np.float32(0) if self.records.alone is None else self.records.alone[self._record(pick)]
        self.loss = np.where(active, np.where(fresh, alone, joined), self.loss)
        for j, (box_, state) in enumerate(zip(self.records.boxes, self.states, strict=True)):
            one = state[:, self.every, pick]
            grown = np.where(fresh, one, box_.join(self.box[j], one))
            self.box[j] = grown if active.all() else np.where(active, grown, self.box[j])
        rows, pick, group = self.every[active], pick[active], self.current[active]
        self.assign[rows, self.place[rows, pick]] = group
        self.taken[rows, pick] = FAR
        self.priority[rows, pick] = np.inf
        self.left[rows] -= 1
        self._count(rows, pick, fresh[active])
        self.met = self._judge()
        complete = self.met[rows]
        if complete.any():
            self._store(rows[complete], group[complete])

    def _record(self, pick: Ints) -> Ints:
        return self.record[self.every, self.place[self.every, pick]]

    def _pack(self) -> None:
        """Drop taken places once they are many: a step costs what the widest block costs."""
        width = self.taken.shape[1]
        need = int(self.left.max())
        if width < 256 or need > 0.7 * width:
            return
        keep = np.argsort(self.taken >= FAR, axis=1, kind="stable")[:, :need]
        self.states = [np.take_along_axis(state, keep[None], axis=2) for state in self.states]
        self.place = np.take_along_axis(self.place, keep, axis=1)
        self.taken = np.take_along_axis(self.taken, keep, axis=1)
        self.priority = np.take_along_axis(self.priority, keep, axis=1)
        if self.sensitive is not None:
            self.value = np.take_along_axis(self.value, keep, axis=1)

    def _excess(self) -> Singles:
        """How far the share of each record's value would lie above the table's if the record joined."""
        after = (self.counts + 1) / (self.size + 1)[:, None] - self.records.share
        price = (self.growth.spread * np.maximum(after, 0.0)).astype(np.float32)
        return np.take_along_axis(price, self.value, axis=1)

    def _count(self, rows: Ints, pick: Ints, fresh: Flags) -> None:
        if self.sensitive is not None:
            self.counts[rows[fresh]] = 0
            self.counts[rows, self.value[rows, pick]] += 1

    def _store(self, rows: Ints, group: Ints) -> None:
        self.sizes[rows, group] = self.size[rows]
        self.losses[rows, group] = self.loss[rows]
        for made, own in zip(self.made, self.box, strict=True):
            made[:, rows, group] = own[:, rows]
        if self.sensitive is not None:
            self.histories[rows, group] = self.counts[rows]

    def _judge(self) -> Flags:
        met = self.size >= self.records.requirement.k
        if self.sensitive is not None and met.any():
            asked = np.flatnonzero(met)
            met[asked] = judge_dense(self.records.requirement, self.counts[asked])
        return met

    def place_the_rest(self) -> None:
        """Records of a last group that is not complete join the groups where they cost least."""
        short = ~self.met
        self.fine &= ~(short & (self.current <= 0))
        rest = (self.assign == self.current[:, None]) & (self.assign >= 0) & short[:, None]
        for rows, place in self._by_turns(rest):
            record = self.record[rows, place]
            ones = [state[:, record] for state in self.records.states]
            joint = np.where(self.sizes[rows] > 0, np.float32(0), FAR)
            for box_, made, one in zip(self.records.boxes, self.made, ones, strict=True):
                joint += box_.joint(made[:, rows], one[:, :, None])
            rise = (self.sizes[rows] + 1) * joint - self.sizes[rows] * self.losses[rows]
            group = rise.argmin(axis=1) if self.sensitive is None else self._first_allowed(rows, record, rise)
            self.assign[rows, place] = group
            self.losses[rows, group] = joint[np.arange(len(rows)), group]
            self.sizes[rows, group] += 1
            for box_, made, one in zip(self.records.boxes, self.made, ones, strict=True):
                made[:, rows, group] = box_.join(made[:, rows, group], one)

    def _by_turns(self, rest: Flags) -> Sequence[tuple[Ints, Ints]]:
        """One left-over record of each block per turn."""
        turns: list[tuple[Ints, Ints]] = []
        while True:
            rows = np.flatnonzero(rest.any(axis=1) & self.fine)
            if not len(rows):
                return turns
            place = rest[rows].argmax(axis=1)
            rest[rows, place] = False
            turns.append((rows, place))

    def _first_allowed(self, rows: Ints, record: Ints, rise: npt.NDArray[np.floating]) -> Ints:
        """The cheapest of a few groups that still satisfies the requirement with the record in it."""
        assert self.sensitive is not None
        tries = min(TRIES, rise.shape[1])
        near = np.argsort(rise, axis=1, kind="stable")[:, :tries]
        counts = np.take_along_axis(self.histories[rows], near[:, :, None], axis=1)
        value = self.sensitive[record]
        counts[np.arange(len(rows)), :, value] += 1
        flags = judge_dense(self.records.requirement, counts.reshape(-1, counts.shape[2])).reshape(len(rows), tries)
        flags &= np.take_along_axis(self.sizes[rows], near, axis=1) > 0
        self.fine[rows[~flags.any(axis=1)]] = False
        group: Ints = near[np.arange(len(rows)), flags.argmax(axis=1)]
        self.histories[rows, group, value] += 1
        return group


def judge_dense(requirement: Requirement, counts: npt.NDArray[np.integer]) -> Flags:
    """The predicate on groups given as a dense table of counts [groups, values]; an empty group is refused."""
    if len(counts) == 1 and requirement.allowed is not None:  # one group under growth, asked most often by far
        value = np.flatnonzero(counts[0])
        if not value.size:
            return np.zeros(1, dtype=bool)
        ends = np.array([0, value.size], dtype=np.int64)
        one = GroupCounts.trusted(ends, value.astype(np.int32), counts[0, value], requirement.total, requirement.labels)
        return requirement.allowed(one)
    filled: Flags = np.asarray(counts.any(axis=1))
    asked = counts[filled]
    result = np.zeros(len(counts), dtype=bool)
    if not len(asked) or requirement.allowed is None:
        return filled
    group, value = np.nonzero(asked)
    start = np.searchsorted(group, np.arange(len(asked) + 1)).astype(np.int64)
    count = asked[group, value].astype(np.int64)
    result[filled] = requirement.allowed(
        GroupCounts.trusted(start, value.astype(np.int32), count, requirement.total, requirement.labels)
    )
    return result
