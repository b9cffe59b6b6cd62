"""The last phase of m-invariance: buckets with r records of each of their values become r groups.

Xiao, Tao, SIGMOD'07: halve a bucket again and again. Per quasi-identifier, sort the records of each
value and give the lower half of every value to one side; take the quasi-identifier whose sides have
the least sum of normalised extents. All buckets are halved at once, level by level: each
quasi-identifier keeps the records in its own order, and a halving is a stable partition of each order.

Counterfeits have no quasi-identifiers: a value with fewer records than groups shares its records
between the sides in proportion, and the places that stay empty are the counterfeits'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from showthrough.anonymizers.boxes import Box, State, box
from showthrough.anonymizers.quasi_columns import QuasiColumn, row_count
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.ragged import offsets, owners, ranks, starts


@dataclass(frozen=True)
class Slots:
    """One slot per value of each bucket, bucket by bucket; ``size`` counts records and counterfeits."""

    texts: tuple[tuple[int, ...], ...]
    start: Ints
    value: Ints
    size: Ints

    @cached_property
    def bucket(self) -> Ints:
        """The bucket of each slot."""
        return owners(self.start)

    @cached_property
    def rounds(self) -> Ints:
        """How many groups each bucket gives."""
        rounds = np.zeros(len(self.texts), dtype=np.int64)
        filled = np.diff(self.start) > 0
        rounds[filled] = self.size[self.start[:-1][filled]]
        return rounds


def split_at_random(slot: Ints, slots: Slots, generator: np.random.Generator) -> Ints:
    """For each row the group within its bucket, drawn at random; rows without a slot are left at 0."""
    rows = np.flatnonzero(slot >= 0)
    fake = slots.size - np.bincount(slot[rows], minlength=len(slots.size))
    places = np.concatenate([slot[rows], owners(starts(fake))])
    shuffled = generator.permutation(len(places))
    order = shuffled[np.argsort(places[shuffled], kind="stable")]
    rank = np.empty(len(places), dtype=np.int64)
    rank[order] = offsets(slots.size)
    position = np.zeros(len(slot), dtype=np.int64)
    position[rows] = rank[: len(rows)]
    return position


def split_by_columns(slot: Ints, slots: Slots, columns: Sequence[QuasiColumn]) -> Ints:
    """For each row the group within its bucket, groups with small extents; rows without a slot are left at 0."""
    if row_count(columns) != len(slot):
        raise InputError(f"The quasi-identifiers have {row_count(columns)} rows, the values {len(slot)}.")
    rows = np.flatnonzero(slot >= 0).astype(np.int32)
    rows = rows[np.argsort(slot[rows], kind="stable")]  # rows of a slot lie side by side in memory
    boxes = [box(column) for column in columns]
    states = [b.start(column.codes[rows]) for b, column in zip(boxes, columns, strict=True)]
    ranks = [column.rank[column.codes[rows]] for column in columns]
    key = slot[rows]
    work = _Nodes(
        orders=[np.lexsort((rank, key)).astype(np.int32) for rank in ranks],
        count=np.bincount(key, minlength=len(slots.size)),
        node=slots.bucket,
        rounds=slots.rounds,
        first=np.zeros(len(slots.rounds), dtype=np.int64),
    )
    position = np.zeros(len(slot), dtype=np.int64)
    while True:
        items, first = work.finished()
        position[rows[items]] = first
        work = work.unfinished()
        if not len(work.rounds):
            return position
        work = work.halved(boxes, states)


@dataclass(frozen=True)
class _Nodes:
    """The buckets, or what halving made of them ("nodes").

    ``orders`` lists the records once per quasi-identifier: node by node, value by value, ascending.
    ``count`` and ``node`` belong to the values of the nodes, ``rounds`` (groups to make) and ``first``
    (the lowest of their numbers) to the nodes.
    """

    orders: list[Codes]
    count: Ints
    node: Ints
    rounds: Ints
    first: Ints

    def finished(self) -> tuple[Codes, Ints]:
        """Records of nodes that are one group, and which."""
        done = np.repeat((self.rounds == 1)[self.node], self.count)
        return self.orders[0][done], np.repeat(self.first[self.node], self.count)[done]

    def unfinished(self) -> _Nodes:
        """The nodes that are more than one group."""
        going = self.rounds > 1
        kept = going[self.node]
        items = np.repeat(kept, self.count)
        return _Nodes(
            orders=[order[items] for order in self.orders],
            count=self.count[kept],
            node=ranks(going)[self.node[kept]],
            rounds=self.rounds[going],
            first=self.first[going],
        )

    def halved(self, boxes: Sequence[Box], states: Sequence[State]) -> _Nodes:
        """Every node in two, each by its best quasi-identifier; first all lower halves, then all upper ones."""
        lower_rounds = (self.rounds + 1) // 2
        # in proportion, which is half where all are records; rounding up never exceeds either side
        lower = -(-self.count * lower_rounds[self.node] // self.rounds[self.node])
        upper = offsets(self.count) >= np.repeat(lower, self.count)
        side = np.concatenate([np.flatnonzero(~upper), np.flatnonzero(upper)])
        counts = np.concatenate([lower, self.count - lower])
        node = np.concatenate([self.node, self.node + len(self.rounds)])
        loss = np.stack([_loss(order[side], counts, node, boxes, states) for order in self.orders])
        nodes = len(self.rounds)
        best = np.argmin(loss[:, :nodes] + loss[:, nodes:], axis=0)
        goes_up = self._sides(best, upper, size=len(states[0][0]))
        orders = []
        for order in self.orders:
            flag = goes_up[order]
            orders.append(np.concatenate([order[~flag], order[flag]]))
        return _Nodes(
            orders=orders,
            count=counts,
            node=node,
            rounds=np.concatenate([lower_rounds, self.rounds - lower_rounds]),
            first=np.concatenate([self.first, self.first + lower_rounds]),
        )

    def _sides(self, best: Ints, upper: Flags, size: int) -> Flags:
        """For each record whether it goes to the upper side, by the quasi-identifier chosen for its node."""
        choice = np.repeat(best[self.node], self.count)
        goes_up = np.zeros(size, dtype=bool)
        for k, order in enumerate(self.orders):
            chosen = choice == k
            goes_up[order[chosen]] = upper[chosen]
        return goes_up


def _loss(items: Codes, count: Ints, node: Ints, boxes: Sequence[Box], states: Sequence[State]) -> Reals:
    """Σ of normalised extents of each node whose records are listed node by node; no node is without records."""
    size = np.bincount(node, weights=count).astype(np.int64)
    start = starts(size)[:-1]
    total = np.zeros(len(size))
    for b, state in zip(boxes, states, strict=True):
        if b.words:
            joined = np.stack([np.bitwise_or.reduceat(word[items], start) for word in state])
        else:
            rank = state[0][items]
            joined = np.stack([np.minimum.reduceat(rank, start), np.maximum.reduceat(rank, start)])
        total += b.loss(joined)
    return total
