"""Tolerating changed values: the fewest persons are split that make contradictory releases consistent.

Call `tolerate` with what `build` gives and the signatures of the islands that were found contradictory:

    history, problem, of_person = build(history)
    …
    found = tolerate(history, problem, of_person, contradictory, seconds=60)
    history, problem, of_person = found.history, found.problem, found.of_person

What comes back is a history in which the contradictory islands are consistent, except for those in ``found.left``;
numbers of signatures are new. Persons whose groups share no value were split by `build`: everybody must split
them. Nothing on an island of ``found.touched`` may pass, and its facts are conditional unless `firm` says otherwise.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from showthrough.inference import islands
from showthrough.inference.history import History
from showthrough.inference.packing import Packing, packing, unpackable
from showthrough.inference.problem import Problem, collapse
from showthrough.inference.smallest import Cheapest, smallest
from showthrough.inference.splitting import TOLERATED, split_columns
from showthrough.table.arrays import Flags, Ints


@dataclass(frozen=True, eq=False)
class Before:
    """The problem before the split, its program, and which signatures the new ones come from."""

    problem: Problem
    pack: Packing
    least: Ints  # [islands] how many persons are split
    minimal: Flags  # [islands] whether fewer would not do
    point: Cheapest | None  # a mixture of all solutions of the program
    island: Ints  # [earlier signatures] the island of each
    new: Ints  # pairs: a signature now …
    old: Ints  # … and a signature before, of the same persons


@dataclass(frozen=True, eq=False)
class Tolerated:
    """A history with as few persons split as were needed."""

    history: History
    problem: Problem
    of_person: Ints
    persons: int  # how many were split here, besides those whose groups share no value
    smallest: bool  # whether it is known that fewer would not do
    touched: Flags  # [m] signatures on islands where somebody was split to make them consistent
    left: Flags  # [m] signatures on islands that no split was found for
    before: Before | None = None

    def words(self) -> str:
        """What was done, in a sentence without names."""
        if not self.persons:
            return "Nobody else had to be taken for changed."
        few = "the smallest number" if self.smallest else "a small number, perhaps not the smallest,"
        who = "1 person" if self.persons == 1 else f"{self.persons} persons"
        return f"{who} had to be taken for changed, {few} that makes the releases consistent."


def tolerate(
    history: History, problem: Problem, of_person: Ints, signatures: Flags, *, seconds: float = 60.0
) -> Tolerated:
    """Split the fewest persons that make the islands of some signatures consistent, in bounded time."""
    deadline = time.monotonic() + seconds
    island = islands.label(problem)
    number = int(island.max(initial=-1)) + 1
    asked = np.zeros(number, dtype=bool)
    asked[island[signatures]] = True
    hopeless = np.zeros(number, dtype=bool)
    hopeless[island[asked[island] & unpackable(problem, island)]] = True
    before, columns = None, np.empty(0, dtype=np.int64)
    if (asked & ~hopeless).any():
        pack = packing(problem, island, (asked & ~hopeless)[island])
        found = smallest(problem, pack, number, deadline)
        hopeless |= found.hopeless & asked
        split = np.where(hopeless[island[pack.signature]], 0, found.split)
        least = np.bincount(island[pack.signature], weights=split, minlength=number).astype(np.int64)
        none = np.empty(0, dtype=np.int64)
        before = Before(problem, pack, least, found.minimal & ~hopeless, found.point, island, none, none)
        columns = _chosen(history, problem, of_person, pack, split)
    return _applied(history, of_person, columns, before, (island, asked, hopeless))


def _chosen(history: History, problem: Problem, of_person: Ints, pack: Packing, split: Ints) -> Ints:
    """As many persons of each signature as are to be split, the first ones: they are all alike."""
    wanted = np.zeros(problem.signatures, dtype=np.int64)
    wanted[pack.signature] = split
    some = np.flatnonzero(wanted[of_person[: history.named]])
    own = of_person[some]
    order = np.argsort(own, kind="stable")
    first = np.searchsorted(own[order], own[order])
    return np.sort(some[order[np.arange(order.size) - first < wanted[own[order]]]])


def _applied(
    history: History, of_person: Ints, columns: Ints, before: Before | None, known: tuple[Ints, Flags, Flags]
) -> Tolerated:
    """The history with some columns split, and what is to be said of its islands."""
    island, asked, hopeless = known
    after, source = split_columns(history, columns, why=TOLERATED)
    problem, now = collapse(after)
    pairs = np.unique(now * (int(of_person.max(initial=0)) + 1) + of_person[source])
    new, old = np.divmod(pairs, int(of_person.max(initial=0)) + 1)
    split = asked & ~hopeless
    if before is not None:
        split &= before.least > 0
        before = replace(before, new=new, old=old)
    touched, left = np.zeros((2, problem.signatures), dtype=bool)
    touched[new[split[island[old]]]] = True
    left[new[hopeless[island[old]]]] = True
    touched |= _with_tolerated(after, problem, now)
    known_least = before is None or bool(before.minimal[split].all())
    return Tolerated(after, problem, now, columns.size, known_least, touched, left, before)


def _with_tolerated(history: History, problem: Problem, of_person: Ints) -> Flags:
    """[m] signatures on islands with a part of somebody whose groups share no value."""
    if history.split_why is None:
        return np.zeros(problem.signatures, dtype=bool)
    island = islands.label(problem)
    hit = np.zeros(int(island.max(initial=-1)) + 1, dtype=bool)
    hit[island[of_person[np.flatnonzero(history.split_why == TOLERATED)]]] = True
    return np.asarray(hit[island])
