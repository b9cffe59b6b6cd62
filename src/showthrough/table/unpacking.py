"""Files that grow when they are read: gzip and Parquet, up to a limit that the caller may raise.

A few megabytes of gzip unpack to as many gigabytes, and a Parquet file of a kilobyte may declare a billion rows. So
what is unpacked is limited: to a size, and, beyond a small one, to a multiple of the file that no real table reaches.

>>> with unpacked_up_to(5000):
...     pass
"""

from __future__ import annotations

import contextlib
import re
import zlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import BinaryIO

from showthrough.errors import FileError, LimitError

MB = 1_000_000
SIZE = 1_000 * MB
RATIO = 200  # real tables in gzip are 3 to 60 times as large
SMALL = 50 * MB  # up to here the ratio does not matter
_PIECE = 1 << 20
_FED = 1 << 14
_ZEROS = re.compile(rb"\0*")  # that some programs put after the last member
_LIMIT: ContextVar[int | None] = ContextVar("unpacked", default=None)


@contextlib.contextmanager
def unpacked_up_to(megabytes: float | None) -> Iterator[None]:
    """Inside the block gzip and Parquet files may unpack to so many megabytes; None keeps the limits.

    >>> with unpacked_up_to(5000):
    ...     pass
    """
    if megabytes is not None and not megabytes > 0:
        raise LimitError("unpacked= is a number of megabytes above 0.", parameters=("unpacked",))
    token = _LIMIT.set(_LIMIT.get() if megabytes is None else int(megabytes * MB))
    try:
        yield
    finally:
        _LIMIT.reset(token)


def unpacked(raw: bytes, name: str) -> bytes:
    """What a gzip file holds, piece by piece so that no more than the limit is ever in memory."""
    limit, parts, size = _allowed(len(raw)), list[bytes](), 0
    try:
        for piece in _pieces(raw):
            size += len(piece)
            parts.append(piece)
            refuse_large(name, size, limit)
    except EOFError:
        raise FileError(f"{name} is a damaged gzip file: it ends too early.") from None
    except zlib.error as problem:
        raise FileError(f"{name} is a damaged gzip file ({problem}).") from None
    return b"".join(parts)


def _pieces(raw: bytes) -> Iterator[bytes]:
    """What the members of a gzip file hold; fed a little at a time, as what is left over is copied every time."""
    at = 0
    while at < len(raw):
        member, rest = zlib.decompressobj(wbits=31), b""
        while not member.eof:
            if not rest:
                rest = raw[at : at + _FED]
                at += len(rest)
            piece = member.decompress(rest, _PIECE)
            if not piece and not rest and not member.eof:
                raise EOFError
            if piece:
                yield piece
            rest = member.unconsumed_tail
        at -= len(member.unused_data)
        zeros = _ZEROS.match(raw, at)
        at = zeros.end() if zeros else at


def bounded(stream: BinaryIO, name: str) -> bytes:
    """All bytes of a pipe or device, which may have no end."""
    limit = SIZE if _LIMIT.get() is None else _allowed(0)
    raw = stream.read(limit + 1)
    if len(raw) > limit:
        raise LimitError(
            f"{name} is no file and gives more than {limit // MB} MB: if it has an end, allow it with unpacked=MB.",
            parameters=("unpacked",),
        )
    return raw


def refuse_large(name: str, size: int, limit: int) -> None:
    """Say that a file unpacks to more than is allowed, and how to allow it."""
    if size > limit:
        raise LimitError(
            f"{name} unpacks to more than {limit // MB} MB, which is more than its size lets expect of a table: if it "
            "is one, allow it with unpacked=MB.",
            parameters=("unpacked",),
        )


def refuse_large_table(name: str, packed: int, rows: int, columns: int) -> None:
    """The same of a Parquet file, whose metadata tell how many cells it unpacks to; eight bytes each."""
    refuse_large(name, 8 * rows * columns, _allowed(packed))


def _allowed(packed: int) -> int:
    own = _LIMIT.get()
    return min(SIZE, max(SMALL, RATIO * packed)) if own is None else own
