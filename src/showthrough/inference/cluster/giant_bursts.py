"""Newton's method in bursts over a component in parts: what falls is proven and taken out, until the rest converges.

The same turns as in `solving`, of one component. Before each turn the state is told to whoever marks it; while there is
a finish to compare with it is not, as that has files of its own: a driver that begins anew makes it again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from showthrough.inference import newton
from showthrough.inference.cluster.giant_correction import Finish, finish
from showthrough.inference.cluster.giant_face import GiantFace, take_open
from showthrough.inference.cluster.giant_hand import AtHand, answer_at_hand
from showthrough.inference.cluster.giant_kernel import Crew, GiantKernel, rows_alone
from showthrough.inference.cluster.giant_patch import cut, flattened, refuse_overfull, take_doubtful, take_falling
from showthrough.inference.correction import CLOSED, ENOUGH
from showthrough.inference.log import Log
from showthrough.table.arrays import Ints, Reals

_LONGEST = 16  # Newton steps of a burst; these as in `solving`
_BURST = 4
_PASSES = 60
_PATIENCE = 150
_NEARLY = 20
_GAIN = 0.5
_SETTLED = 400_000  # variables of which the programs of one machine can decide
_PROGRAMS = 6.0  # seconds for programs that make proofs of directions
_STATE = (
    "at_hand", "mu", "damping", "from_here", "spent", "waited", "fruitless", "programs", "burst", "gaining",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class OpenRows:
    """The rows that somebody with a choice stands in, and the passes over these."""

    row_of: Ints
    kernel: GiantKernel
    signatures: int
    variables: int


class GiantBursts:
    """Bursts, and what they have found so far."""

    def __init__(
        self, face: GiantFace, crew: Crew, log: Log, at_hand: int, mark: Callable[[dict[str, Any]], None] | None = None
    ) -> None:
        self.face, self.crew, self.log, self.clock = face, crew, log, log.clock
        self.told = mark
        self.at_hand = at_hand  # variables that the driver can hold
        rows = face.rows.size
        self.mu: Reals | None = None  # [rows of the component]
        self.damping = np.full(rows, newton.DAMPED)
        self.from_here: Reals | None = None
        self.spent = 0  # steps without a find
        self.waited, self.fruitless = 0, 0
        self.programs = _PROGRAMS
        self.burst = _BURST
        self.best: Finish | None = None
        self.gaining = True

    def go_on(self, state: Mapping[str, Any]) -> None:
        """From where another driver was."""
        vars(self).update(state)

    def _mark(self) -> None:
        if self.told is not None and self.best is None:
            self.told({name: getattr(self, name) for name in _STATE})

    def run(self) -> Finish | AtHand | None:
        """The answer of what is open in the end; None: nothing is open, or there was no time."""
        work, found = self._run()
        if found is not None and found.doubtful:
            self.at_hand = max(self.at_hand, _SETTLED)
        if 0 < work.variables <= self.at_hand and not self.clock.over:
            return answer_at_hand(self.face, self.crew, work.row_of, self.log)
        return None if found is None else replace(found, mu=self._whole(work, found.mu))

    def _run(self) -> tuple[OpenRows, Finish | None]:
        work = self._opened()
        while work.variables > self.at_hand and not (self.clock.over and self.mu is None):
            self._mark()
            with self.log.stage("maximum entropy"):
                solution = self._burst(work, self.burst)
                ready = bool((solution.near if self.spent > _NEARLY else solution.converged).all())
                found: Finish | None = None
                if ready or self.spent > _PATIENCE or self.clock.over:
                    found = self._finished(work, solution.mu)
                    if self.clock.over:
                        return work, self.best
                    if self._enough(found, solution):
                        return work, self.best
                    if not found.doubtful and (self._good(found) or solution.converged.all()):
                        self.spent, self.mu = self.spent + 1, self._whole(work, found.mu)
                        continue
            with self.log.stage("certain and impossible"):
                if not solution.converged.all():
                    self._refuse_overfull(work, solution)
                if self._excluded(work, solution, found):
                    work, self.burst = self._opened(), _BURST
                    self.best = None
                elif found is not None and (self._good(found) or solution.converged.all() or self.spent > _PATIENCE):
                    return work, self.best  # what is doubtful stays suspected
                else:
                    self.spent += max(1, solution.newton_steps)
                    self.burst = min(2 * self.burst, _LONGEST)
            if self.spent > _NEARLY and self.best is None:
                self.at_hand = max(self.at_hand, _SETTLED)  # flows and programs may find what the way does not show
        return work, None

    def _good(self, found: Finish) -> bool:
        return found.met and found.gap <= (ENOUGH if self.spent > _NEARLY else CLOSED)

    def _enough(self, found: Finish, solution: newton.Solution) -> bool:
        """Whether a finish without doubts is the answer."""
        if found.doubtful or not (self._good(found) or self.spent > _PATIENCE or solution.converged.all()):
            return False
        return self._good(found) or not self.gaining or self.spent > _PATIENCE

    def _opened(self) -> OpenRows:
        """Let the parts write what is open now, and number its rows."""
        with self.log.stage("certain and impossible"):
            self.face.propagate()
            for part in self.face.parts:
                part.remove("open-*")
            found = self.face.engine.map(take_open, list(self.face.parts), self.face.version)
            used = np.zeros(self.face.rows.size, dtype=bool)
            touched = [part.read(f"open-{self.face.version}-rows") for part in self.face.parts]
            for own in touched:
                used[own] = True
            row_of = np.flatnonzero(used)
            place = np.cumsum(used, dtype=np.int32) - 1
            rows = [place[own].astype(np.int32) for own in touched]
            self.crew.begin(self.face.version, rows, row_of.size)
            problem = rows_alone(self.face.left[row_of], self.face.rows.first_group.size - 1)
            kernel = GiantKernel(problem, self.crew)
            return OpenRows(row_of, kernel, sum(m for m, _ in found), sum(v for _, v in found))

    def _burst(self, work: OpenRows, steps: int) -> newton.Solution:
        kernel, damping = work.kernel, self.damping[work.row_of]
        before = kernel.passes
        start = newton.scaled(kernel, damping).mu if self.mu is None else self.mu[work.row_of]
        begin, most = newton.Beginning(start, damping), newton.Effort(steps, kernel.passes + _PASSES)
        solution = newton.descend(
            lambda _: kernel, kernel.problem, begin, most=most, clock=self.clock, tell=lambda _: self._tell(work)
        )
        self.log.add(solution.newton_steps, kernel.passes - before)
        self.mu, self.damping[work.row_of] = self._whole(work, solution.mu), solution.damping
        return solution

    def _tell(self, work: OpenRows) -> None:
        """Rows whose count is met, and all."""
        rows = self.face.rows.size
        self.log.progress.count(rows - work.row_of.size + work.kernel.met, rows)

    def _whole(self, work: OpenRows, mu: Reals) -> Reals:
        full = np.zeros(self.face.rows.size)
        full[work.row_of] = mu
        return full

    def _finished(self, work: OpenRows, mu: Reals) -> Finish:
        clock = self.clock.grace() if self.clock.over else self.clock
        before = work.kernel.passes
        found = finish(work.kernel, mu, clock)
        self.log.add(0, work.kernel.passes - before)
        self.gaining = found.better_than(self.best, _GAIN)
        if found.better_than(self.best):
            self.best = found
        return found

    def _refuse_overfull(self, work: OpenRows, solution: newton.Solution) -> None:
        if self.from_here is None or self.mu is None:
            self.from_here = self.mu
            return
        ways = (solution.step, (self.mu - self.from_here)[work.row_of])
        flat = [flattened(work.kernel, own, self._groups(work)) for own in ways]
        refuse_overfull(work.kernel, work.row_of, self.face.rows.size, *flat)

    def _groups(self, work: OpenRows) -> Ints:
        return np.asarray(self.face.rows.row_group[work.row_of], dtype=np.int64)

    def _excluded(self, work: OpenRows, solution: newton.Solution, found: Finish | None) -> bool:
        """Exclude what a direction proves to be zero; says whether it was anything."""
        self.waited += 1
        if found is None and self.waited <= self.fruitless:
            return False
        directions = [solution.step] if found is None or not found.doubtful else [found.direction, solution.step]
        place = work.kernel.at(solution.mu).x
        number = 0
        for direction in directions:
            flat = flattened(work.kernel, direction, self._groups(work))
            doubts = None if found is None or not found.doubtful else found.doubts
            patch = cut(work.kernel, place, flat, doubts)
            if patch is None:
                continue
            began = time.monotonic()
            clocks = self.clock, self.clock.at_most(self.programs)
            number = take_falling(self.face, patch, work.row_of, flat, clocks)
            self.programs = max(0.0, self.programs - (time.monotonic() - began))
            if not number and doubts is not None:
                number = take_doubtful(self.face, patch, work.row_of, flat, self.clock)
            if number:
                break
        self.waited, self.fruitless = 0, 0 if number else self.fruitless + 1
        return number > 0
