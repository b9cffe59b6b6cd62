"""All cores of this machine: processes that hold nothing but what they are handed, and may keep that for a while."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from showthrough.engines.engine import Result, Work
from showthrough.errors import ParameterError


class Processes:
    """Works on several cores; ends its processes when it is closed.

    The same place among the parts is always worked on by the same process, which may have kept what it needs for it.
    """

    name = "processes"

    def __init__(self, workers: int) -> None:
        self.workers = workers
        # begun afresh: a fork would inherit the locks of this process's threads
        context = get_context("spawn")
        self._pools = [ProcessPoolExecutor(1, mp_context=context) for _ in range(workers)]

    def map(self, function: Callable[[Work, Any], Result], parts: Sequence[Work], shared: Any = None) -> list[Result]:
        """``function(part, shared)`` of every part, in order."""
        packed = pickle.dumps((function, shared), protocol=pickle.HIGHEST_PROTOCOL)
        waiting = [self._pools[k % self.workers].submit(_done, part, packed) for k, part in enumerate(parts)]
        try:
            return [one.result() for one in waiting]
        finally:
            for one in waiting:  # after a refusal nobody asks for the rest
                one.cancel()

    def close(self) -> None:
        """End the processes."""
        for pool in self._pools:
            pool.shutdown(cancel_futures=True)


def _done(part: Any, packed: bytes) -> Any:
    function, shared = pickle.loads(packed)
    return function(part, shared)


@contextmanager
def processes(workers: int | None = None) -> Iterator[Processes]:
    """The engine that works on all cores of this machine, or on so many, for as long as the context lasts."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ParameterError(f"workers is a whole number of 1 or more, not {workers!r}.", parameters=("workers",))
    engine = Processes(workers or os.cpu_count() or 1)
    try:
        yield engine
    finally:
        engine.close()
