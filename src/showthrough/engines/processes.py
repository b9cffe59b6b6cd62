"""All cores of this machine: a pool of processes that hold nothing but what they are handed."""

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
    """Works on several cores; ends its processes when it is closed."""

    name = "processes"

    def __init__(self, workers: int) -> None:
        self.workers = workers
        # begun afresh: a fork would inherit the locks of this process's threads
        self._pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))

    def map(self, function: Callable[[Work, Any], Result], parts: Sequence[Work], shared: Any = None) -> list[Result]:
        """``function(part, shared)`` of every part, in order."""
        packed = pickle.dumps((function, shared), protocol=pickle.HIGHEST_PROTOCOL)
        return list(self._pool.map(_done, parts, [packed] * len(parts)))

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(cancel_futures=True)


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
