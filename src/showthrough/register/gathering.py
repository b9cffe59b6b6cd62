"""From pairs of point and box to the groups of every person, within a limit on their number."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from showthrough.errors import LimitError
from showthrough.register.attribute import Candidates
from showthrough.table.arrays import Codes, Ints
from showthrough.table.ragged import items_of, starts

BLOCK = 2**18  # candidates that are copied at once: what stays in the cache


@dataclass
class Gathering:
    """The groups of each point, gathered in the order of the points."""

    box_of: Ints  # [m] the box of each group
    weight: Ints  # [points] persons of each point
    at_most: int
    done: int = 0  # points that are complete
    total: int = 0  # candidates of all persons of those points
    _pairs: list[Ints] = field(default_factory=list)  # point and box in one number
    _waiting: int = 0  # candidates that the pairs stand for
    _counts: list[Ints] = field(default_factory=list)
    _groups: list[Codes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._start = starts(np.bincount(self.box_of))
        self._group = np.argsort(self.box_of, kind="stable")
        self._boxes = self._start.size - 1
        self._bits = int(self.box_of.size).bit_length()
        self._same = self._boxes == self.box_of.size and bool((self.box_of == np.arange(self._boxes)).all())

    def add(self, point: Ints, box: Ints) -> None:
        """Remember pairs; the same pair may come again."""
        if not point.size:
            return
        self._pairs.append((point << self._bits) + box)
        self._waiting += self._stands_for(point, box)
        if self.total + self._waiting > self.at_most:
            self._waiting = self._stands_for(*self._parted(self._merged()))
            if self.total + self._waiting > self.at_most:
                self._refuse()

    def close(self, up_to: int) -> int:
        """All pairs of the points below ``up_to`` are here: turn them into ascending groups, and say how many."""
        point, group = self._parted(self._merged())
        if not self._same:
            at, sizes = items_of(self._start, group)
            key = (np.repeat(point, sizes) << self._bits) + self._group[at]
            key.sort()
            point, group = self._parted(key)
        counts = np.bincount(point - self.done, minlength=up_to - self.done)
        self.total += int((counts * self.weight[self.done : up_to]).sum())
        self._counts.append(counts)
        self._groups.append(group.astype(np.int32))
        self._pairs, self._waiting, self.done = [], 0, up_to
        return int(group.size)

    def candidates(self, point_of: Ints) -> Candidates:
        """Hand the groups of its point to every person."""
        of_point = starts(np.concatenate(self._counts))
        group = np.concatenate(self._groups)
        first = of_point[point_of]
        sizes = of_point[point_of + 1] - first
        start = starts(sizes)
        given = np.empty(int(start[-1]), dtype=np.int32)
        persons = 0
        while persons < point_of.size:
            stop = max(int(np.searchsorted(start, start[persons] + BLOCK, side="right")) - 1, persons + 1)
            own = slice(persons, stop)
            at = first[own] if (sizes[own] == 1).all() else items_of(of_point, point_of[own])[0]
            given[start[persons] : start[stop]] = group[at]
            persons = stop
        return Candidates(start, given)

    def _parted(self, key: Ints) -> tuple[Ints, Ints]:
        return key >> self._bits, key & ((1 << self._bits) - 1)

    def _stands_for(self, point: Ints, box: Ints) -> int:
        weight = self.weight[point]
        return int(weight.sum() if self._same else (weight * (self._start[box + 1] - self._start[box])).sum())

    def _merged(self) -> Ints:
        key = np.concatenate(self._pairs) if self._pairs else np.empty(0, dtype=np.int64)
        key.sort()
        new = np.ones(key.size, dtype=bool)
        np.not_equal(key[1:], key[:-1], out=new[1:])
        if not new.all():
            key = key[new]
        self._pairs = [key]
        return key

    def _refuse(self) -> None:
        persons = int(self.weight[: self.done].sum())
        found, everybody = self.total + self._waiting, int(self.weight.sum())
        raise LimitError(
            f"The persons of the register fit too many groups: at most {self.at_most} pairs of person and group are "
            f"kept, and {found} were found when {persons} of {everybody} persons were done. Give more or finer "
            "quasi-identifiers, leave out groups that are wholly suppressed, link fewer persons at a time, or raise "
            "the limit (at_most) if memory allows, 4 bytes and some for each pair."
        )
