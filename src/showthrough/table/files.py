"""Files in: CSV and Parquet become frames."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import polars as pl

from showthrough.errors import FileError, LimitError
from showthrough.said import private
from showthrough.storage.system import reason
from showthrough.table import csv_text
from showthrough.table.frames import in_range
from showthrough.table.unpacking import bounded, refuse_large_table


def read_table(path: str | os.PathLike[str], *, encoding: str | None = None) -> pl.DataFrame:
    """Read a CSV file with every column as text, or a Parquet file with the types it declares."""
    raw = read_bytes(path)
    return parse_table(raw, os.fspath(path), encoding=encoding)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file, or a sentence about why there are none."""
    try:
        with Path(path).open("rb") as stream:
            regular = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
            return stream.read() if regular else bounded(stream, os.fspath(path))
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
        declared = pl.scan_parquet(raw)
        rows = int(declared.select(pl.len()).collect().item())
        refuse_large_table(name, len(raw), rows, len(declared.collect_schema()))
        frame = pl.read_parquet(raw)
    except LimitError:
        raise
    except (Exception, pl.exceptions.PanicException) as problem:  # the reader raises many unrelated types
        raise _unreadable(f"{name} is a damaged Parquet file", problem) from None
    if frame.height == 0:
        raise FileError(f"{name} is empty: it has columns but no rows.")
    return in_range(frame, name)


def _unreadable(what: str, problem: BaseException) -> FileError:
    return FileError(f"{what}{private(f' ({str(problem).strip().split(chr(10))[0]})', '')}.")
