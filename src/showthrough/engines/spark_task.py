"""What a worker does with a part, and how it tells what became of it.

A part that is refused, or that meets a fault of ours, would meet it everywhere: the worker hands the error back as a
result, and the driver raises that of the first part, as an engine without workers would. A part that the worker's
machine fails (a full disk, no memory) is left to Spark, which gives it to another worker; the last one that tries
tells why.
"""

from __future__ import annotations

import os
import pickle
import platform
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from showthrough import __version__
from showthrough.errors import EngineError, FileError, InternalError, ShowthroughError
from showthrough.storage.system import reason

_LETTER = 64_000  # bytes


@dataclass(frozen=True)
class Done:
    """What a function made of a part."""

    found: Any


@dataclass(frozen=True)
class Refused:
    """An error with a sentence of its own."""

    error: ShowthroughError


@dataclass(frozen=True)
class Enclosed:
    """Something small that travels with every task: a broadcast would take longer than the work."""

    packed: bytes

    @property
    def value(self) -> Any:
        """As a broadcast has it."""
        return pickle.loads(self.packed)


def enclosed(shared: Any) -> Enclosed | None:
    """What parts share, if it is small."""
    letter = _Letter()
    try:
        pickle.Pickler(letter, protocol=pickle.HIGHEST_PROTOCOL).dump(shared)
    except _TooLargeError:
        return None
    return Enclosed(bytes(letter.held))


class _TooLargeError(Exception):
    """No letter is so long."""


class _Letter:
    """Takes what is written until it is too much."""

    def __init__(self) -> None:
        self.held = bytearray()

    def write(self, more: bytes) -> int:
        """Called by the pickler."""
        if len(self.held) + len(more) > _LETTER:
            raise _TooLargeError
        self.held += more
        return len(more)


@dataclass(frozen=True)
class Task:
    """A function with what its parts share; ``tries`` is how often Spark gives a part to a worker."""

    function: Callable[[Any, Any], Any]
    shared: Any  # enclosed, a broadcast, or None
    tries: int
    version: str = __version__

    def __call__(self, part: Any) -> Done | Refused:
        """Called on a worker."""
        if self.version != __version__:  # it joined after the others were asked
            where = platform.node()
            return Refused(
                EngineError(f"The worker on {where} has showthrough {__version__}, the driver {self.version}.")
            )
        try:
            return Done(self.function(part, None if self.shared is None else self.shared.value))
        except ShowthroughError as error:
            beneath = error.__context__
            if not isinstance(error, FileError) or not isinstance(beneath, OSError):
                return Refused(error.without_cells())
            if self._again():  # a disk of this machine, and not what was asked
                raise beneath from None
            return Refused(_failed(beneath))
        except (OSError, MemoryError) as problem:
            if self._again():
                raise
            return Refused(_failed(problem))
        except Exception as bug:  # what it says may quote data
            return Refused(_bug(bug))

    def each(self, parts: Sequence[Any]) -> list[Done | Refused]:
        """Called on a worker with several parts, one after the other."""
        return [self(part) for part in parts]

    def _again(self) -> bool:
        """Whether Spark will give this part to a worker once more."""
        from pyspark import TaskContext

        here = TaskContext.get()
        return here is not None and here.attemptNumber() + 1 < self.tries


def _failed(problem: OSError | MemoryError) -> EngineError:
    why = reason(problem) if isinstance(problem, OSError) else "not enough memory"
    where = platform.node()
    return EngineError(f"The worker on {where} could not do its part: {why}.")


def _bug(bug: Exception) -> InternalError:
    ours = [one for one in traceback.extract_tb(bug.__traceback__) if f"{os.sep}showthrough{os.sep}" in one.filename]
    place = f" in {os.path.basename(ours[-1].filename)}, line {ours[-1].lineno}" if len(ours) > 1 else ""
    kind = type(bug).__name__
    return InternalError(f"A worker met {kind}{place}.")
