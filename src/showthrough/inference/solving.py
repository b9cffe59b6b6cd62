"""Close the face and solve on it: flows, then Newton's method in bursts, then programs for what is in doubt.

Every stage looks at the clock. When time is over, what the last burst found is handed on as it is: the checker
tells how much it is worth, island by island.
"""

from __future__ import annotations

import time

import numpy as np

from showthrough.inference import islands, newton, recession
from showthrough.inference.approach import approach
from showthrough.inference.closing import close_by_flow, propagate
from showthrough.inference.correction import CLOSED, ENOUGH, Corrected, correct
from showthrough.inference.crowding import take_crowded
from showthrough.inference.face import Contradicted, Face, WeighingStep, inherited, take_over
from showthrough.inference.filling import worth_filling
from showthrough.inference.log import Log
from showthrough.inference.problem import select
from showthrough.inference.reduce import Reduced, nothing_left, reduced_to, unweighed
from showthrough.inference.remaining import Remaining
from showthrough.table.arrays import Flags, Reals

_LONGEST = 16  # Newton steps of a burst
_BURST = 4  # Newton steps before looking for what falls towards zero
_PASSES = 60  # of a burst after which no further step is begun: where passes grow many, something is likely to fall
_PATIENCE = 60  # Newton steps without a find before the programs are asked, where they are quick
_LONG_PATIENCE = 150  # where they are slow
_QUICK = 4000  # terms of components whose programs are quick
_NEARLY = 20  # steps without a find before counts that are met are enough to try to finish
_FEW_VARIABLES = 100_000  # up to here looking for islands with a closed form costs more than it saves
_LITTLE = 2000  # variables
_GAIN = 0.5  # of the gap that is left: a correction that leaves more is the last
_ASTRAY = 30  # Newton steps without a find before asking anew which ends of ranges are reached
_ANOTHER = 2.0  # times what it took to come to an answer again, that have to be left to try for a better one
_SLOWLY = 0.02  # of what is doubtful, proven from answer to answer
_STUCK = 4  # answers in a row with so little proven, which are enough where systems are hard
_PROGRAMS = 6.0  # seconds for programs that make proofs of directions


def solve(face: Face, log: Log, *, among: Flags | None = None, start: Reals | None = None) -> tuple[Reals, Reals]:
    """Close the face and solve on it: the answer over terms, and the multiplier of each row.

    Islands with a closed form need no solver. ``among`` restricts the work to some islands (the rest of
    the answer stays 0); ``start`` are multipliers to begin with. ``face`` may hold exclusions already and
    gains more.
    """
    with log.stage("reading groups"):
        problem = face.problem
        log.watch(problem)
        worth = problem.variables > _FEW_VARIABLES or problem.places.releases == 1 or among is not None
        quick = islands.easy(problem) if worth else islands.none(problem)
        hard = ~quick.signatures if among is None else ~quick.signatures & among
        if not hard.any():
            return quick.x, quick.mu
        part = None if hard.all() else select(problem, hard)
    if part is None:
        del quick
        return close_and_solve(face, log, start)
    inner = inherited(face, part.problem, part.terms)
    try:
        x, mu = close_and_solve(inner, log, None if start is None else start[part.rows])
    except Contradicted as found:
        raise found.within(part.rows, part.variables, problem.rows.size) from None
    finally:
        take_over(face, inner, part.terms, part.rows)
    quick.x[part.terms], quick.mu[part.rows] = x, mu
    return quick.x, quick.mu


def close_and_solve(face: Face, log: Log, start: Reals | None) -> tuple[Reals, Reals]:
    """The same without looking for closed forms, for which nothing may be excluded before."""
    with log.stage("certain and impossible"):
        free = propagate(face)
    found = _at_once(face, free, log, start)
    if found is None:
        with log.stage("certain and impossible"):
            free = close_by_flow(face, free, log.clock)
        if not free.variable.size or log.clock.over:  # in no time no solver begins
            return nothing_left(face.problem, face.alive), np.zeros(face.problem.rows.size)
        last = [free]
        del free  # memory is dear from here on
        found = _Bursts(face, log).run(_reduced(face, last.pop()), start)
    reduced, corrected = found
    x = reduced.undo(np.maximum(corrected.x, 0.0), face.problem, face.alive)
    return x, reduced.undo_rows(corrected.mu, face.problem)


def _reduced(face: Face, free: Remaining) -> Reduced:
    """What remains and is weighed by some row."""
    if face.problem.plain:
        return reduced_to(free)
    weighed = ~unweighed(face.problem, face.alive)[free.signature]
    return reduced_to(free.only(weighed), face.rows, merging=True)


def _at_once(face: Face, free: Remaining, log: Log, start: Reals | None) -> tuple[Reduced, Corrected] | None:
    """Where little is left, most often nothing more is forced: then there is an answer without any flow."""
    if not 0 < free.variable.size <= _LITTLE:
        return None
    with log.stage("maximum entropy"):
        reduced = _reduced(face, free)
        start = None if start is None else start[reduced.row_of]
        solution = newton.solve(
            reduced, start=start, most=newton.Effort(_BURST), tell=lambda done: log.tell(reduced, done)
        )
        log.add(solution.newton_steps, solution.passes)
        if not solution.converged.all():
            return None
        corrected = correct(reduced, solution.mu)
        log.add(0, corrected.passes)
        return None if corrected.doubtful.any() or corrected.far else (reduced, corrected)


class _Bursts:
    """Newton's method in bursts: what falls towards zero is proven zero and taken out, until the rest converges."""

    def __init__(self, face: Face, log: Log) -> None:
        self.face, self.log, self.clock = face, log, log.clock
        self.mu: Reals | None = None  # [rows of the problem]
        self.damping = np.full(face.problem.rows.size, newton.DAMPED)
        self.from_here: Reals | None = None  # [rows of the problem] multipliers after the first burst
        self.factoring: bool | None = None  # whether a factorisation helps with the systems, once that is known
        self.spent = 0  # steps without a find
        self.astray = False  # whether it is time to ask which ends of ranges are reached
        self.asked: int | None = None  # steps spent when that was asked last
        self.programs = _PROGRAMS
        self.waited, self.fruitless = 0, 0  # bursts since proofs were looked for, and how often in vain
        self.best: Corrected | None = None  # of the problem at work
        self.gaining = True  # whether the last correction came clearly nearer
        self.possible: Flags | None = None  # [terms of it] small ones of which that is known
        self.answered = time.monotonic()  # when there was an answer last
        self.doubts, self.stuck = 0, 0  # how much of it was doubtful; answers in a row with hardly less of that

    def run(self, reduced: Reduced, start: Reals | None) -> tuple[Reduced, Corrected]:
        """Gives what is left as a problem of its own, and its answer; begins with what is left now."""
        self.mu, burst = start, _BURST
        while True:
            with self.log.stage("maximum entropy"):
                solution = self._burst(reduced, burst)
                self._refuse_overfull(reduced, solution)
                falling, corrected, doubted = solution.step, None, None
                ready = solution.near if self.spent > _NEARLY else solution.converged
                patience = _PATIENCE if reduced.rows.terms <= _QUICK else _LONG_PATIENCE
                if ready.all() or self.spent > patience or self.clock.over:
                    corrected = doubted = self._correct(reduced, solution.mu)
                    if self.clock.over or self._last_word(corrected):
                        return reduced, self.best or corrected
                    falling = corrected.direction
                    if not corrected.good.all() and self.spent <= patience and not solution.converged.all():
                        falling, corrected = solution.step, None
                    elif not corrected.doubtful.any():
                        if corrected.good.all() or not self.gaining or self.spent > patience:
                            return reduced, self.best or corrected
                        self.spent, self.mu = self.spent + 1, reduced.undo_rows(corrected.mu, self.face.problem)
                        continue
            with self.log.stage("certain and impossible"):
                found = self._due(corrected) and self._take_falling(reduced, solution.mu, falling)
                if doubted is not None and not found:
                    found = self._take_doubtful(reduced, doubted, solution.step)
                if corrected is not None and not found:
                    found = self._settle(reduced, corrected)
                    if not found:
                        return reduced, corrected
                if found:
                    del reduced, solution, doubted, corrected, falling
                    reduced, burst = _reduced(self.face, propagate(self.face)), _BURST
                    self.best, self.possible = None, None
                else:
                    self.spent += max(1, solution.newton_steps)
                    burst = min(2 * burst, _LONGEST)

    def _last_word(self, corrected: Corrected) -> bool:
        """Whether this is certified, and one with fewer doubts takes more time than there is, or than it is worth."""
        now, doubts = time.monotonic(), int(corrected.doubtful.sum())
        took, self.answered = now - self.answered, now
        self.stuck = self.stuck + 1 if doubts > (1 - _SLOWLY) * self.doubts > 0 else 0
        self.doubts = doubts
        late = self.clock.left() < _ANOTHER * took
        return corrected.certified and (late or (bool(self.factoring) and self.stuck >= _STUCK))

    def _burst(self, reduced: Reduced, steps: int) -> newton.Solution:
        if self.astray and not reduced.rows.exact:
            self._approach(reduced)
        rows, start = reduced.row_of, None if self.mu is None else self.mu[reduced.row_of]
        solution = newton.solve(
            reduced, start=start, damping=self.damping[rows], clock=self.clock,
            most=newton.Effort(steps, _PASSES, self.factoring),
            tell=lambda converged: self.log.tell(reduced, converged),
        )  # fmt: skip
        self.factoring = solution.factoring
        self.log.add(solution.newton_steps, solution.passes)
        self._keep(reduced, solution)
        self.astray = not solution.near.all() and (self.asked is None or self.spent >= self.asked + _ASTRAY)
        return solution

    def _approach(self, reduced: Reduced) -> None:
        """Find out which ends of ranges are reached, from the beginning or from where the method was before."""
        rows, start = reduced.row_of, None if self.mu is None or self.asked is None else self.mu[reduced.row_of]
        solution = approach(reduced, start, np.full(rows.size, newton.DAMPED), self.clock)
        self.log.add(solution.newton_steps, solution.passes)
        self._keep(reduced, solution)
        self.astray, self.asked = False, self.spent

    def _keep(self, reduced: Reduced, solution: newton.Solution) -> None:
        self.mu = reduced.undo_rows(solution.mu, self.face.problem)
        self.damping = reduced.undo_rows(solution.damping, self.face.problem)

    def _refuse_overfull(self, reduced: Reduced, solution: newton.Solution) -> None:
        """Where the counts contradict each other Newton's method runs off, and the way it goes is the proof."""
        if solution.converged.all():
            return
        if self.from_here is None or self.mu is None:
            self.from_here = self.mu
            return
        found = recession.overfull(reduced, solution.step, (self.mu - self.from_here)[reduced.row_of])
        if found is not None:
            weights = np.zeros(self.face.problem.rows.size, dtype=np.int64)
            weights[reduced.row_of[found[0]]] = found[1]
            raise Contradicted(weights)

    def _correct(self, reduced: Reduced, mu: Reals) -> Corrected:
        clock = self.clock.grace() if self.clock.over else self.clock
        enough = ENOUGH if self.spent > _NEARLY else CLOSED
        corrected = correct(reduced, mu, enough=enough, clock=clock, possible=self.possible, factoring=self.factoring)
        self.log.add(0, corrected.passes)
        self.possible = corrected.possible
        self.gaining = corrected.better_than(self.best, _GAIN)
        if corrected.better_than(self.best):
            self.best = corrected
        return corrected

    def _due(self, corrected: Corrected | None) -> bool:
        """Whether to look for proofs: after each burst at first, less often the longer nothing is found."""
        self.waited += 1
        return corrected is not None or self.waited > self.fruitless

    def _take_falling(self, reduced: Reduced, mu: Reals, direction: Reals) -> bool:
        """Exclude what the direction proves to be zero; say whether it was anything."""
        crowded = worth_filling(reduced.rows, reduced.rows.variables)
        if crowded and take_crowded(self.face, reduced, (mu, direction), self.clock):
            return True
        x, _ = reduced.sweeps.softmax(mu)
        programs = self.clock.at_most(self.programs)
        began = time.monotonic()
        mass, hard = reduced.sweeps.mass(x), bool(self.factoring)
        found = recession.prove(reduced, mass, direction, self.clock, programs, hard=hard)
        self.programs = max(0.0, self.programs - (time.monotonic() - began))
        self.waited, self.fruitless = 0, 0 if found.zeros.size else self.fruitless + 1
        return self._exclude(reduced, found)

    def _take_doubtful(self, reduced: Reduced, corrected: Corrected, step: Reals) -> bool:
        """The same with what was found to fall back, however fast: a few zeros that are proven help with more."""
        for direction in (corrected.direction, step):
            found = recession.projected(reduced, corrected.doubtful, direction, self.clock)
            if found is not None and self._exclude(reduced, found):
                return True
        return False

    def _exclude(self, reduced: Reduced, found: recession.Found) -> bool:
        zeros = reduced.behind(found.zeros)
        if zeros.size:
            self.face.exclude(zeros, WeighingStep(reduced.row_of[found.rows], found.weights, found.cluster))
        return bool(zeros.size)

    def _settle(self, reduced: Reduced, corrected: Corrected) -> bool:
        """Let programs decide on components in doubt; what they leave open becomes suspect."""
        from showthrough.inference import settling  # loads the linear-programming library

        return settling.settle(self.face, reduced, corrected, self.clock)
