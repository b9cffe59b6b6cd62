"""What is left of a component that the driver can hold: collected and answered as on one machine.

Where most persons are certain, what is open may be small, and a pass over parts costs more than the work in it. And
where zeros are suspected, the programs of one machine may prove them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from showthrough.inference.cluster.giant_face import GiantFace
from showthrough.inference.cluster.giant_kernel import Crew
from showthrough.inference.cluster.giant_part import GiantPart, Letter, letter
from showthrough.inference.cluster.giant_tasks import Errand
from showthrough.inference.face import Contradicted, Face
from showthrough.inference.history import ABSENT
from showthrough.inference.log import Log
from showthrough.inference.places import Places
from showthrough.inference.problem import Problem
from showthrough.inference.rows import Rows
from showthrough.inference.solving import close_and_solve
from showthrough.table.arrays import Codes, Ints, Reals
from showthrough.table.ragged import starts


@dataclass(frozen=True, eq=False)
class Collected:
    """The open signatures of a part."""

    weight: Reals
    start: Ints
    row: Codes
    variable: Codes


def collect(part: GiantPart, errand: Errand) -> Collected:
    """Hand over the open signatures of a part."""
    version = errand.stay.version
    names = ("weight", "start", "row", "variable")
    return Collected(*(part.read(f"open-{version}-{name}") for name in names))


@dataclass(frozen=True, eq=False)
class AtHand:
    """The answer of what was open, by part: probabilities and suspects of its open variables, and the multipliers."""

    p: list[Letter]
    suspect: list[Letter]
    mu: Reals  # [rows of the component]


def answer_at_hand(face: GiantFace, crew: Crew, row_of: Ints, log: Log) -> AtHand:
    """Solve what is open here, and take over what is proven."""
    found = crew.ask(collect, None)
    problem = _problem(face, crew, row_of, found)
    inner = Face.whole(problem)
    size = starts(np.array([one.variable.size for one in found]))
    spans = [slice(int(a), int(b)) for a, b in pairwise(size)]
    try:
        x, mu = close_and_solve(inner, log, None)
    except Contradicted as contradiction:
        if contradiction.weights is None:
            raise
        weights = np.zeros(face.rows.size, dtype=np.int64)
        weights[row_of] = contradiction.weights
        with suppress(Contradicted):
            _take_over(face, inner, found, spans, row_of)  # under which these weights contradict
        raise Contradicted(weights) from None
    _take_over(face, inner, found, spans, row_of)
    whole = np.zeros(face.rows.size)
    whole[row_of] = mu
    names = [str(part.number) for part in crew.parts]
    return AtHand(
        [letter(crew.folder, f"hand-p-{n}", x[span]) for n, span in zip(names, spans, strict=True)],
        [letter(crew.folder, f"hand-suspect-{n}", inner.suspects[span]) for n, span in zip(names, spans, strict=True)],
        whole,
    )


def _take_over(face: GiantFace, inner: Face, found: list[Collected], spans: list[slice], row_of: Ints) -> None:
    """Exclude in the parts what is excluded here."""
    if not inner.alive.all():
        zeros = [one.variable[~inner.alive[span]].astype(np.int64) for one, span in zip(found, spans, strict=True)]
        face.exclude(zeros, [step.within(row_of) for step in inner.steps])


def _problem(face: GiantFace, crew: Crew, row_of: Ints, found: list[Collected]) -> Problem:
    row = [
        np.append(own, row_of.size).astype(np.int32).take(one.row) for own, one in zip(crew.rows, found, strict=True)
    ]
    sure = np.concatenate(row, axis=1)
    start = starts(np.concatenate([np.diff(one.start) for one in found]))
    left, rows = face.left[row_of], face.rows
    group = np.append(rows.row_group[row_of], ABSENT).astype(np.int32)
    value = np.append(rows.row_value[row_of], 0).astype(np.int32)
    release = np.searchsorted(rows.first_group, rows.row_group[row_of], side="right") - 1
    places = Places(
        group.take(sure[:, start[:-1]]), int(rows.first_group[-1]), np.zeros(1, dtype=np.int64),
        np.empty(0, dtype=np.int32),
    )  # fmt: skip
    return Problem(
        weight=np.concatenate([one.weight for one in found]).astype(np.int64),
        places=places,
        start=start,
        value=value.take(sure.min(axis=0)),
        rows=Rows(left, left, sure, tuple(range(sure.shape[0]))),
        row_value=value[:-1],
        row_group=group[:-1],
        row_release=release.astype(np.int32),
    )
