"""Files that grow when they are read: gzip and Parquet, up to a limit that the caller may raise.

A few megabytes of gzip unpack to as many gigabytes, and a Parquet file of a kilobyte may declare a billion rows. So
what is unpacked is limited: to a size, and, beyond a small one, to a multiple of the file that no real table reaches.

>>> with unpacked_up_to(5000):
...     pass
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator
from contextvars import ContextVar

from showthrough.errors import FileError, LimitError

MB = 1_000_000
SIZE = 1_000 * MB
RATIO = 200  # real tables in gzip are 3 to 60 times as large
SMALL = 50 * MB  # up to here the ratio does not matter
_PIECE = 1 << 20
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
    limit, parts, size, rest = _allowed(len(raw)), list[bytes](), 0, raw
    try:
        while rest:
            member = zlib.decompressobj(wbits=31)
            piece = member.decompress(rest, _PIECE)
            while piece or not member.eof:
                if not piece and not member.unconsumed_tail:
                    raise FileError(f"{name} is a damaged gzip file: it ends too early.")
                size += len(piece)
                parts.append(piece)
                refuse_large(name, size, limit)
                piece = member.decompress(member.unconsumed_tail, _PIECE)
            rest = member.unused_data.lstrip(b"\0")
    except zlib.error as problem:
        raise FileError(f"{name} is a damaged gzip file ({problem}).") from None
    return b"".join(parts)


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
