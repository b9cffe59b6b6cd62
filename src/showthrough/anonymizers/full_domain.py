"""Full-domain generalization: one hierarchy level per column for the whole table, chosen optimally.

A node of the lattice is one level per column. Its loss without suppression is a sum over columns,
never falls when a level rises, and bounds the real loss from below; so nodes are visited in order
of that bound and the search ends when it reaches the best loss found. More general nodes never
suppress more rows for k (Samarati, TKDE 2001), so a node that suppresses too many rules out all
nodes below it; the search tries some nodes higher up for that purpose. Objectives that look at sizes of
classes (``objectives.py``) are bounded by the same node with nothing suppressed, known once it was looked at.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.objectives import BY_CLASSES, all_levels, cell_losses, check_objective, class_cost
from showthrough.anonymizers.quasi_columns import QuasiColumn, combined_key, row_count
from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.ragged import ranks

Node = tuple[int, ...]
BUDGET = 4_000_000
"""Levels held in the queue before the search settles for a good node."""
WORK = 10_000_000_000
"""Cells looked at before it does."""


@dataclass(frozen=True)
class FullDomainResult:
    """Level of each column, group of each row (-1: suppressed), and how much of the lattice was looked at."""

    levels: Node
    group: Codes
    groups: int
    suppressed: int
    loss: float
    """Weighted mean NCP per row, suppressed rows at 1; or the objective that was asked for."""
    nodes: int
    checked: int
    optimal: bool = True
    """False where the lattice was too large to be sure."""


def full_domain(
    columns: Sequence[QuasiColumn], requirement: Requirement, *, suppression_limit: int = 0, objective: str = "loss"
) -> FullDomainResult:
    """The node with the least loss, or other objective, among those that suppress at most ``suppression_limit`` rows.

    A column without hierarchy has two levels: its values, and ``*``. With very many columns the lattice is
    too large for the best node: then one is taken that no single column can be lowered from.
    """
    rows = row_count(columns)
    if rows < requirement.k:
        raise InputError(f"k = {requirement.k} is larger than the table ({rows} rows): lower k or add rows.")
    lattice = _Lattice(columns, requirement, suppression_limit, check_objective(objective))
    best = lattice.search()
    if best is None:
        raise InputError(
            "Even the most general node does not satisfy the requirement "
            + ("(the whole table as one group fails it): " if lattice.whole else "(within the greatest levels): ")
            + "weaken the requirement or allow more suppressed rows."
        )
    loss, node = best
    group, size, met = lattice.classes(node)
    number = ranks(met).astype(np.int32)
    nodes = int(np.prod([float(top - low + 1) for low, top in zip(lattice.bottom, lattice.top, strict=True)]))
    of_row = number[group][lattice.unit_of_row]
    suppressed = int(size[~met].sum())
    return FullDomainResult(node, of_row, int(met.sum()), suppressed, loss, nodes, lattice.checked, lattice.optimal)


class _Lattice:
    """The search; ``units`` are distinct records (with their sensitive value when a predicate needs it)."""

    def __init__(
        self, columns: Sequence[QuasiColumn], requirement: Requirement, limit: int, objective: str = "loss"
    ) -> None:
        self.requirement, self.limit, self.objective = requirement, limit, objective
        codes = [column.codes for column in columns]
        sizes = [column.size for column in columns]
        sensitive = None if requirement.plain else requirement.sensitive
        if sensitive is not None:
            codes, sizes = [*codes, sensitive], [*sizes, int(sensitive.max()) + 1]
        key = combined_key(codes, sizes)
        _, first, inverse, weight = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        self.unit_of_row = inverse.reshape(-1)
        self.weight: Ints = weight.astype(np.int64)
        self.rows = len(key)
        self.sensitive = None if sensitive is None else sensitive[first]
        losses, gone = cell_losses(columns, objective)
        leaves = [column.codes[first] for column in columns]
        self.labels: list[list[Codes]] = [
            [level[leaf] for level in all_levels(column)] for column, leaf in zip(columns, leaves, strict=True)
        ]
        self.losses: list[list[Reals]] = [
            [loss[leaf] for loss in own] for own, leaf in zip(losses, leaves, strict=True)
        ]
        self.gone: Reals = np.sum([own[leaf] for own, leaf in zip(gone, leaves, strict=True)], axis=0)
        heights = [len(levels) - 1 for levels in self.labels]
        self.bottom: Node = tuple(column.least for column in columns)
        self.top: Node = tuple(
            height if column.greatest is None else column.greatest
            for column, height in zip(columns, heights, strict=True)
        )
        self.whole = all(top == height for top, height in zip(self.top, heights, strict=True))
        self.base = [[float(self.weight @ loss) / self.rows for loss in losses] for losses in self.losses]
        self.failing = np.zeros((0, len(columns)), dtype=np.int64)
        self.seen: dict[Node, float] = {}
        self.least: dict[Node, float] = {}  # of objectives by classes: what a node and all above it cost at least
        self.checked = 0
        self.optimal = True

    def bound(self, node: Node) -> float:
        """Loss without suppression."""
        return sum(base[level] for base, level in zip(self.base, node, strict=True))

    def search(self) -> tuple[float, Node] | None:
        best: tuple[float, Node] | None = None
        bottom, by_classes = self.bottom, self.objective in BY_CLASSES
        queue = [(0.0 if by_classes else self.bound(bottom), bottom)]
        queued = {bottom}
        cells = len(self.weight) * len(bottom)
        while queue:
            if len(queued) * len(bottom) > BUDGET or self.checked * cells > WORK:
                self.optimal = False
                return min(filter(None, [best, self._descend()]), default=None)
            bound, node = heapq.heappop(queue)
            if best is not None and bound >= best[0]:
                break
            loss = self._loss(node)
            if loss < np.inf and (best is None or (loss, node) < best):
                best = (loss, node)
            least = max(bound, self.least.get(node, 0.0))
            for above in self._above(node):
                if above not in queued:
                    queued.add(above)
                    heapq.heappush(queue, (least if by_classes else self.bound(above), above))
        return best

    def _descend(self) -> tuple[float, Node] | None:
        """From the most general node down, column by column, while the requirement holds: good, not proven best."""
        node = self.top
        loss = self._loss(node)
        if loss == np.inf:
            return None
        open_ = [j for j, top in enumerate(node) if top > self.bottom[j]]
        while open_:
            gains = [self.base[j][node[j]] - self.base[j][node[j] - 1] for j in open_]
            j = open_[int(np.argmax(gains))]
            below = (*node[:j], node[j] - 1, *node[j + 1 :])
            lower = self._loss(below)
            if lower <= loss:
                node, loss = below, lower
            if node != below or node[j] == self.bottom[j]:
                open_.remove(j)
        return loss, node

    def _above(self, node: Node) -> list[Node]:
        return [(*node[:j], node[j] + 1, *node[j + 1 :]) for j in range(len(node)) if node[j] < self.top[j]]

    def _loss(self, node: Node) -> float:
        """Real loss, infinite when too many rows would be suppressed."""
        if self._ruled_out(node):
            return np.inf
        if node not in self.seen:
            self._evaluate(node)
            if self._ruled_out(node):
                self._climb(node)
        return self.seen[node]

    def _ruled_out(self, node: Node) -> bool:
        return bool((np.array(node) <= self.failing).all(axis=1).any())

    def _climb(self, node: Node) -> None:
        """Look for failing nodes high above a failing one: each rules out everything below it."""
        chain = [node]
        while above := self._above(chain[-1]):
            chain.append(min(above, key=self.bound))
        low, high = 0, len(chain) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if chain[middle] not in self.seen:
                self._evaluate(chain[middle])
            if self._ruled_out(chain[middle]):
                low = middle
            else:
                high = middle

    def _evaluate(self, node: Node) -> None:
        self.checked += 1
        group, size, met = self.classes(node)
        if self.objective in BY_CLASSES:
            self.least[node] = class_cost(self.objective, size)
        small = int(size[size < self.requirement.k].sum())
        if small > self.limit:
            below = (self.failing <= np.array(node)).all(axis=1)
            self.failing = np.vstack([self.failing[~below], [node]])
            self.seen[node] = np.inf
            return
        suppressed = ~met[group]
        if int(self.weight[suppressed].sum()) > self.limit:  # a predicate is not monotone under suppression
            self.seen[node] = np.inf
            return
        if self.objective in BY_CLASSES:
            self.seen[node] = class_cost(self.objective, size, met)
            return
        loss = np.sum([losses[level] for losses, level in zip(self.losses, node, strict=True)], axis=0)
        self.seen[node] = float(self.weight @ np.where(suppressed, self.gone, loss)) / self.rows

    def classes(self, node: Node) -> tuple[npt.NDArray[np.intp], Ints, Flags]:
        """Class of each unit, rows of each class, and whether the class satisfies the requirement."""
        labels = [levels[level] for levels, level in zip(self.labels, node, strict=True)]
        key = combined_key(labels, [int(label.max()) + 1 for label in labels])
        _, group = np.unique(key, return_inverse=True)
        group = group.reshape(-1)
        size = np.bincount(group, weights=self.weight).astype(np.int64)
        met: Flags = size >= self.requirement.k
        if self.sensitive is not None and met.any():
            number = ranks(met)
            inside = met[group]
            met[met] = self.requirement.judge(
                number[group[inside]], self.sensitive[inside], int(met.sum()), weight=self.weight[inside]
            )
        return group, size, met
