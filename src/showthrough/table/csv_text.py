"""Look at the bytes of a CSV file before a fast parser does, so that every fault gets a sentence.

Fast parsers fill short rows with blanks and guess encodings. Here the text is decoded strictly,
the separator is found in the header, and every row must have as many fields as the header.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from dataclasses import dataclass

import numpy as np

from showthrough.errors import FileError

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
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
_CHUNK = 1 << 24


@dataclass(frozen=True)
class CsvText:
    """A checked CSV file: UTF-8 text, its separator and its column names."""

    data: bytes
    separator: str
    columns: tuple[str, ...]


def check(raw: bytes, name: str, encoding: str | None = None) -> CsvText:
    """Decode ``raw`` and make sure that it is one rectangular table."""
    data = _as_utf8(_unzipped(raw, name), name, encoding)
    if not data.strip():
        raise FileError(f"{name} is empty: expected a CSV file with a header and at least one row.")
    header = _first_record(data, name)
    separator, columns = _header(header, name)
    _check_widths(data, name, separator, len(columns))
    return CsvText(data, separator, columns)


def _unzipped(raw: bytes, name: str) -> bytes:
    if raw[:2] != b"\x1f\x8b":
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError) as problem:
        raise FileError(f"{name} is a damaged gzip file ({problem}).") from None


def _as_utf8(raw: bytes, name: str, encoding: str | None) -> bytes:
    for magic, what in _FOREIGN:
        if raw.startswith(magic):
            raise FileError(f"{name} is {what}, not CSV or Parquet. Save it as CSV (UTF-8).")
    if encoding is None:
        encoding = next((e for mark, e in _BYTE_ORDER_MARKS if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except LookupError:
        raise FileError(f"There is no text encoding called {encoding!r}.") from None
    except UnicodeDecodeError as problem:
        line = raw.count(b"\n", 0, problem.start) + 1
        raise FileError(
            f"{name} is not {encoding} text: line {line} holds a byte that does not belong to that "
            "encoding. Save it as UTF-8, or name its encoding (for example --encoding latin-1)."
        ) from None
    if "\x00" in text:
        raise FileError(f"{name} is not CSV or Parquet: it holds binary data.")
    data = raw if encoding == "utf-8" else text.encode()
    if b"\r" in data and b"\n" not in data:  # line ends of old Macintosh files
        data = data.replace(b"\r", b"\n")
    return data


def _first_record(data: bytes, name: str) -> str:
    """The header line; a quoted field of it may span lines."""
    end = 0
    while True:
        line_end = data.find(b"\n", end)
        end = len(data) if line_end < 0 else line_end + 1
        if data.count(b'"', 0, end) % 2 == 0:
            return data[:end].decode()
        if line_end < 0:
            raise FileError(f"{name} opens a quote in its header and never closes it.")


def _header(line: str, name: str) -> tuple[str, tuple[str, ...]]:
    split = {s: next(csv.reader(io.StringIO(line, newline=""), delimiter=s)) for s in SEPARATORS}
    separator = max(split, key=lambda s: len(split[s]))
    columns = tuple(split[separator])
    repeated = sorted({c for c in columns if columns.count(c) > 1})
    if repeated:
        raise FileError(f"{name} has the column {repeated[0]!r} more than once.")
    return separator, columns


def _check_widths(data: bytes, name: str, separator: str, width: int) -> None:
    """Every record has ``width`` fields; quotes close. One vectorised pass, chunk by chunk."""
    quoted, line, fields, start_of_record, blank = 0, 1, 1, 1, True
    records = 0
    for start in range(0, len(data), _CHUNK):
        chunk = np.frombuffer(data, dtype=np.uint8, count=min(_CHUNK, len(data) - start), offset=start)
        inside = (np.cumsum(chunk == ord('"')) + quoted) % 2 == 1
        newline = chunk == ord("\n")
        ends = np.flatnonzero(newline & ~inside)
        separators = (chunk == ord(separator)) & ~inside
        filled = ~newline & (chunk != ord("\r"))
        per_record = _split_sums(separators, ends)
        lines = _split_sums(newline, ends)
        content = _split_sums(filled, ends)
        per_record[0] += fields
        per_record[1:] += 1
        content[0] += not blank
        complete, bytes_in = per_record[:-1], content[:-1]
        # a blank line is skipped by every CSV reader, unless a blank field is all a row has
        wrong = np.flatnonzero((complete != width) & (bytes_in > 0))
        if wrong.size:
            at = start_of_record if wrong[0] == 0 else line + int(lines[: wrong[0]].sum())
            raise _ragged(name, at, int(complete[wrong[0]]), width, separator, data)
        records += int(np.count_nonzero(bytes_in))
        if ends.size:
            start_of_record = line + int(lines[:-1].sum())
        line += int(newline.sum())
        fields, blank = int(per_record[-1]), not content[-1]
        quoted = int(inside[-1]) if chunk.size else quoted
    if quoted:
        raise FileError(f"{name} opens a quote in the row at line {start_of_record} and never closes it.")
    if not blank:
        records += 1
        if fields != width:
            raise _ragged(name, start_of_record, fields, width, separator, data)
    if records < 2:
        raise FileError(f"{name} is empty: it has a header but no rows.")


def _split_sums(flags: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """How many flags are set in each record of a chunk (a record ends with its line end)."""
    total = np.concatenate([[0], np.cumsum(flags)])
    return np.diff(total[np.concatenate([[0], ends + 1, [flags.size]])])


def _ragged(name: str, line: int, found: int, width: int, separator: str, data: bytes) -> FileError:
    text = data.split(b"\n", line)[line - 1] if line < 1_000_000 else b""
    others = [s for s in SEPARATORS if s != separator and s.encode() in text]
    mixed = (
        f" The header is separated by {SEPARATORS[separator]}s, that line by {SEPARATORS[others[0]]}s: "
        "use one separator throughout."
        if others and found < width
        else f" Put values that hold a {SEPARATORS[separator]} in double quotes."
    )
    has = f"{found} field" + ("s" if found != 1 else "")
    return FileError(f"{name}, line {line}: {has} where the header has {width}.{mixed}")
