"""The process at hand: one part after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from showthrough.engines.engine import Result, Work


class Local:
    """Works in this process."""

    name = "local"
    workers = 1

    def map(self, function: Callable[[Work, Any], Result], parts: Sequence[Work], shared: Any = None) -> list[Result]:
        """``function(part, shared)`` of every part, in order."""
        return [function(part, shared) for part in parts]


def local() -> Local:
    """The engine that works in this process."""
    return Local()
