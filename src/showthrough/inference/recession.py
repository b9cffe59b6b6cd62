"""Zeros that the flows of single values miss, read off the Newton direction and proven exactly.

Where a variable is forced to zero, Newton's method cannot converge: its direction turns into a
direction of recession, along which forced variables fall by the factor e each step and everything
else stands still. Up to a constant per group (which changes no argument) that direction is nearly
whole-numbered and touches few rows. So it is split into clusters of rows that share signatures,
rounded, and each cluster is checked as a weighing in whole numbers; a small linear program helps
where rounding fails. Nothing is believed that does not check.

Legend: d direction [rows], x probabilities [v], drop = how far a variable's score lies below the
best of its signature (0: stays, above 0: falls).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.inference import graphs
from showthrough.inference.newton import Kernel
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Flags, Ints, Reals, sum_by

FALLING = 0.3  # drop per step from which a small variable is suspected
SMALL = 0.05
_STILL = 0.02  # rows that move less take no part
_LIMIT = 1e6  # largest weight worth trying


@dataclass(frozen=True)
class Patch:
    """Some rows of a reduced problem with all signatures they touch, cut into clusters.

    ``row_cluster`` and ``signature_cluster`` number the clusters from 0.
    """

    rows: Ints
    row_cluster: Ints
    signatures: Ints
    signature_cluster: Ints
    variables: Ints  # all variables of the signatures, in order
    start: Ints  # where the variables of each signature begin
    clusters: int


@dataclass(frozen=True)
class Found:
    """Whole weights that check, and the variables (of the reduced problem) they exclude."""

    rows: Ints
    weights: Ints
    cluster: Ints
    zeros: Ints


def prove(problem: Reduced, x: Reals, d: Reals) -> Found:
    """Turn a Newton direction into proven zeros."""
    kernel = Kernel(problem)
    flat = without_group_constants(problem, d)
    drop = _drops(problem, kernel.spread(flat))
    falling = (drop > FALLING) & (x < SMALL)
    patch = cut_out(problem, _rows_near(problem, flat, falling))
    open_clusters = np.ones(patch.clusters, dtype=bool)
    weights = np.zeros(patch.rows.size, dtype=np.int64)
    zeros = np.zeros(patch.variables.size, dtype=bool)
    for candidate in _roundings(patch, flat[patch.rows]):
        _accept(problem, patch, candidate, falling, open_clusters, weights, zeros)
    for candidate in _by_programs(problem, patch, np.flatnonzero(open_clusters), falling):
        _accept(problem, patch, candidate, falling, open_clusters, weights, zeros)
    used = np.flatnonzero(weights)
    return Found(patch.rows[used], weights[used], patch.row_cluster[used], patch.variables[zeros])


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


def cut_out(problem: Reduced, rows: Ints) -> Patch:
    """The rows with every signature that has a variable on them."""
    chosen = np.zeros(problem.rows + 1, dtype=bool)
    chosen[rows] = True
    touched, on = [], []
    for row in problem.row:
        hit = np.flatnonzero(chosen[row])
        touched.append(np.searchsorted(problem.start, hit, side="right") - 1)
        on.append(row[hit].astype(np.int64))
    touching, rows_hit = np.concatenate(touched), np.concatenate(on)
    signatures = np.unique(touching)
    length = np.diff(problem.start)[signatures]
    start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    variables = np.arange(int(start[-1])) + np.repeat(problem.start[signatures] - start[:-1], length)
    place = np.searchsorted(rows, rows_hit)
    count, label = graphs.components(
        signatures.size + rows.size, np.searchsorted(signatures, touching), signatures.size + place
    )
    return Patch(rows, label[signatures.size :], signatures, label[: signatures.size], variables, start, count)


def _drops(problem: Reduced, score: Reals) -> Reals:
    best = np.maximum.reduceat(score, problem.start[:-1])
    return np.repeat(best, np.diff(problem.start)) - score


def _rows_near(problem: Reduced, flat: Reals, falling: Flags) -> Ints:
    """Moving rows that hang together with a falling variable."""
    moving = np.flatnonzero(np.abs(flat) > _STILL)
    if not moving.size or not falling.any():
        return np.empty(0, dtype=np.int64)
    patch = cut_out(problem, moving)
    owner = np.repeat(patch.signature_cluster, np.diff(patch.start))
    wanted = np.zeros(patch.clusters, dtype=bool)
    wanted[owner[falling[patch.variables]]] = True
    return moving[wanted[patch.row_cluster]]


def _roundings(patch: Patch, d: Reals):  # type: ignore[no-untyped-def]
    """Whole vectors near the direction: as it is, and with its smallest entry brought to 1, 2 or 3."""
    d = np.clip(np.nan_to_num(d), -_LIMIT, _LIMIT)
    yield np.rint(d)
    smallest = np.full(patch.clusters, np.inf)
    np.minimum.at(smallest, patch.row_cluster, np.abs(d))
    unit = d / np.maximum(smallest[patch.row_cluster], _STILL)
    for scale in (1, 2, 3):
        yield np.rint(np.clip(scale * unit, -_LIMIT, _LIMIT))
    yield np.sign(d)


def _accept(
    problem: Reduced,
    patch: Patch,
    candidate: Reals,
    falling: Flags,
    open_clusters: Flags,
    weights: Ints,
    zeros: Flags,
) -> None:
    """Take over the clusters in which the candidate proves every falling variable (or the most so far)."""
    if not open_clusters.any():
        return
    whole = candidate.astype(np.int64)
    score = _scores(problem, patch, whole)
    best = np.maximum.reduceat(score, patch.start[:-1])
    heaviest = float(np.abs(whole).max(initial=0)) * problem.row.shape[0]
    crowd = float(problem.weight[patch.signatures].sum() + problem.count[patch.rows].sum())
    if heaviest * crowd >= 2.0**62:
        return  # sums might leave the whole numbers
    persons = problem.weight[patch.signatures].astype(np.int64) * best
    counts = problem.count[patch.rows].astype(np.int64) * whole
    surplus = np.zeros(patch.clusters, dtype=np.int64)
    np.add.at(surplus, patch.signature_cluster, persons)
    np.subtract.at(surplus, patch.row_cluster, counts)
    owner = np.repeat(patch.signature_cluster, np.diff(patch.start))
    proven = (score < np.repeat(best, np.diff(patch.start))) & (surplus == 0)[owner]
    before = sum_by(owner, zeros.astype(np.float64), patch.clusters)
    now = sum_by(owner, proven.astype(np.float64), patch.clusters)
    better = open_clusters & (now > before)
    weights[better[patch.row_cluster]] = whole[better[patch.row_cluster]]
    zeros[better[owner]] = proven[better[owner]]
    left = sum_by(owner, (falling[patch.variables] & ~zeros).astype(np.float64), patch.clusters)
    open_clusters &= left > 0


def _scores(problem: Reduced, patch: Patch, weights: Ints) -> Ints:
    on_row = np.zeros(problem.rows + 1, dtype=np.int64)
    on_row[patch.rows] = weights
    score = np.zeros(patch.variables.size, dtype=np.int64)
    for row in problem.row:
        score += on_row[row[patch.variables]]
    return score


def _by_programs(problem: Reduced, patch: Patch, clusters: Ints, falling: Flags):  # type: ignore[no-untyped-def]
    """Whole vectors from a program per cluster: as many falling variables as possible one below their best.

    Clusters share no row, so one vector serves all of them.
    """
    from showthrough.inference import support

    direction = np.zeros(patch.rows.size)
    for cluster in clusters:
        rows = np.flatnonzero(patch.row_cluster == cluster)
        signatures = np.flatnonzero(patch.signature_cluster == cluster)
        found = support.direction(problem, patch, rows, signatures, falling)
        if found is not None:
            direction[rows] = found
    if direction.any():
        for scale in support.SCALES:
            yield np.rint(np.clip(scale * direction, -_LIMIT, _LIMIT))
