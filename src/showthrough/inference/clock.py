"""The time that an inference may take: every stage asks, and what is known when it is over is the answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from threading import Thread
from typing import TypeVar

from showthrough.progress import Progress

_GRACE = 0.1  # of the time that was spent
_OVERRUN = 0.3  # seconds that a program may take beyond its time
_LOOK = 0.05  # seconds between looks at whoever listens
T = TypeVar("T")


class Clock:
    """Counts down; it is over when the time is up, or when whoever listens has heard enough.

    >>> Clock(0).over, Clock().over
    (True, False)
    """

    def __init__(self, seconds: float = math.inf, progress: Progress | None = None) -> None:
        self.progress = Progress() if progress is None else progress
        self._start = time.monotonic()
        self._end = self._start + seconds

    @property
    def over(self) -> bool:
        """Whether it is time to end with what is known."""
        self.progress.check()
        return self.progress.satisfied or time.monotonic() >= self._end

    def left(self, most: float = math.inf) -> float:
        """Seconds that are left, or ``most`` if that is less; never below 0."""
        if self.progress.satisfied:
            return 0.0
        return max(0.0, min(most, self._end - time.monotonic()))

    def grace(self) -> Clock:
        """A little more time, to finish what was begun when this clock is over: a part of what was spent."""
        return Clock(_GRACE * (time.monotonic() - self._start))

    def at_most(self, seconds: float) -> Clock:
        """A clock for a part of the work that ends no later than this one."""
        return Clock(self.left(seconds), self.progress)

    def awaited(self, work: Callable[[], T]) -> T | None:
        """What ``work`` gives, or None if whoever listens has heard enough, or time is well over.

        For linear programs: they take no word until they are done, and overrun the time limit that they are given by
        minutes. What is not waited for is left to end by itself.
        """
        self.progress.check()
        found: list[T] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                found.append(work())
            except BaseException as error:
                failed.append(error)

        thread = Thread(target=run, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(_LOOK)
            self.progress.check()
            if self.progress.satisfied or time.monotonic() >= self._end + _OVERRUN:
                return None
        if failed:
            raise failed[0]
        return found[0]
