"""What was written so far, for those who tell it, and interruptions that wait until that is settled."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from types import FrameType

_written: ContextVar[tuple[str, ...]] = ContextVar("written", default=())


def begin() -> None:
    """Forget what was written: a command begins."""
    _written.set(())


def record(names: Iterable[str]) -> None:
    """Something was written, under these names as they were given."""
    _written.set((*_written.get(), *names))


def what_was_written() -> str:
    """What somebody is told whose command ends before its end."""
    names = dict.fromkeys(_written.get())
    if not names:
        return "no result was written"
    return f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'} written"


@contextlib.contextmanager
def interruptions_wait() -> Iterator[None]:
    """An interruption during the block is delivered after it: what is said of it is then true."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as the system calls it
        came.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)
