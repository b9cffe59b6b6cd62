"""Records that no group took: each joins the finished group where it costs least, the rest one group of its own.

Sizes, boxes and counts of values of the groups are kept as records join, never counted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.boxes import State
from showthrough.anonymizers.group_loss import group_losses
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.anonymizers.regrow import Records, judge_dense
from showthrough.progress import Progress
from showthrough.table.arrays import Flags, Ints
from showthrough.table.ragged import starts

TRIES = 60
"""Groups asked at once whether a record may join them."""
ROUNDS = 5
"""Times that a record asks."""
WORK = 400_000_000
"""Pairs of records and groups looked at, and counts of values judged; beyond, records may join only the widest groups,
and ask fewer."""
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
    if len(left) * len(made.size) > WORK:
        made.only(np.argsort(-made.lost, kind="stable")[: max(TRIES, WORK // len(left))])
    made.asked = int(np.clip(WORK // (len(left) * max(1, len(records.share))), ROUNDS, made.asked))
    least = np.full(len(left), np.inf)
    for nth, row in enumerate(left.tolist()):
        if progress is not None and nth % 64 == 0:
            progress.check()
        best, least[nth] = made.cheapest(row, full if limit else DEAR * full)
        group[row] = best
    open_ = left[group[left] < 0]
    if len(open_) <= limit:
        return group
    # nobody may join anywhere: those who would cost most are suppressed, the others make a group of their own
    dear = np.argsort(-np.nan_to_num(least[group[left] < 0], posinf=np.finfo(float).max), kind="stable")
    united = _own_group(records, group, np.sort(open_[dear[limit:]]))
    if united is not None:
        kept = united >= 0
        united[kept] = np.unique(united[kept], return_inverse=True)[1].reshape(-1)
    return united


def _own_group(records: Records, group: Ints, rows: Ints) -> Ints | None:
    """One more group of these records and of as few whole groups as make it satisfy the requirement.

    A group whose values are distributed like the table's satisfies what the table does: so the groups are taken
    that bring the distribution nearest to the table's, per record taken.
    """
    requirement = records.requirement
    kept = np.flatnonzero(group >= 0)
    number = int(group.max()) + 1
    size = np.bincount(group[kept], minlength=number)
    values = len(records.share)
    sensitive = requirement.sensitive if not requirement.plain else None
    free = size > 0
    own, taken = len(rows), np.zeros(number, dtype=bool)
    if sensitive is None:
        # only the size counts: the smallest groups
        for smallest in np.argsort(size, kind="stable").tolist():
            if own >= requirement.k:
                break
            own, taken[smallest] = own + int(size[smallest]), True
        return None if own < requirement.k else _united(group, rows, taken)
    cell = group[kept] * values + sensitive[kept]
    counts = np.bincount(cell, minlength=number * values).reshape(number, values)
    mine = np.bincount(sensitive[rows], minlength=values)
    while not (own >= requirement.k and judge_dense(requirement, mine[None])[0]):
        if not free.any():
            return None
        able = np.flatnonzero(free)
        joint = (mine + counts[able]).astype(np.float64)
        total = joint.sum(axis=1)
        away = np.maximum(joint - total[:, None] * records.share, 0.0).sum(axis=1)
        now = np.maximum(mine - own * records.share, 0.0).sum()
        # records too many by value, relative to the size: falls by taking groups that lack what is too frequent
        best = int(able[np.argmin((away / total - now / own) / size[able])])
        mine, own = mine + counts[best], own + int(size[best])
        taken[best], free[best] = True, False
    return _united(group, rows, taken)


def _united(group: Ints, rows: Ints, taken: Flags) -> Ints:
    united = np.where((group >= 0) & taken[group], len(taken), group)
    united[rows] = len(taken)
    return united


class FinishedGroups:
    """Boxes, sizes, losses and counts of finished groups while left-over records join them."""

    def __init__(self, columns: Sequence[QuasiColumn], records: Records, group: Ints) -> None:
        self.records = records
        kept = np.flatnonzero(group >= 0)
        owner = group[kept]
        size, losses = group_losses([replace(column, codes=column.codes[kept]) for column in columns], owner)
        self.size: Ints = size
        self.number: Ints = np.arange(len(size))
        self.asked = TRIES * ROUNDS  # groups that a record may ask
        self.lost = losses @ np.array([column.weight for column in columns])
        order = kept[np.argsort(owner, kind="stable")]
        start = starts(size)[:-1]
        self.boxes: list[State] = []
        for box_, state in zip(records.boxes, records.states, strict=True):
            inside = state[:, order]
            if box_.words:
                self.boxes.append(np.bitwise_or.reduceat(inside, start, axis=1))
            else:
                low, high = np.minimum.reduceat(inside[0], start), np.maximum.reduceat(inside[1], start)
                self.boxes.append(np.stack([low, high]))
        sensitive, values = records.requirement.sensitive, len(records.share)
        self.counts: npt.NDArray[np.int64] | None = None
        if not records.requirement.plain and sensitive is not None:
            cell = owner * values + sensitive[kept]
            self.counts = np.bincount(cell, minlength=len(size) * values).reshape(len(size), values)

    def only(self, some: Ints) -> None:
        """Look at some of the groups from now on."""
        some = np.sort(some)
        self.number, self.size, self.lost = self.number[some], self.size[some], self.lost[some]
        self.boxes = [state[:, some] for state in self.boxes]
        self.counts = None if self.counts is None else self.counts[some]

    def cheapest(self, row: int, most: float) -> tuple[int, float]:
        """Put the row into the group with the least rise that still satisfies the requirement; and the rise.

        The group is -1 if none near does, or only for more than ``most``.
        """
        ones = [state[:, row : row + 1] for state in self.records.states]
        joint = np.zeros(len(self.size))
        for box_, state, one in zip(self.records.boxes, self.boxes, ones, strict=True):
            joint += box_.joint(state, one)
        rise = (self.size + 1) * joint - self.size * self.lost
        best = int(rise.argmin()) if self.counts is None else self._first_allowed(row, rise)
        if best < 0:
            return -1, np.inf
        if rise[best] > most:
            return -1, float(rise[best])
        if self.counts is not None and self.records.requirement.sensitive is not None:
            self.counts[best, self.records.requirement.sensitive[row]] += 1
        self.lost[best] = joint[best]
        self.size[best] += 1
        for box_, state, one in zip(self.records.boxes, self.boxes, ones, strict=True):
            if box_.words:
                state[:, best] |= one[:, 0]
            else:
                state[0, best], state[1, best] = min(state[0, best], one[0, 0]), max(state[1, best], one[1, 0])
        return int(self.number[best]), float(rise[best])

    def _first_allowed(self, row: int, rise: npt.NDArray[np.float64]) -> int:
        """The cheapest group that may take the row, of those asked."""
        sensitive = self.records.requirement.sensitive
        assert self.counts is not None
        assert sensitive is not None
        asked = min(self.asked, len(rise))
        near = np.argpartition(rise, asked - 1)[:asked]
        near = near[np.argsort(rise[near], kind="stable")]
        for begin in range(0, asked, TRIES):
            some = near[begin : begin + TRIES]
            counts = self.counts[some]
            counts[:, sensitive[row]] += 1
            flags = judge_dense(self.records.requirement, counts)
            if flags.any():
                return int(some[flags.argmax()])
        return -1
