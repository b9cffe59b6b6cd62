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
SMALL = 0.05
_STILL = 0.02  # rows that move less take no part
_LIMIT = 1e6  # largest weight worth trying
_CLUSTER = 3000  # terms of a cluster that a program settles in a second or so


@dataclass(frozen=True)
class Found:
    """Whole weights that check, and the terms (of the reduced problem) they exclude."""

    rows: Ints
    weights: Ints
    cluster: Ints
    zeros: Ints


def prove(problem: Reduced, mass: Reals, d: Reals, clock: Clock | None = None) -> Found:
    """Turn a Newton direction into proven zeros; programs for single clusters end with the clock."""
    clock = clock or Clock()
    flat = without_group_constants(problem, d)
    falling = (_drops(problem, flat) > FALLING) & (mass < SMALL)
    patch = cut_out(problem, _rows_near(problem, flat, falling))
    asked = falling[patch.terms]
    open_clusters = np.ones(patch.clusters, dtype=bool)
    weights = np.zeros(patch.rows.size, dtype=np.int64)
    zeros = np.zeros(patch.terms.size, dtype=bool)
    for candidate in _roundings(patch, flat[patch.rows]):
        _accept(patch, candidate, asked, open_clusters, weights, zeros)
    for candidate in _by_programs(patch, np.flatnonzero(open_clusters), asked, clock):
        _accept(patch, candidate, asked, open_clusters, weights, zeros)
    used = np.flatnonzero(weights)
    return Found(patch.rows[used], weights[used], patch.row_cluster[used], patch.terms[zeros])


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


def _accept(patch: Patch, candidate: Reals, asked: Flags, open_clusters: Flags, weights: Ints, zeros: Flags) -> None:
    """Take over the clusters in which the candidate proves every falling term (or the most so far)."""
    if not open_clusters.any():
        return
    whole, inside = candidate.astype(np.int64), patch.inside
    layers = inside.sure.shape[0] + len(inside.seats) + float(np.abs(inside.stated.coefficient).sum())
    heaviest = float(np.abs(whole).max(initial=0)) * layers
    crowd = float(patch.weight.sum() + np.abs(inside.lower).sum() + np.abs(inside.upper).sum())
    if heaviest * crowd >= 2.0**62:
        return  # sums might leave the whole numbers
    score = inside.scores(whole, patch.everything)
    best = np.maximum.reduceat(score, patch.start[:-1])
    surplus = np.zeros(patch.clusters, dtype=np.int64)
    np.add.at(surplus, patch.signature_cluster, patch.weight.astype(np.int64) * best)
    reached = inside.lower * np.maximum(whole, 0) - inside.upper * np.maximum(-whole, 0)
    np.subtract.at(surplus, patch.row_cluster, reached)
    below = score < best[patch.signature]
    proven = inside.behind(whole, patch.everything)
    proven &= ~below[inside.owner]
    proven[: below.size] = below
    proven &= (surplus == 0)[patch.cluster]
    before = sum_by(patch.cluster, zeros.astype(np.float64), patch.clusters)
    now = sum_by(patch.cluster, proven.astype(np.float64), patch.clusters)
    better = open_clusters & (now > before)
    weights[better[patch.row_cluster]] = whole[better[patch.row_cluster]]
    zeros[better[patch.cluster]] = proven[better[patch.cluster]]
    left = sum_by(patch.cluster, (asked & ~zeros).astype(np.float64), patch.clusters)
    open_clusters &= left > 0


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
