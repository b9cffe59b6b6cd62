"""Faults at the n-th file operation of this process, whichever that is.

Operations are found by tracing: the interpreter's audit events tell every file that is opened, listed, renamed or
removed, and what has no event (writing, syncing, exchanging two names) is wrapped. Only what happens under ``home``
counts. A signal comes before its operation, so that all points together stand between any two operations.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from showthrough.storage import system

EVENTS = {
    "open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.listdir", "os.scandir", "os.chmod", "os.chown",
    "os.link", "os.symlink", "os.truncate", "os.utime", "shutil.rmtree", "shutil.move", "fcntl.flock",
}  # fmt: skip
TWO_NAMES = {"os.rename", "os.link", "os.symlink"}
SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGKILL": signal.SIGKILL}
NEED_SPACE = {"write", "fsync", "os.mkdir", "os.link", "create", "os.rename", "exchange"}
ERRORS = {"ENOSPC": (errno.ENOSPC, NEED_SPACE), "EIO": (errno.EIO, None)}  # which operations it can meet; None: all
FAULTS = (*SIGNALS, *ERRORS, "torn", "full disk", "dead disk")
_LASTING = {"full disk": "ENOSPC", "dead disk": "EIO"}  # from that operation on


def meets(fault: str, operation: str) -> bool:
    """Whether a fault can happen at an operation of this kind."""
    if fault in SIGNALS:
        return True
    if fault == "torn":
        return operation == "write"
    kinds = ERRORS[_LASTING.get(fault, fault)][1]
    return kinds is None or operation in kinds


@dataclass
class Injector:
    """Counts the operations under a folder and lets a fault happen at one of them; at 0 it only counts."""

    home: str
    at: int = 0
    fault: str = ""
    exchange: bool = True
    operations: list[str] = field(default_factory=list)
    bytes_of: dict[int, bytes] = field(default_factory=dict)  # by inode
    on: bool = True
    _inside: bool = False

    def install(self) -> None:
        """From now on; there is no way back, so this is for a child process."""
        write, renamed = os.write, system.renamed

        def traced_write(handle: int, content: Any) -> int:
            if handle > 2:
                self.step("write", torn=lambda: write(handle, bytes(content)[: len(content) // 2]))
                inode = os.fstat(handle).st_ino
                self.bytes_of[inode] = self.bytes_of.get(inode, b"") + bytes(content)
            return write(handle, content)

        def traced_fsync(_: int) -> None:
            self.step("fsync")  # and no more: what another process sees does not depend on the disk

        def traced_renamed(one: Any, other: Any, flag: int) -> bool:
            self.step("exchange")
            return renamed(one, other, flag) if self.exchange else False

        os.write, os.fsync, system.renamed = traced_write, traced_fsync, traced_renamed
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.on and event in EVENTS and not self._inside and self._ours(event, arguments):
            creates = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
            self.step("create" if creates else event)

    def _ours(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "fcntl.flock":
            return True
        named = arguments[: 2 if event in TWO_NAMES else 1]
        paths = [a for a in named if isinstance(a, str | bytes | os.PathLike)]
        return any(os.path.abspath(os.fsdecode(path)).startswith(self.home) for path in paths)

    def step(self, operation: str, torn: Callable[[], Any] | None = None) -> None:
        """An operation is about to happen."""
        if not self.on or self._inside:
            return
        self._inside = True
        self.operations.append(operation)
        try:
            self._act(operation, torn)
        finally:
            self._inside = False

    def _act(self, operation: str, torn: Callable[[], Any] | None) -> None:
        here = len(self.operations)
        if not self.at or here < self.at or (here > self.at and self.fault not in _LASTING):
            return
        if self.fault in SIGNALS:
            os.kill(os.getpid(), SIGNALS[self.fault])
        elif self.fault == "torn" and torn is not None:
            torn()
            os.kill(os.getpid(), signal.SIGKILL)
        elif meets(self.fault, operation):
            number = ERRORS[_LASTING.get(self.fault, self.fault)][0]
            raise OSError(number, os.strerror(number))
