"""Look at the bytes of a CSV file before a fast parser does, so that every fault gets a sentence.

Fast parsers fill short rows with blanks and guess encodings. Here the text is decoded strictly,
the separator is found in the header, and every row must have as many fields as the header.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass

import numpy as np

from showthrough.errors import FileError
from showthrough.said import private
from showthrough.table.csv_rows import SEPARATORS, inside_quotes, measure_rows
from showthrough.table.unpacking import unpacked

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOREIGN = (
    (b"PK\x03\x04", "a ZIP or Excel file"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file"),
    (b"%PDF", "a PDF file"),
    (b"\x89PNG", "a picture"),
    (b"ARROW1", "an Arrow file"),
    (b"$FL2", "an SPSS file"),
)
_BLANK_LINES = re.compile(rb"(?:[ \t]*\r?\n)*")
_LONE_RETURN = re.compile(rb"\r(?!\n)")


@dataclass(frozen=True)
class CsvText:
    """A checked CSV file: its column names, and its rows as UTF-8 without header and blank lines."""

    columns: tuple[str, ...]
    separator: str
    rows: bytes
    height: int


def check(raw: bytes, name: str, encoding: str | None = None) -> CsvText:
    """Decode ``raw`` and make sure that it is one rectangular table."""
    data = _one_line_end(_as_utf8(_unzipped(raw, name), name, encoding))
    if not data.strip():
        raise FileError(f"{name} is empty: expected a CSV file with a header and at least one row.")
    top = _BLANK_LINES.match(data)
    skipped = top.end() if top else 0
    first_line = data.count(b"\n", 0, skipped) + 1
    data = data[skipped:] if data.endswith(b"\n") else data[skipped:] + b"\n"
    header = _first_record(data, name)
    separator, columns = _header(header, name)
    found = measure_rows(data, name, separator=separator, width=len(columns), first_line=first_line)
    if found.records < 2:
        raise FileError(f"{name} is empty: it has a header but no rows.")
    return CsvText(columns, separator, found.without_blank_lines(data)[len(header) :], found.records - 1)


def _unzipped(raw: bytes, name: str) -> bytes:
    if raw[:2] != b"\x1f\x8b":
        return raw
    return unpacked(raw, name)


def _as_utf8(raw: bytes, name: str, encoding: str | None) -> bytes:
    for magic, what in _FOREIGN:
        if raw.startswith(magic):
            raise FileError(f"{name} is {what}, not CSV or Parquet. Save it as CSV (UTF-8).")
    marked = next((e for mark, e in _BYTE_ORDER_MARKS if raw.startswith(mark)), "utf-8")
    chosen = marked if encoding is None else encoding
    try:
        text = raw.decode(chosen)
        data = raw if chosen == "utf-8" else text.encode()
    except UnicodeError as problem:
        if chosen == "utf-8" and b"\x00" in raw:
            raise _binary(name) from None
        line = raw.count(b"\n", 0, getattr(problem, "start", 0)) + 1
        raise FileError(
            f"{name} is not {chosen} text: line {line} holds a byte that does not belong to that "
            'encoding. Save it as UTF-8, or name its encoding (for example encoding="latin-1").',
            parameters=("encoding",),
        ) from None
    except (LookupError, ValueError):
        raise _no_encoding(chosen) from None
    if "\x00" in text:
        raise _binary(name)
    return data.removeprefix(codecs.BOM_UTF8)


def _no_encoding(encoding: str) -> FileError:
    return FileError(f"There is no text encoding called {encoding!r}.")


def _binary(name: str) -> FileError:
    return FileError(
        f"{name} is not CSV or Parquet: it holds binary data. If it is text in UTF-16 or UTF-32, name its "
        'encoding (for example encoding="utf-16-le").',
        parameters=("encoding",),
    )


def _one_line_end(data: bytes) -> bytes:
    """Returns without a line feed end lines in old Macintosh files; inside quotes they are data."""
    if _LONE_RETURN.search(data) is None:
        return data
    letters = np.frombuffer(data, dtype=np.uint8).copy()
    lone = letters == ord("\r")
    lone[:-1] &= letters[1:] != ord("\n")
    letters[lone & ~inside_quotes(letters)] = ord("\n")
    return letters.tobytes()


def _first_record(data: bytes, name: str) -> bytes:
    """The header with its line end; a quoted field of it may span lines."""
    end = quotes = 0
    while end < len(data):
        start, end = end, data.find(b"\n", end) + 1
        quotes += data.count(b'"', start, end)
        if quotes % 2 == 0:
            return data[:end]
    raise FileError(f"{name} opens a quote in its header and never closes it.")


def _split(line: str, separator: str) -> list[str]:
    """The fields of the header; none where one would be longer than any name, as by a separator that is not used."""
    try:
        return next(csv.reader(io.StringIO(line, newline=""), delimiter=separator))
    except csv.Error:
        return []


def _header(record: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    line = record.decode()
    split = {s: _split(line, s) for s in SEPARATORS}
    separator = max(split, key=lambda s: len(split[s]))
    columns = tuple(split[separator])
    long = not all(split.values())  # longer than any name: ten thousand names, or no names at all
    if not columns or (long and len(set(columns)) < len(columns)):
        raise FileError(f"{name} is not CSV or Parquet: its first line is not a header.")
    twice = None if len(set(columns)) == len(columns) else next(k for k, c in enumerate(columns) if c in columns[:k])
    if twice is None:
        return separator, columns
    first, again = columns.index(columns[twice]) + 1, twice + 1
    if not columns[twice].strip():
        raise FileError(f"{name} has more than one column without a name (columns {first} and {again}).")
    # a file without a header shows a person's record here
    raise FileError(
        f"{name} has {private(f'the column {columns[twice]!r}', 'a column name')} more than once (columns {first} and "
        f"{again})."
    )
