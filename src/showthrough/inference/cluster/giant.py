"""One giant component on a cluster: laid out in parts, closed, solved and checked, with its certificate.

Each call of the engine is a pure function of files on shared storage and of what it is sent, so a worker that is lost
changes no bit of the answer. The answer of a part lies in its folder: for each signature, in the order of ``group_of``,
the values that all its groups publish with their probabilities, what is possible, and what is suspected not to be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from showthrough.engines.engine import Engine
from showthrough.inference.certificate import STATES, Status, states
from showthrough.inference.cluster.giant_bursts import GiantBursts
from showthrough.inference.cluster.giant_check import GiantFinding, check
from showthrough.inference.cluster.giant_correction import Finish
from showthrough.inference.cluster.giant_face import GiantFace
from showthrough.inference.cluster.giant_hand import AtHand
from showthrough.inference.cluster.giant_kernel import Crew, Posted, Traffic
from showthrough.inference.cluster.giant_layout import WORKING, lay_out, publish
from showthrough.inference.cluster.giant_marks import ANSWER, BURSTS, GiantMark, Marks
from showthrough.inference.cluster.giant_part import GiantPart, GiantRows
from showthrough.inference.cluster.giant_tasks import Doubt, Errand
from showthrough.inference.cluster.giant_worker import Stay, at_work, let_go
from showthrough.inference.face import Contradicted, Step
from showthrough.inference.log import Log
from showthrough.storage import system
from showthrough.table.arrays import Ints, Reals
from showthrough.table.ragged import items_of, owners, starts

_PASSES = "passes-"  # folders of what goes to and fro
AT_HAND = 1_000_000  # variables: below, a pass over parts costs more than the work in it


@dataclass(frozen=True, eq=False)
class GiantAnswer:
    """What is known of a component; its probabilities lie in the folders of its parts.

    They are the arrays ``answer-start``, ``-value``, ``-p``, ``-possible`` and ``-suspect``. Where the releases
    contradict each other there are none, and ``weights`` [rows] is a weighing that shows it, if one is known.
    """

    status: Status
    mu: Reals  # [rows]
    gap: float
    residual: float
    proven_zeros: int  # of persons, as are ones
    proven_ones: int
    suspected_zeros: int  # of signatures
    signatures: int
    variables: int
    newton_steps: int
    passes: int
    steps: tuple[Step, ...]  # what excluded the zeros, in order
    traffic: Traffic
    weights: Ints | None = None
    version: int = 0  # of what was possible in the end


def solve_giant(
    engine: Engine,
    folder: str | Path,
    parts: Sequence[GiantPart],
    rows: GiantRows,
    log: Log,
    *,
    at_hand: int | None = None,
    marks: Marks | None = None,
) -> GiantAnswer:
    """The answer of one component, in parts that each hold some of its signatures.

    ``folder`` is on storage that all workers share; what it is used for is gone in the end, unless the releases
    contradict each other: then it is asked who may have changed. What is open is answered
    ``at_hand``, by the driver, if it has no more variables than this (``AT_HAND`` unless another number is given).
    With ``marks`` the work goes on from where a driver was lost, and leaves what it takes for that if it is lost.
    """
    found: GiantAnswer | None = None if marks is None else marks.read(ANSWER)
    run = uuid4().hex
    scratch = Path(folder) / f"{_PASSES}{run}"
    if found is None:
        for left in Path(folder).glob(f"{_PASSES}*") if marks is not None else ():
            system.remove(left)  # of a driver that was lost
        scratch.mkdir(parents=True)
        most = math.ceil(len(parts) / max(1, engine.workers))
        crew = Crew(engine, str(scratch), parts, Stay(run, -1, most))
        try:
            found = _Solving(crew, rows, log, AT_HAND if at_hand is None else at_hand, marks).run()
        finally:
            system.remove(scratch)
            if marks is None:
                _leave(engine, parts, found)
    if marks is not None:
        marks.put(ANSWER, found)  # before its parts are gone
        _leave(engine, parts, found)
        marks.remove(BURSTS)
    return found


def _leave(engine: Engine, parts: Sequence[GiantPart], found: GiantAnswer | None) -> None:
    engine.map(let_go, list(parts))
    if found is not None and not found.status.consistent:
        return
    for part in parts:
        part.remove(*WORKING, "alive-*", "open-*")


@dataclass
class _Solving:
    """The way from parts to an answer."""

    crew: Crew
    rows: GiantRows
    log: Log
    at_hand: int
    marks: Marks | None

    def run(self) -> GiantAnswer:
        """From the beginning, or from the last mark."""
        engine, parts, rows = self.crew.engine, self.crew.parts, self.rows
        mark: GiantMark | None = None if self.marks is None else self.marks.read(BURSTS)
        with self.log.stage("reading groups"):
            publish(Path(self.crew.folder), rows)
            if mark is None:
                laid = engine.map(lay_out, list(parts), self.crew.folder)
                self.size = sum(a.signatures for a in laid), sum(a.variables for a in laid), sum(a.empty for a in laid)
                self.face = GiantFace.whole(engine, parts, rows)
            else:
                self.size = mark.signatures, mark.variables, mark.empty
                self.face = GiantFace.marked(engine, parts, rows, mark.face)
                self.log.add(mark.newton_steps, mark.passes)
        return self._solved(None if mark is None else mark.bursts)

    def _mark(self, state: dict[str, Any]) -> None:
        assert self.marks is not None
        log = self.log
        self.marks.put(BURSTS, GiantMark(*self.size, self.face.mark(), state, log.newton_steps, log.passes))
        self.face.hold()

    def _solved(self, state: Mapping[str, Any] | None) -> GiantAnswer:
        mu, size, made = np.zeros(self.rows.size), self.size[:2], (self.crew, self.face, self.log)
        bursts = GiantBursts(self.face, self.crew, self.log, self.at_hand, None if self.marks is None else self._mark)
        if state is not None:
            bursts.go_on(state)
        try:
            if self.size[2]:
                raise Contradicted(emptied=0)
            found = bursts.run()
        except Contradicted as contradiction:
            return _answer(
                Status.CONTRADICTORY, mu, GiantFinding(0.0, 0.0, 0, 0, 0), size, made, contradiction.weights
            )  # fmt: skip
        with self.log.stage("certificate"):
            if found is not None:
                mu = found.mu
            _write(self.crew, self.face, found)
            finding = check(self.crew.engine, Path(self.crew.folder), self.crew.parts, self.rows, mu)
            largest = int(self.rows.row_count.max(initial=1))
            judged = (np.array([finding.gap]), np.array([finding.residual]), np.array([finding.suspected]))
            status = STATES[int(states(*judged, largest)[0])]
        return _answer(status, mu, finding, size, made, None)


def _answer(
    status: Status,
    mu: Reals,
    finding: GiantFinding,
    size: tuple[int, int],
    made: tuple[Crew, GiantFace, Log],
    weights: Ints | None,
) -> GiantAnswer:
    crew, face, log = made
    known = status.consistent
    return GiantAnswer(
        status=status,
        mu=mu,
        gap=finding.gap,
        residual=finding.residual,
        proven_zeros=finding.proven_zeros if known else 0,
        proven_ones=finding.proven_ones if known else 0,
        suspected_zeros=finding.suspected,
        signatures=size[0],
        variables=size[1],
        newton_steps=log.newton_steps,
        passes=log.passes,
        steps=tuple(face.steps),
        traffic=crew.traffic,
        weights=weights,
        version=face.version,
    )


def _write(crew: Crew, face: GiantFace, found: Finish | AtHand | None) -> None:
    """Let the parts write their answers."""
    if found is None:
        crew.ask(write_answer, None, wish=Writing(face.version))
    elif isinstance(found, AtHand):
        crew.ask(write_answer, None, Posted(found.p), Posted(found.suspect), wish=Writing(face.version, given=True))
    else:
        doubts = dict(zip((part.number for part in crew.parts), found.doubts, strict=True)) if found.doubtful else None
        crew.ask(write_answer, found.place, found.step, wish=Writing(face.version, found.cut, doubts))


@dataclass(frozen=True)
class Writing:
    """What the answer of a part is made of: what is possible, and the point that was found, or was given."""

    version: int
    cut: float = 0.0
    doubts: dict[int, Doubt] | None = None
    given: bool = False


def write_answer(part: GiantPart, errand: Errand) -> None:
    """Write the answer of a part: what is certain, what was found, and an even spread where nothing was."""
    wish: Writing = errand.wish
    order, start, value, alive = (part.read(name) for name in ("order", "start", "value", f"alive-{wish.version}"))
    owner = owners(start)
    choices = np.bincount(owner[alive], minlength=order.size)
    p = alive / np.maximum(choices, 1).take(owner)
    suspect = np.zeros(value.size, dtype=bool)
    if errand.calls[part.number].letters:
        variable = part.read(f"open-{errand.stay.version}-variable")
        if wish.given:
            p[variable], suspect[variable] = errand.read(part), errand.read(part, 1)
        else:
            work = at_work(part, errand.stay)
            if wish.doubts is not None:
                suspect[variable] = wish.doubts[part.number].flags(work)
            x = work.moved(errand.spot(part), errand.read(part))
            x[x < wish.cut] = 0.0
            p[variable] = x
            let_go(part)
    at, length = items_of(start, np.argsort(order))
    part.write(
        **{
            "answer-start": starts(length),
            "answer-value": value.take(at),
            "answer-p": p.take(at),
            "answer-possible": alive.take(at),
            "answer-suspect": suspect.take(at),
        }
    )
