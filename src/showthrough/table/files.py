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
from showthrough.table import csv_text


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
        raise FileError(f"{os.fspath(path)} cannot be read: {_reason(problem)}.") from None


def parse_table(raw: bytes, name: str, *, encoding: str | None = None) -> pl.DataFrame:
    """Parse the bytes of a CSV or Parquet file; ``name`` stands in the messages."""
    if raw[:4] == b"PAR1":
        try:
            frame = pl.read_parquet(raw)
        except Exception as problem:  # the reader raises many unrelated types
            raise FileError(f"{name} is a damaged Parquet file ({_first_line(problem)}).") from None
        if frame.height == 0:
            raise FileError(f"{name} is empty: it has columns but no rows.")
        return frame
    text = csv_text.check(raw, name, encoding)
    try:
        frame = pl.read_csv(text.data, separator=text.separator, infer_schema=False, truncate_ragged_lines=False)
    except Exception as problem:  # the reader raises many unrelated types
        raise FileError(f"{name} cannot be read as CSV ({_first_line(problem)}).") from None
    frame.columns = list(text.columns)
    return frame


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary neighbour of ``path`` that takes its place only when the block succeeds.

    ``private`` files are readable by their owner alone.
    """
    target = Path(path)
    temporary: str | None = None
    try:
        try:
            handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        except OSError as problem:
            raise FileError(f"{target} cannot be written: {_reason(problem)}.") from None
        with os.fdopen(handle, "wb") as stream:
            yield stream
        try:
            os.chmod(temporary, 0o600 if private else 0o666 & ~_umask())
            os.replace(temporary, target)
        except OSError as problem:
            raise FileError(f"{target} cannot be written: {_reason(problem)}.") from None
        temporary = None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Say now, before hours of work, that a file cannot be written later."""
    target = Path(path)
    if target.is_dir():
        raise FileError(f"{target} is a folder, expected the name of a file to write.")
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as problem:
        raise FileError(f"{target} cannot be written: {_reason(problem)}.") from None
    os.close(handle)
    os.unlink(temporary)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(problem: OSError) -> str:
    return (problem.strerror or str(problem)).lower()


def _first_line(problem: Exception) -> str:
    return str(problem).strip().split("\n")[0]
