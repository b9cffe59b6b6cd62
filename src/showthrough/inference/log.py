"""What an inference spends: seconds per stage, steps and passes, within the time it may take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from showthrough.inference.clock import Clock
from showthrough.progress import Progress


@dataclass
class Log:
    """Seconds per stage and the effort spent; ``clock`` is asked before more is."""

    progress: Progress = field(default_factory=Progress)
    clock: Clock = field(default_factory=Clock)
    seconds: dict[str, float] = field(default_factory=dict)
    newton_steps: int = 0
    passes: int = 0

    @classmethod
    def of(cls, told: Progress | Callable[[str], None] | None, seconds: float) -> Log:
        """A log for so many seconds."""
        progress = Progress.of(told)
        return cls(progress, Clock(seconds, progress))

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

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside, and tell that it begins."""
        self.progress.stage(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
