"""What readers would believe after a release, for a search that asks thousands of times.

Persons of the same old groups are believed the same, so a release is told by how many of each such *kind*, and which
counts, every new group has. The rows nearest to those of the past (by relative entropy) that meet the counts of all
releases are found by Newton's method on the dual, which has a multiplier per group and value. Its matrix also tells to
first order what any small change of the release would do, many changes at once.
Where a release makes values impossible no multipliers are large enough: a small weight on their size (`_RIDGE`) keeps
them where the counts are met to 1e-8, and steps that go on in the same direction are made longer.
Counterfeits and newcomers are strangers to the past: their rows begin even. What comes out is judged by a full
inference before it counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from showthrough.inference.posterior import Posterior
from showthrough.policy.judging import SLACK
from showthrough.republishing.nudging import Kin
from showthrough.republishing.past import Past
from showthrough.republishing.standing import Standing
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.codes import positions

_STEPS = 40
_EXACT = 1e-8  # residual of a count
_NEAR = 1e-3  # where no more than this of a count is missed after all steps, the answer is near enough to rank by
_RIDGE = 1e-9
_FIXED = 1e-12  # where a count varies by no more, everybody is certain
_FAR = 300.0  # of multipliers: values that nobody has add up along chains of groups
_STRETCH = 40.0  # of what a change is guessed to do
_HALVINGS = 6
_STALE = 5  # steps without progress after which no more are made: multipliers run away where no rows meet the counts
_STALE_BESIDE = 3  # the same where the steps begin near the answer, if there is one
_CHORDS = 12  # steps with the matrix of a release beside
_SOON = 0.5  # what each of them leaves at most
_FALL = 0.1  # by how much the dual falls in a step that counts as progress
_SLOW = 0.2  # where a full step leaves more, longer ones are tried


@dataclass(frozen=True, eq=False)
class Kinds:
    """Persons of the past by their old groups; newcomers and counterfeits are the last two kinds."""

    base: Reals  # [kinds, values] what readers of the past believe
    old: Ints  # [kinds, releases] old groups in one numbering, −1: in none
    bound: Reals  # [kinds] the largest probability that each may have
    gone: Reals  # [kinds] how many are not in the table
    of_row: Ints  # [rows]
    groups: int  # old ones

    @property
    def newcomer(self) -> int:
        """The kind of who was never published."""
        return self.bound.size - 2

    @property
    def fake(self) -> int:
        """The kind of counterfeits."""
        return self.bound.size - 1

    @classmethod
    def of(cls, past: Past, standing: Standing, before: Posterior, limit: float) -> Kinds:
        """Look everybody up; counterfeits of the past are persons who are gone, and may have any probability."""
        kin = Kin.of(past, before)
        span = past.values.len()
        old, first, kind = np.unique(np.stack(kin.groups), axis=1, return_index=True, return_inverse=True)
        kind = kind.reshape(-1)
        base = standing.dense(first, np.arange(span))
        gone = np.bincount(kind[standing.row < 0], minlength=first.size).astype(float)
        top = np.where(standing.top[first] > limit + SLACK, 1.0, limit)
        named = np.bincount(kind, minlength=first.size).astype(float)
        group, rest, many = _unnamed(past, old, base, named)
        strange = np.full((old.shape[0], group.size), -1, dtype=np.int64)
        lowest = np.cumsum([0, *(r.labels.len() for r in past.history)])
        strange[np.searchsorted(lowest, group, side="right") - 1, np.arange(group.size)] = group
        even = np.full((2, span), 1 / max(span, 1))
        none = np.full((old.shape[0], 2), -1, dtype=np.int64)
        return cls(
            np.vstack([base, rest, even]),
            np.hstack([old, strange, none]).T.astype(np.int64),
            np.concatenate([top, np.ones(group.size), [limit, 1.0]]),
            np.concatenate([gone, many, [0.0, 0.0]]),
            np.where(standing.person >= 0, kind[standing.person], first.size + group.size),
            kin.many,
        )

    @cached_property
    def persons(self) -> Reals:
        """[kinds] how many there are in table and past."""
        return self.gone + np.bincount(self.of_row, minlength=self.bound.size)


def _unnamed(past: Past, old: Ints, base: Reals, named: Reals) -> tuple[Ints, Reals, Reals]:
    """Groups of the past with counterfeits: which, the row of each of them, and how many."""
    groups: list[int] = []
    rows: list[Reals] = []
    many: list[float] = []
    first = 0
    for release, own in zip(past.history, old, strict=True):
        tally, labels = release.tally, release.labels.len()
        count = np.zeros((labels, past.values.len()))
        value = positions(tally["value"].cast(past.values.dtype), past.values)
        np.add.at(count, (positions(tally["group"], release.labels), value), tally["n"].to_numpy())
        inside = own >= 0
        np.add.at(count, own[inside] - first, -base[inside] * named[inside, None])
        left = np.round(count.sum(axis=1))
        for g in np.flatnonzero(left > 0).tolist():
            rest = np.maximum(count[g], 0.0)
            groups.append(first + g)
            rows.append(rest / rest.sum())
            many.append(float(left[g]))
        first += labels
    shape = (len(rows), past.values.len())
    return np.array(groups, dtype=np.int64), np.array(rows).reshape(shape), np.array(many)


@dataclass(frozen=True, eq=False)
class Belief:
    """Readers' rows after a release: ``many[k, g + 1]`` persons of each kind by new group (first: in none)."""

    kinds: Kinds
    many: Reals  # [kinds, groups + 1]
    counts: Reals  # [groups, values] published
    multiplier: Reals  # [old groups + new groups + 1, values]; the last is 0
    kind: Ints  # [classes] of everybody alike, counterfeits included
    group: Ints  # [classes]
    rows: Reals  # [classes, values]
    solved: bool  # whether the counts are met

    @cached_property
    def blocks(self) -> Ints:
        """[classes, releases + 1] the groups of each class in the numbering of the multipliers."""
        return _blocks(self.kinds, self.kind, self.group, self.counts.shape[0])

    @cached_property
    def weight(self) -> Reals:
        """[classes]"""
        return self.many[self.kind, self.group + 1]

    @cached_property
    def inverse(self) -> Reals:
        """Of Newton's matrix."""
        inside = _inside(self.blocks, self.multiplier.shape[0] - 1)
        matrix, open_ones = _matrix(inside, self.rows, self.weight)
        size = inside.shape[1] * self.rows.shape[1]
        found = np.zeros((size, size))
        found[np.ix_(open_ones, open_ones)] = np.linalg.inv(matrix)
        return found

    @cached_property
    def over(self) -> float:
        """Σ of what persons are over their bounds, each by every value; ∞ without an answer."""
        if not self.solved:
            return np.inf
        beyond = np.maximum(self.rows - self.kinds.bound[self.kind][:, None], 0.0).sum(axis=1)
        return float(self.weight @ beyond)

    @cached_property
    def worst(self) -> float:
        """The largest of it."""
        if not self.solved:
            return np.inf
        return float((self.rows.max(axis=1) - self.kinds.bound[self.kind]).max(initial=0.0))

    def row_of(self, kind: Ints, group: Ints) -> Reals:
        """[asked, values] what somebody of a kind would be believed to have in a group, nothing else changed."""
        blocks = _blocks(self.kinds, kind, group, self.counts.shape[0])
        shown = np.vstack([self.counts, np.ones((1, self.counts.shape[1]))])[group] > 0
        return _tilted(self.kinds.base[kind] * shown, self.multiplier[blocks].sum(axis=1))

    def guessed(self, change: Reals) -> Reals:
        """[changes] `over`, to first order, for changes of the multipliers [changes, groups, values]."""
        moved = change[:, self.blocks[:, 0]]
        for k in range(1, self.blocks.shape[1]):
            moved = moved + change[:, self.blocks[:, k]]
        rows = self.rows * np.exp(np.clip(moved, -_STRETCH, _STRETCH))
        rows /= np.maximum(rows.sum(axis=2, keepdims=True), 1e-300)
        beyond = np.maximum(rows - self.kinds.bound[self.kind][:, None], 0.0).sum(axis=2)
        return np.asarray(beyond @ self.weight)

    def far(self, pairs: tuple[Ints, Ints]) -> Reals:
        """[pairs] by how much a class is over its bound with a value; below 0: within."""
        kind, value = pairs
        return np.asarray(self.rows[kind, value] - self.kinds.bound[self.kind[kind]])

    def shifts(self, change: Reals, most: int) -> tuple[tuple[Ints, Ints], Reals]:
        """The pairs (class, value) nearest to their bounds, and [changes, pairs] what each change does to them."""
        away = self.kinds.bound[self.kind][:, None] - self.rows
        away[self.kinds.bound[self.kind] >= 1.0] = np.inf
        order = np.argsort(away, axis=None, kind="stable")[:most]
        order = order[np.isfinite(away.reshape(-1)[order])]
        own, value = np.unravel_index(order, away.shape)
        moved = change[:, self.blocks[own, 0]]
        for k in range(1, self.blocks.shape[1]):
            moved = moved + change[:, self.blocks[own, k]]
        mean = (moved * self.rows[own]).sum(axis=2)
        shift = self.rows[own, value] * (moved[:, np.arange(own.size), value] - mean)
        return (own, value), shift


def believed(
    kinds: Kinds, many: Reals, counts: Reals, begin: Reals | None = None, beside: Belief | None = None
) -> Belief:
    """Solve for what readers believe; ``begin`` are multipliers of a release ``beside`` with the same groups."""
    kind, at = np.nonzero(many)
    group, span = at - 1, counts.shape[1]
    shown = np.vstack([counts, np.ones((1, span))])[group] > 0
    size = kinds.groups + counts.shape[0]
    inside = _inside(_blocks(kinds, kind, group, counts.shape[0]), size)
    dual = _Dual(kinds.base[kind] * shown, many[kind, at], inside, _target(kinds, counts)[:size])
    x = np.zeros((size + 1, span)) if begin is None else begin - begin.mean(axis=1, keepdims=True)
    if (dual.base.sum(axis=1) <= 0).any():
        return Belief(kinds, many, counts, x, kind, group, dual.base, False)
    start, found = x[:size], None
    if beside is not None:
        start = min((start, beside.multiplier[:size], 0.0 * start), key=lambda one: dual.at(one)[0])
        found = dual.near(start, beside.inverse)
    x[:size], rows, missed = found or dual.solved(start, _STALE if begin is None else _STALE_BESIDE)
    return Belief(kinds, many, counts, x, kind, group, rows, missed < _NEAR)


@dataclass(frozen=True, eq=False)
class _Dual:
    """The function whose least value has the rows that meet the counts."""

    base: Reals
    weight: Reals
    inside: Reals  # [classes, groups] 1 for the groups of each
    target: Reals

    def at(self, x: Reals) -> tuple[float, Reals, Reals]:
        """Its value, the rows, and by how much they miss the counts (the gradient)."""
        by = self.inside @ x
        top = by.max(axis=1, keepdims=True)
        rows = self.base * np.exp(by - top)
        total = np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
        rows = rows / total
        value = float(self.weight @ (np.log(total) + top)[:, 0]) - float((x * (self.target - 0.5 * _RIDGE * x)).sum())
        return value, rows, self.inside.T @ (self.weight[:, None] * rows) - self.target + _RIDGE * x

    def near(self, x: Reals, inverse: Reals) -> tuple[Reals, Reals, float] | None:
        """The answer by steps with the matrix of a release beside; None where these do not lead there soon."""
        rows, off = self.at(x)[1:]
        missed = float(np.abs(off).max())
        for _ in range(_CHORDS):
            if missed < _EXACT:
                return x, rows, missed
            x = x - (inverse @ off.reshape(-1)).reshape(off.shape)
            if not np.abs(x).max() < _FAR:
                return None
            rows, off = self.at(x)[1:]
            before, missed = missed, float(np.abs(off).max())
            if not missed < _SOON * before:
                return None
        return None

    def solved(self, x: Reals, patience: int) -> tuple[Reals, Reals, float]:
        """Newton's steps: multipliers, rows, and by how much a count is missed in the end."""
        value, rows, off = self.at(x)
        least, lowest, stale = np.inf, np.inf, 0
        for _ in range(_STEPS):
            missed = float(np.abs(off).max())
            stale = 0 if missed < 0.9 * least or value < lowest - _FALL else stale + 1
            least, lowest = min(least, missed), min(lowest, value)
            if missed < _EXACT or stale == patience:
                break
            matrix, open_ones = _matrix(self.inside, rows, self.weight)
            step = np.zeros_like(off)
            step.reshape(-1)[open_ones] = np.linalg.solve(matrix, off.reshape(-1)[open_ones])
            part = min(1.0, 4.0 / max(float(np.abs(step).max()), 1e-12))
            for _ in range(_HALVINGS):
                tried = np.clip(x - part * step, -_FAR, _FAR)
                after = self.at(tried)
                if after[0] <= value or np.abs(after[2]).max() < missed:
                    break
                part /= 3
            x, (value, rows, off) = tried, after
            while part >= 1.0 and _SLOW * missed < np.abs(off).max() < missed:  # nobody has a value: e-fold each time
                missed, part = float(np.abs(off).max()), 2 * part
                tried = np.clip(x - part * step, -_FAR, _FAR)
                after = self.at(tried)
                if not np.abs(after[2]).max() < missed:
                    break
                x, (value, rows, off) = tried, after
        return x, rows, float(np.abs(off).max())


def _target(kinds: Kinds, counts: Reals) -> Reals:
    """[groups + 1, values] the counts of old and new groups."""
    target = np.zeros((kinds.groups + counts.shape[0] + 1, counts.shape[1]))
    for own in kinds.old.T:
        inside = own >= 0
        np.add.at(target, own[inside], kinds.base[inside] * kinds.persons[inside, None])
    target[kinds.groups : -1] = counts
    return target


def _blocks(kinds: Kinds, kind: Ints, group: Ints, groups: int) -> Ints:
    """[asked, releases + 1] the places of the multipliers of each; the last place for none."""
    last = kinds.groups + groups
    old = np.where(kinds.old[kind] >= 0, kinds.old[kind], last)
    return np.column_stack([old, np.where(group >= 0, kinds.groups + group, last)])


def _inside(blocks: Ints, size: int) -> Reals:
    """[classes, groups] 1 for the groups of each class."""
    found = np.zeros((blocks.shape[0], size + 1))
    np.put_along_axis(found, blocks, 1.0, axis=1)
    return found[:, :size]


def _matrix(inside: Reals, rows: Reals, weight: Reals) -> tuple[Reals, Ints]:
    """Σ over classes of the covariance of their rows, for the groups and values that are open, and which these are."""
    span = rows.shape[1]
    mass = weight[:, None] * rows
    open_ones = np.flatnonzero((inside.T @ (mass * (1.0 - rows))).reshape(-1) > _FIXED)
    group, value = np.divmod(open_ones, span)
    chosen = inside[:, group]
    flat = chosen * (np.sqrt(weight)[:, None] * rows)[:, value]
    matrix = -(flat.T @ flat)
    for v in range(span):
        mine = np.flatnonzero(value == v)
        matrix[np.ix_(mine, mine)] += chosen[:, mine].T @ (mass[:, v, None] * chosen[:, mine])
    matrix[np.diag_indices(open_ones.size)] += _RIDGE
    return np.asarray(matrix), open_ones


def _tilted(rows: Reals, by: Reals) -> Reals:
    """Every row times exp of the multipliers, as a distribution."""
    found = rows * np.exp(by - by.max(axis=1, keepdims=True))
    return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300))


def shown_by(kinds: Kinds, group: Ints, value: Ints, fakes: Ints) -> tuple[Reals, Reals]:
    """Kinds by group and counts of a release: groups of rows (−1: held back), and counterfeits by group and value."""
    many = np.zeros((kinds.bound.size, fakes.shape[0] + 1))
    np.add.at(many, (kinds.of_row, group + 1), 1.0)
    many[:, 0] += kinds.gone
    many[kinds.newcomer, 0] = 0.0
    many[kinds.fake, 1:] = fakes.sum(axis=1)
    counts = fakes.astype(float)
    inside: Flags = group >= 0
    np.add.at(counts, (group[inside], value[inside]), 1.0)
    return many, counts
