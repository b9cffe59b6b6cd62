"""Passes over one part, as workers make them: pure functions of files and letters.

Legend as in `newton`: mu multipliers, d a direction, D the sum of directions that a point is moved along (all over the
rows of the part), x probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from showthrough.inference.cluster.giant_part import NOTHING, GiantPart, Letter, letter
from showthrough.inference.cluster.giant_worker import OpenPart, Spot, Stay, at_work
from showthrough.table.arrays import Flags, Reals

_CHUNK = 1 << 16  # signatures at a time, where a pass would need many arrays


@dataclass(frozen=True)
class Call:
    """What one part is asked: where, with which vectors."""

    spot: Spot | None = None
    letters: tuple[Letter, ...] = ()


@dataclass(frozen=True)
class Errand:
    """What all parts are asked; parts are the same in every call, so that an engine can leave them where they are."""

    stay: Stay
    folder: str  # for what comes back
    number: int
    calls: Mapping[int, Call]  # by the number of the part
    wish: Any = None

    def read(self, part: GiantPart, which: int = 0) -> Any:
        """A vector that a part was sent."""
        return self.calls[part.number].letters[which].read()

    def spot(self, part: GiantPart) -> Spot:
        """The probabilities that a part is asked of."""
        found = self.calls[part.number].spot
        assert found is not None
        return found


@dataclass(frozen=True)
class Reply:
    """Figures to add up or compare, and a vector over the rows of the part."""

    figures: tuple[float, ...] = ()
    rows: Letter = NOTHING


def _reply(part: GiantPart, errand: Errand, rows: Reals, *figures: float) -> Reply:
    name = f"reply-{errand.number}-{part.number}"
    return Reply(tuple(float(f) for f in figures), letter(errand.folder, name, rows))


def evaluate(part: GiantPart, errand: Errand) -> Reply:
    """The part of F, and the persons in each row, at new multipliers."""
    work = at_work(part, errand.stay)
    x, log_sum = work.softmax(errand.spot(part))
    return _reply(part, errand, work.sweeps.gather(x), float(work.problem.weight @ log_sum))


def in_release(part: GiantPart, errand: Errand) -> Reply:
    """The persons in each row of one release, at new multipliers."""
    work = at_work(part, errand.stay)
    x, _ = work.softmax(errand.spot(part))
    return _reply(part, errand, work.sweeps.gather_release(errand.wish, x))


def hessian(part: GiantPart, errand: Errand) -> Reply:
    """H·d."""
    work = at_work(part, errand.stay)
    return _reply(part, errand, work.sweeps.hessian(work.shares(errand.spot(part)), errand.read(part)))


def diagonal(part: GiantPart, errand: Errand) -> Reply:
    """The diagonal of H."""
    work = at_work(part, errand.stay)
    return _reply(part, errand, work.sweeps.diagonal(work.shares(errand.spot(part))))


def farthest(part: GiantPart, errand: Errand) -> Reply:
    """The most that d changes the logarithm of a probability."""
    work = at_work(part, errand.stay)
    moved = work.sweeps.tangent(work.shares(errand.spot(part)), errand.read(part))
    return Reply((float(np.abs(moved).max(initial=0.0)),))


def moved(part: GiantPart, errand: Errand) -> Reply:
    """Persons in each row after the step D, the least probability, and how far those of anybody are from adding up.

    The wish is below which probabilities are made nothing.
    """
    work = at_work(part, errand.stay)
    x = work.moved(errand.spot(part), errand.read(part))
    least = float(x.min(initial=1.0))
    short = 0.0
    if errand.wish:
        x[x < errand.wish] = 0.0
        total = np.add.reduceat(x, work.problem.start[:-1]) if x.size else x
        short = float(np.abs(total - 1).max(initial=0.0))
    return _reply(part, errand, work.sweeps.gather(x), least, short)


def gap(part: GiantPart, errand: Errand) -> Reply:
    """How far, in nats, the point after the step D is from what the multipliers of a second letter say."""
    work = at_work(part, errand.stay)
    x = work.moved(errand.spot(part), errand.read(part))
    x[x < errand.wish] = 0.0
    says, _ = work.sweeps.softmax(errand.read(part, 1))
    start, total = work.problem.start, 0.0
    for a in range(0, start.size - 1, _CHUNK):
        b = min(a + _CHUNK, start.size - 1)
        own = slice(int(start[a]), int(start[b]))
        persons = np.repeat(work.problem.weight[a:b], np.diff(start[a : b + 1]))
        total += float(persons @ _excess(x[own], says[own]))
    return Reply((total,))


def _excess(p: Reals, q: Reals) -> Reals:
    """The terms p·log(p/q) − p + q of a divergence; infinite where q is 0 and p is not."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        term = p * np.log(p / q) - p + q
    return np.maximum(np.where(p > 0, term, q), 0.0)


@dataclass(frozen=True)
class Lifted:
    """A point where nothing is small: what is above ``clearly`` in it is possible."""

    spot: Spot
    direction: Letter
    clearly: float


@dataclass(frozen=True)
class Doubt:
    """What is at most ``limit`` after the step D is doubtful, but for what a lifted point shows to be possible."""

    spot: Spot
    direction: Letter
    limit: float
    lifted: tuple[Lifted, ...] = ()

    def flags(self, work: OpenPart) -> Flags:
        """[v] the doubtful."""
        found = work.moved(self.spot, self.direction.read()) <= self.limit
        for own in self.lifted:
            if found.any():
                found &= work.moved(own.spot, own.direction.read()) <= own.clearly
        return np.asarray(found)


def count_doubtful(part: GiantPart, errand: Errand) -> Reply:
    """How many are doubtful; the wish are the doubts of all parts."""
    work = at_work(part, errand.stay)
    doubt: Doubt = errand.wish[part.number]
    return Reply((float(doubt.flags(work).sum()),))


def best_scores(part: GiantPart, errand: Errand) -> Reply:
    """What all persons together score at best under weights of rows, in floating point."""
    work = at_work(part, errand.stay)
    score = work.sweeps.spread(errand.read(part))
    best = np.maximum.reduceat(score, work.problem.start[:-1]) if score.size else score
    return Reply((float(work.problem.weight @ best),))


def weigh_whole(part: GiantPart, errand: Errand) -> int:
    """The same in whole numbers."""
    work = at_work(part, errand.stay)
    weights = np.append(errand.read(part), 0)
    score = np.zeros(work.problem.rows.variables, dtype=np.int64)
    for own in work.problem.rows.sure:
        score += weights.take(own)
    best = np.maximum.reduceat(score, work.problem.start[:-1]) if score.size else score
    return int(work.problem.weight.astype(np.int64) @ best)
