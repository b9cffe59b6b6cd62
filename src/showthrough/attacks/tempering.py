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

Either is the likelihood of what is published, so more of it is nearer to the truth. Members who share attributes more
often than any two persons do tell which of both it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from showthrough.attacks.expectation import learned
from showthrough.attacks.gibbs import sampled_worlds
from showthrough.attacks.group_members import GroupMembers
from showthrough.attacks.naive_bayes import Attributes, NaiveBayes
from showthrough.attacks.weighted_worlds import states, weighed_alike
from showthrough.progress import Progress
from showthrough.table import ragged
from showthrough.table.arrays import Ints, Reals, sum_by

FOLDS = 5
FEWEST = 20
"""With fewer groups there is nothing to choose a weight by."""
_STEPS = 25
_STATES = 20_000
_ROUNDS = 1000
_MOST = 4_000_000  # persons times values that are looked at for the weight
_BATCH = 2_000_000
_ALIKE = 1.1


@dataclass(frozen=True)
class Tempered:
    """Beliefs of a model that is as sure as it may be."""

    p: Reals  # [entries]
    weight: float


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
        judges.append(_Judge(_table(attributes, rest, shares, values), rest, share, alike=alike))
        tell.count(number + 1, FOLDS)
    found = minimize_scalar(
        lambda weight: -sum(judge.likelihood(weight) for judge in judges),
        bounds=(0.0, 2.0), method="bounded", options={"xatol": 0.005},
    )  # fmt: skip
    weight = float(found.x)
    return Tempered(worlds(seats, weight * logs, rng), weight)


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

    def __init__(self, logs: Reals, seats: GroupMembers, share: Reals, *, alike: bool) -> None:
        many = min(seats.members, max(_MOST // share.size, 1))
        many = int(np.searchsorted(seats.group, seats.group[many - 1], side="right"))  # whole groups
        here = np.isin(np.arange(share.size), seats.value)
        self._share = np.where(here, share, 0.0)[here]
        self._share /= self._share.sum()
        own = np.full(share.size, -1)
        own[here] = np.arange(int(here.sum()))
        last = int(seats.start[many])
        self._logs, self._start = logs[:many, here], seats.start[: many + 1]
        self._member, self._value, self._even = seats.member[:last], own[seats.value[:last]], seats.even()[:last]
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


def worlds(seats: GroupMembers, logs: Reals, rng: np.random.Generator) -> Reals:
    """[entries] P(value | member) over all worlds of each group, weighed by exp(logs); sampled in large groups."""
    found = np.zeros(seats.value.size)
    first = np.flatnonzero(np.diff(seats.group, prepend=-1))  # the first member of each group
    entry, size = seats.start[first], np.diff(np.append(first, seats.members))
    kinds = np.diff(seats.start)[first]
    weights = np.exp(logs - np.maximum.reduceat(logs, seats.start[:-1])[seats.member])
    alike: dict[tuple[int, ...], list[int]] = {}
    for at in range(first.size):
        column = seats.column[entry[at]]
        alike.setdefault(tuple(seats.count[column : column + kinds[at]].tolist()), []).append(at)
    large = np.zeros(int(seats.group.max(initial=-1)) + 1, dtype=bool)
    for counts, own in alike.items():
        work = states(counts, sum(counts))
        if work * len(counts) > _STATES:
            large[seats.group[first[own]]] = True
            continue
        cells = sum(counts) * len(counts)
        for part in np.array_split(np.array(own), max(1, work * len(own) // _BATCH)):
            index = ragged.ranges(entry[part], np.full(part.size, cells)).reshape(part.size, size[part[0]], len(counts))
            found[index] = weighed_alike(counts, weights[index])
    if large.any():
        found += sampled_worlds(seats, logs, rng, _ROUNDS, large)
    return found
