"""What every engine can do: the same function over parts, in order. The solver's code is the same for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

Work = TypeVar("Work")
Result = TypeVar("Result")


@runtime_checkable
class Engine(Protocol):
    """Where work runs: in this process, on all its cores, or on a cluster.

    Functions are pure and live in modules, so that a part whose worker is lost is simply done again; parts and what is
    shared by all can be pickled. Results come in the order of the parts, so that sums over them never depend on who
    was quicker.
    """

    name: str

    @property
    def workers(self) -> int:
        """How many parts are worked on at once."""
        ...

    def map(self, function: Callable[[Work, Any], Result], parts: Sequence[Work], shared: Any = None) -> list[Result]:
        """``function(part, shared)`` of every part, in order."""
        ...
