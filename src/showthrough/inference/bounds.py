"""Sharp bounds: the smallest and largest P(value | person) over all assignments that fit.

Signatures are solved in persons, y[σ, s] = Σ x over the persons of the signature. One of its w persons
can take as much of s as there is, up to 1, and must take only what the others cannot hold, so its bounds
are min(1, max y) and max(0, min y − (w − 1)).

Every solution of a program is a feasible point and settles many bounds at once: a variable seen at
w − 1 or below has lower bound 0, one seen at 1 or above has upper bound 1. Only what no point has
settled gets programs of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

from showthrough.inference.face import Face
from showthrough.inference.pairs import Pairs
from showthrough.inference.problem import Problem
from showthrough.inference.reduce import Reduced, reduce, unweighed
from showthrough.table.arrays import Flags, Ints, Reals

_SNAP = 1e-9
_CHUNK = 400  # variables per job, so that one large component is shared out too
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """Some variables of one component."""

    reduced: Reduced  # the component alone
    wanted: Ints  # its variables


def bounds(
    face: Face,
    pairs: Pairs,
    signatures: Ints,
    *,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[Reals, Reals]:
    """Lower and upper bounds per pair; only those of the asked signatures are worked out."""
    problem = face.problem
    asked = np.zeros(problem.signatures, dtype=bool)
    asked[signatures] = True
    lower, upper = np.zeros(pairs.value.size), np.zeros(pairs.value.size)
    reduced = reduce(problem, face.alive, face.rows)
    if reduced.components:
        _closed_form(reduced, problem, lower, upper)
        jobs = list(_jobs(reduced, problem, asked))
        for done, (found, low, high) in enumerate(_results(jobs, workers), start=1):
            lower[found], upper[found] = low, high
            progress(done, len(jobs))
    loose = pairs.alive & unweighed(problem, face.alive)[pairs.signature]
    lower[loose], upper[loose] = 0.0, 1.0
    sure = pairs.alive & (pairs.left() == 1)[pairs.signature]
    lower[sure] = upper[sure] = 1.0
    return lower, upper


def _closed_form(reduced: Reduced, problem: Problem, lower: Reals, upper: Reals) -> None:
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
    lower[at] = np.maximum(0.0, y - (weight - 1))
    upper[at] = np.minimum(1.0, y)


def _alone(reduced: Reduced, problem: Problem) -> Flags:
    """[k] components of one signature whose groups are known and of which nothing else is."""
    single: Flags = np.bincount(reduced.signature_component, minlength=reduced.components) == 1
    unsure = problem.unsure[problem.signature[reduced.variable_of[reduced.start[:-1]]]]
    single[reduced.signature_component[unsure]] = False
    single[reduced.row_component[reduced.rows.ranged | (reduced.rows.lower < 0)]] = False
    single[reduced.row_component[reduced.rows.stated.row]] = False
    return single


def _jobs(reduced: Reduced, problem: Problem, asked: Flags) -> Iterator[Job]:
    """Components without a closed form, in chunks of variables that were asked for."""
    concerned = np.zeros(reduced.components, dtype=bool)
    signature = problem.signature[reduced.variable_of[reduced.start[:-1]]]
    concerned[reduced.signature_component[asked[signature]]] = True
    several = reduced.restrict(concerned & ~_alone(reduced, problem))
    for alone in several.parts():
        wanted = np.flatnonzero(asked[problem.signature[alone.variable_of]])
        for first in range(0, wanted.size, _CHUNK):
            yield Job(alone, wanted[first : first + _CHUNK])


def _results(jobs: list[Job], workers: int) -> Iterator[tuple[Ints, Reals, Reals]]:
    if workers <= 1 or len(jobs) < 2:
        yield from map(solve_job, jobs)
        return
    with _one_thread_each(), ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(solve_job, job) for job in jobs]):
            yield done.result()


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


def solve_job(job: Job) -> tuple[Ints, Reals, Reals]:
    """The bounds of the wanted variables of one component; variables are told as those of the problem."""
    from showthrough.inference.program import extreme_point, program

    lp = program(job.reduced, 0)
    weight = job.reduced.weight[job.reduced.signature]
    least, most = np.full(lp.variables, np.inf), np.full(lp.variables, -np.inf)
    for k in job.wanted:
        for sign, settled in ((1.0, least[k] <= weight[k] - 1 + _SNAP), (-1.0, most[k] >= 1 - _SNAP)):
            if not settled:
                y = extreme_point(lp, int(k), sign)[: lp.variables]
                np.minimum(least, y, out=least)
                np.maximum(most, y, out=most)
    low = np.maximum(0.0, least - (weight - 1))[job.wanted]
    high = np.minimum(1.0, most)[job.wanted]
    # rounding must not make an honest value impossible or certain: the ends are proven apart
    low = np.where(low < _SNAP, 0.0, low)
    return job.reduced.variable_of[job.wanted], low, np.where(high > 1 - _SNAP, 1.0, high)
