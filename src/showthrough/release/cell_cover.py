"""Which exact values each printed cell covers, without looking at all pairs.

Intervals are found by bisection in the sorted values, exact values, sets and labels by a join on
their spelling, and masks by a join on the characters they show, once per pattern of stars.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.errors import InputError
from showthrough.release.cell import Bound, CellColumn, CellKind, ColumnKind
from showthrough.table.arrays import Ints
from showthrough.table.texts import days, number, plain

_SHOWN = re.compile(r"[^*]+")

CellRuns = tuple[Ints, Ints, Ints]  # cells, and the first position and the position after the last of a run

_NONE: CellRuns = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


class Cover(NamedTuple):
    """The values under cell ``c`` stand at ``code[start[c]:start[c + 1]]``, ascending."""

    start: Ints
    code: Ints


class Runs(NamedTuple):
    """The values under cell ``c`` are the runs ``low[k]:high[k]``, k in ``start[c]:start[c + 1]``.

    Runs are as long as can be, and ascend.
    """

    start: Ints
    low: Ints
    high: Ints


class _Line(NamedTuple):
    """Values in order: where each begins and ends (one number; the days of a month), and its position."""

    first: npt.NDArray[Any]
    last: npt.NDArray[Any]
    position: Ints


class _Span(NamedTuple):
    cell: int
    low: Bound | None
    high: Bound | None
    low_open: bool
    high_open: bool


def covers(cells: CellColumn, values: pl.Series, *, at_most: int = 100_000_000) -> Cover:
    """For every different cell the positions in ``values`` that it covers, one by one; otherwise as `runs`.

    More than ``at_most`` pairs of cell and value are refused before any memory is taken for them.
    """
    found = runs(cells, values, at_most=at_most)
    length = found.high - found.low
    end = np.cumsum(length)
    total = int(end[-1]) if end.size else 0
    _refuse(total, at_most)
    before = np.concatenate([[0], end])
    return Cover(before[found.start], np.repeat(found.low - before[:-1], length) + np.arange(total))


def runs(cells: CellColumn, values: pl.Series, *, at_most: int = 100_000_000) -> Runs:
    """For every different cell the runs of positions in ``values`` that it covers.

    ``values`` are different exact values as text; if they ascend, an interval covers one run. Cells that
    cover everything have no runs and are flagged in ``cells.any``. A null or a missing mark among the
    values is an unknown value: every cell covers it. A date known to the month only is covered by every
    cell that reaches into the month. Values that do not fit the kind of the column are compared as text,
    and values that the hierarchy does not hold are under none of its labels but the root: see
    `Hierarchy.cover`.

    More than ``at_most`` runs are refused before any memory is taken for them.
    """
    if values.dtype != pl.String:
        raise InputError(f"Expected the values as text, got {values.dtype}.")
    texts = values.str.strip_chars()
    unknown = texts.is_null() | texts.is_in(pl.Series(sorted(cells.missing), dtype=pl.String).implode()).fill_null(True)
    known = pl.DataFrame({"text": texts, "position": pl.int_range(len(texts), dtype=pl.Int64, eager=True)}).filter(
        ~unknown
    )
    spans, members = _sorted_out(cells)
    found = [
        _by_member(members, known, cells.kind),
        *_by_mask(cells, known, at_most),
        *(_by_span(spans, line, at_most) for line in (_lines(known, cells) if spans else [])),
        _by_unknown(~cells.any, unknown.arg_true().to_numpy().astype(np.int64)),
    ]
    return _assembled(found, len(cells.cells), len(texts), at_most)


def _sorted_out(cells: CellColumn) -> tuple[list[_Span], list[tuple[int, str]]]:
    """The cells to be found by bisection, and those by spelling; a set of dates becomes one span per member."""
    spans: list[_Span] = []
    members: list[tuple[int, str]] = []
    dated = cells.kind is ColumnKind.DATE
    for c, cell in enumerate(cells.cells):
        if cell.kind is CellKind.INTERVAL:
            spans.append(_Span(c, cell.low, cell.high, cell.low_open, cell.high_open))
        for member in cell.members:
            both = days(member) if dated else None
            if both is None:
                members.append((c, member))
            else:
                spans.append(_Span(c, both[0], both[1], False, False))
    return spans, members


def _lines(known: pl.DataFrame, cells: CellColumn) -> list[_Line]:
    """The values in order; days, months and years apart, for each of them is in order of its ends, too."""
    lines: dict[int, list[tuple[Bound, Bound, int]]] = {}
    for text, position in known.iter_rows():
        ends, unit = _ends(text, cells)
        if ends is not None:
            lines.setdefault(unit, []).append((*ends, position))
    return [_line(entries) for entries in lines.values()]


def _ends(text: str, cells: CellColumn) -> tuple[tuple[Bound, Bound] | None, int]:
    if cells.kind is ColumnKind.DATE:
        return days(text), len(text)
    if cells.kind is ColumnKind.NUMBER:
        value = number(text)
        return (None if value is None else (value, value)), 0
    if cells.kind is ColumnKind.CODE and len(text) == cells.width and text.isascii() and text.isdigit():
        return (text, text), 0
    return None, 0


def _line(entries: list[tuple[Bound, Bound, int]]) -> _Line:
    entries = sorted(entries, key=itemgetter(0))
    return _Line(
        _objects([first for first, _, _ in entries]),
        _objects([last for _, last, _ in entries]),
        np.array([position for _, _, position in entries], dtype=np.int64),
    )


def _objects(bounds: list[Bound]) -> npt.NDArray[np.object_]:
    array = np.empty(len(bounds), dtype=object)
    array[:] = bounds
    return array


def _by_span(spans: list[_Span], line: _Line, at_most: int) -> CellRuns:
    """Every span reaches from the first value that ends in it or later to the last that begins in it or before."""
    begin = np.zeros(len(spans), dtype=np.int64)
    end = np.full(len(spans), line.position.size, dtype=np.int64)
    for is_open in (False, True):
        low = [k for k, s in enumerate(spans) if s.low is not None and s.low_open == is_open]
        high = [k for k, s in enumerate(spans) if s.high is not None and s.high_open == is_open]
        lows, highs = [spans[k].low for k in low], [spans[k].high for k in high]
        begin[low] = np.searchsorted(line.last, _objects(lows), side="right" if is_open else "left")  # type: ignore[arg-type]
        end[high] = np.searchsorted(line.first, _objects(highs), side="left" if is_open else "right")  # type: ignore[arg-type]
    own = np.array([s.cell for s in spans], dtype=np.int64)
    some = end > begin
    own, begin, end = own[some], begin[some], end[some]
    if (np.diff(line.position) == 1).all():  # values stand in order: each span is a run
        return own, line.position[begin], line.position[end - 1] + 1
    count = end - begin
    total = int(count.sum())
    _refuse(total, at_most)
    offset = np.repeat(begin - (np.cumsum(count) - count), count)
    return _single(np.repeat(own, count), line.position[offset + np.arange(total)])


def _by_member(members: list[tuple[int, str]], known: pl.DataFrame, kind: ColumnKind) -> CellRuns:
    if not members:
        return _NONE
    asked = pl.DataFrame(members, schema={"cell": pl.Int64, "key": pl.String}, orient="row")
    texts = known["text"]
    keys = pl.Series([_key(text) for text in texts.to_list()], dtype=pl.String) if kind is ColumnKind.NUMBER else texts
    return _joined(asked, pl.DataFrame({"key": keys, "position": known["position"]}))


def _key(text: str) -> str:
    value = number(text)
    return text if value is None else plain(value)


def _by_mask(cells: CellColumn, known: pl.DataFrame, at_most: int) -> Iterator[CellRuns]:
    """One join per pattern of stars, on the characters that it shows."""
    shapes: dict[tuple[int, tuple[tuple[int, int], ...]], list[tuple[int, str]]] = {}
    for c, cell in enumerate(cells.cells):
        if cell.kind is CellKind.MASK:
            text = cell.text.replace("−", "-") if cells.kind is ColumnKind.NUMBER else cell.text
            shown = tuple(found.span() for found in _SHOWN.finditer(text))
            shapes.setdefault((len(text), shown), []).append((c, text.replace("*", "")))
    if not shapes:
        return
    by_length = _spellings(known, cells.kind).partition_by("length", as_dict=True)
    for (length, shown), masks in shapes.items():
        values = by_length.get((length,))
        if values is None:
            continue
        pieces = [pl.col("text").str.slice(start, stop - start) for start, stop in shown]
        keyed = values.select(pl.concat_str(pieces).alias("key"), "position")
        asked = pl.DataFrame(masks, schema={"cell": pl.Int64, "key": pl.String}, orient="row")
        size = asked.join(keyed.group_by("key").len(), on="key")["len"].sum()
        _refuse(int(size), at_most)
        yield _joined(asked, keyed)


def _spellings(known: pl.DataFrame, kind: ColumnKind) -> pl.DataFrame:
    """The values as printed and, for numbers, also in their shortest form: 30.0 is hidden as 3*, too."""
    if kind is ColumnKind.NUMBER:
        short = pl.Series("text", [_key(text) for text in known["text"].to_list()], dtype=pl.String)
        known = pl.concat([known, known.with_columns(short).filter(short != known["text"])])
    return known.with_columns(pl.col("text").str.len_chars().alias("length"))


def _joined(asked: pl.DataFrame, values: pl.DataFrame) -> CellRuns:
    both = asked.join(values, on="key", how="inner")
    return _single(both["cell"].to_numpy(), both["position"].to_numpy())


def _single(cell: Ints, position: Ints) -> CellRuns:
    """Runs of one value."""
    return cell, position, position + 1


def _by_unknown(asks: npt.NDArray[np.bool_], unknown: Ints) -> CellRuns:
    cell = np.flatnonzero(asks)
    return _single(np.repeat(cell, unknown.size), np.tile(unknown, cell.size))


def _assembled(found: Sequence[CellRuns], cells: int, values: int, at_most: int) -> Runs:
    """Runs that touch or overlap become one."""
    _refuse(sum(cell.size for cell, _, _ in found), at_most)
    stride = values + 1  # a run of one cell never touches one of the next
    low = np.concatenate([cell * stride + low for cell, low, _ in found])
    high = np.concatenate([cell * stride + high for cell, _, high in found])
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order])
    new = np.ones(low.size, dtype=bool)
    np.greater(low[1:], high[:-1], out=new[1:])
    last = np.append(new[1:], True)[: low.size]
    cell, low = np.divmod(low[new], stride)
    start = np.zeros(cells + 1, dtype=np.int64)
    np.cumsum(np.bincount(cell, minlength=cells), out=start[1:])
    return Runs(start, low, high[last] - cell * stride)


def _refuse(pairs: int, at_most: int) -> None:
    if pairs > at_most:
        raise InputError(
            f"The cells cover {pairs:,} pairs of cell and value, more than the {at_most:,} that are kept in memory. "
            "Link with fewer values at a time."
        )
