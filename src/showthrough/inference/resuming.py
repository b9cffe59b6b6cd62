"""A posterior that outlives its process: kept as arrays, and taken up again without believing any of them.

Kept are the log of what was excluded, the answer and its multipliers; neither ids nor values. Whoever takes it up reads
the releases again, replays every exclusion as the weighing that proves it, in whole numbers and in order, and lets
the checker judge the answer. So arrays that were damaged, or made up, give no wrong answer: they are refused,
and the history is solved anew.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from showthrough.inference.apart import Apart
from showthrough.inference.face import NEVER, Face, FlowStep, Step, WeighingStep
from showthrough.inference.history import encode
from showthrough.inference.infer import SECONDS, Here
from showthrough.inference.log import Log
from showthrough.inference.posterior import Posterior, Told
from showthrough.inference.problem import Problem
from showthrough.inference.rows import LOWEST, exact_dot
from showthrough.inference.run import certified, listed
from showthrough.inference.strangers import placed
from showthrough.register.informing import informed
from showthrough.register.reader import Reader, telling
from showthrough.release.release import Release
from showthrough.table.arrays import Flags, Ints
from showthrough.table.ragged import ranges, starts

VERSION = 1
_INTS = ("removed_at", "step_start", "rows", "weights", "cluster", "first", "second")
_REALS = ("x", "mu")
_LARGEST = 2.0**55  # of all weights together: sums of them stay whole numbers


def resumable(post: Posterior) -> bool:
    """Whether a posterior is one that `Posterior.extend` goes on from, and exact: plain counts, nobody split."""
    solved = post._solved
    history = solved.history
    beside = history.reader.register is not None or history.changed.splits or history.noise or solved.doubts
    exact = bool(solved.certified.all()) and not (solved.face.suspects & solved.face.alive).any()
    return not beside and solved.problem.plain and exact and not history.set_group.size


def kept(post: Posterior) -> bytes:
    """The arrays of a posterior that is `resumable`, as an npz file with a word about itself."""
    solved = post._solved
    steps = solved.face.steps
    none = np.empty(0, dtype=np.int64)
    arrays = {
        "x": solved.x,
        "mu": solved.mu,
        "removed_at": solved.face.removed_at.astype(np.int64),
        "step_start": starts(np.array([step.rows.size for step in steps], dtype=np.int64)),
        "rows": np.concatenate([none, *(step.rows for step in steps)]),
        "weights": np.concatenate([none, *(step.weights for step in steps)]),
        "cluster": np.concatenate([none, *(step.cluster for step in steps)]),
        "first": np.array([_pair(step)[0] for step in steps], dtype=np.int64),
        "second": np.array([_pair(step)[1] for step in steps], dtype=np.int64),
    }
    word = {"showthrough": "posterior", "version": VERSION, "releases": list(post.names)}
    stream = io.BytesIO()
    arrays["word"] = np.frombuffer(json.dumps(word).encode(), dtype=np.uint8)
    np.savez_compressed(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def resumed(
    releases: Sequence[Release], content: bytes, *, seconds: float = SECONDS, progress: Told = None
) -> Posterior | None:
    """The posterior of the releases from what was `kept` of it; None if that is not what it says, or proves nothing."""
    arrays = _read(content)
    if arrays is None:
        return None
    here, log = Here(seconds=seconds), Log.of(progress, seconds)
    given = listed(releases)
    told = telling(given, (), noisy=True)
    reader = informed(Reader.of(given).checked(told), given)
    with log.stage("reading groups"):
        history, problem, of_person = placed(encode(told, changed=here.wanted.changed, reader=reader))
    if not problem.plain or not _fits(arrays, problem, len(told)):
        return None
    with log.stage("replaying"):
        face = _replayed(problem, arrays)
    if face is None:
        return None
    apart = Apart(face, face, arrays["x"].astype(np.float64), arrays["mu"].astype(np.float64))
    solved, certificate = certified(history, of_person, apart, log)
    found = Posterior(certificate, solved, here)
    return found if bool(solved.certified.all()) else None


def _pair(step: Step) -> tuple[int, int]:
    return (step.first, step.second) if isinstance(step, FlowStep) else (-1, -1)


def _read(content: bytes) -> Mapping[str, Any] | None:
    """The arrays, if they are all there and of the right kinds; never anything that runs."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as found:
            word = json.loads(found["word"].tobytes())
            arrays = {name: found[name] for name in (*_INTS, *_REALS)}
    except (
        OSError,
        ValueError,
        KeyError,
        EOFError,
        TypeError,
        zipfile.BadZipFile,
        RecursionError,
        NotImplementedError,
    ):
        return None
    if not isinstance(word, dict) or word.get("version") != VERSION:
        return None
    kinds = {**dict.fromkeys(_INTS, "i"), **dict.fromkeys(_REALS, "f")}
    right = all(arrays[name].ndim == 1 and arrays[name].dtype.kind == kind for name, kind in kinds.items())
    return arrays if right else None


def _fits(arrays: Mapping[str, Any], problem: Problem, releases: int) -> bool:
    """Whether the arrays are of this problem, and nothing in them points outside of it."""
    start, steps, rows = arrays["step_start"], arrays["first"].size, arrays["rows"]
    sizes = (
        arrays["x"].size == arrays["removed_at"].size == problem.variables and arrays["mu"].size == problem.rows.size
    )
    listed = start.size == steps + 1 == arrays["second"].size + 1 and rows.size == arrays["weights"].size
    if not sizes or not listed or rows.size != arrays["cluster"].size:
        return False
    begun = start[0] == 0 and start[-1] == rows.size and (np.diff(start) >= 0).all()
    inside = ((rows >= 0) & (rows < problem.rows.size)).all()
    small = np.abs(arrays["weights"].astype(np.float64)).sum() < _LARGEST
    removed = arrays["removed_at"]
    known = ((removed == NEVER) | ((removed >= 0) & (removed < steps))).all()
    pairs = np.concatenate([arrays["first"], arrays["second"]])
    paired = (
        ((arrays["first"] < 0) == (arrays["second"] < 0)).all() and (pairs < releases).all() and (pairs >= -1).all()
    )
    clusters = rows.size == 0 or (arrays["cluster"].min() >= 0 and arrays["cluster"].max() < 2**31)
    numbers = np.isfinite(arrays["x"]).all() and np.isfinite(arrays["mu"]).all()
    return bool(begun and inside and small and known and paired and clusters and numbers)


@dataclass(frozen=True)
class _Touched:
    """Which variables hang on a row, looked up for many rows at once."""

    start: Ints
    variable: Ints

    @classmethod
    def of(cls, problem: Problem) -> _Touched:
        sure = problem.rows.sure
        variable = np.tile(np.arange(problem.variables), sure.shape[0])
        row = sure.ravel()
        inside = row < problem.rows.size
        row, variable = row[inside], variable[inside]
        order = np.argsort(row, kind="stable")
        return cls(starts(np.bincount(row, minlength=problem.rows.size)), variable[order])

    def on(self, rows: Ints) -> Ints:
        size = self.start[rows + 1] - self.start[rows]
        return self.variable[ranges(self.start[rows], size)]


def _replayed(problem: Problem, arrays: Mapping[str, Any]) -> Face | None:
    """The face with every exclusion proven again, or None where one is not."""
    start, removed = arrays["step_start"], arrays["removed_at"]
    touched, steps = _Touched.of(problem), list[Step]()
    alive = np.ones(problem.variables, dtype=bool)
    order = np.argsort(removed, kind="stable")
    ends = np.searchsorted(removed[order], np.arange(start.size - 1), side="right")
    first = 0
    for number, end in enumerate(ends.tolist()):
        own = slice(int(start[number]), int(start[number + 1]))
        rows, weights, cluster = (arrays[name][own].astype(np.int64) for name in ("rows", "weights", "cluster"))
        zeros, first = order[first:end], end
        if zeros.size and not _proves(problem, alive, touched.on(np.unique(rows)), (rows, weights), zeros):
            return None
        alive[zeros] = False
        pair = int(arrays["first"][number]), int(arrays["second"][number])
        none = np.empty(0, dtype=np.int64)
        step = WeighingStep(rows, weights, cluster)
        steps.append(step if pair[0] < 0 else FlowStep(*pair, rows, weights, cluster, none))
    if not np.logical_or.reduceat(alive, problem.start[:-1]).all():
        return None
    suspects = np.zeros(problem.variables, dtype=bool)
    return Face(problem, alive, removed.astype(np.int32), suspects, steps)


def _proves(problem: Problem, alive: Flags, touched: Ints, weighed: tuple[Ints, Ints], zeros: Ints) -> bool:
    """Whether a weighing of some rows excludes all of ``zeros``, of what is alive: the rule of `weighing`, in whole
    numbers, on those alone whom it touches; all others score 0.

    Weighings of one step that are arguments of their own prove together what each proves: if each comes out even, so
    does their sum, and whoever scores less in one scores less in all.
    """
    weights = np.zeros(problem.rows.size + 1, dtype=np.int64)
    np.add.at(weights, weighed[0], weighed[1])
    signatures = np.unique(problem.signature[touched])
    size = problem.start[signatures + 1] - problem.start[signatures]
    own = ranges(problem.start[signatures], size)
    score = weights[problem.rows.sure[:, own]].sum(axis=0)
    best = np.maximum.reduceat(np.where(alive[own], score, LOWEST), starts(size)[:-1]) if own.size else score
    surplus = exact_dot(problem.weight[signatures], best) - exact_dot(problem.rows.lower, weights[:-1])
    if surplus != 0:
        return False
    below = np.zeros(problem.variables, dtype=bool)
    below[own] = score < np.repeat(best, size)
    return bool(below[zeros].all())
