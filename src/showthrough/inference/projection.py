"""Whole directions that leave what stays exactly where it is: a float direction, projected and rounded.

A direction of recession moves nothing that can be positive: all values that a person can have score alike, and so do
all candidates of such a value in a release. These are linear equations between the weights of rows. Rounding a float
direction breaks them, so it proves nothing where many rows move by different amounts. Here the equations are solved in
whole numbers instead: most of them say that two rows move alike (or that one stands still) and are contracted; the few
that are left are eliminated exactly. Then only free rows are rounded, the others follow, and whatever falls by more
than the rounding is proven. Which terms stay is a guess; a wrong one proves nothing, as every weighing is checked.

Legend: d direction [rows]; a *class* is a set of rows that move alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush

import numpy as np
import scipy.sparse as sp

from showthrough.inference import graphs
from showthrough.inference.clock import Clock
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Codes, Flags, Ints, Reals, sum_by
from showthrough.table.ragged import ranks

SCALES = (1, 2, 4, 12, 60, 1000, 30_000)
_ROUNDS = 60
_MOST_EQUATIONS = 250_000  # that are left after contracting
_EFFORT = 6_000_000  # terms touched while eliminating
_LOOK = 200  # equations between looks at the clock
_LARGEST = 2**40  # weight worth trying

Equation = dict[int, int]


@dataclass(frozen=True)
class Projection:
    """Classes of rows that move alike, and the equations between them in the order in which they are solved."""

    label: Ints  # [rows] class of each row
    still: int  # the class that does not move
    target: Reals  # [classes] how far each moves in the given direction
    solved: list[tuple[int, Equation]]  # the class that follows, and the equation that says how

    def whole(self, scale: float) -> Ints | None:
        """The direction in whole numbers, ``scale`` times as long; None if they become too large."""
        rounded = np.rint(scale * self.target)
        if not np.isfinite(rounded).all() or np.abs(rounded).max(initial=0) > _LARGEST:
            return None
        found: list[Fraction | int] = rounded.astype(np.int64).tolist()
        found[self.still] = 0
        for follower, equation in reversed(self.solved):
            found[follower] = 0
            rest = sum([c * found[k] for k, c in equation.items()])
            found[follower] = _divided(-rest, equation[follower])
        common = math.lcm(*{f.denominator for f in found if isinstance(f, Fraction)})
        whole = [int(f * common) for f in found]
        if max(map(abs, whole)) > _LARGEST:
            return None
        return np.array(whole, dtype=np.int64)[self.label]


def _divided(one: Fraction | int, by: int) -> Fraction | int:
    """The quotient, as a whole number where it is one: nearly all are, and a hundred times quicker to go on with."""
    if isinstance(one, int):
        whole, rest = divmod(one, by)
        return Fraction(one, by) if rest else whole
    found = one / by
    return found.numerator if found.denominator == 1 else found


def whole_directions(problem: Reduced, falling: Flags, d: Reals, clock: Clock | None = None) -> Iterator[Ints]:
    """[rows] whole vectors near multiples of d in which everything that does not fall stays."""
    clock = clock or Clock()
    found = _project(problem, falling, d, clock)
    for scale in SCALES if found is not None else ():
        whole = None if clock.over or found is None else found.whole(scale)
        if whole is not None and whole.any():
            yield whole


def _project(problem: Reduced, falling: Flags, d: Reals, clock: Clock) -> Projection | None:
    """None if more equations are left than it is worth to eliminate, or than there is time for."""
    rows = problem.rows
    same, sums = _equations(problem, falling)
    for _ in range(0 if clock.over else _ROUNDS):
        count, label = graphs.components(rows.size + 1, *same)
        still = int(label[-1])
        ends = label.astype(np.int32), np.arange(label.size + 1, dtype=np.int32)
        moving = sp.csr_array((np.ones(label.size, dtype=sums.dtype), *ends), shape=(label.size, count))
        moving.data[label == still] = 0
        left = (sums @ moving).tocsr()
        left.sum_duplicates()
        left.eliminate_zeros()
        size = np.diff(left.indptr)
        tail, head = _two_alike(left, size, still)
        if not tail.size:
            equations = _distinct(left, size)
            break
        first = np.zeros(count, dtype=np.int64)
        first[label[::-1]] = np.arange(label.size)[::-1]
        same = (np.append(same[0], first[tail]), np.append(same[1], first[head]))
        sums = sums[np.flatnonzero(size)]
    else:
        return None
    solved = None if equations is None else _eliminated(equations, clock)
    if solved is None:
        return None
    target = sum_by(label[:-1], d, count) / np.maximum(np.bincount(label[:-1], minlength=count), 1)
    target[still] = 0.0
    return Projection(label[:-1], still, target, solved)


def _equations(problem: Reduced, falling: Flags) -> tuple[tuple[Ints, Ints], sp.csr_array]:
    """Pairs of rows that move alike, and sums over rows that are 0; the row one past the last stands still."""
    rows, variables = problem.rows, problem.rows.variables
    stays = ~falling[:variables]
    places: list[Codes | Ints] = [*rows.sure]
    tails, heads = [np.array([rows.size])], [np.array([rows.size])]
    for own in rows.seats:
        on = np.flatnonzero(~falling[rows.places(own)] & stays[own.owner])
        owner, row = own.owner[on], own.row[on].astype(np.int64)
        begins = np.append(True, owner[1:] != owner[:-1])[: owner.size]
        place = np.full(variables, -1, dtype=np.int64)
        place[owner[begins]] = row[begins]
        tails.append(place[owner])
        heads.append(row)
        stays &= place >= 0
        places.append(np.maximum(place, 0))
    at = np.flatnonzero(stays)
    signature = problem.signature[at]
    leads = np.append(True, signature[1:] != signature[:-1])[: at.size]
    others = np.flatnonzero(~leads)
    reference = np.maximum.accumulate(np.where(leads, np.arange(at.size), 0))[others]
    sums = _differences(places, at[others], at[reference], rows.size + 1)
    if rows.stated.row.size:
        number = ranks(stays)[rows.stated.variable]
        used = np.flatnonzero(number >= 0)
        entries = rows.stated.coefficient[used], (number[used], rows.stated.row[used].astype(np.int64))
        scores = sp.csr_array(entries, shape=(at.size, rows.size + 1))
        sums = (sums + scores[others] - scores[reference]).tocsr()
    return (np.concatenate(tails), np.concatenate(heads)), sums


def _differences(places: list[Codes | Ints], one: Ints, other: Ints, size: int) -> sp.csr_array:
    """For each pair of variables the rows of the one less those of the other."""
    width = 2 * len(places)
    index = np.empty((one.size, width), dtype=np.int32)
    for k, place in enumerate(places):
        index[:, k], index[:, k + width // 2] = place[one], place[other]
    sign = np.tile(np.repeat(np.array([1, -1], dtype=np.int32), width // 2), one.size)
    start = np.arange(one.size + 1) * width
    small = np.int32 if start[-1] < 2**31 else np.int64
    return sp.csr_array((sign, index.ravel(), start.astype(small)), shape=(one.size, size))


def _two_alike(left: sp.csr_array, size: Ints, still: int) -> tuple[Ints, Ints]:
    """Classes that move alike because a sum of two (or one) of them says so."""
    one = left.indices[left.indptr[:-1][size == 1]].astype(np.int64)
    at = left.indptr[:-1][size == 2]
    pair = left.data[at] == -left.data[at + 1]
    tail = np.concatenate([one, left.indices[at[pair]]])
    head = np.concatenate([np.full(one.size, still), left.indices[at[pair] + 1]])
    return tail.astype(np.int64), head.astype(np.int64)


def _distinct(left: sp.csr_array, size: Ints) -> list[Equation] | None:
    """The equations that are left, each once; None if they are too many."""
    at = np.flatnonzero(size)
    key = left @ np.random.default_rng(0).random(left.shape[1])
    _, first = np.unique(np.abs(key[at]), return_index=True)
    if first.size > _MOST_EQUATIONS:
        return None
    spans = [slice(left.indptr[k], left.indptr[k + 1]) for k in at[first]]
    return [dict(zip(left.indices[s].tolist(), left.data[s].tolist(), strict=True)) for s in spans]


def _eliminated(equations: list[Equation], clock: Clock | None = None) -> list[tuple[int, Equation]] | None:
    """Solve each equation for one of its classes, short equations first; None if that takes too much effort or time.

    What is solved later is not put into what was solved before: going backwards gives all values.
    """
    holders: dict[int, set[int]] = {}
    for k, equation in enumerate(equations):
        for c in equation:
            holders.setdefault(c, set()).add(k)
    queue = [(len(e), k) for k, e in enumerate(equations)]
    heapify(queue)
    solved: list[tuple[int, Equation]] = []
    done, effort = set[int](), 0
    while queue:
        length, k = heappop(queue)
        equation = equations[k]
        if k in done or length != len(equation):
            continue
        done.add(k)
        if not equation:
            continue
        if len(solved) % _LOOK == 0 and clock is not None and clock.over:
            return None
        pivot = min(equation, key=lambda c: (abs(equation[c]), len(holders[c]), c))
        solved.append((pivot, equation))
        for c in equation:
            holders[c].discard(k)
        for other in list(holders.pop(pivot)):
            effort += len(equation) + len(equations[other])
            if effort > _EFFORT:
                return None
            _substitute(equations, other, pivot, equation, holders)
            heappush(queue, (len(equations[other]), other))
    return solved


def _substitute(
    equations: list[Equation], other: int, pivot: int, equation: Equation, holders: dict[int, set[int]]
) -> None:
    """Take the pivot out of another equation."""
    target = equations[other]
    divisor = math.gcd(target[pivot], equation[pivot])
    times, minus = equation[pivot] // divisor, target[pivot] // divisor
    if times != 1:
        for c in target:
            target[c] *= times
    for c, figure in equation.items():
        value = target.get(c, 0) - minus * figure
        if value:
            target[c] = value
            if c != pivot:
                holders[c].add(other)
        elif c in target:
            del target[c]
            if c != pivot:
                holders[c].discard(other)
    common = math.gcd(*target.values()) if target else 1
    if common > 1:
        for c in target:
            target[c] //= common
