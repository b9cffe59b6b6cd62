"""Sharp bounds: the smallest and largest P(value | person) over all assignments that fit.

Signatures are solved in persons, y[σ, s] = Σ x over the persons of the signature. One of its w persons
can take as much of s as there is, up to 1, and must take only what the others cannot hold, so its bounds
are min(1, max y) and max(0, min y − (w − 1)).

`intervals` bounds every y without a program. Every solution of a program is a feasible point and settles many
bounds at once: a variable seen at w − 1 or below has lower bound 0, one seen at 1 or above has upper bound 1, and one
seen at an end of its interval has that bound. Only what no point has settled gets programs of its own, the smallest
components first; what time leaves open keeps its interval.
"""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from showthrough.inference.clock import Clock
from showthrough.inference.intervals import Intervals
from showthrough.inference.problem import Problem
from showthrough.inference.reduce import Reduced, reduce, unweighed
from showthrough.inference.solved import Solved
from showthrough.progress import Progress
from showthrough.table.arrays import Flags, Ints, Reals

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

_SNAP = 1e-9
_CHUNK = 400  # variables per job, so that one large component is shared out too
_PER_TERM = 2e-5  # seconds that a program takes for each of its terms, at least
_LOOK = 0.2  # seconds between looks at the clock while other processes work
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Limits:
    """[pairs] lower and upper bounds, and whether nothing tighter is true."""

    lower: Reals
    upper: Reals
    sharp: Flags


@dataclass(frozen=True)
class Job:
    """Some variables of one component."""

    reduced: Reduced  # the component alone
    wanted: Ints  # its variables
    least: Reals  # [its variables] in persons, as far as is known without a program
    most: Reals


@dataclass(frozen=True)
class Sharpened:
    """Bounds of variables of the problem."""

    variable: Ints
    lower: Reals
    upper: Reals
    sharp: Flags


def bounds_frame(
    solved: Solved,
    people: Ints,
    seconds: float | None,
    workers: int,
    progress: Progress | Callable[[int, int], None],
) -> pl.DataFrame:
    """The bounds of some persons, as `Posterior.bounds` hands them out."""
    told, count = (progress, progress.count) if isinstance(progress, Progress) else (None, progress)
    asked = np.unique(solved.of_person[people])
    clock = Clock(math.inf if seconds is None else seconds, told)
    found = limits(solved, asked, clock, workers=workers, progress=count)
    wanted = np.flatnonzero(solved.pairs.alive & np.isin(solved.pairs.signature, asked))
    columns = [pl.Series("lower", found.lower[wanted]), pl.Series("upper", found.upper[wanted])]
    if seconds is not None:
        columns.append(pl.Series("sharp", found.sharp[wanted]))
    hanging = solved.hanging | solved.located_by_guess
    if hanging.any() or solved.doubts is not None:
        columns.append(pl.Series("conditional", hanging[solved.pairs.signature[wanted]]))
    return solved.per_person(wanted, *columns, people=people)


def limits(
    solved: Solved,
    signatures: Ints,
    clock: Clock,
    *,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Limits:
    """Bounds per pair; only those of the asked signatures are made sharp, as far as time allows."""
    face, pairs, problem, known = solved.face, solved.pairs, solved.problem, solved.intervals(clock)
    asked = np.zeros(problem.signatures, dtype=bool)
    asked[signatures] = True
    asked &= solved.speaking
    lower, upper = known.per_person(face, pairs)
    sharp = np.zeros(lower.size, dtype=bool)
    reduced = reduce(problem, face.alive, face.rows)
    if reduced.components:
        _closed_form(reduced, problem, Limits(lower, upper, sharp))
        jobs = [] if clock.over else list(_jobs(reduced, problem, asked, known, clock))
        for done, found in enumerate(_results(jobs, workers, clock), start=1):
            at = found.variable
            lower[at], upper[at] = np.maximum(lower[at], found.lower), np.minimum(upper[at], found.upper)
            sharp[at] = found.sharp
            progress(done, len(jobs))
    loose = pairs.alive & unweighed(problem, face.alive)[pairs.signature]
    lower[loose], upper[loose] = 0.0, 1.0
    sure = pairs.alive & (pairs.left() == 1)[pairs.signature]
    lower[sure] = upper[sure] = 1.0
    sharp |= loose | (lower == upper)
    return Limits(*solved.unless_contradicted(lower, upper), sharp & solved.speaking[pairs.signature])


def _closed_form(reduced: Reduced, problem: Problem, limits: Limits) -> None:
    """A signature whose groups are known and that is alone in its component holds the counts of its rows."""
    single = _alone(reduced, problem)[reduced.signature_component]
    mine = np.flatnonzero(np.repeat(single, np.diff(reduced.start)))
    y = np.zeros(mine.size)
    seated = (own.row[own.start[mine]] for own in reduced.rows.seats)  # only others fit several groups there
    for row in (*reduced.rows.sure[:, mine], *seated):
        here = row < reduced.rows.size
        y[here] = reduced.count[row[here]]
    weight = reduced.weight[reduced.signature[mine]]
    at = reduced.variable_of[mine]
    limits.lower[at] = np.maximum(0.0, y - (weight - 1))
    limits.upper[at] = np.minimum(1.0, y)
    limits.sharp[at] = True


def _alone(reduced: Reduced, problem: Problem) -> Flags:
    """[k] components of one signature whose groups are known and of which nothing else is."""
    single: Flags = np.bincount(reduced.signature_component, minlength=reduced.components) == 1
    unsure = problem.unsure[problem.signature[reduced.variable_of[reduced.start[:-1]]]]
    single[reduced.signature_component[unsure]] = False
    single[reduced.row_component[reduced.rows.ranged | (reduced.rows.lower < 0)]] = False
    single[reduced.row_component[reduced.rows.stated.row]] = False
    if problem.several is not None:
        single[reduced.row_component[problem.several[reduced.row_of]]] = False
    return single


def _jobs(reduced: Reduced, problem: Problem, asked: Flags, known: Intervals, clock: Clock) -> Iterator[Job]:
    """Components without a closed form, the smallest first, in chunks of variables that were asked for.

    Those of which not even one program would end in time are left out.
    """
    concerned = np.zeros(reduced.components, dtype=bool)
    signature = problem.signature[reduced.variable_of[reduced.start[:-1]]]
    concerned[reduced.signature_component[asked[signature]]] = True
    several = reduced.restrict(concerned & ~_alone(reduced, problem))
    for alone in sorted(several.parts(), key=lambda part: part.rows.terms) if several.components else ():
        if alone.rows.terms * _PER_TERM > clock.left():
            return
        wanted, own = np.flatnonzero(asked[problem.signature[alone.variable_of]]), alone.variable_of
        least, most = known.least[own], known.most[own]
        for first in range(0, wanted.size, _CHUNK):
            yield Job(alone, wanted[first : first + _CHUNK], least, most)


def _results(jobs: list[Job], workers: int, clock: Clock) -> Iterator[Sharpened]:
    """What every job finds, in any order; when time is over, the last ones find nothing."""
    if workers <= 1 or len(jobs) < 2:
        for job in jobs:
            if clock.over:
                return
            yield solve_job(job, clock)
        return
    context = get_context("spawn")
    enough, end = context.Event(), monotonic() + min(clock.left(), 1e9)
    with (
        _one_thread_each(),
        ProcessPoolExecutor(min(workers, len(jobs)), context, initializer=_begin, initargs=(enough, end)) as pool,
    ):
        waiting = {pool.submit(_job_elsewhere, job) for job in jobs}
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=_LOOK, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
                if clock.over:
                    enough.set()
                    waiting = _not_cancelled(waiting)
        finally:
            enough.set()
            _not_cancelled(waiting)


def _not_cancelled(waiting: set[Future[Sharpened]]) -> set[Future[Sharpened]]:
    """Those that have begun and will end at their next look at the clock."""
    return {future for future in waiting if not future.cancel()}


class _Elsewhere(Clock):
    """The clock of a process that works for another: it ends when that one says so."""

    def __init__(self, enough: Event, end: float) -> None:
        super().__init__(max(0.0, end - monotonic()))
        self._enough = enough

    @property
    def over(self) -> bool:
        """Whether it is time to end with what is known."""
        return self._enough.is_set() or super().over


_clock = Clock()  # of this process, if it works for another


def _begin(enough: Event, end: float) -> None:
    """An interrupt is for the process that asked, which tells the others."""
    global _clock
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _clock = _Elsewhere(enough, end)


def _job_elsewhere(job: Job) -> Sharpened:
    return solve_job(job, _clock)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Workers inherit the environment: their linear algebra must not fight over the cores."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def solve_job(job: Job, clock: Clock | None = None) -> Sharpened:
    """The bounds of the wanted variables of one component; variables are told as those of the problem."""
    from showthrough.inference.program import extreme_point, program

    lp, clock = program(job.reduced, 0), clock or Clock()
    weight = job.reduced.weight[job.reduced.signature]
    none, all_there_is = np.maximum(weight - 1, job.least) + _SNAP, np.minimum(1, job.most) - _SNAP
    least, most = np.full(lp.variables, np.inf), np.full(lp.variables, -np.inf)
    low_known, high_known = (np.zeros(lp.variables, dtype=bool) for _ in range(2))
    for k in job.wanted:
        for sign, known in ((1.0, low_known), (-1.0, high_known)):
            settled = least[k] <= none[k] if sign > 0 else most[k] >= all_there_is[k]
            if not settled and not clock.over:
                y = extreme_point(lp, int(k), sign, clock)
                if y is None:
                    continue
                np.minimum(least, y[: lp.variables], out=least)
                np.maximum(most, y[: lp.variables], out=most)
                settled = True
            known[k] = settled
    low = np.where(low_known, np.maximum(0.0, np.maximum(least, job.least) - (weight - 1)), 0.0)[job.wanted]
    high = np.where(high_known, np.minimum(1.0, np.minimum(most, job.most)), 1.0)[job.wanted]
    # rounding must not make an honest value impossible or certain: the ends are proven apart
    low = np.where(low < _SNAP, 0.0, low)
    sharp = (low_known & high_known)[job.wanted]
    return Sharpened(job.reduced.variable_of[job.wanted], low, np.where(high > 1 - _SNAP, 1.0, high), sharp)
