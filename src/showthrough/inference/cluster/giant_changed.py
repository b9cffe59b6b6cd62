"""Whose value may have changed in a component in parts: who, taken apart, makes good what a contradiction lacks.

Legend: w weights of rows whose counts add up to more than all persons can score, D by how much; σ a signature, g its
groups, s a value that is possible for it. Nobody of σ scores more than max_s Σ_g w[g,s], but as one person per release
up to Σ_g max_s w[g,s], with any value of the group. At least so many persons are to be taken apart that what they gain
adds up to D. Those who gain most are, and the rest is asked again: taking apart never makes counts harder to meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from showthrough.engines.engine import Engine
from showthrough.inference.cluster.giant_part import GiantPart, GiantRows, read_array, write_array
from showthrough.inference.history import ABSENT
from showthrough.table.arrays import Codes, Ints

_WEIGHTS, _GROUPS = "blamed-rows", "blamed-groups"
_NOBODY = -(2**62)


@dataclass(frozen=True, eq=False)
class Gains:
    """What persons of a part gain who are taken apart, and how many gain as much; what all score as they are."""

    gain: Ints
    persons: Ints
    score: int


@dataclass(frozen=True)
class TakenApart:
    """Who of a part is taken apart: all who gain more than so much, and so many of those who gain that."""

    gain: int
    more: int


def blamed(
    engine: Engine, folder: Path, parts: Sequence[GiantPart], rows: GiantRows, version: int, weights: Ints | None
) -> tuple[Ints, ...]:
    """[parts] the places of the ids that are taken apart, one at least unless nobody gains.

    ``version`` is that of what was possible when these weights were found.
    """
    weights = np.zeros(rows.size, dtype=np.int64) if weights is None else weights
    most = np.full(int(rows.first_group[-1]), _NOBODY)
    np.maximum.at(most, rows.row_group, weights)
    for name, array in ((_WEIGHTS, weights), (_GROUPS, most)):
        write_array(folder / f"{name}.npy", array)
    asked = str(folder), version
    told = engine.map(gains, list(parts), asked)
    lacking = int(weights @ rows.row_count) - sum(one.score for one in told)
    wanted = _most_gaining(told, max(1, lacking))
    return tuple(engine.map(taken_apart, list(parts), (asked, wanted)))


def _most_gaining(told: Sequence[Gains], lacking: int) -> tuple[TakenApart, ...]:
    """Of each part, until all of them make good what is lacking."""
    every = np.unique(np.concatenate([one.gain for one in told]))[::-1]
    for gain in every.tolist():
        here = [int(one.persons[one.gain == gain].sum()) for one in told]
        if lacking <= gain * sum(here):
            left, found = max(0, -(-lacking // gain)), []
            for own in here:
                found.append(TakenApart(gain, min(own, left)))
                left -= found[-1].more
            return tuple(found)
        lacking -= gain * sum(here)
    return tuple(TakenApart(0, 0) for _ in told)


def gains(part: GiantPart, asked: tuple[str, int]) -> Gains:
    """What is gained by whom."""
    gain, score = _of_signatures(part, *asked)
    weight = part.read("weight")
    some = np.flatnonzero(gain > 0)
    value, place = np.unique(gain[some], return_inverse=True)
    persons = np.bincount(place, weights=weight[some], minlength=value.size).astype(np.int64)
    return Gains(value, persons, int(score @ weight))


def taken_apart(part: GiantPart, asked: tuple[tuple[str, int], tuple[TakenApart, ...]]) -> Ints:
    """The places, in the file of the part, of the ids that are taken apart: those who gain alike are alike."""
    where, every = asked
    own = every[part.number]
    if own.gain <= 0:
        return np.empty(0, dtype=np.int64)
    mine = part.read("mine")
    gain = _of_signatures(part, *where)[0][mine]
    person = np.concatenate([np.flatnonzero(gain > own.gain), np.flatnonzero(gain == own.gain)[: own.more]])
    who = part.read("who") if part.path("who").exists() else np.arange(mine.size)
    return np.sort(who[person]).astype(np.int64)


def _of_signatures(part: GiantPart, folder: str, version: int) -> tuple[Ints, Ints]:
    """[signatures, as in ``group_of``] what a person gains, 1 or more who has no value left, and what one scores."""
    order, start, row, touched, alive, group_of = (
        part.read(name) for name in ("order", "start", "row", "touched", f"alive-{version}", "group_of")
    )
    weights = np.append(read_array(Path(folder) / f"{_WEIGHTS}.npy")[touched], 0)
    scores = np.zeros(alive.size, dtype=np.int64)
    for own in row:
        scores += weights.take(own)
    scores[~alive] = _NOBODY
    best = np.full(order.size, _NOBODY)
    some = np.flatnonzero(np.diff(start))
    if some.size:
        best[order[some]] = np.maximum.reduceat(scores, start[some])
    several = (group_of != ABSENT).sum(axis=0) > 1
    apart = _apart(group_of, read_array(Path(folder) / f"{_GROUPS}.npy"))
    none = best == _NOBODY
    gain = np.where(several, np.where(none, np.maximum(apart, 0) + 1, apart - best), 0)
    return gain, np.where(none, 0, best)


def _apart(group_of: Codes, most: Ints) -> Ints:
    """[signatures] what one person per release scores at best."""
    every = np.append(most, 0)  # ABSENT is the last
    found: Ints = sum(every[own] for own in group_of)
    return found
