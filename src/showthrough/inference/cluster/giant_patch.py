"""Zeros that no row shows alone: workers tell who is in the rows that move, and the driver weighs that patch exactly.

A patch has every signature with a choice that stands in one of its rows, so weights on these rows alone are weighed in
full (`recession`): all other rows weigh nothing. Nothing is believed that does not check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from showthrough.inference import recession
from showthrough.inference.clock import Clock
from showthrough.inference.cluster import giant_tasks as tasks
from showthrough.inference.cluster.giant_face import GiantFace
from showthrough.inference.cluster.giant_kernel import Crew, GiantKernel, Place, figures
from showthrough.inference.cluster.giant_part import GiantPart
from showthrough.inference.cluster.giant_tasks import Doubt, Errand
from showthrough.inference.cluster.giant_worker import at_work, plain_problem
from showthrough.inference.face import Contradicted, WeighingStep
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.ragged import items_of, starts

_STILL = (0.02, 0.1, 0.3)  # rows that move less take no part; more where a patch would be too large
_MOST = 3_000_000  # variables of a patch
_SHORT = 1e-7  # of what is counted: below, a sum that is too small may be rounding
_FINER = (1, 2, 6, 20, 100, 1000, 10_000, 100_000, 1_000_000)  # the largest weight of a contradiction
_LARGEST = 2.0**62


@dataclass(frozen=True)
class MovingRows:
    """Everybody in rows that move more than ``still``, if they are not too many; with what is doubtful of them."""

    still: float
    most: int
    doubts: dict[int, Doubt] | None = None


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The signatures of a part in rows that move; how many variables only, if those are too many."""

    variables: int
    weight: Reals
    length: Ints
    row: Codes  # of the part
    x: Reals
    variable: Codes  # of the part, as it was laid out
    doubtful: Flags


def neighbours(part: GiantPart, errand: Errand) -> Neighbours:
    """Who is in the rows that move along a direction."""
    work, wanted = at_work(part, errand.stay), errand.wish
    problem, moving = work.problem, np.append(np.abs(errand.read(part)) > wanted.still, False)
    touching = np.zeros(problem.rows.variables, dtype=bool)
    for own in problem.rows.sure:
        touching |= moving.take(own)
    signatures = np.unique(np.searchsorted(problem.start, np.flatnonzero(touching), side="right") - 1)
    at, length = items_of(problem.start, signatures)
    size = at.size
    if size > wanted.most:
        at, length, signatures = at[:0], length[:0], signatures[:0]
    x, doubtful, variable = np.empty(0), np.zeros(at.size, dtype=bool), np.empty(0, dtype=np.int32)
    if at.size:
        if wanted.doubts is not None:
            doubtful = wanted.doubts[part.number].flags(work)[at]
        x = work.shares(errand.spot(part)).take(at)
        variable = part.read(f"open-{errand.stay.version}-variable").take(at)
    row = problem.rows.sure.take(at, axis=1)
    return Neighbours(size, problem.weight[signatures], length, row, x, variable, doubtful)


@dataclass(frozen=True, eq=False)
class GiantPatch:
    """Rows that move with everybody in them."""

    rows: Ints  # of the open problem
    problem: Reduced
    x: Reals
    doubtful: Flags
    part: Ints  # [v]
    variable: Ints  # [v] in its part

    def zeros(self, found: Ints, parts: int) -> list[Ints]:
        """[parts] some variables, by the numbers that their parts know."""
        return [self.variable[found[self.part[found] == k]] for k in range(parts)]


def cut(kernel: GiantKernel, place: Place, flat: Reals, doubts: Sequence[Doubt] | None = None) -> GiantPatch | None:
    """The patch of a direction without constants of groups; None if nothing moves, or everything does."""
    crew = kernel.crew
    posted, flags = crew.post(flat), None
    if doubts is not None:
        flags = {part.number: own for part, own in zip(crew.parts, doubts, strict=True)}
    for still in _STILL:
        if not (np.abs(flat) > still).any():
            return None
        found = crew.ask(neighbours, place, posted, wish=MovingRows(still, _MOST // len(crew.parts), flags))
        if all(one.variables == one.variable.size for one in found):
            return _joined(crew, kernel, found, np.flatnonzero(np.abs(flat) > still))
    return None


def _joined(crew: Crew, kernel: GiantKernel, found: Sequence[Neighbours], rows: Ints) -> GiantPatch:
    place = np.full(crew.size + 1, rows.size, dtype=np.int32)
    place[rows] = np.arange(rows.size, dtype=np.int32)
    sure = [place.take(np.append(own, crew.size).take(one.row)) for own, one in zip(crew.rows, found, strict=True)]
    start = starts(np.concatenate([one.length for one in found]))
    left = kernel.problem.rows.lower[rows]
    problem = plain_problem(start, np.concatenate(sure, axis=1), np.concatenate([one.weight for one in found]), left)
    return GiantPatch(
        rows,
        problem,
        np.concatenate([one.x for one in found]),
        np.concatenate([one.doubtful for one in found]),
        np.repeat(np.arange(len(found)), [one.x.size for one in found]),
        np.concatenate([one.variable for one in found]).astype(np.int64),
    )


def flattened(kernel: GiantKernel, d: Reals, row_group: Ints) -> Reals:
    """A direction without the constant of each group."""
    return recession.without_group_constants(replace(kernel.problem, row_block=row_group), d)


def take_falling(face: GiantFace, patch: GiantPatch, row_of: Ints, flat: Reals, clocks: tuple[Clock, Clock]) -> int:
    """Exclude what a direction proves to be zero; says how many that are."""
    return _exclude(face, patch, row_of, recession.prove(patch.problem, patch.x, flat[patch.rows], *clocks))


def take_doubtful(face: GiantFace, patch: GiantPatch, row_of: Ints, flat: Reals, clock: Clock) -> int:
    """The same of what is doubtful, however fast it falls."""
    found = recession.projected(patch.problem, patch.doubtful, flat[patch.rows], clock)
    return 0 if found is None else _exclude(face, patch, row_of, found)


def _exclude(face: GiantFace, patch: GiantPatch, row_of: Ints, found: recession.Found) -> int:
    if found.zeros.size:
        step = WeighingStep(row_of[patch.rows[found.rows]], found.weights, found.cluster)
        face.exclude(patch.zeros(found.zeros, len(face.parts)), [step])
    return int(found.zeros.size)


def refuse_overfull(kernel: GiantKernel, row_of: Ints, rows: int, *directions: Reals) -> None:
    """Where the counts contradict each other Newton's method runs off, and the way it goes is the proof.

    ``directions`` have no constants of groups. Floating point finds the way, whole numbers decide.
    """
    crew, left = kernel.crew, kernel.problem.rows.lower
    for flat in directions:
        reached = left * flat
        surplus = sum(figures(crew.ask(tasks.best_scores, None, crew.post(flat)))) - float(reached.sum())
        if not surplus < -_SHORT * float(np.abs(reached).sum()):
            continue
        unit = flat / max(float(np.abs(flat).max()), _STILL[0])
        for scale in _FINER:
            whole = np.rint(scale * unit).astype(np.int64)
            if scale * kernel.problem.rows.sure.shape[0] * 2 * (float(left.sum()) + 1) >= _LARGEST:
                break
            if sum(crew.ask(tasks.weigh_whole, None, crew.post(whole))) < int(left @ whole):
                weights = np.zeros(rows, dtype=np.int64)
                weights[row_of] = whole
                raise Contradicted(weights)
