"""Files in and out: CSV and Parquet become frames; what is written appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import polars as pl

from showthrough.errors import FileError
from showthrough.said import private
from showthrough.table import csv_text
from showthrough.table.frames import in_range

_TEMPORARY = ".showthrough."


def read_table(path: str | os.PathLike[str], *, encoding: str | None = None) -> pl.DataFrame:
    """Read a CSV file with every column as text, or a Parquet file with the types it declares."""
    raw = read_bytes(path)
    return parse_table(raw, os.fspath(path), encoding=encoding)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file, or a sentence about why there are none."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise FileError(f"There is no file {os.fspath(path)}.") from None
    except IsADirectoryError:
        raise FileError(f"{os.fspath(path)} is a folder, expected a file.") from None
    except OSError as problem:
        raise FileError(f"{os.fspath(path)} cannot be read: {reason(problem)}.") from None


def parse_table(raw: bytes, name: str, *, encoding: str | None = None) -> pl.DataFrame:
    """Parse the bytes of a CSV or Parquet file; ``name`` stands in the messages."""
    if raw[:4] == b"PAR1":
        return _parse_parquet(raw, name)
    text = csv_text.check(raw, name, encoding)
    try:
        frame = pl.read_csv(
            text.rows,
            separator=text.separator,
            has_header=False,
            schema=dict.fromkeys(text.columns, pl.String),
            truncate_ragged_lines=False,
        )
    except Exception as problem:  # the reader raises many unrelated types, and quotes the data
        raise _unreadable(f"{name} cannot be read as CSV", problem) from None
    if frame.height != text.height:  # two readers that disagree: believe neither
        raise FileError(f"{name} cannot be read as CSV: {text.height} rows were expected, {frame.height} were read.")
    return frame


def _parse_parquet(raw: bytes, name: str) -> pl.DataFrame:
    try:
        frame = pl.read_parquet(raw)
    except (Exception, pl.exceptions.PanicException) as problem:  # the reader raises many unrelated types
        raise _unreadable(f"{name} is a damaged Parquet file", problem) from None
    if frame.height == 0:
        raise FileError(f"{name} is empty: it has columns but no rows.")
    return in_range(frame, name)


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary neighbour of ``path`` that takes its place only when the block succeeds.

    ``private`` files are readable by their owner alone. Links are followed; what is no regular
    file, such as /dev/stdout, is written directly.
    """
    target = Path(os.path.realpath(path))
    temporary: str | None = None
    try:
        if _special(path):
            with open(path, "wb") as stream:
                yield stream
            return
        handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=target.parent)
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.chmod(temporary, 0o600 if private else 0o666 & ~umask())
        os.replace(temporary, target)
        temporary = None
    except OSError as problem:
        raise unwritable(path, problem) from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Say now, before hours of work, that a file cannot be written later."""
    target = Path(os.path.realpath(path))
    if os.path.isdir(target):
        raise FileError(f"{os.fspath(path)} is a folder, expected the name of a file to write.")
    if _special(path):
        return
    try:
        handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=target.parent)
        os.close(handle)
        os.unlink(temporary)
        with contextlib.suppress(FileNotFoundError):
            os.lstat(target)  # a name that is too long
    except OSError as problem:
        raise unwritable(path, problem) from None


def unwritable(path: str | os.PathLike[str], problem: OSError) -> FileError:
    """The sentence for a file or folder that cannot be written."""
    return FileError(f"{os.fspath(path)} cannot be written: {reason(problem)}.")


def reason(problem: OSError) -> str:
    """What the operating system says, without error number and path."""
    return (problem.strerror or str(problem)).lower()


def umask() -> int:
    """The permissions that the user does not give to new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _special(path: str | os.PathLike[str]) -> bool:
    """A device, a pipe and the like; a folder is refused when it is written to."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _unreadable(what: str, problem: BaseException) -> FileError:
    return FileError(f"{what}{private(f' ({str(problem).strip().split(chr(10))[0]})', '')}.")
