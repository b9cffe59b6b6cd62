"""Streams into files that are not in their place yet."""

from __future__ import annotations

import io
import os
from typing import Any, BinaryIO, cast

from showthrough.storage.system import write_all

_BUFFER = 1 << 20


class Staged(io.RawIOBase):
    """Bytes for one target; ``problem`` is what the system said when it took no more.

    It has no file number on purpose: whoever writes, writes here, and every fault is seen.
    """

    def __init__(self, path: str, handle: int) -> None:
        super().__init__()
        self.path = path
        self.problem: OSError | None = None
        self._handle: int | None = handle
        self._waiting = bytearray()

    @property
    def stream(self) -> BinaryIO:
        """What the bytes are written to."""
        return cast(BinaryIO, self)

    def writable(self) -> bool:
        """As every stream can be asked."""
        return True

    def write(self, content: Any) -> int:
        """Take all bytes."""
        self._waiting += content
        if len(self._waiting) >= _BUFFER:
            self.flush()
        return len(memoryview(content).cast("B"))

    def flush(self) -> None:
        """Bring every byte to the file."""
        if self._handle is None or not self._waiting:
            return
        try:
            write_all(self._handle, self._waiting)
        except OSError as problem:
            self.problem = problem
            raise
        self._waiting = bytearray()

    def finish(self) -> None:
        """Bring every byte to the file and close it; say so if a writer swallowed a fault."""
        self.flush()
        if self.problem is not None:
            raise self.problem
        self.drop()

    def drop(self) -> None:
        """Close the file as it is."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    def close(self) -> None:
        """Whoever closes the stream has no more bytes; the file stays open until its unit is committed."""
        self.flush()


def special(path: str | os.PathLike[str]) -> bool:
    """A device, a pipe and the like; a folder is refused when it is written to."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
