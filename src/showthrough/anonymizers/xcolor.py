"""XColor (Wang, Liu): groups in which no value has too many near values, by relaxed equitable colouring.

(ε, δ)^k-dissimilarity: groups of at least k rows in which every row has less than (1 − δ)(|G| − 1)
near rows (Definition 3, ``strict``) or at most ⌊(1 − δ)(|G| − 1)⌋ (Definition 6). With m = ⌊n/k⌋ groups
whose sizes differ by at most one and t near rows allowed, exchanges that lower the number of near
pairs inside groups end without violation whenever the maximum degree Θ ≤ m(t + 1)/2 (Lemma 2, which
holds for sizes s and s + 1 too). Otherwise the same exchanges run and what remains is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.near_rows import Proximity
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Ints
from showthrough.table.ragged import offsets

BLOCK = 16
"""Groups that share one run of quasi-identifier neighbours at the start."""
WINDOWS = (32, 256)
"""Groups on each side searched for an exchange before all are: near ones keep quasi-identifiers close."""


@dataclass(frozen=True)
class XColorResult:
    """Group of each row, what was allowed, and what remains."""

    group: Codes
    groups: int
    allowed: int
    """t: near rows that a row may have in its group."""
    guaranteed: bool
    """True when Θ ≤ m(t + 1)/2: then no violation can remain."""
    max_degree: int
    edges: int
    swaps: int
    violations: Ints
    """Rows with more than ``allowed`` near rows in their group."""


def allowed_neighbours(rows: int, k: int, delta: float, *, strict: bool = True) -> int:
    """Near rows that the smallest group allows (t); below 0 when the strict reading cannot be satisfied."""
    smallest = rows // (rows // k)
    share = round((1.0 - delta) * (smallest - 1), 9)  # 0.3·10 must count as 3
    return ceil(share) - 1 if strict else floor(share)


def satisfiable(max_degree: int, groups: int, allowed: int) -> bool:
    """The criterion of Lemma 2: Θ ≤ m(t + 1)/2. False says nothing."""
    return 2 * max_degree <= groups * (allowed + 1)


def xcolor(
    proximity: Proximity,
    k: int,
    delta: float,
    *,
    order: Ints | None = None,
    strict: bool = True,
    seed: int = 0,
) -> XColorResult:
    """Group the rows; ``order`` lists them so that rows with near quasi-identifiers follow each other."""
    rows = proximity.rows
    if not 0.0 <= delta <= 1.0:
        raise InputError(f"δ must lie between 0 and 1, found {delta}.")
    if k < 1:
        raise InputError(f"k must be at least 1, found {k}.")
    if rows < k:
        raise InputError(f"k = {k} is larger than the table ({rows} rows): lower k or add rows.")
    allowed = allowed_neighbours(rows, k, delta, strict=strict)
    if allowed < 0:
        raise InputError(
            f"With k = {k} and δ = {delta} every row would need fewer than 0 near rows in its group: "
            f"lower δ, raise k, or use the reading 'at most' (strict=False)."
        )
    generator = np.random.default_rng(seed)
    groups = rows // k
    listed = generator.permutation(rows) if order is None else np.asarray(order, dtype=np.int64)
    colouring = _Colouring(proximity, _deal(listed, proximity.order, groups), allowed)
    colouring.run()
    degree = proximity.degree
    theta = int(degree.max(initial=0))
    return XColorResult(
        group=generator.permutation(groups)[colouring.group].astype(np.int32),
        groups=groups,
        allowed=allowed,
        guaranteed=satisfiable(theta, groups, allowed),
        max_degree=theta,
        edges=int(degree.sum()) // 2,
        swaps=colouring.swaps,
        violations=np.flatnonzero(colouring.degree > allowed),
    )


def _deal(order: Ints, value: Ints, groups: int) -> Ints:
    """First groups: runs of neighbours, sorted by value inside a run and dealt round robin.

    Rows with near values part while quasi-identifiers stay close; sizes differ by at most one.
    """
    rows = len(order)
    group = np.empty(rows, dtype=np.int64)
    for first in range(0, groups, BLOCK):
        last = min(first + BLOCK, groups)
        run = order[first * rows // groups : last * rows // groups]
        run = run[np.argsort(value[run], kind="stable")]
        group[run] = first + np.arange(len(run)) % (last - first)
    return group


class _Colouring:
    """Groups as a table of members (-1 pads), and the near rows of each row in its group."""

    def __init__(self, proximity: Proximity, group: Ints, allowed: int) -> None:
        self.proximity, self.group, self.allowed = proximity, group, allowed
        size = np.bincount(group)
        order = np.argsort(group, kind="stable")
        self.place = np.empty(len(group), dtype=np.int64)
        self.place[order] = offsets(size)
        self.members = np.full((len(size), int(size.max())), -1, dtype=np.int64)
        self.members[group, self.place] = np.arange(len(group))
        self.degree = np.zeros(len(group), dtype=np.int64)
        self.swaps = 0
        step = max(1, 2_000_000 // self.members.shape[1] ** 2)
        for first in range(0, len(size), step):
            self._count(np.arange(first, min(first + step, len(size))))

    def _near(self, one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """Near pairs; padding and pairs of a row with itself are never near."""
        flags = self.proximity.near(np.maximum(one, 0), np.maximum(other, 0))
        return np.asarray(flags & (one >= 0) & (other >= 0) & (one != other))

    def _count(self, groups: Ints) -> None:
        members = self.members[groups]
        inside = self._near(members[:, :, None], members[:, None, :]).sum(axis=2)
        self.degree[members[members >= 0]] = inside[members >= 0]

    def run(self) -> None:
        """Exchange until no violation remains or none of those that remain finds a partner."""
        while True:
            waiting = np.flatnonzero(self.degree > self.allowed)
            before = self.swaps
            for row in waiting.tolist():
                while self.degree[row] > self.allowed and self._exchange(row):
                    self.swaps += 1
            if self.swaps == before:
                return

    def _exchange(self, row: int) -> bool:
        """Swap the row with the one elsewhere that lowers the near pairs most; False when none lowers them."""
        own = self.members[self.group[row]]
        for groups in self._windows(int(self.group[row])):
            members = self.members[groups]
            beside = self._near(np.array(row), members)
            arriving = beside.sum(axis=1)
            movable = arriving <= self.allowed
            if not movable.any():
                continue
            members, beside, arriving = members[movable], beside[movable], arriving[movable]
            leaving = self._near(members[:, :, None], own[None, None, :]).sum(axis=2)
            change = arriving[:, None] - self.degree[row] + leaving - self.degree[np.maximum(members, 0)] - 2 * beside
            change = np.where(members >= 0, change, 1)
            best = int(change.argmin())
            if change.flat[best] < 0:
                self._swap(row, int(members.flat[best]))
                return True
        return False

    def _windows(self, own: int) -> Iterator[Ints]:
        """Groups to search, nearest first, each once."""
        count = len(self.members)
        low, high = own, own + 1
        for reach in (*WINDOWS, count):
            new_low, new_high = max(0, own - reach), min(count, own + reach + 1)
            groups = np.concatenate([np.arange(new_low, low), np.arange(high, new_high)])
            low, high = new_low, new_high
            for first in range(0, len(groups), 4096):
                yield groups[first : first + 4096]

    def _swap(self, one: int, other: int) -> None:
        a, b = self.group[one], self.group[other]
        self.members[a, self.place[one]], self.members[b, self.place[other]] = other, one
        self.group[one], self.group[other] = b, a
        self.place[one], self.place[other] = self.place[other], self.place[one]
        self._count(np.array([a, b]))
