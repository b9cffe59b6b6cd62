"""Measure every row of CSV text in one vectorised pass, chunk by chunk: fields, quotes, blank lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from showthrough.errors import FileError
from showthrough.table.arrays import Flags, Ints

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

_CHUNK = 1 << 20  # arrays of a chunk of nothing but line ends take fifty times its size
_QUOTE, _LINE_FEED, _RETURN = ord('"'), ord("\n"), ord("\r")

Letters = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Measured:
    """How many records the text holds (the header is one), and where its blank lines are."""

    records: int
    blank: tuple[tuple[Ints, Ints], ...]  # chunk by chunk, where runs of them begin and end

    def without_blank_lines(self, data: bytes) -> bytes:
        """The text without the blank lines, which readers would take for rows without values."""
        if not self.blank:
            return data
        turns = np.zeros(len(data) + 1, dtype=np.int8)
        for begins, ends in self.blank:
            turns[begins] += 1
            turns[ends] -= 1  # a run may go on in the next chunk
        np.cumsum(turns, dtype=np.int8, out=turns)
        return bytes(np.frombuffer(data, dtype=np.uint8)[turns[:-1] == 0].tobytes())


def inside_quotes(letters: Letters, *, quoted: bool = False) -> Flags:
    """Which letters stand inside quotes (an opening quote does, a closing one does not)."""
    count = np.cumsum(letters == _QUOTE, dtype=np.uint8)  # overflows, and stays even or odd
    inside: Flags = (count & 1).astype(bool) ^ quoted
    return inside


def measure_rows(data: bytes, name: str, *, separator: str, width: int, first_line: int) -> Measured:
    """Every record has ``width`` fields and its quotes close; ``data`` ends in a line end."""
    whole = np.frombuffer(data, dtype=np.uint8)
    records, blank = 0, list[tuple[Ints, Ints]]()
    begin, fields, quoted = 0, 1, False  # of the record that the end of a chunk cuts

    def line(at: int) -> int:
        return first_line + data.count(b"\n", 0, at)

    for start in range(0, whole.size, _CHUNK):
        chunk = whole[start : start + _CHUNK]
        misplaced = _misplaced_quote(whole, chunk, start, ord(separator), quoted)
        if misplaced is not None:
            raise _stray_quote(name, line(misplaced))
        inside = inside_quotes(chunk, quoted=quoted)
        ends = np.flatnonzero((chunk == _LINE_FEED) & ~inside)
        separators = np.flatnonzero((chunk == ord(separator)) & ~inside)
        begins = np.concatenate([[begin], start + ends + 1])
        passed = np.searchsorted(separators, ends)  # separators before each end
        in_fields = np.diff(passed, prepend=0) + 1
        in_fields[:1] += fields - 1
        empty = _is_blank(whole, begins[:-1], start + ends)
        wrong = np.flatnonzero((in_fields != width) & ~empty)
        if wrong.size:
            at = int(begins[wrong[0]])
            text = data[at : data.find(b"\n", at)]
            raise _ragged(name, line(at), int(in_fields[wrong[0]]), width, separator=separator, text=text)
        if empty.any():
            first = empty & ~np.append(False, empty[:-1])
            last = empty & ~np.append(empty[1:], False)
            blank.append((begins[:-1][first], begins[1:][last]))
        records += int(np.count_nonzero(~empty))
        begin = int(begins[-1])
        fields = separators.size - int(passed[-1]) + 1 if ends.size else fields + separators.size
        quoted = bool(inside[-1])
    if quoted:
        raise FileError(f"{name} opens a quote in the row at line {line(begin)} and never closes it.")
    return Measured(records, tuple(blank))


def _is_blank(whole: Letters, begins: Ints, ends: Ints) -> Flags:
    """Which records hold nothing, or the return of their line end alone."""
    length = ends - begins
    blank: Flags = (length == 0) | ((length == 1) & (whole[begins] == _RETURN))
    return blank


def _misplaced_quote(whole: Letters, chunk: Letters, start: int, separator: int, quoted: bool) -> int | None:
    """The first quote that neither opens nor closes a field; two in a row inside one are a letter."""
    at = np.flatnonzero(chunk == _QUOTE) + start
    if not at.size:
        return None
    opens = (np.arange(at.size) + quoted) % 2 == 0
    before = np.where(at > 0, whole[at - 1], _LINE_FEED)
    after = np.where(at + 1 < whole.size, whole[np.minimum(at + 1, whole.size - 1)], _LINE_FEED)
    allowed: Any = np.where(
        opens,
        np.isin(before, [separator, _LINE_FEED, _QUOTE]),
        np.isin(after, [separator, _LINE_FEED, _RETURN, _QUOTE]),
    )
    wrong = np.flatnonzero(~allowed)
    return int(at[wrong[0]]) if wrong.size else None


def _stray_quote(name: str, line: int) -> FileError:
    return FileError(
        f"{name}, line {line}: a double quote stands in the middle of a value, or a quote opened before is not "
        "closed. Put the whole value in double quotes and write the quotes in it twice."
    )


def _ragged(name: str, line: int, found: int, width: int, *, separator: str, text: bytes) -> FileError:
    own = SEPARATORS[separator]
    others = [s for s in SEPARATORS if s != separator and s.encode() in text]
    if found > width:
        advice = f"Put values that hold a {own} in double quotes."
    elif others:
        other = SEPARATORS[others[0]]
        advice = f"The header is separated by {own}s, that line by {other}s: use one separator throughout."
    else:
        advice = f"Every row needs all fields: an empty one, too, needs its {own}."
    has = f"{found} field" + ("s" if found != 1 else "")
    return FileError(f"{name}, line {line}: {has} where the header has {width}. {advice}")
