"""Check an answer from the published counts alone; shares no code with the solver.

For multipliers mu and an answer p that meets the published counts, the entropy of p is below the
optimum by at most G = Σ persons · KL(p ‖ softmax(mu)), and every row of p is within √(G/2) of the
optimum in total variation (Pinsker). Where persons fit several groups, p is the joint distribution
of value and seat (one group, or absence, per release); its rows sum up to those of the values. Both
the gap G and the residual are taken per *island*, a set of groups tied together by common persons,
so that a wrong island cannot hide among right ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from showthrough.errors import InternalError
from showthrough.inference.history import ABSENT, History
from showthrough.table.arrays import Codes, Flags, Ints, Reals

Finder = Callable[[Ints, Codes], Ints | Codes]

_INCOMPLETE = "An answer does not list each value that somebody can have once, and no others."
_BITS = 62  # values whose sets fit a whole number
_CHUNK = 400_000  # signatures
_TABLE = 16  # a table of all (group, value) may be this many times longer than what is published


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
    _refuse_foreign(history, answer, signatures)
    island_of_signature, island_of_group, islands = _islands(history, answer)
    find = _row_finder(history)
    expected = np.zeros(history.row_count.size + 1)  # the last for those who are absent
    residual, gap = np.zeros(islands), np.zeros(islands)
    for first in range(0, signatures, _CHUNK):
        part = slice(first, min(first + _CHUNK, signatures))
        _refuse_incomplete(history, answer, part, find)
        wrong, divergence = _weigh(answer, part, persons, find, expected)
        np.maximum.at(residual, island_of_signature[part], wrong)
        gap += np.bincount(island_of_signature[part], weights=persons[part] * divergence, minlength=islands)
    np.maximum.at(residual, island_of_group[history.row_group], np.abs(expected[:-1] - history.row_count))
    residual = np.where(np.isfinite(residual), residual, np.inf)
    gap = np.where(np.isfinite(gap), gap, np.inf)
    return Finding(float(residual.max(initial=0.0)), float(gap.max(initial=0.0)), residual, gap)


def _weigh(answer: Answer, part: slice, persons: Reals, find: Finder, expected: Reals) -> tuple[Reals, Reals]:
    """What is wrong with some signatures themselves, and their divergence; adds to the expected counts."""
    start = answer.start[part.start : part.stop + 1] - answer.start[part.start]
    span = slice(int(answer.start[part.start]), int(answer.start[part.stop]))
    value, p, possible = answer.value[span], answer.p[span], answer.possible[span]
    owner = np.repeat(np.arange(part.stop - part.start), np.diff(start))
    stray = np.maximum(np.where(possible, -p, np.abs(p)), 0.0)
    weighted = persons[part].take(owner) * p
    rows = [find(groups.take(answer.seat[span]).astype(np.int64), value) for groups in answer.seat_groups]
    for at in rows:
        if (at == expected.size).any():  # a value that the group does not publish
            raise InternalError(_INCOMPLETE)
        expected += np.bincount(at, weights=weighted, minlength=expected.size)
    wrong = np.abs(np.bincount(owner, weights=p, minlength=start.size - 1) - 1)
    if not (stray == 0).all():
        wrong = np.maximum(wrong, np.maximum.reduceat(stray, start[:-1]))
    divergence = np.zeros(wrong.size)
    # who has one value left and has it is no different from what the multipliers say
    busy = (np.bincount(owner.take(np.flatnonzero(possible)), minlength=wrong.size) != 1) | ~(wrong == 0)
    at, some = np.flatnonzero(busy.take(owner)), np.flatnonzero(busy)
    if some.size:
        ends = np.concatenate([[0], np.cumsum(np.diff(start).take(some))])
        mu = np.append(answer.mu, 0.0)
        exponent = np.add.reduce([mu.take(own.take(at)) for own in rows])
        divergence[some] = _divergence(p.take(at), possible.take(at), exponent, ends)
    return wrong, divergence


def _refuse_incomplete(history: History, answer: Answer, part: slice, find: Finder) -> None:
    """The values that all groups of a seat publish must be listed once each; `_weigh` sees that no others are."""
    seats = slice(*np.searchsorted(answer.seat_owner, [part.start, part.stop]))
    entries = slice(int(answer.start[part.start]), int(answer.start[part.stop]))
    own = answer.seat[entries] - seats.start
    listed = own * history.values.len() + answer.value[entries]
    if (listed[1:] < listed[:-1]).any():
        listed = np.sort(listed)
    once = (listed[1:] != listed[:-1]).all()
    groups = answer.seat_groups[:, seats].astype(np.int64)
    if not once or not np.array_equal(np.bincount(own, minlength=groups.shape[1]), _common(history, groups, find)):
        raise InternalError(_INCOMPLETE)


def _common(history: History, groups: Ints, find: Finder) -> Ints:
    """[seats] how many values all groups of a seat publish; absent from a release any value is possible."""
    span = history.values.len()
    size = np.append(np.bincount(history.row_group, minlength=int(history.first_group[-1])), span)
    begin = np.cumsum(size) - size
    if span <= _BITS and size.all():  # sets of values as bits
        bits = np.left_shift(1, np.append(history.row_value, np.arange(span)).astype(np.int64))
        sets = np.bitwise_or.reduceat(bits, begin)
        return np.asarray(np.bitwise_count(np.bitwise_and.reduce(sets.take(groups), axis=0)), dtype=np.int64)
    shortest = groups[0]
    for own in groups[1:]:
        shortest = np.where(size.take(own) < size.take(shortest), own, shortest)
    length = size.take(shortest)
    seat = np.repeat(np.arange(length.size), length)
    at = np.arange(seat.size) + np.repeat(begin.take(shortest) - (np.cumsum(length) - length), length)
    value = np.append(history.row_value, np.arange(span, dtype=np.int32)).take(at)
    common = np.ones(seat.size, dtype=bool)
    for own in groups:
        common &= find(own.take(seat), value) <= history.row_count.size
    return np.bincount(seat[common], minlength=length.size)


def _refuse_foreign(history: History, answer: Answer, signatures: int) -> None:
    """The persons of a signature must agree, its seats be made of the very groups they fit, its values exist."""
    if answer.value.size and not 0 <= answer.value.min() <= answer.value.max() < history.values.len():
        raise InternalError("An answer tells of a value that does not exist.")
    codes = np.full((len(history.releases), signatures), ABSENT, dtype=np.int32)
    for code, of_person in zip(codes, history.group_of, strict=True):
        code[answer.of_person] = of_person
        if not np.array_equal(code[answer.of_person], of_person):
            raise InternalError("Persons with different groups share a signature.")
    known = int(history.first_group[-1])
    width = np.ones(signatures)
    for code, group in zip(codes, answer.seat_groups, strict=True):
        if (code < known).all() and np.array_equal(code[answer.seat_owner], group):
            continue
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


def _row_finder(history: History) -> Finder:
    """A function from (group, value) to the published row; one past the last for ABSENT, two where there is none."""
    span, groups = history.values.len(), int(history.first_group[-1])
    key = history.row_group.astype(np.int64) * span + history.row_value
    if groups * span <= _TABLE * key.size:
        table = np.full((groups + 1) * span, key.size + 1, dtype=np.int32)
        table[key] = np.arange(key.size)
        table[groups * span :] = key.size
        return lambda group, value: table.take(np.where(group == ABSENT, groups, group) * span + value)

    def search(group: Ints, value: Codes) -> Ints:
        wanted = group * span + value
        at = np.minimum(np.searchsorted(key, wanted), key.size - 1)
        return np.where(group == ABSENT, key.size, np.where(key[at] == wanted, at, key.size + 1))

    return search


def _islands(history: History, answer: Answer) -> tuple[Ints, Ints, int]:
    """The island of each signature and of each group, and their number; who is in no group is an island alone."""
    groups, owner = int(history.first_group[-1]), answer.seat_owner
    some = answer.seat_groups.max(axis=0)  # a group of each seat, if it has one
    anchor = np.full(answer.start.size - 1, ABSENT, dtype=np.int64)
    anchor[owner[some != ABSENT]] = some[some != ABSENT]
    tails, heads = [], []
    for own in answer.seat_groups:
        other = np.flatnonzero((own != ABSENT) & (own != anchor[owner]))
        tails.append(anchor[owner[other]])
        heads.append(own[other].astype(np.int64))
    label = _joined(groups, np.concatenate(tails), np.concatenate(heads))
    here = anchor != ABSENT
    used = np.zeros(groups, dtype=bool)
    used[label[anchor[here]]] = True
    number = np.maximum(np.cumsum(used) - 1, 0)
    island = np.empty(anchor.size, dtype=np.int64)
    island[here] = number[label[anchor[here]]]
    alone = np.flatnonzero(~here)
    island[alone] = int(used.sum()) + np.arange(alone.size)
    return island, number[label], int(used.sum()) + alone.size


def _joined(nodes: int, a: Ints, b: Ints) -> Ints:
    """The smallest node that each node is joined to: hook larger roots under smaller ones, then flatten."""
    root = np.arange(nodes)
    while True:
        one, other = root[a], root[b]
        apart = np.flatnonzero(one != other)
        if not apart.size:
            return root
        a, b, one, other = a[apart], b[apart], one[apart], other[apart]
        np.minimum.at(root, np.maximum(one, other), np.minimum(one, other))
        while not np.array_equal(flatter := root[root], root):
            root = flatter


def _divergence(p: Reals, possible: Flags, exponent: Reals, start: Ints) -> Reals:
    """KL(p ‖ softmax(exponent)) per signature, without cancellation: terms p·log(p/q) − p + q ≥ 0."""
    owner = np.repeat(np.arange(start.size - 1), np.diff(start))
    z = np.where(possible, exponent, -np.inf)
    e = np.exp(z - np.maximum.reduceat(z, start[:-1]).take(owner))
    q = e / np.bincount(owner, weights=e).take(owner)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = (p - q) / q
        term = q * (t * t * (0.5 - t * (1 / 6 - t / 12)))
        far = np.flatnonzero(~(np.abs(t) < 1e-3))
        p, q = p[far], q[far]
        term[far] = np.where(p > 0, p * np.log(p / q) - p + q, q)
    term[far[(p == 0) & (q == 0)]] = 0.0
    term = np.maximum(term, 0.0)
    return np.asarray(np.bincount(owner, weights=term), dtype=np.float64)
