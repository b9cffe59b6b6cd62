"""What noisy counts make of what the other releases leave open: a belief, never a proof.

Where a component, tied together by its own counts and by the cells of noisy tables, is small, its worlds are counted,
each weighed by the prior and by how likely the noise is that turns its counts into the published ones: Bayes' rule.
Elsewhere the answer is the one with the most entropy less the misfit of the noise at the expected counts,

    maximise  H(x) + Σ_rows log f(published − expected(x))   over all x that meet the counts of the other releases.

f falls off like e^(−|t|/b) or e^(−t²/2σ²), so this is concave, and in the dual a noisy row is one more multiplier: one
that is at most 1/b in size, or that costs σ²θ²/2. A row that may hold anything between two counts has two, of one sign
each.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from showthrough.inference import worlds
from showthrough.inference.certificate import STATES, Certificate, NoiseEvidence, Status
from showthrough.inference.clock import Clock
from showthrough.inference.log import Log
from showthrough.inference.noise_program import solve
from showthrough.inference.noise_rows import NoisyProblem, with_noise
from showthrough.inference.reduce import Reduced, reduce
from showthrough.inference.solved import Solved
from showthrough.inference.world_layers import size_of
from showthrough.table.arrays import Flags, Ints

COUNTED = 20_000  # steps of counting that are worth trying before expected counts
_LARGEST = 2_000  # variables of a component that is worth trying at all
_SHARE = 0.3  # of the time that is left, for counting worlds
NEAR = 1e-4  # persons; counts that are missed by more make the answer no result
BELOW = float(np.nextafter(1.0, 0.0))  # what is open is never certain, however narrow the noise
BELIEVED, UNCERTIFIED = STATES.index(Status.BELIEVED), STATES.index(Status.UNCERTIFIED)


def believed(
    solved: Solved, certificate: Certificate, log: Log, *, most_states: int = COUNTED
) -> tuple[Solved, Certificate]:
    """The answer with what noisy counts add, and a certificate that says so."""
    history = solved.history
    if not history.noise:
        return solved, certificate
    with log.stage("noise"):
        found = _Weighed(solved, with_noise(history, solved.problem, solved.of_person, solved.face.alive))
        found.by_worlds(most_states, time.monotonic() + _SHARE * log.clock.left())
        found.by_expectation(log.clock)
    told = replace(solved, x=found.x, state=found.state, unweighed=solved)
    persons = np.bincount(told.states, minlength=len(STATES)).tolist()
    evidence = NoiseEvidence(
        releases=len({table.release for table in history.noise}),
        by_worlds=int(found.counted[solved.mine].sum()),
        by_expected_counts=int(found.expected[solved.mine].sum()),
        residual=found.residual,
    )
    return told, replace(
        certificate,
        status=STATES[max(int(told.state.max(initial=0)), STATES.index(certificate.status))],
        persons_by_state={str(s): n for s, n in zip(STATES, persons, strict=True) if n},
        evidence=evidence,
    )


class _Weighed:
    """An answer on its way from what the releases leave open to what noise makes of it."""

    def __init__(self, solved: Solved, noise: NoisyProblem) -> None:
        self.solved, self.noise = solved, noise
        self.x, self.state = solved.x.copy(), solved.state.copy()
        self.reduced: Reduced = reduce(noise.problem, noise.alive)
        signatures = solved.problem.signatures
        self.counted, self.expected = np.zeros(signatures, dtype=bool), np.zeros(signatures, dtype=bool)
        self.residual = 0.0
        touched = np.zeros(self.reduced.components, dtype=bool)
        touched[self.reduced.row_component[noise.of(self.reduced)]] = True
        known = solved.consistent[self._signatures()]
        open_ones = np.ones(self.reduced.components, dtype=bool)
        open_ones[self.reduced.signature_component[~known]] = False  # nothing to weigh where nothing fits
        self.left: Flags = touched & open_ones
        unweighed = (touched & ~open_ones)[self.reduced.signature_component]
        own = self._signatures()[unweighed & known]
        self.state[own] = np.maximum(self.state[own], UNCERTIFIED)  # it concerns them, and was not heard

    def _signatures(self) -> Ints:
        """[m of the reduced problem] the signature of the whole."""
        return self.noise.problem.signature[self.reduced.variable_of[self.reduced.start[:-1]]]

    def by_worlds(self, most_states: int, deadline: float) -> None:
        """Count the worlds of the components that are small."""
        reduced = self.reduced
        rows, size = self.noise.of(reduced), size_of(reduced)
        for component in np.flatnonzero(self.left & (size <= _LARGEST)).tolist():
            own = rows[reduced.row_component[rows] == component].tolist()
            if time.monotonic() > deadline:
                return
            try:
                weights = {r: self.noise.likelihood(reduced, r) for r in own}
                found = worlds.count(
                    reduced, component, most_states=most_states, deadline=deadline, believed=True, noise=weights
                )
            except worlds.TooManyStates:
                continue
            if found.total:
                variables = np.array(sorted(found.share), dtype=np.int64)
                self.x[variables] = [min(BELOW, float(found.share[int(v)])) for v in variables]
                self._settle(reduced.signature_component == component, self.counted, BELIEVED)
                self.left[component] = False

    def by_expectation(self, clock: Clock) -> None:
        """Weigh expected counts in all other components."""
        if not self.left.any():
            return
        part = self.reduced.restrict(self.left)
        start = np.append(self.solved.mu, np.zeros(self.noise.rows))[part.row_of]
        found = solve(part, self.noise, start, clock)
        self.x[part.variable_of] = np.minimum(found.x, BELOW)
        self.residual = float(found.missed.max(initial=0.0))
        good = np.ones(self.reduced.components, dtype=bool)
        good[np.flatnonzero(self.left)] = found.missed <= NEAR
        inside = self.left[self.reduced.signature_component]
        fine = good[self.reduced.signature_component]
        self._settle(inside & fine, self.expected, BELIEVED)
        self._settle(inside & ~fine, self.expected, UNCERTIFIED)

    def _settle(self, chosen: Flags, flags: Flags, state: int) -> None:
        own = self._signatures()[chosen]
        flags[own] = True
        self.state[own] = np.maximum(self.state[own], state)
