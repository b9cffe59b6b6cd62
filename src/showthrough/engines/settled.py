"""Parts that the same worker gets again: Spark remembers where it has them, and waits a while for who is there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any


class Settled:
    """The parts of the last call on a Spark context, and those that came twice."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._last: tuple[Any, ...] = ()
        self._settled: tuple[Any, ...] = ()
        self._kept: Any = None
        self._number = 0

    def bundles(self, parts: Sequence[Any], workers: int) -> Any:
        """The parts as a dataset of bundles, in order: one by one at first, and then one bundle per worker."""
        given = tuple(parts)
        number = min(workers, len(given))
        if self._kept is not None and _same(given, self._settled):
            if self._number >= number:  # as before, even if a worker is lost for a while
                return self._kept
        elif not _same(given, self._last):
            self._last = given  # whoever is free takes the next one
            return self._context.parallelize([[part] for part in given], len(given))
        self.forget()
        self._last = self._settled = given
        self._number = number
        self._kept = self._context.parallelize(_shared_out(given, number), number).cache()
        return self._kept

    def forget(self) -> None:
        """Nothing is kept any more."""
        kept, self._kept, self._last, self._settled = self._kept, None, (), ()
        if kept is not None and self._context._jsc is not None:
            kept.unpersist()


def _same(given: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether they are the very same objects: only what is never changed may stay elsewhere."""
    return len(given) == len(other) and all(a is b for a, b in zip(given, other, strict=True))


def _shared_out(parts: Sequence[Any], number: int) -> list[list[Any]]:
    """Neighbours together, as many in each as can be."""
    cut = [k * len(parts) // number for k in range(number + 1)]
    return [list(parts[a:b]) for a, b in pairwise(cut)]
