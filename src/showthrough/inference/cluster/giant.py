"""One giant component on a cluster: laid out in parts, closed, solved and checked, with its certificate.

Each call of the engine is a pure function of files on shared storage and of what it is sent, so a worker that is lost
changes no bit of the answer. The answer of a part lies in its folder: for each signature, in the order of ``group_of``,
the values that all its groups publish with their probabilities, what is possible, and what is suspected not to be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np

from showthrough.engines.engine import Engine
from showthrough.inference.certificate import STATES, Status, states
from showthrough.inference.cluster.giant_bursts import GiantBursts
from showthrough.inference.cluster.giant_check import GiantFinding, check
from showthrough.inference.cluster.giant_correction import Finish
from showthrough.inference.cluster.giant_face import GiantFace
from showthrough.inference.cluster.giant_kernel import Crew, Traffic
from showthrough.inference.cluster.giant_layout import LaidPart, lay_out, publish
from showthrough.inference.cluster.giant_part import GiantPart, GiantRows
from showthrough.inference.cluster.giant_tasks import Errand
from showthrough.inference.cluster.giant_worker import Stay, at_work, forget
from showthrough.inference.face import Contradicted, WeighingStep
from showthrough.inference.log import Log
from showthrough.storage import system
from showthrough.table.arrays import Ints, Reals
from showthrough.table.ragged import items_of, owners, starts


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
    steps: tuple[WeighingStep, ...]  # what excluded the zeros, in order
    traffic: Traffic
    weights: Ints | None = None


def solve_giant(
    engine: Engine, folder: str | Path, parts: Sequence[GiantPart], rows: GiantRows, log: Log
) -> GiantAnswer:
    """The answer of one component, in parts that each hold some of its signatures.

    ``folder`` is on storage that all workers share; what it is used for is gone in the end.
    """
    run = uuid4().hex
    scratch = Path(folder) / f"giant-{run}"
    scratch.mkdir(parents=True)
    most = math.ceil(len(parts) / max(1, engine.workers))
    crew = Crew(engine, str(scratch), parts, Stay(run, -1, most))
    try:
        with log.stage("reading groups"):
            publish(scratch, rows)
            laid = engine.map(lay_out, list(parts), str(scratch))
        return _solved(crew, scratch, rows, laid, log)
    finally:
        engine.map(forget, list(parts), run)
        system.remove(scratch)


def _solved(crew: Crew, scratch: Path, rows: GiantRows, laid: Sequence[LaidPart], log: Log) -> GiantAnswer:
    engine, parts = crew.engine, crew.parts
    mu, signatures, variables = np.zeros(rows.size), sum(a.signatures for a in laid), sum(a.variables for a in laid)
    face = GiantFace.whole(engine, parts, rows, laid)
    try:
        if any(one.empty for one in laid):
            raise Contradicted(emptied=0)
        work, found = GiantBursts(face, crew, log).run()
    except Contradicted as contradiction:
        return _answer(
            Status.CONTRADICTORY, mu, GiantFinding(0.0, 0.0, 0, 0, 0), (signatures, variables), (crew, face, log),
            contradiction.weights,
        )  # fmt: skip
    with log.stage("certificate"):
        if found is not None:
            mu[work.row_of] = found.mu
        _write(crew, face, found)
        finding = check(engine, scratch, parts, rows, mu)
        largest = int(rows.row_count.max(initial=1))
        judged = (np.array([finding.gap]), np.array([finding.residual]), np.array([finding.suspected]))
        status = STATES[int(states(*judged, largest)[0])]
    return _answer(status, mu, finding, (signatures, variables), (crew, face, log), None)


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
    )


def _write(crew: Crew, face: GiantFace, found: Finish | None) -> None:
    """Let the parts write their answers."""
    wish = face.version, None if found is None else found.cut, None
    if found is None:
        crew.ask(write_answer, None, wish=wish)
        return
    doubts = {part.number: own for part, own in zip(crew.parts, found.doubts, strict=True)} if found.doubtful else None
    crew.ask(write_answer, found.place, found.step, wish=(face.version, found.cut, doubts))


def write_answer(part: GiantPart, errand: Errand) -> None:
    """Write the answer of a part: what is certain, what was found, and an even spread where nothing was."""
    version, cut, doubts = errand.wish
    order, start, value, alive = (part.read(name) for name in ("order", "start", "value", f"alive-{version}"))
    owner = owners(start)
    choices = np.bincount(owner[alive], minlength=order.size)
    p = alive / np.maximum(choices, 1).take(owner)
    suspect = np.zeros(value.size, dtype=bool)
    if cut is not None:
        work = at_work(part, errand.stay)
        variable = part.read(f"open-{version}-variable")
        if doubts is not None:
            suspect[variable] = doubts[part.number].flags(work)
        x = work.moved(errand.spot(part), errand.read(part))
        x[x < cut] = 0.0
        p[variable] = x
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
