"""Facts that hold whoever changed: what is zero under *every* smallest split.

Which persons were split is a choice among many, and a fact may hold for one choice only. All smallest splits lie in
one polytope: the solutions of the program of packing.py with Σ z ≤ k, the least number, on each island. So whatever
is zero in all of it is zero under all of them. One weighing proves it: whole d with the reduced costs
scale·cost − Aᵀd ≥ 0 in every column and b·d = scale·k. Then Σ (reduced cost · column) = scale·Σ z − b·d ≤ 0 for
every smallest split, so that every column with a reduced cost above 0 is zero; nothing is believed that this check,
in whole numbers, does not show.

An interior point knows which columns are zero, but its dual is a mixture that does not round. If the columns that
seem to be zero are asked to be a little more than zero, by random amounts, the dual becomes the one vertex that gives
them the greatest reduced costs (what it costs to ask), and vertices are small whole numbers, or a few times them are.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from showthrough.inference.history import ABSENT
from showthrough.inference.packing import Packing
from showthrough.inference.pairs import Pairs
from showthrough.inference.problem import Problem
from showthrough.inference.smallest import Cheapest, cheapest
from showthrough.inference.tolerance import Before, Tolerated
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.ragged import items_of, starts

_SCALES = (1, 2, 3, 4, 6, 12)
_ROUNDS = 6
_ZERO = 1e-5  # an interior point is above this where anything can be
_ASKED = 5e-3  # persons that a column must hold in the search for a weighing


@dataclass(frozen=True, eq=False)
class Firm:
    """What may be under some smallest split, of the signatures after the split.

    Ask it about facts: what was found under the one split that was chosen.
    """

    within: Flags  # [m] signatures that this is about; the facts of all others need no condition
    span: int  # more than any code of a value
    possible: Ints  # sorted keys signature · span + value: what was not proven to be zero

    def impossible(self, signature: Ints, value: Codes | Ints) -> Flags:
        """Whether it stays a fact, under every smallest split, that nobody of a signature has the value."""
        key = signature.astype(np.int64) * self.span + value
        return np.asarray(~self.within[signature] | ~np.isin(key, self.possible))

    def certain(self, signature: Ints, value: Codes | Ints) -> Flags:
        """Whether it stays a fact, under every smallest split, that everybody of a signature has the value."""
        open_values = np.bincount(self.possible // self.span, minlength=self.within.size)
        only = open_values[signature] - ~self.impossible(signature, value) == 0
        return np.asarray(~self.within[signature] | only)

    def of(self, pairs: Pairs) -> Flags:
        """[pairs] facts of an answer that hold under every smallest split; what is no fact is not one."""
        alone = pairs.alive & (pairs.left() == 1)[pairs.signature]
        never = ~pairs.alive & self.impossible(pairs.signature, pairs.value)
        return np.asarray(never | (alone & self.certain(pairs.signature, pairs.value)))


def firm(found: Tolerated, *, seconds: float = 60.0) -> Firm:
    """Look for what holds under every smallest split, in bounded time; what is not found stays conditional."""
    span = max(1, found.history.values.len())
    within = np.zeros(found.problem.signatures, dtype=bool)
    if found.before is None:
        return Firm(within, span, np.empty(0, dtype=np.int64))
    before = found.before
    concerned = (before.least > 0)[before.island[before.old]]
    within[before.new[concerned]] = True
    zero = proven_zeros(before.pack, before.least, before.minimal, before.point, time.monotonic() + seconds)
    new, old = before.new[concerned], before.old[concerned]
    return Firm(within, span, _possible(before, found.problem, zero, (new, old), span))


def proven_zeros(pack: Packing, least: Ints, minimal: Flags, point: Cheapest | None, deadline: float) -> Flags:
    """[columns] zero in every solution that splits no more than the least number of persons on each island."""
    zero = np.zeros(pack.columns, dtype=bool)
    if point is None:
        return zero
    zero |= _weighed(pack, least, point.dual, zero)
    rng = np.random.default_rng(0)
    suspects = (point.columns < _ZERO) & minimal[pack.column_island]
    suspects[pack.real.stop :] = False
    for _ in range(_ROUNDS):
        unproven = suspects & ~zero
        if not unproven.any():
            break
        # a little of those that are proven too, so that one dual is the best
        share = np.where(unproven, _ASKED, _ASKED / 50) * suspects
        lower = share * (0.5 + rng.random(pack.columns))
        after = cheapest(pack, pack.cost, deadline, lower=lower, interior=True)
        more = zero if after is None else zero | _weighed(pack, least, after.dual, zero)
        if (more == zero).all():
            break
        zero = more
    return zero


def _weighed(pack: Packing, least: Ints, dual: Reals, known: Flags) -> Flags:
    """What the dual proves to be zero on islands where it rounds to a weighing, at one scale or another.

    Columns that are ``known`` to be zero may have any reduced cost.
    """
    A, cost = pack.A[:, pack.real], pack.cost[pack.real].astype(np.int64)
    zero = np.zeros(pack.columns, dtype=bool)
    done = np.zeros(least.size, dtype=bool)
    for scale in _SCALES:
        d = np.rint(scale * dual).astype(np.int64)
        reduced = scale * cost - A.T @ d
        good = np.ones(least.size, dtype=bool)
        good[pack.column_island[pack.real][(reduced < 0) & ~known[pack.real]]] = False
        reach = np.zeros(least.size, dtype=np.int64)
        np.add.at(reach, pack.row_island, pack.b * d)
        good &= (reach == scale * least) & ~done
        zero[pack.real] |= (reduced > 0) & good[pack.column_island[pack.real]]
        done |= good
    return zero


def _possible(before: Before, after: Problem, zero: Flags, links: tuple[Ints, Ints], span: int) -> Ints:
    """Keys (signature after the split, value) that may be under some smallest split.

    A person has a value in a release by keeping it throughout, or as a part, if a part of it can be in a group of
    which the value can be left over: both can be at once, as solutions can be mixed.
    """
    (new, old), problem, pack = links, before.problem, before.pack
    kept = np.flatnonzero(~zero[pack.kind(0)])
    keeps = problem.signature[pack.variable[kept]], problem.value[pack.variable[kept]].astype(np.int64)
    keys = [_spread(keeps, new, old, problem.signatures, span)]
    left = np.zeros(problem.rows.size, dtype=bool)
    left[pack.left_row[~zero[pack.kind(4)]]] = True
    row = np.flatnonzero(left)
    row = row[np.argsort(problem.row_group[row], kind="stable")]
    start = starts(np.bincount(problem.row_group[row], minlength=problem.places.known))
    for r in range(problem.places.releases):
        here = after.places.codes[r, new] != ABSENT
        owner, group = _parts_in(before, zero, r)
        inside = group != ABSENT
        at, size = items_of(start, group[inside])
        told = np.repeat(owner[inside], size), problem.row_value[row[at]].astype(np.int64)
        free = np.repeat(owner[~inside], span), np.tile(np.arange(span), int((~inside).sum()))
        both = np.concatenate([told[0], free[0]]), np.concatenate([told[1], free[1]])
        keys.append(_spread(both, new[here], old[here], problem.signatures, span))
    return np.unique(np.concatenate(keys))


def _parts_in(before: Before, zero: Flags, release: int) -> tuple[Ints, Ints]:
    """(signature, group) of parts that can be in a group of one release, under some smallest split."""
    problem, pack = before.problem, before.pack
    places = problem.places
    code = places.codes[release].astype(np.int64)
    part = (places.codes != ABSENT).sum(axis=0) == 1  # who is in this release alone always is one
    part[pack.signature[~zero[pack.z]]] = True
    sure = np.flatnonzero(part & (code != ABSENT) & (code < places.known))
    loose = np.flatnonzero((pack.part_release == release) & ~zero[pack.kind(3)])
    owner = np.concatenate([sure, pack.part_signature[loose]])
    return owner, np.concatenate([code[sure], pack.part_group[loose]])


def _spread(known: tuple[Ints, Ints], new: Ints, old: Ints, signatures: int, span: int) -> Ints:
    """Keys of what is known of earlier signatures, for the signatures that come from them."""
    signature, value = known
    order = np.argsort(signature, kind="stable")
    start = starts(np.bincount(signature, minlength=signatures))
    at, size = items_of(start, old)
    return np.repeat(new, size) * span + value[order[at]]
