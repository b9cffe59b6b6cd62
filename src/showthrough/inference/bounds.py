"""Sharp bounds: the smallest and largest P(value | person) over all assignments that fit.

Signatures are solved in persons, y[σ, s] = Σ x over the persons of the signature. One of its w
persons can take as much of s as there is, up to 1, and must take only what the others cannot hold,
so its bounds are min(1, max y) and max(0, min y − (w − 1)).

Every solution of a program is a feasible point and settles many bounds at once: a variable seen at
w − 1 or below has lower bound 0, one seen at 1 or above has upper bound 1. Only what no point has
settled gets programs of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context

import numpy as np

from showthrough.inference.arrays import Flags, Ints, Reals
from showthrough.inference.face import Face
from showthrough.inference.reduce import Reduced, reduce

Progress = Callable[[int, int], None]

_SNAP = 1e-9
_CHUNK = 400  # variables per job, so that one large component is shared out too
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """Some variables of one component."""

    reduced: Reduced  # the component alone
    wanted: Ints  # positions of variables in it


def bounds(
    face: Face, signatures: Ints, *, workers: int = 1, progress: Progress = lambda _done, _all: None
) -> tuple[Ints, Reals, Reals]:
    """Variables of the asked signatures that are not proven zero, with their lower and upper bounds."""
    problem = face.problem
    asked = np.zeros(problem.signatures, dtype=bool)
    asked[signatures] = True
    lower, upper = np.zeros(problem.variables), np.zeros(problem.variables)
    alone = face.alive & (face.choices() == 1)[problem.signature]
    lower[alone] = upper[alone] = 1.0
    reduced = reduce(problem, face.alive)
    if reduced.components:
        _closed_form(reduced, lower, upper)
        jobs = list(_jobs(reduced, asked[problem.signature]))
        for done, (variables, low, high) in enumerate(_results(jobs, workers), start=1):
            lower[variables], upper[variables] = low, high
            progress(done, len(jobs))
    wanted = np.flatnonzero(face.alive & asked[problem.signature])
    return wanted, lower[wanted], upper[wanted]


def _closed_form(reduced: Reduced, lower: Reals, upper: Reals) -> None:
    """A signature that is alone in its component holds the counts of its rows."""
    single = (np.bincount(reduced.signature_component) == 1)[reduced.signature_component]
    mine = np.repeat(single, np.diff(reduced.start))
    y = np.zeros(mine.size)
    for row in reduced.row:
        here = mine & (row < reduced.rows)
        y[here] = reduced.count[row[here]]
    weight = np.repeat(reduced.weight, np.diff(reduced.start))
    at = reduced.variable_of[mine]
    lower[at] = np.maximum(0.0, y[mine] - (weight[mine] - 1))
    upper[at] = np.minimum(1.0, y[mine])


def _jobs(reduced: Reduced, asked: Flags) -> Iterator[Job]:
    """Components with several signatures, in chunks of variables that were asked for."""
    from showthrough.inference.newton import restrict

    sizes = np.bincount(reduced.signature_component, minlength=reduced.components)
    owner = np.repeat(reduced.signature_component, np.diff(reduced.start))
    concerned = np.zeros(reduced.components, dtype=bool)
    concerned[owner[asked[reduced.variable_of]]] = True
    several = restrict(reduced, concerned & (sizes > 1))
    first_signature = np.searchsorted(several.signature_component, np.arange(several.components + 1))
    first_row = np.searchsorted(several.row_component, np.arange(several.components + 1))
    for k in range(several.components):
        alone = _slice(several, slice(*first_signature[k : k + 2]), slice(*first_row[k : k + 2]))
        wanted = np.flatnonzero(asked[alone.variable_of])
        for first in range(0, wanted.size, _CHUNK):
            yield Job(alone, wanted[first : first + _CHUNK])


def _slice(reduced: Reduced, signatures: slice, rows: slice) -> Reduced:
    """One component of a sorted problem."""
    span = slice(int(reduced.start[signatures.start]), int(reduced.start[signatures.stop]))
    row = reduced.row[:, span].astype(np.int64)
    here = np.where(row == reduced.rows, rows.stop - rows.start, row - rows.start)
    return replace(
        reduced,
        weight=reduced.weight[signatures],
        start=reduced.start[signatures.start : signatures.stop + 1] - span.start,
        row=here.astype(reduced.row.dtype),
        count=reduced.count[rows],
        signature_component=np.zeros(signatures.stop - signatures.start, dtype=np.int64),
        row_component=np.zeros(rows.stop - rows.start, dtype=np.int64),
        row_group=reduced.row_group[rows],
        components=1,
        variable_of=reduced.variable_of[span],
        row_of=reduced.row_of[rows],
    )


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
    """The bounds of the wanted variables of one component."""
    from showthrough.inference import support

    lp = support.program(job.reduced, 0)
    weight = np.repeat(job.reduced.weight, np.diff(job.reduced.start))
    least, most = np.full(weight.size, np.inf), np.full(weight.size, -np.inf)
    for v in job.wanted:
        for sign, settled in ((1.0, least[v] <= weight[v] - 1 + _SNAP), (-1.0, most[v] >= 1 - _SNAP)):
            if not settled:
                y = support.extreme_point(lp, int(v), sign)
                np.minimum(least, y, out=least)
                np.maximum(most, y, out=most)
    low = np.maximum(0.0, least - (weight - 1))[job.wanted]
    high = np.minimum(1.0, most)[job.wanted]
    # rounding must not make an honest value impossible or certain: the ends are proven apart
    low = np.where(low < _SNAP, 0.0, low)
    return job.reduced.variable_of[job.wanted], low, np.where(high > 1 - _SNAP, 1.0, high)
