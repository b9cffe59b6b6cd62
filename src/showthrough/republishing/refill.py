"""What to publish of an old group of which some have left, so that readers learn nothing that matters.

Those who are there (P), those who are gone (D) and whoever fills up the new group (F: newcomers and counterfeits,
whom readers cannot tell apart) share two rows of counts: P + D the old ones, P + F the new ones. With everything
else of the history held still, the rows that readers end with are those nearest to the old ones by relative entropy,
found by Newton's method on the dual, which has a multiplier per value and release. As many fillers of each value as
make F even would move nobody; fewer do where nobody is near the limit. The search changes one filler at a time, or
withholds one record, whatever brings persons back under the limit most. Where many stand at the limit exactly, single
steps lead over it; then records are withheld so that those who are published and all others have their values in the
same proportion (`in_proportion`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from showthrough.table.arrays import Flags, Ints, Reals

_STEPS = 30
_EXACT = 1e-7
_RIDGE = 1e-9
PARTS = 3
"""Ways to keep proportions that are tried."""
_ROUNDING = 1e-5  # of counts that are sums of probabilities
_FAR = 30.0  # a multiplier beyond this stands for a value that nobody has


@dataclass(frozen=True, eq=False)
class Refill:
    """One old group: who is there with which value, who is gone, and how many fillers of each value."""

    here: Reals  # [p, values] rows of those who are there
    value: Ints  # [p] what they have
    gone: Reals  # [d, values] rows of those who are gone, each for ``many`` persons
    many: Reals  # [d]
    bound: Reals  # [p] the largest probability that each may have; 1 for who is exposed already
    gone_bound: Reals  # [d]
    fill: Ints  # [values]
    limit: float  # for newcomers among the fillers
    out: Flags  # [p] withheld
    begin: Reals | None = None  # multipliers to start from

    @property
    def price(self) -> int:
        """Fillers and withheld records."""
        return int(self.fill.sum()) + int(self.out.sum())

    @cached_property
    def answer(self) -> tuple[float, Reals]:
        """Σ of what persons are over their bounds, fillers included; and the multipliers."""
        stays = ~self.out
        rows, weight, back = _distinct(self.here[stays])
        gone = np.vstack([self.gone, self.here[self.out]])
        many = np.concatenate([self.many, np.ones(int(self.out.sum()))])
        old = self.here.sum(axis=0) + self.many @ self.gone
        new = np.bincount(self.value[stays], minlength=self.fill.size) + self.fill
        found = _nearest((rows, weight), (gone, many), old, new, self.begin)
        if found is None:  # somebody's values are all missing
            return np.inf, np.zeros(2 * old.size)
        p, d, f, x = found
        over = float(np.maximum(p.max(axis=1, initial=0.0)[back] - self.bound[stays], 0.0).sum())
        bound = np.concatenate([self.gone_bound, self.bound[self.out]])
        over += float((many * np.maximum(d.max(axis=1, initial=0.0) - bound, 0.0)).sum())
        return over + max(float(f.max(initial=0.0)) - self.limit, 0.0), x

    @property
    def over(self) -> float:
        """Σ of what persons are over their bounds."""
        return self.answer[0]

    def changed(self) -> list[Refill]:
        """One filler more or less, or one record withheld."""
        values, begin = np.arange(self.fill.size), self.answer[1]
        more = np.flatnonzero(self.here.sum(axis=0) + self.many @ self.gone > _EXACT).tolist()
        found = [replace(self, fill=self.fill + (values == v), begin=begin) for v in more]
        found += [replace(self, fill=self.fill - (values == v), begin=begin) for v in np.flatnonzero(self.fill)]
        stays = np.flatnonzero(~self.out)
        if stays.size > 1:
            kinds = np.column_stack([self.here[stays].round(9), self.value[stays]])
            first = stays[np.unique(kinds, axis=0, return_index=True)[1]]
            found += [replace(self, out=self.out | (np.arange(self.out.size) == k), begin=begin) for k in first]
        return found


def solved(start: Refill, *, most: int, slack: float) -> Refill | None:
    """The group with fillers and withheld records, at most so many, that leave nobody over; None if none were found."""
    best = start
    while best.over > slack and best.price < most:
        way = min(best.changed(), key=lambda one: one.over)
        if not way.over < best.over - slack / 10:
            return None
        best = way
    return best if best.over <= slack else None


def in_proportion(start: Refill, *, most: int = PARTS) -> list[Refill]:
    """A few ways to withhold records, few first, after which no value is beyond the limit in either part."""
    sure = start.here.max(axis=1, initial=0.0) > 1 - _EXACT
    away = start.gone.max(axis=1, initial=0.0) > 1 - _EXACT
    whole = np.round(start.here[~sure].sum(axis=0) + start.many[~away] @ start.gone[~away])
    there = np.bincount(start.value[~sure], minlength=whole.size)
    found: list[Refill] = []
    for n in range(int(there.sum()), 0, -1):
        between = rooms(whole, there, n, start.limit)
        if between is None:
            continue
        kept, room = between
        wanted = n * whole / max(whole.sum(), 1.0)
        while int(kept.sum()) < n:
            kept = kept + (np.arange(kept.size) == np.argmax(np.where(kept < room, wanted - kept, -np.inf)))
        out = np.zeros(start.out.size, dtype=bool)
        for v in range(kept.size):
            out[np.flatnonzero(~sure & (start.value == v))[kept[v] :]] = True
        found.append(replace(start, fill=np.zeros_like(start.fill), out=out))
        if len(found) == most:
            break
    return found


def rooms(whole: Reals, there: Ints, n: int, limit: float) -> tuple[Ints, Ints] | None:
    """The least and the most of each value that n published records out of ``there`` may have; None where none can.

    Of alike persons, n of whom have value v in t(v) records while N − n others have the remaining M(v) − t(v), readers
    believe t/n and (M − t)/(N − n): both are within the limit if t(v) lies between M(v) − (N − n)·limit and n·limit.
    """
    least = np.maximum(np.ceil(whole - (whole.sum() - n) * limit - _ROUNDING), 0).astype(np.int64)
    room = np.minimum(there, np.floor(n * limit + _ROUNDING).astype(np.int64))
    possible = (least <= room).all() and int(least.sum()) <= n <= int(room.sum())
    return (least, room) if possible else None


def _distinct(rows: Reals) -> tuple[Reals, Reals, Ints]:
    """Rows that differ, how often each occurs, and which one each was."""
    _, first, back, count = np.unique(rows.round(9), axis=0, return_index=True, return_inverse=True, return_counts=True)
    return rows[first], count.astype(float), back.reshape(-1)


def _nearest(
    here: tuple[Reals, Reals], gone: tuple[Reals, Reals], old: Reals, new: Ints, begin: Reals | None
) -> tuple[Reals, Reals, Reals, Reals] | None:
    """The rows of P, D and F that meet the counts and lie nearest to the old ones, and their multipliers."""
    (rows, weight), (other, many) = here, gone
    values, fillers, shown = old.size, int(new.sum() - weight.sum()), new > 0
    rows = rows * shown
    if (rows.sum(axis=1) <= _EXACT).any():
        return None
    x = np.zeros(2 * values) if begin is None else begin
    for _ in range(_STEPS):
        p, d = _tilted(rows, x[:values] + x[values:]), _tilted(other, x[:values])
        f = _tilted(shown[None].astype(float), x[values:])[0]
        mine, theirs = weight @ p, many @ d
        off = np.concatenate([mine + theirs - old, mine + fillers * f - new])
        if np.abs(off).max() < _EXACT:
            break
        a = np.diag(mine) - (p * weight[:, None]).T @ p
        b = np.diag(theirs) - (d * many[:, None]).T @ d
        c = fillers * (np.diag(f) - np.outer(f, f))
        step = np.linalg.solve(np.block([[a + b, a], [a, a + c]]) + _RIDGE * np.eye(2 * values), off)
        x = np.clip(x - step * min(1.0, 3.0 / max(float(np.abs(step).max()), 1.0)), -_FAR, _FAR)
    return p, d, f if fillers else f[:0], x


def _tilted(rows: Reals, by: Reals) -> Reals:
    """Every row times exp of the multipliers, as a distribution."""
    found = rows * np.exp(by - by.max(initial=0.0))
    return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300))
