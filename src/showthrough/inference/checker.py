"""Check an answer from the published counts alone; shares no code with the solver.

Legend: an answer has, for each signature, p over its values and, for each release in which somebody
fits several groups, y over (value, candidate group) with Σ y = p (`checked_answer.py` says which are
listed). The multipliers mu of rows and nu of statements say

    Z_r = Σ_candidates exp mu (1 for absence), q_r = exp mu / Z_r,
    x ∝ prior · exp(Σ nu · coefficient) · Π_r Z_r.

For an answer within all counts, its entropy (relative to the prior) is below the optimum by at most

    G = Σ persons · [KL(p ‖ x) + Σ_values Σ_r p · KL(y/p ‖ q_r)]
        + Σ mu⁺ · (count − lower) + mu⁻ · (upper − count)    over rows and statements with lower < upper,

and every row of p is within √(G/2) of the optimum in total variation (Pinsker). Both the gap G and
the residual are taken per *island*, a set of groups tied together by persons who fit them or by
statements, so that a wrong island cannot hide among right ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from showthrough.inference.checked_answer import Answer, Published, SeatShares, Signatures, signatures_of
from showthrough.inference.history import ABSENT, History
from showthrough.table.arrays import Codes, Flags, Ints, Reals

__all__ = ["Answer", "Finding", "SeatShares", "check"]

_CHUNK = 400_000  # signatures and shares
_BLOCK = 1 << 16  # terms of a divergence at a time


@dataclass(frozen=True)
class Finding:
    """Worst figures over all islands; NaN-proof: anything that is not a number counts as infinite."""

    residual: float
    gap: float
    island_residual: Reals
    island_gap: Reals
    island: Ints  # [m] of each signature


@np.errstate(invalid="ignore", over="ignore", divide="ignore")
def check(history: History, answer: Answer) -> Finding:
    """Recompute residual and gap of every island; signatures are taken in chunks to save memory."""
    signatures = signatures_of(history, answer)
    island_of_signature, island_of_node, islands = _islands(history, answer, signatures)
    scale = _Scale(history, answer, signatures)
    residual, gap = np.zeros(islands), np.zeros(islands)
    for part in _chunks(answer):
        wrong, divergence = scale.weigh(part)
        np.maximum.at(residual, island_of_signature[part], wrong)
        weighted = signatures.persons[part] * divergence
        gap += _added(island_of_signature[part], weighted, islands)
    upper = history.row_count if history.row_upper is None else history.row_upper
    limits = [(island_of_node[history.row_group], scale.expected[:-1], history.row_count, upper, answer.mu)]
    if history.statements is not None:
        told, groups = history.statements, int(history.first_group[-1])
        limits.append((island_of_node[groups:], scale.stated(), told.lower, told.upper, answer.nu))
    for island, expected, lower, upper, multiplier in limits:
        np.maximum.at(residual, island, _missed(expected, lower, upper))
        if upper is not lower:
            gap += _added(island, _slack(expected, lower, upper, multiplier), islands)
    residual = np.where(np.isfinite(residual), residual, np.inf)
    gap = np.where(np.isfinite(gap), gap, np.inf)
    return Finding(float(residual.max(initial=0.0)), float(gap.max(initial=0.0)), residual, gap, island_of_signature)


def _chunks(answer: Answer) -> Iterator[slice]:
    """Signatures in runs with about as many shares of their entries."""
    load = np.arange(answer.start.size)
    for seats in answer.seats:
        if seats is not None:
            load = load + seats.start[answer.start]
    cuts = np.append(np.searchsorted(load, np.arange(0, load[-1], _CHUNK)), load.size - 1)
    for first, last in pairwise(cuts.tolist()):
        if first < last:
            yield slice(first, last)


def _missed(expected: Reals, lower: Ints, upper: Ints) -> Reals:
    """How far counts are from what is published."""
    if upper is lower:
        return np.abs(expected - lower)
    return np.asarray(np.maximum(np.maximum(lower - expected, expected - upper), 0.0))


def _slack(expected: Reals, lower: Ints, upper: Ints, multiplier: Reals) -> Reals:
    """What multipliers of ranges cost that are not at the end they pull to; never below 0."""
    above, below = np.maximum(expected - lower, 0.0), np.maximum(upper - expected, 0.0)
    cost = np.maximum(multiplier, 0.0) * above + np.maximum(-multiplier, 0.0) * below
    return np.where(lower < upper, cost, 0.0)


class _Scale:
    """Weighs signatures part by part and adds up what they say of the counts."""

    def __init__(self, history: History, answer: Answer, signatures: Signatures) -> None:
        self._history, self._answer, self._signatures = history, answer, signatures
        self._published = Published(history)
        self._mu = np.append(answer.mu, 0.0)
        self._lift = self._of_statements()
        self.expected = np.zeros(history.row_count.size + 1)  # the last for those who are absent

    def weigh(self, part: slice) -> tuple[Reals, Reals]:
        """What is wrong with some signatures themselves, and their divergence; adds to the expected counts."""
        answer, codes = self._answer, self._signatures.codes
        start = answer.start[part.start : part.stop + 1] - answer.start[part.start]
        span = slice(int(answer.start[part.start]), int(answer.start[part.stop]))
        value, p, possible = answer.value[span], answer.p[span], answer.possible[span]
        owner = np.repeat(np.arange(part.stop - part.start), np.diff(start))
        spare = self._signatures.spare
        self._published.refuse_incomplete(codes[:, part], owner, value, None if spare is None else spare[part])
        nobody = value == self._history.nobody
        word = np.where(nobody, 0, value) if spare is not None else value
        persons = self._signatures.persons[part].take(owner)
        weighted = persons * p
        wrong = np.abs(_added(owner, p, start.size - 1) - 1)
        _raise_to(wrong, owner, _stray(p, possible))
        # who has one value left and has it is no different from what the multipliers say
        busy = (np.bincount(owner.take(np.flatnonzero(possible)), minlength=wrong.size) != 1) | ~(wrong == 0)
        divergence, rows, further = np.zeros(wrong.size), [], self._prior_and_lift(part, span, owner)
        if further is not None:
            busy[owner[np.isneginf(further)]] = True
        for own, seats in zip(codes, answer.seats, strict=True):
            code = own[part].take(owner).astype(np.int64)
            if spare is not None:
                code[nobody] = ABSENT
            if seats is None:
                at = self._published.rows_of(code, word)
                self.expected += _added(at, weighted, self.expected.size)
                rows.append(at)
                continue
            seated = _Seated(seats, span, self._published.shares_of(seats, span, code, word))
            self.expected += seated.counts(persons, self.expected.size)
            _raise_to(wrong, owner, seated.wrong(p))
            log_z, away = seated.against(self._mu, p)
            divergence += _added(owner, away, wrong.size)
            further = log_z if further is None else further + log_z
        at, some = np.flatnonzero(busy.take(owner)), np.flatnonzero(busy)
        if at.size:
            ends = np.concatenate([[0], np.cumsum(np.diff(start).take(some))])
            terms = [self._mu.take(own.take(at)) for own in rows]
            terms += [] if further is None else [further.take(at)]
            divergence[some] += _divergence(p.take(at), possible.take(at), np.add.reduce(terms), ends)
        return wrong, divergence

    def stated(self) -> Reals:
        """[statements] what the answer says of them."""
        terms, size = self._signatures.terms, self._answer.nu.size
        if terms is None:
            return np.zeros(size)
        mass = self._signatures.persons[terms.signature] * terms.coefficient * self._answer.p[terms.entry]
        return _added(terms.statement, mass, size)

    def _of_statements(self) -> Reals | None:
        """[v] Σ nu · coefficient."""
        terms = self._signatures.terms
        if terms is None:
            return None
        pull = self._answer.nu[terms.statement] * terms.coefficient
        return _added(terms.entry, pull, self._answer.value.size)

    def _prior_and_lift(self, part: slice, span: slice, owner: Ints) -> Reals | None:
        """[entries] the exponents that do not come from releases; None where there are none."""
        found = None if self._lift is None else self._lift[span]
        prior, own = self._history.prior, self._signatures.prior
        if prior is None or own is None:
            return found
        value = self._answer.value[span]
        belief = np.append(prior, np.ones((prior.shape[0], 1)), axis=1)  # the last of who does not exist
        log_prior = np.log(belief[own[part].take(owner), value])
        return log_prior if found is None else found + log_prior


class _Seated:
    """The shares of some entries in a release, with the row of each."""

    def __init__(self, seats: SeatShares, entries: slice, row: Codes) -> None:
        start = seats.start[entries.start : entries.stop + 1]
        self._shares, self._row = slice(int(start[0]), int(start[-1])), row
        self._y, self._possible = seats.y[self._shares], seats.possible[self._shares]
        self._start = start - start[0]
        self._entry = np.repeat(np.arange(start.size - 1), np.diff(start))

    def counts(self, persons: Reals, rows: int) -> Reals:
        """[rows] the persons expected there."""
        return _added(self._row, persons.take(self._entry) * self._y, rows)

    def wrong(self, p: Reals) -> Reals:
        """[entries] how far shares are from adding up, or from what is possible."""
        found = np.abs(_added(self._entry, self._y, p.size) - p)
        _raise_to(found, self._entry, _stray(self._y, self._possible))
        return found

    def against(self, mu: Reals, p: Reals) -> tuple[Reals, Reals]:
        """[entries] log Z of the candidates, and p · KL(y/p ‖ q)."""
        z = np.where(self._possible, mu.take(self._row), -np.inf)
        top = np.maximum.reduceat(z, self._start[:-1]) if p.size else p
        top = np.where(np.isneginf(top), 0.0, top)
        e = np.exp(z - top.take(self._entry))
        total = _added(self._entry, e, p.size)
        q = np.where(e == 0, 0.0, e / total.take(self._entry))
        away = _excess(self._y, p.take(self._entry) * q)
        return top + np.log(total), _added(self._entry, away, p.size)


def _added(owner: Ints | Codes, figure: Reals, size: int) -> Reals:
    """[size] the figures of each owner, added up."""
    return np.bincount(owner, weights=figure, minlength=size).astype(np.float64, copy=False)


def _stray(p: Reals, possible: Flags) -> Reals:
    """Mass below zero, or where a proof says zero."""
    return np.maximum(np.where(possible, -p, np.abs(p)), 0.0)


def _raise_to(found: Reals, owner: Ints, figure: Reals) -> None:
    """Let ``found`` be no less than the figures of each owner; most often they are all 0."""
    some = np.flatnonzero(~(figure == 0))
    if some.size:
        np.maximum.at(found, owner.take(some), figure.take(some))


def _divergence(p: Reals, possible: Flags, exponent: Reals, start: Ints) -> Reals:
    """KL(p ‖ softmax(exponent)) per signature; infinite where nothing is listed."""
    length = np.diff(start)
    some = length > 0
    first = start[:-1][some]
    top, total, found = np.full(length.size, -np.inf), np.zeros(length.size), np.full(length.size, np.inf)
    if not first.size:
        return found
    q = np.where(possible, exponent, -np.inf)
    top[some] = np.maximum.reduceat(q, first)
    q -= np.repeat(top, length)
    np.exp(q, out=q)
    total[some] = np.add.reduceat(q, first)
    q /= np.repeat(total, length)
    found[some] = np.add.reduceat(_excess(p, q), first)
    return found


def _excess(p: Reals, q: Reals) -> Reals:
    """The terms p·log(p/q) − p + q ≥ 0 of a divergence, without cancellation."""
    found = np.empty(p.size)
    for first in range(0, p.size, _BLOCK):
        own = slice(first, first + _BLOCK)
        found[own] = _excess_of(p[own], q[own])
    return found


def _excess_of(p: Reals, q: Reals) -> Reals:
    """The terms of a block."""
    t = (p - q) / q
    term = q * (t * t * (0.5 - t * (1 / 6 - t / 12)))
    far = np.flatnonzero(~(np.abs(t) < 1e-3))
    p, q = p[far], q[far]
    term[far] = np.where(p > 0, p * np.log(p / q) - p + q, q)
    term[far[(p == 0) & (q == 0)]] = 0.0
    return np.maximum(term, 0.0)


def _islands(history: History, answer: Answer, signatures: Signatures) -> tuple[Ints, Ints, int]:
    """The island of each signature and of each group and statement, and their number.

    Who is in no group and no statement is an island alone.
    """
    groups, codes = int(history.first_group[-1]), signatures.codes.astype(np.int64)
    tails, heads = [], []
    if history.set_group.size:
        used = np.zeros(history.set_start.size - 1, dtype=bool)
        used[codes[codes >= groups] - groups] = True
        some = np.maximum.reduceat(history.set_group, history.set_start[:-1])  # a group of each set, if it has one
        number = np.repeat(np.arange(used.size), np.diff(history.set_start))
        ties = np.flatnonzero(used[number] & (history.set_group != ABSENT))
        tails.append(some[number[ties]].astype(np.int64))
        heads.append(history.set_group[ties].astype(np.int64))
        codes = np.concatenate([np.arange(groups), some, [ABSENT]])[codes]
    anchor = codes.max(axis=0)
    if history.statements is not None:
        signature, node = answer.of_person[history.statements.person], groups + history.statements.statement
        outside = anchor[signature] == ABSENT
        anchor[signature[outside]] = node[outside]
        tails.append(anchor[signature])
        heads.append(node)
    for own in codes:
        other = np.flatnonzero((own != ABSENT) & (own != anchor))
        tails.append(anchor[other])
        heads.append(own[other])
    nodes = groups + answer.nu.size
    label = _joined(nodes, np.concatenate(tails), np.concatenate(heads))
    here = anchor != ABSENT
    used = np.zeros(nodes, dtype=bool)
    used[label[anchor[here]]] = True
    number = np.maximum(np.cumsum(used) - 1, 0)
    island = np.empty(anchor.size, dtype=np.int64)
    island[here] = number[label[anchor[here]]]
    alone = np.flatnonzero(~here)
    island[alone] = int(used.sum()) + np.arange(alone.size)
    return island, number[label], max(int(used.sum()) + alone.size, 1)


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
