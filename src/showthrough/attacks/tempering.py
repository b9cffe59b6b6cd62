"""A model that is too sure of itself, made as sure as the published groups bear out; nobody's true value is looked at.

Attributes that say the same are counted twice by `naive_bayes.py`, and what was learned from a group is believed of
the same group again. Both are taken back: of every group the model is that of the other groups (`FOLDS` parts), and
its evidence counts to the power of a *weight* w, P(value | attributes) ∝ P(value) · P(attributes | value)^w. The
weight is the one under which the groups that it has not seen are likeliest, for every weight with factors by which
the values keep their overall shares:

- where groups were made of values (Anatomy), a member of a group with shares c(s) has its attributes with
  P(attributes | group) = P(attributes) · Σ c(s) · P(s | attributes)/P(s);
- where groups were made of persons who look alike, a value of a group is drawn with the mean of its members' P(s |
  attributes).

Several releases tell of a person what all of them tell without attributes, in place of c(s); the worlds are then those
that fit all of them (`pooled_worlds.py`).

Either is the likelihood of what is published, so more of it is nearer to the truth. Members who share attributes more
often than any two persons do tell which of both it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from showthrough.attacks.expectation import learned
from showthrough.attacks.group_members import GroupMembers
from showthrough.attacks.group_worlds import countable, worlds
from showthrough.attacks.naive_bayes import Attributes, NaiveBayes
from showthrough.attacks.pooled_worlds import agreed
from showthrough.progress import Progress
from showthrough.table.arrays import Ints, Reals, sum_by

FOLDS = 5
FEWEST = 20
"""With fewer groups there is nothing to choose a weight by."""
_STEPS = 25
_MOST = 4_000_000  # persons times values that are looked at for the weight
_ALIKE = 1.1


@dataclass(frozen=True)
class Tempered:
    """Beliefs of a model that is as sure as it may be."""

    p: Reals  # [entries]
    weight: float
    moved: float = 0.0  # where time was over: by how much the last round of messages moved beliefs


def tempered(attributes: Attributes, seats: GroupMembers, values: int, seed: int, tell: Progress) -> Tempered | None:
    """The beliefs; None if there are too few groups, or nothing to learn from."""
    groups = np.unique(seats.group)
    if groups.size < FEWEST or not attributes.sizes:
        return None
    rng = np.random.default_rng([seed, 1 << 20])
    fold = np.full(int(groups.max()) + 1, -1)
    fold[groups] = rng.permutation(groups.size) % FOLDS
    judges, logs = [], np.zeros(seats.value.size)
    value, many = _published(seats)
    share = sum_by(value, many.astype(np.float64), values) / many.sum()
    alike = _alike(attributes, seats)
    tell.stage("learning from other groups, for a calibrated variant")
    for number in range(FOLDS):
        train, rest = seats.part(fold != number), seats.part(fold == number)
        shares = learned(NaiveBayes(attributes, train, values), train, _STEPS).shares
        logs[(fold == number)[seats.group[seats.member]]] = NaiveBayes(attributes, rest, values).logs(shares)
        judges.append(_Judge(_table(attributes, rest, shares, values), rest, share, even=rest.even(), alike=alike))
        tell.count(number + 1, FOLDS)
    weight = _likeliest(judges)
    return Tempered(worlds(seats, weight * logs, rng), weight)


@dataclass(frozen=True)
class PooledReleases:
    """Several releases of persons whose groups are known."""

    every: GroupMembers  # one member per person, with all values that it may have
    plain: Reals  # [entries] what all releases tell of them without attributes
    releases: Sequence[GroupMembers]

    def why_not(self, attributes: Attributes) -> str | None:
        """Why there is no calibrated variant, in words; None if there is one."""
        if np.unique(self.releases[0].group).size < FEWEST:
            return f"fewer than {FEWEST} groups are too few to choose it by"
        if not all(countable(own) for own in self.releases):
            return "groups are too large to go through all of their worlds"
        if any(_alike(attributes, own) for own in self.releases):
            return "groups of persons who look alike tell their attributes already"
        return None


def tempered_together(
    attributes: Attributes, pool: PooledReleases, values: int, seed: int, tell: Progress, over: Callable[[], bool]
) -> Tempered:
    """The same for several releases: the weight under which the attributes of persons that the model has not seen are
    likeliest, given what all releases tell of their values; and beliefs over worlds that fit all releases.
    """
    every, rng = pool.every, np.random.default_rng([seed, 1 << 20])
    share = sum_by(every.value, pool.plain, values) / every.members
    fold = _folds(pool, rng)
    judges, logs = [], np.zeros(every.value.size)
    tell.stage("learning from other persons, for a calibrated variant")
    for number in range(FOLDS):
        train, rest = every.part(fold != number), every.part(fold == number)
        here = (fold == number)[every.group[every.member]]
        shares = _taught(NaiveBayes(attributes, train, values), train, pool.plain[~here])
        logs[here] = NaiveBayes(attributes, rest, values).logs(shares)
        if rest.members:
            told = _table(attributes, rest, shares, values)
            judges.append(_Judge(told, rest, share, even=pool.plain[here], alike=False))
        tell.count(number + 1, FOLDS)
    weight = _likeliest(judges)
    tell.stage("all releases together, for a calibrated variant")
    found = agreed(every, pool.releases, weight * logs, over)
    return Tempered(found.p, weight, found.moved if not found.converged else 0.0)


def _folds(pool: PooledReleases, rng: np.random.Generator) -> Ints:
    """[rows of persons] whose model is that of the others: those of a group of the first release together."""
    first = pool.releases[0]
    fold = rng.integers(FOLDS, size=int(pool.every.group.max(initial=-1)) + 1)
    by_group = rng.permutation(int(first.group.max(initial=-1)) + 1) % FOLDS
    known = (first.person >= 0) & (first.person < fold.size)
    fold[first.person[known]] = by_group[first.group[known]]
    return fold


def _taught(model: NaiveBayes, seats: GroupMembers, plain: Reals) -> Reals:
    """P(attribute | value) learned from persons of whom a release tells this much, everybody by itself."""
    p, before = plain, np.log(np.maximum(plain, 1e-300))
    for _ in range(_STEPS):
        shares = model.mean(model.counts(p))
        p = seats.normalised(model.logs(shares) + before)
    return shares


def _likeliest(judges: Sequence[_Judge]) -> float:
    found = minimize_scalar(
        lambda weight: -sum(judge.likelihood(weight) for judge in judges),
        bounds=(0.0, 2.0), method="bounded", options={"xatol": 0.005},
    )  # fmt: skip
    return float(found.x)


def _published(seats: GroupMembers) -> tuple[Ints, Ints]:
    """The value of each published column, and how often it is published."""
    value = np.zeros(seats.count.size, dtype=np.int64)
    value[seats.column] = seats.value
    return value, seats.count


def _table(attributes: Attributes, seats: GroupMembers, shares: Reals, values: int) -> Reals:
    """[members, values] ln P(attributes | value), whether or not the value is one of the group's."""
    logs = np.concatenate([np.log(shares), np.zeros((1, values))])
    first = np.cumsum([0, *attributes.sizes])[:-1]
    codes = np.concatenate([attributes.codes, np.full((1, len(attributes.sizes)), -1)])[seats.person]
    found = np.zeros((seats.members, values))
    for number, at in enumerate(first):
        code = codes[:, number]
        found += logs[np.where(code >= 0, code + at, len(logs) - 1)]
    return found


def _alike(attributes: Attributes, seats: GroupMembers) -> bool:
    """Whether members of the same group share attributes more often than any two persons do."""
    person, group = seats.person[seats.person >= 0], seats.group[seats.person >= 0]
    size = np.bincount(group).astype(np.float64)
    inside, everywhere = 0.0, 0.0
    for number, values in enumerate(attributes.sizes):
        code = attributes.codes[person, number]
        both, own = np.unique(group[code >= 0] * values + code[code >= 0], return_counts=True)
        inside += float((own * (own - 1.0)).sum()) / max(float((size * (size - 1)).sum()), 1.0)
        everywhere += float((np.bincount(both % values, weights=own) ** 2).sum()) / max(float(own.sum()) ** 2, 1.0)
    return inside > _ALIKE * everywhere


class _Judge:
    """How likely groups are that a model has not seen."""

    def __init__(self, logs: Reals, seats: GroupMembers, share: Reals, *, even: Reals, alike: bool) -> None:
        many = min(seats.members, max(_MOST // share.size, 1))
        many = int(np.searchsorted(seats.group, seats.group[many - 1], side="right"))  # whole groups
        here = np.isin(np.arange(share.size), seats.value)
        self._share = np.where(here, share, 0.0)[here]
        self._share /= self._share.sum()
        own = np.full(share.size, -1)
        own[here] = np.arange(int(here.sum()))
        last = int(seats.start[many])
        self._logs, self._start = logs[:many, here], seats.start[: many + 1]
        self._member, self._value, self._even = seats.member[:last], own[seats.value[:last]], even[:last]
        self._column, self._count, self._alike = seats.column[:last], seats.count, alike

    def likelihood(self, weight: float) -> float:
        """Σ of ln P(attributes | group)/P(attributes) over members, or of ln P(value | group) over values."""
        believed = np.log(self._share) + weight * self._logs
        for _ in range(50):
            top = believed.max(axis=1, keepdims=True)
            p = np.exp(believed - top)
            p /= p.sum(axis=1, keepdims=True)
            change = np.log(self._share / np.maximum(p.mean(axis=0), 1e-300))
            if np.abs(change).max() < 1e-3:
                break
            believed += change
        if self._alike:
            mean = np.bincount(self._column, weights=p[self._member, self._value] * self._even)
            seen = np.flatnonzero(mean > 0)
            return float((self._count[seen] * np.log(mean[seen] / self._count[seen])).sum())
        lift = (p / self._share)[self._member, self._value]
        found = np.add.reduceat(self._even * lift, self._start[:-1])
        return float(np.log(np.maximum(found, 1e-300)).sum())
