"""What some of the releases tell of a giant component: each set answered in parts too, as long as there is time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from showthrough.engines.engine import Engine
from showthrough.inference.attribution import PartTold
from showthrough.inference.cluster.giant import solve_giant
from showthrough.inference.cluster.giant_part import GiantPart, GiantRows
from showthrough.inference.history import ABSENT
from showthrough.inference.log import Log
from showthrough.storage import system
from showthrough.table.arrays import Codes, Flags, Reals
from showthrough.table.ragged import owners

ReleaseSet = tuple[int, ...]  # releases, by their places
_LEAST_SECONDS = 10.0


def sets_of(releases: int) -> list[ReleaseSet]:
    """Sets that take an inference, the most important first: the history up to each release, pairs, all but one."""
    every = tuple(range(releases))
    upto = [every[:last] for last in range(releases - 1, 1, -1)]
    pairs = sorted(combinations(every, 2), key=lambda pair: (-pair[1], -pair[0]))
    others = [tuple(r for r in every if r != one) for one in every]
    return [some for some in dict.fromkeys([*upto, *pairs, *others]) if 1 < len(some) < releases]


def answer_sets(
    engine: Engine, home: Path, parts: Sequence[GiantPart], rows: GiantRows, log: Log, seconds: float
) -> tuple[ReleaseSet, ...]:
    """Let parts note what each set tells, in about as many seconds as the whole took; the sets that were answered."""
    found: list[ReleaseSet] = []
    releases, end = rows.first_group.size - 1, time.monotonic() + max(_LEAST_SECONDS, seconds)
    for some in sets_of(releases):
        left = min(end - time.monotonic(), log.clock.left())
        if left < seconds * len(some) / releases / 2:
            break
        log.progress.stage("what some of the releases tell")
        if _answered(engine, home, parts, _Question(some, rows), Log.of(log.progress.silent(), left)):
            found.append(some)
    return tuple(found)


@dataclass(frozen=True)
class SomeReleases:
    """A set of releases, and where its parts are."""

    some: ReleaseSet
    folder: str
    first_group: tuple[int, ...]  # of all releases

    @property
    def name(self) -> str:
        """What files about it are called."""
        return "-".join(map(str, self.some))

    def part(self, whole: GiantPart) -> GiantPart:
        """What a part has of it."""
        return GiantPart(f"{self.folder}/{whole.number}", whole.number)


@dataclass(frozen=True, eq=False)
class _Question:
    some: ReleaseSet
    rows: GiantRows

    def published(self) -> GiantRows:
        """The rows of these releases, whose groups are numbered anew."""
        first, rows = self.rows.first_group, self.rows
        kept = [np.searchsorted(rows.row_group, [first[r], first[r + 1]]) for r in self.some]
        at = np.concatenate([np.arange(a, b) for a, b in kept])
        shift = np.repeat(_shifts(first.tolist(), self.some), [b - a for a, b in kept])
        starts = np.cumsum([0, *(first[r + 1] - first[r] for r in self.some)])
        group = (rows.row_group[at] - shift).astype(rows.row_group.dtype)
        return GiantRows(starts, group, rows.row_value[at], rows.row_count[at])


def _shifts(first: Sequence[int], some: ReleaseSet) -> list[int]:
    """By how much the groups of each release of a set have smaller numbers in it."""
    found, start = [], 0
    for r in some:
        found.append(first[r] - start)
        start += first[r + 1] - first[r]
    return found


def _answered(engine: Engine, home: Path, parts: Sequence[GiantPart], asked: _Question, log: Log) -> bool:
    there = SomeReleases(asked.some, "", tuple(asked.rows.first_group.tolist()))
    folder = home / f"some-{there.name}"
    there = SomeReleases(asked.some, str(folder), there.first_group)
    try:
        own = [there.part(part) for part in parts]
        for part in own:
            Path(part.folder).mkdir(parents=True, exist_ok=True)
        engine.map(lay_some, list(parts), there)
        found = solve_giant(engine, folder, own, asked.published(), log)
        if found.status.certain:
            engine.map(note_some, list(parts), there)
        return found.status.certain
    finally:
        system.remove(folder)


def lay_some(part: GiantPart, there: SomeReleases) -> None:
    """The signatures of a part over some of the releases; those of nobody in them are left out."""
    group_of, weight = part.read("group_of")[list(there.some)], part.read("weight")
    shift = np.array(_shifts(there.first_group, there.some), dtype=group_of.dtype)
    moved = np.where(group_of == ABSENT, ABSENT, group_of - shift[:, None]).astype(np.int32)
    inside = (moved != ABSENT).any(axis=0)
    found, own = np.unique(moved[:, inside], axis=1, return_inverse=True)
    of = np.full(inside.size, ABSENT, dtype=np.int32)
    of[inside] = own.ravel()
    persons = np.bincount(own.ravel(), weights=weight[inside], minlength=found.shape[1]).astype(np.int64)
    there.part(part).write(group_of=np.ascontiguousarray(found), weight=persons, of=of)


def note_some(part: GiantPart, there: SomeReleases) -> None:
    """Put down beside a part what the set tells of its signatures."""
    own = there.part(part)
    of, start, p, possible = (own.read(name) for name in ("of", "answer-start", "answer-p", "answer-possible"))
    largest, certain = best_of(start, p, possible)
    names = f"told-{there.name}-largest", f"told-{there.name}-certain"
    part.write(**{names[0]: np.append(largest, np.nan)[of], names[1]: np.append(certain, False)[of]})


def best_of(start: Codes, p: Reals, possible: Flags) -> tuple[Reals, Flags]:
    """[signatures] the largest probability, and whether a single value is left."""
    largest, some = np.full(start.size - 1, np.nan), np.flatnonzero(np.diff(start))
    if some.size:
        largest[some] = np.maximum.reduceat(p, start[some])
    left = np.bincount(owners(start)[possible], minlength=start.size - 1)
    return largest, left == 1


def noted(part: GiantPart, sets: Sequence[ReleaseSet], persons: Codes) -> Mapping[ReleaseSet, PartTold]:
    """What sets tell of the persons of a part, by the signature of each."""
    found = {}
    for some in sets:
        name = "-".join(map(str, some))
        largest, certain = (part.read(f"told-{name}-{what}")[persons] for what in ("largest", "certain"))
        found[some] = PartTold(largest, certain, True)
    return found
