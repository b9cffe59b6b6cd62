"""Tables for a terminal: lines break between words, and numbers are kept whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from showthrough.report.printable import printable, unbroken, words

BORDER = 3  # a line and two spaces for every column; one more line ends the row
SHORT = 8  # columns of words are squeezed to this before numbers are


@dataclass(frozen=True)
class Column:
    """A column of words, or of cells that are kept ``whole`` and stand to the right, such as numbers.

    A line break in a whole cell is the one place where it may break if room is short.
    """

    name: str
    whole: bool = False


@dataclass(frozen=True)
class WordTable:
    """A table that chooses the widths of its columns when it is printed, for the width of that terminal.

    Rich's own tables make wide columns equally narrow, and break words and numbers where they end.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str | Text]]
    caption: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Called by Rich."""
        rows = [[cell if isinstance(cell, Text) else words(cell, lines=True) for cell in row] for row in self.rows]
        measured = [_Measured.of(column, [row[j].plain for row in rows]) for j, column in enumerate(self.columns)]
        widths = _widths(measured, options.max_width - BORDER * len(self.columns) - 1)
        table = Table()
        for column, width in zip(self.columns, widths, strict=True):
            name = words(column.name)
            table.add_column(name, width=width, justify="right" if column.whole else "left", overflow="fold")
        for row in rows:
            shown = zip(self.columns, row, widths, strict=True)
            table.add_row(*(_one_line(cell, width) if column.whole else cell for column, cell, width in shown))
        yield words(self.title, "bold")
        yield table
        if self.caption:
            yield words(self.caption, "dim")


def fitting(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> int:
    """How many columns, from the first, fit side by side without a broken word or number; at least one."""
    needed = [_Measured.of(column, [row[j] for row in rows]).least + BORDER for j, column in enumerate(columns)]
    return max(1, sum(total + 1 <= width for total in accumulate(needed)))


@dataclass(frozen=True)
class _Measured:
    """The widths at which a column breaks less."""

    least: int
    """No word breaks, and no whole cell other than at its line breaks."""
    most: int
    """No cell breaks."""
    heading: int
    """The heading does not break."""
    whole: bool

    @classmethod
    def of(cls, column: Column, cells: Sequence[str]) -> _Measured:
        heading = _longest(unbroken(printable(column.name)))
        lines = [line for cell in cells for line in cell.split("\n")]
        least = lines if column.whole else [word for line in lines for word in unbroken(line)]
        most = [cell.replace("\n", " ") for cell in cells] if column.whole else lines
        return cls(
            max(heading, _longest(least)), max(heading, _longest(most)), cell_len(printable(column.name)), column.whole
        )


def _widths(columns: Sequence[_Measured], room: int) -> list[int]:
    """All in one line if there is room; if not, headings break first, then words, then whole cells."""
    in_one_line = [max(c.most, c.heading) for c in columns]
    if sum(in_one_line) <= room:
        return in_one_line
    least = [c.most if c.whole else c.least for c in columns]
    if sum(least) > room:
        least = [c.least for c in columns]
    if sum(least) > room:
        return _squeezed(least, columns, room)
    return _shared(least, [low if c.whole else c.most for low, c in zip(least, columns, strict=True)], room)


def _shared(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Every column gets the same part of what it wants beyond its least, as web browsers do (CSS 2.2, 17.5.2.2)."""
    wanted = [high - low for low, high in zip(least, most, strict=True)]
    part = Fraction(min(room - sum(least), sum(wanted)), max(sum(wanted), 1))
    ends = [int(part * end) for end in accumulate(wanted, initial=0)]  # rounded so that no character is lost
    return [low + after - before for low, (before, after) in zip(least, pairwise(ends), strict=True)]


def _squeezed(widths: Sequence[int], columns: Sequence[_Measured], room: int) -> list[int]:
    """The widest column narrower until all fit, those of words first: longer words are folded."""
    found = [min(width, max(room, 1)) for width in widths]
    while sum(found) > max(room, len(found)):
        words = [j for j, c in enumerate(columns) if not c.whole and found[j] > SHORT]
        found[max(words or range(len(found)), key=found.__getitem__)] -= 1
    return found


def _one_line(cell: Text, width: int) -> Text:
    flat = cell.plain.replace("\n", " ")
    return words(flat, str(cell.style)) if cell_len(flat) <= width else cell


def _longest(parts: Iterable[str]) -> int:
    return max(map(cell_len, parts), default=0) or 1
