"""A sweep over the generalization lattice: every record is fixed at the cheapest node where it can be.

The nodes are visited once, in order of their loss. At each node the records left over so far fall into classes
of equal labels; classes that satisfy the requirement become groups, if they hold a share of what is left (a few
records fixed early would be missed by better groups a little later). Of a class that fails a criterion on
values a part that satisfies it may become a group (``trimming.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.lattice import Lattice
from showthrough.anonymizers.requirement import Requirement
from showthrough.anonymizers.trimming import trimmed
from showthrough.progress import Progress
from showthrough.table.arrays import Flags, Ints
from showthrough.table.ragged import ranks, starts

BITS = (12, 18)
"""Least and most bits of a mark by which classes are told apart; classes that share them are sorted after all."""


@dataclass(frozen=True)
class Sweep:
    """How one sweep chooses: the least share of what is left that is worth a node, the least part of a class that is
    worth a group (above 1: whole classes alone), and whether values are capped by their share of the table.
    """

    share: float
    part: float = 2.0
    relative: bool = False
    by_values: bool = False
    """Whether the order of nodes also counts the values that they mix."""
    until: float = 1.0
    """The part of what the top of the lattice loses from which on nodes are not visited: who is left joins groups."""


def lattice_sweep(lattice: Lattice, requirement: Requirement, sweep: Sweep, progress: Progress) -> Ints:
    """Group of each record, -1 for those that no node could hold."""
    work = _Sweeping(lattice, requirement, sweep)
    nodes = lattice.by_values if sweep.by_values else lattice.nodes[lattice.lost <= sweep.until]
    for number, node in enumerate(nodes.tolist()):
        if number % 64 == 0:
            progress.check()
        if not len(work.left):
            break
        work.visit(node)
    return work.group


class _Sweeping:
    """Records left over, their marks on the levels asked so far, and the groups made."""

    def __init__(self, lattice: Lattice, requirement: Requirement, sweep: Sweep) -> None:
        self.requirement, self.sweep = requirement, sweep
        self.marks = lattice.marks
        self.sensitive = None if requirement.plain else requirement.sensitive
        rows = len(lattice.columns[0].codes)
        # in order of values, so that counting those of classes is one sort by class
        self.left: Ints = np.arange(rows) if self.sensitive is None else np.argsort(self.sensitive, kind="stable")
        self.codes: list[npt.NDArray[np.int32]] = [column.codes[self.left] for column in lattice.columns]
        self.group: Ints = np.full(rows, -1, dtype=np.int64)
        self.made = 0
        self.known: list[dict[int, Ints]] = [{} for _ in self.codes]

    def visit(self, node: list[int]) -> None:
        """Fix the classes of one node that satisfy the requirement, if they are worth it."""
        enough = max(1.0, self.sweep.share * len(self.left))
        mark = self._marks(node)
        bits = int(np.clip(len(mark).bit_length() + 1, *BITS))
        place = (mark >> (64 - bits)) + (1 << (bits - 1))
        crowded = np.flatnonzero(np.bincount(place, minlength=1 << bits)[place] >= self.requirement.k)
        if len(crowded) < enough:
            return
        owner = _classes(mark[crowded], place[crowded], 1 << bits)
        large: Flags = np.bincount(owner) >= self.requirement.k
        inside = large[owner]
        if np.count_nonzero(inside) < enough:
            return
        crowded, owner = crowded[inside], ranks(large)[owner[inside]]
        fixed, owner = (crowded, owner) if self.sensitive is None else self._allowed(crowded, owner, enough)
        if len(fixed) >= enough:
            self._fix(fixed, owner)

    def _marks(self, node: list[int]) -> Ints:
        total: Ints | None = None
        for known, level, marks, codes in zip(self.known, node, self.marks, self.codes, strict=True):
            if level not in known:
                known[level] = marks[level][codes]
            total = known[level] if total is None else total + known[level]
        assert total is not None
        return total

    def _allowed(self, crowded: Ints, owner: Ints, enough: float) -> tuple[Ints, Ints]:
        """The records of classes, or of parts of classes, that satisfy the predicate, and their classes."""
        assert self.sensitive is not None
        values = len(self.requirement.total)
        order = by_code(owner)
        cell = owner[order] * values + self.sensitive[self.left[crowded[order]]]
        begin = np.flatnonzero(np.diff(cell, prepend=-1))
        count = np.diff(np.append(begin, len(order)))
        of_class, value = np.divmod(cell[begin], values)
        start = np.searchsorted(of_class, np.arange(int(owner.max()) + 2))
        met = self.requirement.judge_counts(start, value, count)
        kept = np.where(met[of_class], count, 0)
        if self.sweep.part <= 1 and not met.all():
            kept += self._parts(start, of_class, value, count, ~met)
        if int(kept.sum()) < enough:
            return crowded[:0], owner[:0]
        nth = np.arange(len(order)) - np.repeat(begin, count)
        chosen = order[nth < np.repeat(kept, count)]
        return crowded[chosen], owner[chosen]

    def _parts(self, start: Ints, of_class: Ints, value: Ints, count: Ints, failing: Flags) -> Ints:
        """Kept records of each entry of the failing classes, where enough of the class is kept."""
        entry = np.flatnonzero(failing[of_class])
        size = np.diff(start)[failing]
        inner = starts(size)
        kept = trimmed(self.requirement, inner, value[entry], count[entry], relative=self.sweep.relative)
        whole = np.add.reduceat(count[entry], inner[:-1])
        some = np.add.reduceat(kept, inner[:-1])
        result = np.zeros(len(count), dtype=np.int64)
        result[entry] = np.where(np.repeat(some >= self.sweep.part * whole, size), kept, 0)
        return result

    def _fix(self, fixed: Ints, owner: Ints) -> None:
        number = np.unique(owner, return_inverse=True)[1].reshape(-1)
        self.group[self.left[fixed]] = self.made + number
        self.made += int(number.max()) + 1
        stays = np.ones(len(self.left), dtype=bool)
        stays[fixed] = False
        self.left = self.left[stays]
        self.codes = [codes[stays] for codes in self.codes]
        self.known = [{} for _ in self.codes]


def _classes(mark: Ints, place: Ints, places: int) -> Ints:
    """A number for each class of equal marks; numbers without a class are left between them."""
    seen = np.empty(places, dtype=np.int64)
    seen[place] = mark
    other = np.flatnonzero(seen[place] != mark)
    if len(other):  # places that several classes share
        place = place.copy()
        place[other] = places + np.unique(mark[other], return_inverse=True)[1].reshape(-1)
    return place


def by_code(codes: Ints) -> Ints:
    """A stable order by code; short codes are sorted by their digits, which takes a tenth of the time."""
    return np.argsort(codes.astype(np.uint16) if int(codes.max(initial=0)) < 1 << 16 else codes, kind="stable")
