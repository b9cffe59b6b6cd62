"""Records that no group took: each joins the finished group where it costs least, the rest one group of its own.

Equal records go together. Sizes, boxes and counts of values of the groups are kept as records join, never counted
again; how many records of a value a group may still take is asked of all groups at once, when the value comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.boxes import Box, Singles, State
from showthrough.anonymizers.group_loss import group_losses
from showthrough.anonymizers.own_group import own_group
from showthrough.anonymizers.quasi_columns import QuasiColumn, combined_key
from showthrough.anonymizers.regrow import Records, judge_dense
from showthrough.progress import Progress
from showthrough.table.arrays import Ints, Reals
from showthrough.table.ragged import starts

LEAST = 60
"""Groups that are looked at in any case."""
WORK = 400_000_000
"""Pairs of different records and groups looked at; beyond, records may join only the widest groups."""
CELLS = 40_000_000
"""Counts of values of groups that are kept; beyond, likewise."""
KEPT = 20_000_000
"""Costs of groups with one more value that are kept for a column."""
ROOM = 256
"""Most records of one value that a group is asked for at once."""
DEAR = 3.0
"""Whole losses of one record that a group may lose by taking it."""


def settle(
    columns: Sequence[QuasiColumn], records: Records, group: Ints, *, limit: int = 0, progress: Progress | None = None
) -> Ints | None:
    """The groups 0, 1, … with every record in one of them, but for at most ``limit`` (-1); None where that cannot be.

    Suppressed are those whom no group may take, or only for more than the loss of suppressing them.
    """
    left = np.flatnonzero(group < 0)
    if not len(left):
        return group
    if len(left) == len(group):
        return None
    group = group.copy()
    full = float(sum(column.weight for column in columns))
    made = FinishedGroups(columns, records, group)
    least = np.full(len(left), np.inf)
    alike = _alike(columns, records, left)
    most = min(WORK // len(alike), len(made.size) if made.counts is None else CELLS // len(records.share))
    if most < len(made.size):
        made.only(np.argsort(-made.lost, kind="stable")[: max(LEAST, most)])
    for nth, same in enumerate(alike):
        if progress is not None and nth % 64 == 0:
            progress.check()
        group[left[same]], least[same] = made.place(left[same], full if limit else DEAR * full)
    open_ = left[group[left] < 0]
    if len(open_) <= limit:
        return group
    # nobody may join anywhere: those who would cost most are suppressed, the others make a group of their own
    dear = np.argsort(-np.nan_to_num(least[group[left] < 0], posinf=np.finfo(float).max), kind="stable")
    united = own_group(records, group, np.sort(open_[dear[limit:]]))
    if united is not None:
        kept = united >= 0
        united[kept] = np.unique(united[kept], return_inverse=True)[1].reshape(-1)
    return united


def _alike(columns: Sequence[QuasiColumn], records: Records, left: Ints) -> list[Ints]:
    """Places in ``left`` of equal records: rare values first, near records one after the other.

    What is left over most is what groups already have too much of: everything else gives them room for it.
    """
    requirement = records.requirement
    sizes = [column.size for column in columns]
    codes = [column.codes[left] for column in columns]
    by_size = np.argsort(sizes, kind="stable")
    keys: list[Ints] = [columns[j].rank[codes[j]].astype(np.int64) for j in by_size[::-1]]
    if not requirement.plain and requirement.sensitive is not None:
        value = requirement.sensitive[left]
        codes, sizes = [*codes, value], [*sizes, int(value.max()) + 1]
        keys += [value.astype(np.int64), np.bincount(value)[value]]
    order = np.lexsort(keys)
    key = combined_key(codes, sizes)[order]
    return np.split(order, np.flatnonzero(np.diff(key)) + 1)


class FinishedGroups:
    """Boxes, sizes, losses and counts of finished groups while left-over records join them."""

    def __init__(self, columns: Sequence[QuasiColumn], records: Records, group: Ints) -> None:
        self.records = records
        kept = np.flatnonzero(group >= 0)
        owner = group[kept]
        size, losses = group_losses([replace(column, codes=column.codes[kept]) for column in columns], owner)
        self.size: Ints = size
        self.number: Ints = np.arange(len(size))
        self.lost = losses @ np.array([column.weight for column in columns])
        order = kept[np.argsort(owner, kind="stable")]
        start = starts(size)[:-1]
        self.boxes = [
            _Boxes(box_, state[:, order], start) for box_, state in zip(records.boxes, records.states, strict=True)
        ]
        self.rank = [column.rank[column.codes] for column in columns]
        self.counts = None if records.requirement.plain else _Counts(records, kept, owner)

    def only(self, some: Ints) -> None:
        """Look at some of the groups from now on."""
        some = np.sort(some)
        self.number, self.size, self.lost = self.number[some], self.size[some], self.lost[some]
        for one in self.boxes:
            one.state = one.state[:, some]
        if self.counts is not None:
            self.counts.some = some

    def place(self, rows: Ints, most: float) -> tuple[Ints, Reals]:
        """Put equal records into the groups with the least rise that still satisfy the requirement; and their rises.

        The group is -1 where none may take them, or only for more than ``most``. What a group loses by widening is
        shared with others that it may then take.
        """
        found, rises = np.full(len(rows), -1, dtype=np.int64), np.full(len(rows), np.inf)
        row, placed = int(rows[0]), 0
        alone = 0.0 if self.records.alone is None else float(self.records.alone[row])
        room = None if self.counts is None else self.counts.room(row)
        joint = np.zeros(len(self.size), dtype=np.float32)
        for boxes, rank in zip(self.boxes, self.rank, strict=True):
            joint += boxes.joint(int(rank[row]))
        rise = (joint - self.lost) * self.size
        if room is not None:
            rise /= np.sqrt(np.maximum(room, 1))  # not all who may come will
            rise[room == 0] = np.inf
        rise += joint
        while placed < len(rows):
            best = int(rise.argmin())
            rises[placed:] = rise[best] - alone
            if not rise[best] - alone <= most:
                break
            taken = len(rows) - placed
            if self.counts is not None:
                taken = self.counts.join(best, row, taken)
                rise[best] = np.inf
            if taken:
                found[placed : placed + taken] = self.number[best]
                self.lost[best] = joint[best]
                self.size[best] += taken
                for boxes, rank in zip(self.boxes, self.rank, strict=True):
                    boxes.widen(best, int(rank[row]))
            placed += taken
        return found, rises


class _Boxes:
    """The groups on one column, and what each would cost with one more value, kept by value where that is small."""

    def __init__(self, box: Box, inside: State, start: Ints) -> None:
        self.box = box
        if box.words:
            self.state = np.bitwise_or.reduceat(inside, start, axis=1)
        else:
            low, high = np.minimum.reduceat(inside[0], start), np.maximum.reduceat(inside[1], start)
            self.state = np.stack([low, high])
        self.single: State = box.start(np.argsort(box.column.rank))
        self.known: dict[int, Singles] = {}

    def joint(self, rank: int) -> Singles:
        """What each group costs with this value."""
        found = self.known.get(rank)
        if found is None:
            found = self.box.joint(self.state, self.single[:, rank : rank + 1])
            if (len(self.known) + 1) * len(found) > KEPT:
                self.known = {}
            self.known[rank] = found
        return found

    def widen(self, group: int, rank: int) -> None:
        """One group takes the value."""
        own = self.state[:, group]
        after = self.box.join(own, self.single[:, rank])
        if np.array_equal(own, after):
            return
        self.state[:, group] = after
        known = np.fromiter(self.known, dtype=np.int64, count=len(self.known))
        costs = self.box.joint(after[:, None], self.single[:, known]).tolist()
        for joint, cost in zip(self.known.values(), costs, strict=True):
            joint[group] = cost


class _Counts:
    """Counts of values of the groups, and how many more records of the present value each may take."""

    def __init__(self, records: Records, kept: Ints, owner: Ints) -> None:
        sensitive = records.requirement.sensitive
        assert sensitive is not None
        self.requirement, self.sensitive = records.requirement, sensitive
        self.owner, self.value = owner, sensitive[kept]
        self.some: Ints = np.arange(int(owner.max()) + 1)
        self.dense: npt.NDArray[np.int32] | None = None
        self.present = -1
        self.rooms: Ints = np.zeros(0, dtype=np.int64)

    def _counted(self) -> npt.NDArray[np.int32]:
        if self.dense is None:
            place = np.full(int(self.owner.max()) + 1, -1, dtype=np.int64)
            place[self.some] = np.arange(len(self.some))
            at, values = place[self.owner], len(self.requirement.total)
            inside = at >= 0
            cell = at[inside] * values + self.value[inside]
            dense = np.bincount(cell, minlength=len(self.some) * values).astype(np.int32)
            self.dense = dense.reshape(len(self.some), values)
        return self.dense

    def room(self, row: int) -> Ints:
        """For each group how many records with this row's value it may take, by doubling: less than twice as many."""
        value = int(self.sensitive[row])
        if value != self.present:
            self.present = value
            self.rooms = self._doubled(np.arange(len(self.some)), value)
        return self.rooms

    def _doubled(self, some: Ints, value: int) -> Ints:
        counts = self._counted()[some]
        counts[:, value] += 1
        group, of = np.nonzero(counts)
        start = np.searchsorted(group, np.arange(len(some) + 1)).astype(np.int64)
        count = counts[group, of].astype(np.int64)
        mine = np.flatnonzero(of == value)
        room, more = np.zeros(len(some), dtype=np.int64), 1
        while more <= ROOM:
            fine = self.requirement.judge_counts(start, of, count) & (room == more // 2)
            if not fine.any():
                break
            room[fine] = more
            count[mine] += more
            more *= 2
        return room

    def join(self, group: int, row: int, wanted: int) -> int:
        """Take as many equal records as there is room for, ``wanted`` at most; how many."""
        counts, value = self._counted(), int(self.sensitive[row])
        taken = 0
        while taken < wanted and self.rooms[group]:
            more = int(min(self.rooms[group], wanted - taken))
            counts[group, value] += more
            if not judge_dense(self.requirement, counts[group : group + 1])[0]:  # a criterion may refuse in between
                counts[group, value] -= more
                self.rooms[group] = 0
                break
            taken += more
            self.rooms[group] -= more
            if not self.rooms[group]:
                self.rooms[group : group + 1] = self._doubled(np.array([group]), value)
        return taken
