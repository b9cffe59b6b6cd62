"""What an inference spends: seconds per stage, steps and passes, within the time it may take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from showthrough.inference.clock import Clock
from showthrough.inference.problem import Problem
from showthrough.inference.reduce import Reduced
from showthrough.progress import Progress, Tally
from showthrough.table.arrays import Flags

_SEARCHING = 0.85  # of the time; the rest is for correcting, checking and quick bounds


@dataclass
class Log:
    """Seconds per stage and the effort spent; ``clock`` is asked before more is, ``whole`` when all must be done."""

    progress: Progress = field(default_factory=Progress)
    clock: Clock = field(default_factory=Clock)
    whole: Clock = field(default_factory=Clock)
    seconds: dict[str, float] = field(default_factory=dict)
    newton_steps: int = 0
    passes: int = 0
    persons: int = 0  # of the problem at work
    rows: int = 0

    @classmethod
    def of(cls, told: Progress | Callable[[str], None] | None, seconds: float) -> Log:
        """A log for so many seconds."""
        progress = Progress.of(told)
        return cls(progress, Clock(_SEARCHING * seconds, progress), Clock(seconds, progress))

    @contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        """Less time for what happens inside."""
        clock, self.clock = self.clock, self.clock.at_most(seconds)
        try:
            yield
        finally:
            self.clock = clock

    def add(self, newton_steps: int, passes: int) -> None:
        """Count some effort."""
        self.newton_steps += newton_steps
        self.passes += passes

    def watch(self, problem: Problem) -> None:
        """Tell the progress of this problem from now on."""
        self.persons, self.rows = int(problem.weight.sum()), problem.rows.size

    def tell(self, reduced: Reduced, converged: Flags) -> None:
        """These components have converged; what is not in the reduced problem is done."""
        left = np.flatnonzero(~converged)
        persons = reduced.weight[~converged[reduced.signature_component]].sum() if left.size else 0
        rows = (~converged[reduced.row_component]).sum() if left.size else 0
        islands = (converged.size - left.size, converged.size)
        most = max(self.persons, int(persons)), max(self.rows, int(rows))
        tally = Tally((most[0] - int(persons), most[0]), (most[1] - int(rows), most[1]), islands)
        self.progress.tally(tally)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside, and tell that it begins."""
        self.progress.stage(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
