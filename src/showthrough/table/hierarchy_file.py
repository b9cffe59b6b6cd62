"""ARX hierarchy files as rows of text, with the line each row stands on."""

from __future__ import annotations

import codecs
import csv
import io

from showthrough.errors import FileError
from showthrough.table.csv_rows import SEPARATORS
from showthrough.table.files import read_bytes

_SEEN = 1000  # rows that decide about the separator
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def read(name: str, *, encoding: str | None = None) -> tuple[list[int], list[list[str]]]:
    """The line numbers and cells of all rows that hold anything."""
    text = _decoded(read_bytes(name), name, encoding)
    lines, rows = _split(text, _separator(text), name)
    if not rows:
        raise FileError(f"{name} is empty: expected one line per value, such as 13053;1305*;130**;*.")
    return lines, rows


def _decoded(raw: bytes, name: str, encoding: str | None) -> str:
    marked = next((e for mark, e in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(marked if encoding is None else encoding)
    except UnicodeError as problem:
        line = raw.count(b"\n", 0, getattr(problem, "start", 0)) + 1
        raise FileError(f"{name} is not {encoding or marked} text (line {line}). Save it as UTF-8.") from None
    except LookupError:
        raise FileError(f"There is no text encoding called {encoding!r}.") from None
    if "\x00" in text:
        raise FileError(f"{name} is not a hierarchy: it holds binary data. Save it as CSV (UTF-8).")
    return text.removeprefix("\ufeff")


def _separator(text: str) -> str:
    """The one that gives every row two cells or more, and the rows the fewest different roots.

    Labels such as ``[0, 5[`` hold separators too, but cut there, every row would end differently.
    """

    def score(separator: str) -> tuple[bool, int, int]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
        rows = []
        try:
            for row in reader:
                if any(cell.strip() for cell in row):
                    rows.append(row)
                if len(rows) == _SEEN:
                    break
        except csv.Error:
            return False, -_SEEN, 0
        if not rows:
            return False, -_SEEN, 0
        split = all(len(row) > 1 for row in rows)
        roots = {next((cell for cell in reversed(row) if cell.strip()), "") for row in rows}
        return split, -len(roots), min(len(row) for row in rows)

    return max((";", ",", *SEPARATORS), key=score)


def _split(text: str, separator: str, name: str) -> tuple[list[int], list[list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    lines, rows, begin = [], [], 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                lines.append(begin)
                rows.append(cells)
            begin = reader.line_num + 1
    except csv.Error as problem:
        raise FileError(f"{name}, line {begin}: the row cannot be read ({problem}).") from None
    return lines, rows
