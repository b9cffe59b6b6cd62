"""Zeros that the flows of single values miss, read off the Newton direction and proven exactly.

Where a variable is forced to zero, Newton's method cannot converge: its direction turns into a
direction of recession, along which forced variables fall by the factor e each step and everything
else stands still. Up to a constant per group (which changes no argument) that direction is nearly
whole-numbered and touches few rows. So it is split into clusters of rows that share signatures,
rounded, and each cluster is checked as a weighing in whole numbers; a small linear program helps
where rounding fails. Nothing is believed that does not check.

Legend: d direction [rows], drop = how far the score of a variable lies below the best of its signature, and
the weight of a candidate besides below the best of its release (0: stays, above 0: falls) [terms].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from showthrough.inference.clock import Clock
from showthrough.inference.patch import Patch, cut_out
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Flags, Ints, Reals, sum_by

FALLING = 0.3  # drop per step from which a small variable is suspected
_GUESSES = (0.5, 0.1, 0.75)  # the same where systems are hard to solve: what falls at all falls by 1 near the end
SMALL = 0.05
_STILL = 0.02  # rows that move less take no part
_UNCLEAR = 0.05  # drop per step of what neither falls nor stays
_FEW, _HARDLY_ANY = 100_000, 0.01  # how many unclear terms, or which part of all, leave a projection worth its time
_LIMIT = 1e6  # largest weight worth trying
_SHORT = 1e-7  # of what is counted: below, a sum that is too small may be rounding
_FINER = (1, 2, 6, 20, 100, 1000, 10_000, 100_000, 1_000_000)  # the largest weight of a contradiction
_CLUSTER = 3000  # terms of a cluster that a program settles in a second or so


@dataclass(frozen=True)
class Found:
    """Whole weights that check, and the terms (of the reduced problem) they exclude."""

    rows: Ints
    weights: Ints
    cluster: Ints
    zeros: Ints


def prove(
    problem: Reduced,
    mass: Reals,
    d: Reals,
    clock: Clock | None = None,
    programs: Clock | None = None,
    *,
    hard: bool = False,
) -> Found:
    """Turn a Newton direction into proven zeros; programs for single clusters have a clock of their own.

    Where systems are ``hard`` to solve, several guesses of what falls are worth their time.
    """
    clock = clock or Clock()
    programs = programs or clock
    flat = without_group_constants(problem, d)
    drops = _drops(problem, flat)
    falling = (drops > FALLING) & (mass < SMALL)
    patch = cut_out(problem, _rows_near(problem, flat, falling))
    asked = falling[patch.terms]
    found = _Weighings(patch, asked)
    for candidate in _roundings(patch, flat[patch.rows]):
        found.accept(candidate)
    unclear = int(((drops > _UNCLEAR) & ~falling).sum())
    if found.open.any() and unclear <= max(_FEW, _HARDLY_ANY * problem.rows.terms):
        better = _projected(problem, falling, flat, clock, more_than=int(found.zeros.sum()))
        for least in _GUESSES if hard and (better is None or better.open.any()) else ():
            more_than = int((found if better is None else better).zeros.sum())
            better = _projected(problem, (drops > least) & (mass < SMALL), flat, clock, more_than=more_than) or better
        if better is not None:
            return better.found()
    for candidate in _by_programs(patch, np.flatnonzero(found.open), asked, programs):
        found.accept(candidate)
    return found.found()


def projected(problem: Reduced, falling: Flags, d: Reals, clock: Clock) -> Found | None:
    """Turn a direction into proven zeros where it is known what falls."""
    found = _projected(problem, falling, without_group_constants(problem, d), clock, more_than=0)
    return None if found is None else found.found()


def overfull(problem: Reduced, *directions: Reals) -> tuple[Ints, Ints] | None:
    """Rows and whole weights under which the counts add up to more than all persons together can score.

    Where the counts contradict each other the dual falls without end, along a direction of which a strict inequality
    holds: rounded finely enough, it is a proof. None if no direction shows that.
    """
    for d in directions:
        flat = without_group_constants(problem, d)
        score = problem.sweeps.spread(flat)
        best = problem.weight * np.maximum.reduceat(score, problem.start[:-1])
        up, down = np.maximum(flat, 0.0), np.maximum(-flat, 0.0)
        reached: Reals = np.subtract(problem.rows.lower * up, problem.rows.upper * down, dtype=np.float64)
        surplus = sum_by(problem.signature_component, best, problem.components)
        surplus -= sum_by(problem.row_component, reached, problem.components)
        size = sum_by(problem.row_component, np.abs(reached), problem.components)
        short = surplus < -_SHORT * size
        if short.any():
            found = _overfull(problem, np.where(short[problem.row_component], flat, 0.0))
            if found is not None:
                return found
    return None


def _overfull(problem: Reduced, flat: Reals) -> tuple[Ints, Ints] | None:
    unit = flat / max(float(np.abs(flat).max()), _STILL)
    for scale in _FINER:
        whole = np.rint(scale * unit).astype(np.int64)
        patch = cut_out(problem, np.flatnonzero(whole))
        surplus = patch.surplus(whole[patch.rows])
        if surplus is not None and (surplus < 0).any():
            worst = patch.row_cluster == np.argmin(surplus)
            return patch.rows[worst], whole[patch.rows[worst]]
    return None


def _projected(problem: Reduced, falling: Flags, flat: Reals, clock: Clock, *, more_than: int) -> _Weighings | None:
    """The first whole direction near the given one that proves all that falls, or else the one that proves most."""
    from showthrough.inference.projection import whole_directions  # loads sparse matrices

    best: _Weighings | None = None
    for whole in whole_directions(problem, falling, flat, clock):
        patch = cut_out(problem, np.flatnonzero(whole))
        tried = _Weighings(patch, falling[patch.terms])
        tried.accept(whole[patch.rows])
        if tried.zeros.sum() > more_than:
            best, more_than = tried, int(tried.zeros.sum())
        if best is tried and not tried.open.any():
            break
    return best


def without_group_constants(problem: Reduced, d: Reals) -> Reals:
    """Subtract from each block of groups the median of its rows: most rows of a block stand still."""
    key = problem.row_component * (int(problem.row_block.max(initial=0)) + 2) + problem.row_block + 1
    order = np.lexsort((d, key))
    first = np.flatnonzero(np.append(True, key[order][1:] != key[order][:-1]))
    size = np.diff(np.append(first, d.size))
    median = np.where(problem.row_block[order[first]] < 0, 0.0, d[order[first + size // 2]])
    flat = np.empty_like(d)
    flat[order] = d[order] - np.repeat(median, size)
    return flat


def _drops(problem: Reduced, flat: Reals) -> Reals:
    score = problem.sweeps.spread(flat)
    best = np.maximum.reduceat(score, problem.start[:-1])
    drop = np.repeat(best, np.diff(problem.start)) - score
    if not problem.rows.seats:
        return drop
    found, extended = np.concatenate([drop, np.zeros(problem.rows.candidates)]), np.append(flat, 0.0)
    for own in problem.rows.seats:
        figure = extended[own.row]
        most = np.maximum.reduceat(figure, own.start[:-1])
        found[problem.rows.places(own)] = (drop + most)[own.owner] - figure
    return found


def _rows_near(problem: Reduced, flat: Reals, falling: Flags) -> Ints:
    """Moving rows that hang together with a falling term."""
    moving = np.flatnonzero(np.abs(flat) > _STILL)
    if not moving.size or not falling.any():
        return np.empty(0, dtype=np.int64)
    patch = cut_out(problem, moving)
    wanted = np.zeros(patch.clusters, dtype=bool)
    wanted[patch.cluster[falling[patch.terms]]] = True
    return moving[wanted[patch.row_cluster]]


def _roundings(patch: Patch, d: Reals) -> Iterator[Reals]:
    """Whole vectors near the direction: as it is, and with its smallest entry brought to 1, 2 or 3."""
    d = np.clip(np.nan_to_num(d), -_LIMIT, _LIMIT)
    yield np.rint(d)
    smallest = np.full(patch.clusters, np.inf)
    np.minimum.at(smallest, patch.row_cluster, np.abs(d))
    unit = d / np.maximum(smallest[patch.row_cluster], _STILL)
    for scale in (1, 2, 3):
        yield np.rint(np.clip(scale * unit, -_LIMIT, _LIMIT))
    yield np.sign(d)


class _Weighings:
    """The weights that prove most in each cluster of a patch, and what they prove."""

    def __init__(self, patch: Patch, asked: Flags) -> None:
        self.patch, self.asked = patch, asked
        self.open = np.ones(patch.clusters, dtype=bool)  # clusters with something that falls and is not proven
        self.weights = np.zeros(patch.rows.size, dtype=np.int64)
        self.zeros = np.zeros(patch.terms.size, dtype=bool)

    def accept(self, candidate: Reals | Ints) -> None:
        """Take over the clusters in which the candidate proves every falling term (or the most so far)."""
        patch, inside = self.patch, self.patch.inside
        if not self.open.any():
            return
        whole = candidate.astype(np.int64)
        surplus = patch.surplus(whole)
        if surplus is None:
            return
        score = inside.scores(whole, patch.everything)
        below = score < np.maximum.reduceat(score, patch.start[:-1])[patch.signature]
        proven = inside.behind(whole, patch.everything) | below[inside.owner]
        proven &= (surplus == 0)[patch.cluster]
        before = sum_by(patch.cluster, self.zeros.astype(np.float64), patch.clusters)
        now = sum_by(patch.cluster, proven.astype(np.float64), patch.clusters)
        better = self.open & (now > before)
        self.weights[better[patch.row_cluster]] = whole[better[patch.row_cluster]]
        self.zeros[better[patch.cluster]] = proven[better[patch.cluster]]
        left = sum_by(patch.cluster, (self.asked & ~self.zeros).astype(np.float64), patch.clusters)
        self.open &= left > 0

    def found(self) -> Found:
        """What is proven, told of the reduced problem."""
        used = np.flatnonzero(self.weights)
        rows, cluster = self.patch.rows[used], self.patch.row_cluster[used]
        return Found(rows, self.weights[used], cluster, self.patch.terms[self.zeros])


def _by_programs(patch: Patch, clusters: Ints, asked: Flags, clock: Clock) -> Iterator[Reals]:
    """Whole vectors from a program per cluster: as many falling terms as possible one below their best.

    Clusters share no row, so one vector serves all of them. Small ones go first; large ones are left to others.
    """
    from showthrough.inference import directions

    found = np.zeros(patch.rows.size)
    size = np.bincount(patch.cluster, minlength=patch.clusters)
    for cluster in clusters[np.argsort(size[clusters], kind="stable")]:
        if size[cluster] > _CLUSTER or clock.over:
            break
        rows = np.flatnonzero(patch.row_cluster == cluster)
        direction = directions.direction(patch, int(cluster), rows, asked, clock.left())
        if direction is not None:
            found[rows] = direction
    if found.any():
        for scale in directions.SCALES:
            yield np.rint(np.clip(scale * found, -_LIMIT, _LIMIT))
