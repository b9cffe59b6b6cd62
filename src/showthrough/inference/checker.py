"""Check an answer from the published counts alone; shares no code with the solver.

For multipliers mu and an answer p that meets the published counts, the entropy of p is below the
optimum by at most G = Σ persons · KL(p ‖ softmax(mu)), and every row of p is within √(G/2) of the
optimum in total variation (Pinsker). Where persons fit several groups, p is the joint distribution
of value and seat (one group, or absence, per release); its rows sum up to those of the values. Both
the gap G and the residual are taken per *island*, a set of groups tied together by common persons,
so that a wrong island cannot hide among right ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from showthrough.errors import InternalError
from showthrough.inference.history import ABSENT, History
from showthrough.table.arrays import Codes, Flags, Ints, Reals

_CHUNK = 400_000  # signatures


@dataclass(frozen=True)
class Answer:
    """What is to be checked: a distribution per signature, and a multiplier per published row."""

    of_person: Ints  # [n] signature of each person
    start: Ints  # [m + 1]
    value: Codes  # [v]
    p: Reals  # [v]
    possible: npt.NDArray[np.bool_]  # [v] False where a proof says zero
    mu: Reals  # [rows of the history]
    seat: Ints  # [v] the seat of each entry
    seat_owner: Ints  # [seats] the signature of each seat, ascending
    seat_groups: Codes  # [R, seats]


@dataclass(frozen=True)
class Finding:
    """Worst figures over all islands; NaN-proof: anything that is not a number counts as infinite."""

    residual: float
    gap: float
    island_residual: Reals
    island_gap: Reals


@np.errstate(invalid="ignore", over="ignore")
def check(history: History, answer: Answer) -> Finding:
    """Recompute residual and gap of every island; signatures are taken in chunks to save memory."""
    signatures = answer.start.size - 1
    persons = np.bincount(answer.of_person, minlength=signatures).astype(np.float64)
    _refuse_foreign_seats(history, answer, signatures)
    island_of_signature, islands = _islands(history, answer)
    key = history.row_group.astype(np.int64) * history.values.len() + history.row_value
    expected = np.zeros(key.size)
    residual, gap = np.zeros(islands), np.zeros(islands)
    for first in range(0, signatures, _CHUNK):
        part = slice(first, min(first + _CHUNK, signatures))
        wrong, divergence = _weigh(history, answer, part, persons, key, expected)
        np.maximum.at(residual, island_of_signature[part], wrong)
        np.add.at(gap, island_of_signature[part], persons[part] * divergence)
    row_island = _island_of_group(answer, island_of_signature, int(history.first_group[-1]))[history.row_group]
    np.maximum.at(residual, row_island, np.abs(expected - history.row_count))
    residual = np.where(np.isfinite(residual), residual, np.inf)
    gap = np.where(np.isfinite(gap), gap, np.inf)
    return Finding(float(residual.max(initial=0.0)), float(gap.max(initial=0.0)), residual, gap)


def _weigh(
    history: History, answer: Answer, part: slice, persons: Reals, key: Ints, expected: Reals
) -> tuple[Reals, Reals]:
    """What is wrong with some signatures themselves, and their divergence; adds to the expected counts."""
    start = answer.start[part.start : part.stop + 1] - answer.start[part.start]
    span = slice(int(answer.start[part.start]), int(answer.start[part.stop]))
    value, p, possible = answer.value[span], answer.p[span], answer.possible[span]
    owner = np.repeat(np.arange(part.stop - part.start), np.diff(start))
    exponent, stray = np.zeros(p.size), np.zeros(p.size)
    for own in answer.seat_groups[:, answer.seat[span]]:
        here = np.flatnonzero(own != ABSENT)
        wanted = own[here].astype(np.int64) * history.values.len() + value[here]
        at = np.minimum(np.searchsorted(key, wanted), key.size - 1)
        published = key[at] == wanted
        stray[here[~published]] = np.abs(p[here[~published]])  # on a value that the group does not publish
        at, here = at[published], here[published]
        np.add.at(expected, at, persons[part][owner[here]] * p[here])
        exponent[here] += answer.mu[at]
    stray = np.maximum(stray, np.where(possible, np.maximum(-p, 0.0), np.abs(p)))
    wrong = np.maximum(np.abs(np.add.reduceat(p, start[:-1]) - 1), np.maximum.reduceat(stray, start[:-1]))
    return wrong, _divergence(p, possible, exponent, start, owner)


def _refuse_foreign_seats(history: History, answer: Answer, signatures: int) -> None:
    """The persons of a signature must agree, and its seats be made of the very groups they fit."""
    codes = np.full((len(history.releases), signatures), ABSENT, dtype=np.int32)
    codes[:, answer.of_person] = history.group_of
    if not np.array_equal(codes[:, answer.of_person], history.group_of):
        raise InternalError("Persons with different groups share a signature.")
    known = int(history.first_group[-1])
    width = np.ones(signatures)
    for code, group in zip(codes, answer.seat_groups, strict=True):
        own = code[answer.seat_owner]
        single = own < known
        fits = np.where(single, group == own, False)
        number = np.repeat(np.arange(history.set_start.size - 1), np.diff(history.set_start))
        allowed = np.sort(number * (known + 1) + history.set_group + 1)
        wanted = (own[~single].astype(np.int64) - known) * (known + 1) + group[~single] + 1
        at = np.minimum(np.searchsorted(allowed, wanted), max(allowed.size - 1, 0))
        fits[~single] = allowed[at] == wanted if allowed.size else False
        if not fits.all():
            raise InternalError("A seat holds a group that its persons do not fit.")
        several = code >= known
        width[several] *= np.diff(history.set_start)[code[several] - known]
    if not np.array_equal(np.bincount(answer.seat_owner, minlength=signatures), width):
        raise InternalError("A signature lacks seats that its persons can have.")


def _islands(history: History, answer: Answer) -> tuple[Ints, int]:
    signatures = answer.start.size - 1
    release, seat = np.nonzero(answer.seat_groups != ABSENT)
    group = answer.seat_groups[release, seat].astype(np.int64)
    label = _joined(signatures + int(history.first_group[-1]), answer.seat_owner[seat], signatures + group)
    used, number = np.unique(label[:signatures], return_inverse=True)
    return number, used.size


def _joined(nodes: int, a: Ints, b: Ints) -> Ints:
    """The smallest node that each node is joined to: hook larger roots under smaller ones, then flatten."""
    root = np.arange(nodes)
    while (apart := root[a] != root[b]).any():
        one, other = root[a[apart]], root[b[apart]]
        np.minimum.at(root, np.maximum(one, other), np.minimum(one, other))
        while not np.array_equal(flatter := root[root], root):
            root = flatter
    return root


def _island_of_group(answer: Answer, island_of_signature: Ints, total: int) -> Ints:
    island = np.zeros(total, dtype=np.int64)
    for own in answer.seat_groups:
        here = own != ABSENT
        island[own[here]] = island_of_signature[answer.seat_owner[here]]
    return island


def _divergence(p: Reals, possible: Flags, exponent: Reals, start: Ints, owner: Ints) -> Reals:
    """KL(p ‖ softmax(exponent)) per signature, without cancellation: terms p·log(p/q) − p + q ≥ 0."""
    z = np.where(possible, exponent, -np.inf)
    e = np.exp(z - np.maximum.reduceat(z, start[:-1])[owner])
    q = e / np.add.reduceat(e, start[:-1])[owner]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = (p - q) / q
        near = t * t * (0.5 - t * (1 / 6 - t / 12))
        far = np.where(p > 0, p * np.log(p / q) - p + q, q)
        term = np.where(np.abs(t) < 1e-3, q * near, far)
    term = np.where((p == 0) & (q == 0), 0.0, np.maximum(term, 0.0))
    return np.asarray(np.add.reduceat(term, start[:-1]))
