"""Greedy k-member clustering (Byun et al., DASFAA'07) over distinct records, the densest places first.

A group starts from the densest record left and takes, one by one, the record that widens it least
until it satisfies the requirement. The loss of a group with one more record depends on the record's
value column by column, so a step looks up one short vector per column instead of comparing records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.boxes import Box, Singles, State, box
from showthrough.anonymizers.quasi_columns import QuasiColumn, combined_key
from showthrough.anonymizers.regrow import judge_dense
from showthrough.anonymizers.requirement import Requirement
from showthrough.table.arrays import Ints, Reals
from showthrough.table.ragged import starts

CHUNK = (2_000, 12_000)
"""Least and most records that compete for a group: the more the better, and the slower."""
WORK = 600_000_000
"""Pairs of records compared in all, as far as the least chunk allows."""
FAR = np.float32(1e6)


@dataclass(frozen=True)
class _ChunkUnits:
    """Distinct records of one chunk: places among the occurring values, how many, sensitive value, density."""

    codes: list[npt.NDArray[np.int64]]
    weight: Ints
    sensitive: Ints | None
    density: Reals


@dataclass
class _Group:
    """A group under growth: its box per column, and which units it took how often."""

    boxes: list[tuple[int, ...]]
    units: list[int]
    taken: list[int]
    counts: npt.NDArray[np.int64]
    size: int = 0
    loss: float = 0.0


class _Lookup:
    """Loss of a box widened by each value that occurs in the chunk, remembered by box."""

    def __init__(self, box: Box, occurring: npt.NDArray[np.integer]) -> None:
        self.box = box
        self.every: State = box.start(occurring)
        self.single: list[tuple[int, ...]] = [tuple(state) for state in self.every.T.tolist()]
        self.seen: dict[tuple[int, ...], Singles] = {}

    def join(self, one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
        if self.box.words:
            return tuple(a | b for a, b in zip(one, other, strict=True))
        return min(one[0], other[0]), max(one[1], other[1])

    def widened(self, state: tuple[int, ...]) -> Singles:
        found = self.seen.get(state)
        if found is None:
            own: State = np.array(state, dtype=self.every.dtype)[:, None]
            found = self.box.joint(own, self.every)
            if len(self.seen) * len(found) > 20_000_000:  # a long numeric domain: do not hoard
                self.seen = {}
            self.seen[state] = found
        return found


def density(columns: Sequence[QuasiColumn], generator: np.random.Generator) -> Reals:
    """How many records share all columns but one with each record, summed over the column left out."""
    chosen = np.arange(len(columns))
    if len(chosen) > 12:
        chosen = np.sort(generator.choice(chosen, 12, replace=False))
    near = np.zeros(len(columns[0].codes))
    for out in chosen:
        others = [column for j, column in enumerate(columns) if j != out] or list(columns)
        key = combined_key([column.codes for column in others], [column.size for column in others])
        inverse = np.unique(key, return_inverse=True)[1].reshape(-1)
        near += np.minimum(np.bincount(inverse)[inverse], 20)
    return near


def k_member(
    columns: Sequence[QuasiColumn], requirement: Requirement, order: Ints, density: Reals, *, spread: float = 0.0
) -> tuple[Ints, Ints]:
    """Group of each row and the rows left over (group -1); ``order`` sorts the rows so that near ones share a chunk."""
    rows = len(order)
    group = np.full(rows, -1, dtype=np.int64)
    keyed = [column.codes for column in columns]
    sizes = [column.size for column in columns]
    if not requirement.plain and requirement.sensitive is not None:
        keyed, sizes = [*keyed, requirement.sensitive], [*sizes, int(requirement.sensitive.max()) + 1]
    key = combined_key(keyed, sizes)
    boxes = [box(column) for column in columns]
    chunk = int(np.clip(WORK // max(1, rows), *CHUNK))
    share = requirement.total / max(1, int(requirement.total.sum()))
    made = begin = 0
    while begin < rows:
        piece = order[begin : begin + chunk]
        begin += len(piece)
        _, first, inverse, weight = np.unique(key[piece], return_index=True, return_inverse=True, return_counts=True)
        unit_rows = piece[first]
        sensitive = None if requirement.plain or requirement.sensitive is None else requirement.sensitive[unit_rows]
        occurring = [np.unique(column.codes[unit_rows], return_inverse=True) for column in columns]
        lookups = [_Lookup(box_, values) for box_, (values, _) in zip(boxes, occurring, strict=True)]
        units = _ChunkUnits(
            [place.reshape(-1).astype(np.int64) for _, place in occurring],
            weight.astype(np.int64),
            None if sensitive is None else sensitive.astype(np.int64),
            density[unit_rows],
        )
        groups = _Chunk(lookups, units, requirement, share, spread).run()
        by_unit = piece[np.argsort(inverse, kind="stable")]
        start = starts(weight)[:-1]
        for found in groups:
            for unit, taken in zip(found.units, found.taken, strict=True):
                group[by_unit[start[unit] : start[unit] + taken]] = made
                start[unit] += taken
            made += 1
    return group, np.flatnonzero(group < 0)


class _Chunk:
    """Growth inside one chunk; ``alive`` are the units with copies left, packed now and then."""

    def __init__(
        self, lookups: list[_Lookup], units: _ChunkUnits, requirement: Requirement, share: Reals, spread: float
    ) -> None:
        self.lookups, self.units, self.requirement = lookups, units, requirement
        self.share, self.spread = share, spread
        self.left = units.weight.copy()
        self.alive = np.arange(len(units.weight))
        self.position = self.alive.copy()
        self.codes = units.codes
        self.gone = np.zeros(len(units.weight), dtype=np.float32)
        self.buried = 0

    def run(self) -> list[_Group]:
        groups: list[_Group] = []
        total = int(self.left.sum())
        for seed in np.argsort(-self.units.density, kind="stable").tolist():
            while self.left[seed] > 0 and total >= self.requirement.k:
                grown = self._grow(seed)
                if grown is None:
                    return groups
                groups.append(grown)
                total -= grown.size
                self._pack()
        return groups

    def _grow(self, seed: int) -> _Group | None:
        values = 0 if self.units.sensitive is None else len(self.share)
        group = _Group([(0,)] * len(self.lookups), [], [], np.zeros(values, dtype=np.int64))
        unit, ask = seed, self.requirement.k
        while True:
            self._take(group, unit)
            if group.size >= ask:
                if self._allowed(group):
                    return group
                # a large group is asked again only after it has grown by a twentieth
                ask = group.size + 1 + group.size // 20
            loss = self._losses(group)
            place = int(loss.argmin())
            if loss[place] >= FAR:
                if group.size >= self.requirement.k and self._allowed(group):
                    return group
                for unit, taken in zip(group.units, group.taken, strict=True):
                    self.left[unit] += taken
                return None
            unit = int(self.alive[place])

    def _take(self, group: _Group, unit: int) -> None:
        """Add as many copies of a unit as the group still needs."""
        one = [lookup.single[codes[unit]] for lookup, codes in zip(self.lookups, self.units.codes, strict=True)]
        if group.size:
            one = [lookup.join(a, b) for lookup, a, b in zip(self.lookups, group.boxes, one, strict=True)]
        group.boxes = one
        wanted = max(1, self.requirement.k - group.size) if self.units.sensitive is None else 1
        taken = min(int(self.left[unit]), wanted)
        group.units.append(unit)
        group.taken.append(taken)
        group.size += taken
        self.left[unit] -= taken
        if self.units.sensitive is not None:
            group.counts[self.units.sensitive[unit]] += taken
        if self.left[unit] == 0:
            self.gone[self.position[unit]] = FAR
            self.buried += 1

    def _losses(self, group: _Group) -> Singles:
        loss = self.gone.copy()
        for lookup, state, codes in zip(self.lookups, group.boxes, self.codes, strict=True):
            loss += lookup.widened(state)[codes]
        if self.units.sensitive is not None and self.spread:
            over = np.maximum((group.counts + 1) / (group.size + 1) - self.share, 0.0) * self.spread
            loss += over.astype(np.float32)[self.units.sensitive[self.alive]]
        return loss

    def _allowed(self, group: _Group) -> bool:
        return self.requirement.plain or bool(judge_dense(self.requirement, group.counts[None])[0])

    def _pack(self) -> None:
        if self.buried < 0.1 * len(self.alive) + 50:
            return
        keep = np.flatnonzero(self.left[self.alive])
        self.alive = self.alive[keep]
        self.codes = [codes[keep] for codes in self.codes]
        self.gone = self.gone[keep]
        self.position[self.alive] = np.arange(len(keep))
        self.buried = 0
