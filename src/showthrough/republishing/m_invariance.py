"""m-invariance (Xiao, Tao, SIGMOD'07): whoever stays keeps the set of values of the group, its signature.

Four phases. Division: a bucket per signature of those who were published before. Balancing: within a
bucket every value gets as many records as the most frequent one, from new records or counterfeits.
Assignment: the other new records open buckets or join those with exactly their signature. Split: a
bucket with r records of each of its values becomes r groups with one record of each.

Two choices are made for all records at once instead of one by one. How many new records of each value
go into balancing is the optimum of a small program (`_remainder`): the fewest counterfeits that leave
the rest m-eligible, never more than trying the records in turn. And new records need to be m-eligible
only after balancing, so a value that is too frequent among them may still fit into the old buckets.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.errors import InputError, NotEligibleError
from showthrough.numerals import number_of
from showthrough.policy.phrases import have, people
from showthrough.republishing.split import Slots, split_at_random, split_by_columns
from showthrough.table.arrays import Codes, Ints
from showthrough.table.ragged import owners, ranges, running, starts

Signature = tuple[int, ...]


@dataclass(frozen=True)
class MInvariantResult:
    """Groups with m or more different values each; whoever had a signature has it again.

    ``group`` holds the group of each row, -1 for the rows ``held`` back. ``group_signature`` points into
    ``signatures``, which are the given ones followed by new ones. The counterfeits of a group are
    published as a number, never which they are.
    """

    group: Codes
    groups: int
    group_signature: Codes
    signatures: tuple[Signature, ...]
    counterfeit_group: Codes
    counterfeit_value: Codes
    held: Ints

    @property
    def counterfeits(self) -> int:
        """How many values of nobody were added."""
        return len(self.counterfeit_group)


def m_invariant(
    value: npt.NDArray[np.integer],
    m: int,
    *,
    signature: npt.NDArray[np.integer],
    signatures: Sequence[Signature] = (),
    columns: Sequence[QuasiColumn] | None = None,
    hold_back: bool = False,
    seed: int = 0,
) -> MInvariantResult:
    """The groups of the next release of an m-invariant series.

    ``signature`` is, for each row, the position in ``signatures`` of the set of values with which the
    person was published last, however long ago; -1 for somebody never published. With ``columns`` the
    groups have small extents, without they are drawn at random. New records that cannot be published
    are refused, or with ``hold_back`` the fewest of them are left out.
    """
    value, signature = np.asarray(value), np.asarray(signature)
    table = _Signatures.read(value, m, signature, signatures)
    generator = np.random.default_rng(seed)
    old = np.flatnonzero(signature >= 0)
    new = np.flatnonzero(signature < 0)
    slot_of_old = table.slots_of(value, old, signature[old], m)
    missing = table.deficits(slot_of_old)
    available = np.bincount(value[new], minlength=table.domain)
    wanted = np.bincount(table.value, weights=missing, minlength=table.domain).astype(np.int64)
    surplus, rest = _remainder(available, wanted, m, generator)
    if surplus.any() and not hold_back:
        raise _not_eligible(available, wanted, surplus, m)
    filled = _shared_out(available - surplus - rest, table.value, missing, generator)
    opened = _assign(rest, m, generator)
    slots, slot_of_opened = table.with_opened(opened, slot_of_old, missing)
    slot, held = _placed(
        value,
        new,
        generator,
        surplus,
        (table.value, np.arange(len(table.value)), filled),
        (opened.value, slot_of_opened, opened.count),
    )
    slot[old] = slot_of_old
    if columns is None:
        position = split_at_random(slot, slots, generator)
    else:
        position = split_by_columns(slot, slots, columns)
    return _numbered(slot, position, slots, held, generator)


@dataclass(frozen=True)
class _Signatures:
    """The given signatures laid end to end: slot k of the table is one value of one signature."""

    texts: tuple[Signature, ...]
    start: Ints
    value: Ints
    domain: int

    @classmethod
    def read(
        cls, value: npt.NDArray[np.integer], m: int, signature: npt.NDArray[np.integer], given: Sequence[Signature]
    ) -> _Signatures:
        if m < 1:
            raise InputError(f"m must be at least 1, found {m}.")
        if len(signature) != len(value):
            raise InputError(f"There are {len(value)} values but {len(signature)} signatures of persons.")
        if len(signature) and not -1 <= int(signature.min()) <= int(signature.max()) < len(given):
            raise InputError(f"Signatures of persons are numbered from 0 to {len(given) - 1}, or -1 for new persons.")
        if len(value) and int(value.min()) < 0:
            raise InputError("Value codes must be 0 or more.")
        length = np.fromiter(map(len, given), dtype=np.int64, count=len(given))
        flat = np.fromiter(chain.from_iterable(given), dtype=np.int64, count=int(length.sum()))
        start = starts(length)
        owner = owners(start)
        if len(flat) and (int(flat.min()) < 0 or np.any((np.diff(flat) <= 0) & (np.diff(owner) == 0))):
            raise InputError("Each signature must list its value codes in ascending order, each once.")
        domain = 1 + max(int(value.max(initial=-1)), int(flat.max(initial=-1)))
        return cls(tuple(given), start, flat, domain)

    def slots_of(self, value: npt.NDArray[np.integer], rows: Ints, signature: npt.NDArray[np.integer], m: int) -> Ints:
        """The slot of each person published before; equal signatures share the slots of the first of them."""
        length = np.diff(self.start)
        used = np.unique(signature)
        if len(used) and int(length[used].min()) < m:
            found = int(length[used].min())
            raise InputError(f"A person was published with {found} values, fewer than m = {m}: lower m to {found}.")
        first: dict[Signature, int] = {}
        same = np.fromiter((first.setdefault(text, k) for k, text in enumerate(self.texts)), np.int64, len(self.texts))
        key = owners(self.start) * self.domain + self.value
        wanted = same[signature] * self.domain + value[rows]
        slot = np.searchsorted(key, wanted)
        strange = np.flatnonzero(key[np.minimum(slot, len(key) - 1)] != wanted) if len(rows) else rows
        if len(strange):
            raise InputError(
                f"{people(len(strange))} {have(len(strange))} a value that is not in their signature, first in row "
                f"{int(rows[strange[0]]) + 1}: a changed value makes a new person."
            )
        return np.asarray(slot)

    def deficits(self, slot: Ints) -> Ints:
        """How many records each slot lacks to be as full as the fullest of its bucket."""
        count = np.bincount(slot, minlength=len(self.value))
        if not len(count):
            return count
        length = np.diff(self.start)
        most = np.zeros(len(length), dtype=np.int64)
        most[length > 0] = np.maximum.reduceat(count, self.start[:-1][length > 0])
        return np.asarray(np.repeat(most, length) - count)

    def with_opened(self, opened: _Opened, slot_of_old: Ints, missing: Ints) -> tuple[Slots, Ints]:
        """All slots with the number of records of each, and the slots into which the opened buckets go."""
        place = {text: k for k, text in reversed(list(enumerate(self.texts)))} if opened.texts else {}
        texts = list(self.texts)
        firsts, values, end = [self.start[:-1]], [self.value], int(self.start[-1])
        begins = np.zeros(len(opened.texts), dtype=np.int64)
        for k, text in enumerate(opened.texts):
            bucket = place.get(text)
            if bucket is None:
                bucket = place[text] = len(texts)
                texts.append(text)
                firsts.append(np.array([end]))
                values.append(np.array(text))
                end += len(text)
                begins[k] = end - len(text)
            else:
                begins[k] = self.start[bucket] if bucket < len(self.texts) else firsts[1 + bucket - len(self.texts)][0]
        length = np.fromiter(map(len, opened.texts), dtype=np.int64, count=len(opened.texts))
        slot = ranges(begins, length)
        size = np.bincount(slot, weights=opened.count, minlength=end).astype(np.int64)
        size[: len(self.value)] += np.bincount(slot_of_old, minlength=len(self.value)) + missing
        return Slots(tuple(texts), np.append(np.concatenate(firsts), end), np.concatenate(values), size), slot


def _remainder(count: Ints, wanted: Ints, m: int, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """For each value: new records to hold back, and new records left over after balancing.

    The rest R of ``count`` must satisfy L ≤ R ≤ count with L = count − wanted where positive, and
    m·max R ≤ ΣR. With f(c) = Σ min(count, c) − m·c, concave and 0 at 0, some R has the maximum c exactly
    if f(c) ≥ 0, that is up to a cap; what L has above the cap must be held back. The smallest ΣR, hence
    the fewest counterfeits, is max(ΣL, m·max L): lower maxima than max L are impossible, higher ones
    leave more.
    """
    least = np.maximum(count - wanted, 0)
    low, high = 0, int(count.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if int(np.minimum(count, middle).sum()) >= middle * m else (low, middle - 1)
    surplus = np.maximum(least - low, 0)
    least = least - surplus
    top = int(least.max(initial=0))
    most = np.minimum(count - surplus, top)
    return surplus, _raised(least, most, max(int(least.sum()), m * top), generator)


def _raised(least: Ints, most: Ints, total: int, generator: np.random.Generator) -> Ints:
    """Numbers between two bounds with this sum, as level as possible: even counts are the easiest to assign."""
    low, high = 0, int(most.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if int(np.clip(middle, least, most).sum()) <= total else (low, middle - 1)
    level = np.clip(low, least, most)
    open_ = generator.permutation(np.flatnonzero((level == low) & (level < most)))
    level[open_[: total - int(level.sum())]] += 1
    return np.asarray(level)


def _shared_out(given: Ints, slot_value: Ints, missing: Ints, generator: np.random.Generator) -> Ints:
    """How many of the records given to each value every slot gets: random slots are filled up first."""
    order = generator.permutation(np.flatnonzero(missing))
    order = order[np.argsort(slot_value[order], kind="stable")]
    demand, value = missing[order], slot_value[order]
    before = running(demand)[:-1]
    first = np.searchsorted(value, value)
    filled = np.zeros_like(missing)
    filled[order] = np.clip(given[value] - (before - before[first]), 0, demand) if len(order) else 0
    return filled


@dataclass(frozen=True)
class _Opened:
    """Buckets of new records: their signatures; value and number of records of their slots, end to end."""

    texts: tuple[Signature, ...]
    value: Ints
    count: Ints


def _assign(rest: Ints, m: int, generator: np.random.Generator) -> _Opened:
    """Phase 3: again and again A records of each of the B most frequent values, B as small as the rest allows.

    A round uses up a value or makes another one as frequent as m-eligibility allows, which it stays; so
    there are about as many rounds as values, however many records.
    """
    tie = generator.permutation(len(rest)).tolist()
    heap = [(-int(rest[v]), tie[v], v) for v in np.flatnonzero(rest).tolist()]
    heapq.heapify(heap)
    left = int(rest.sum())
    texts: list[Signature] = []
    counts: list[int] = []
    while left:
        taken = [heapq.heappop(heap) for _ in range(min(m, len(heap)))]
        while True:
            size = len(taken)
            take = min(-taken[-1][0], (left + m * heap[0][0] if heap else left) // size)  # the heap holds −count
            if size > m:
                take = min(take, (left + m * taken[0][0]) // (size - m))
            if take >= 1:
                break
            taken.append(heapq.heappop(heap))
        for key, rank, v in taken:
            if key + take < 0:
                heapq.heappush(heap, (key + take, rank, v))
        texts.append(tuple(sorted(v for _, _, v in taken)))
        counts.append(take)
        left -= take * size
    length = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    flat = np.fromiter(chain.from_iterable(texts), dtype=np.int64, count=int(length.sum()))
    return _Opened(tuple(texts), flat, np.repeat(np.array(counts, dtype=np.int64), length))


def _placed(
    value: npt.NDArray[np.integer],
    new: Ints,
    generator: np.random.Generator,
    surplus: Ints,
    *allotted: tuple[Ints, Ints, Ints],
) -> tuple[Ints, Ints]:
    """The slot of each new row, -1 elsewhere, and the rows held back.

    ``allotted`` are values, slots and numbers of records, together all the new records but the surplus.
    """
    values = np.concatenate([np.arange(len(surplus)), *(part[0] for part in allotted)])
    slots = np.concatenate([np.full(len(surplus), -1), *(part[1] for part in allotted)])
    number = np.concatenate([surplus, *(part[2] for part in allotted)])
    order = np.argsort(values, kind="stable")
    shuffled = generator.permutation(new)
    rows = shuffled[np.argsort(value[shuffled], kind="stable")]  # by value, random inside a value
    slot = np.full(len(value), -1, dtype=np.int64)
    slot[rows] = np.repeat(slots[order], number[order])
    return slot, np.sort(rows[slot[rows] < 0])


def _numbered(slot: Ints, position: Ints, slots: Slots, held: Ints, generator: np.random.Generator) -> MInvariantResult:
    """Groups from positions within buckets; what no record takes is a counterfeit."""
    rounds = slots.rounds
    first, groups = starts(rounds)[:-1], int(rounds.sum())
    number = generator.permutation(groups).astype(np.int32)  # the number of a group says nothing about its making
    rows = np.flatnonzero(slot >= 0)
    group = np.full(len(slot), -1, dtype=np.int32)
    group[rows] = number[first[slots.bucket[slot[rows]]] + position[rows]]
    place = starts(slots.size)[:-1]
    empty = np.ones(int(slots.size.sum()), dtype=bool)
    empty[place[slot[rows]] + position[rows]] = False
    fake = np.flatnonzero(empty)
    owner = np.searchsorted(place, fake, side="right") - 1
    fake_group = number[first[slots.bucket[owner]] + fake - place[owner]]
    order = np.argsort(fake_group, kind="stable")
    of_group = np.empty(groups, dtype=np.int32)
    of_group[number] = owners(starts(rounds))
    return MInvariantResult(
        group=group,
        groups=groups,
        group_signature=of_group,
        signatures=slots.texts,
        counterfeit_group=fake_group[order],
        counterfeit_value=slots.value[owner[order]].astype(np.int32),
        held=held,
    )


def _not_eligible(available: Ints, wanted: Ints, surplus: Ints, m: int) -> NotEligibleError:
    code = int(np.argmax(surplus))
    total, kinds = int(available.sum()), int(np.count_nonzero(available))
    room = int(min(available[code], wanted[code]))
    why = (
        f"only {kinds} different values occur among the {total} new records"
        if kinds < m
        else f"{int(available[code])} of the {total} new records have it"
    )
    reason = (
        f"exceeds what can be published by {int(surplus[code])} ({why}, {room} fit into earlier groups). Hold back "
        f"{number_of(int(surplus.sum()), 'record')} (hold_back), wait for more new records, or lower m."
    )
    return NotEligibleError(m, f"value code {code}", code=code, reason=reason)
