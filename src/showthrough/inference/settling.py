"""Components in doubt: programs tell which variables are forced to zero, and prove it where they can."""

from __future__ import annotations

import numpy as np

from showthrough.inference import support
from showthrough.inference.clock import Clock
from showthrough.inference.correction import Corrected
from showthrough.inference.face import Contradicted, Face, WeighingStep
from showthrough.inference.program import program
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Ints

_SECONDS = 60.0  # for the programs of one component of which no point that meets the counts is known
_PER_ZERO = 0.01  # seconds for each zero that is to be proven, where such a point is known
_LEAST, _MOST = 4.0, 24.0  # seconds
_LARGEST = 400_000  # terms of a component whose program fits in memory and time
_LARGE = 60_000  # terms of one in which only proofs are missing: a step of the program must be a matter of seconds


def settle(face: Face, reduced: Reduced, corrected: Corrected, clock: Clock) -> bool:
    """Exclude what programs prove; what they leave open becomes suspect. Says whether anything was excluded."""
    owner, doubtful = reduced.term_component, corrected.doubtful
    size = np.bincount(owner, minlength=reduced.components)
    met = corrected.met
    concerned = np.unique(np.concatenate([owner[doubtful], np.flatnonzero(~met)]))
    found = False
    for number, component in enumerate(concerned[np.argsort(size[concerned], kind="stable")]):
        clock.progress.count(number, concerned.size)
        mine = np.zeros(face.problem.terms, dtype=bool)
        doubts = reduced.behind(np.flatnonzero(doubtful & (owner == component)))
        mine[doubts] = True
        known = bool(met[component])
        if size[component] <= (_LARGE if known else _LARGEST) and not clock.over:
            lp = program(reduced, int(component))
            seconds = min(_MOST, max(_LEAST, _PER_ZERO * doubts.size)) if known else _SECONDS
            verdict = support.decide(face, lp, clock.at_most(seconds), feasible=known)
            if verdict.contradiction is not None:
                raise Contradicted(verdict.contradiction)
            found |= _exclude(face, verdict.proofs)
            if verdict.decided:
                mine = verdict.zeros
        terms = reduced.behind(np.flatnonzero(owner == component))
        face.suspects[terms] = (mine & face.alive)[terms]
    return found


def _exclude(face: Face, proofs: list[Ints]) -> bool:
    """Take out what weighings prove to be zero."""
    found = False
    for weights in proofs:
        weighed = face.weigh(weights)
        zeros: Ints = np.flatnonzero(weighed.zeros()) if weighed.proven else np.empty(0, dtype=np.int64)
        if zeros.size:
            rows = np.flatnonzero(weights)
            face.exclude(zeros, WeighingStep(rows, weights[rows], np.zeros_like(rows)))
            found = True
    return found
