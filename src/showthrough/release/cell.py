"""One printed quasi-identifier and what it says, and a column of them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.errors import InternalError, ReleaseError
from showthrough.table.texts import plain

Bound = Decimal | datetime.date | str  # of numbers, of dates, of codes

_SHOWN = 5
_COUNTS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}


class CellKind(Enum):
    """What sort of thing a cell says about a value."""

    ANY = "any"
    EXACT = "exact"
    INTERVAL = "interval"
    MASK = "mask"
    SET = "set"
    LABEL = "label"


class ColumnKind(Enum):
    """How the values of a column compare: as decimals, as days, as digits of one length, or as text."""

    NUMBER = "numbers"
    DATE = "dates"
    CODE = "codes"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Cell:
    """What one printed cell says.

    Intervals have bounds, where None is no bound; exact values, sets and labels have members, which
    in a column of numbers are spelled one way (``30``, never ``30.0``); a mask is its own text.
    """

    text: str
    kind: CellKind
    low: Bound | None = None
    high: Bound | None = None
    low_open: bool = False
    high_open: bool = False
    members: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        bounded = self.low is not None or self.high is not None
        if bounded != (self.kind is CellKind.INTERVAL):
            raise InternalError("An interval, and nothing else, has bounds.")
        if bool(self.members) != (self.kind in (CellKind.EXACT, CellKind.SET, CellKind.LABEL)):
            raise InternalError("An exact value, a set or a label has members, and nothing else has.")
        if self.low is not None and self.high is not None:
            if self.low > self.high:  # type: ignore[operator]
                raise ReleaseError("its low end is above its high end")
            if self.low == self.high and (self.low_open or self.high_open):
                raise ReleaseError("no value lies between its ends")

    def describe(self) -> str:
        """What the cell says, in words.

        >>> Cell("[18, 30[", CellKind.INTERVAL, Decimal(18), Decimal(30), high_open=True).describe()
        'from 18 up to but not including 30'
        """
        if self.kind is CellKind.ANY:
            return "any value"
        if self.kind is CellKind.EXACT:
            return f"exactly {self.members[0]}"
        if self.kind is CellKind.INTERVAL:
            return _interval(self)
        if self.kind is CellKind.MASK:
            stars = self.text.count("*")
            hidden = _COUNTS.get(stars, str(stars))
            return f"{len(self.text)} characters as in {self.text}, {hidden} of them hidden"
        if self.kind is CellKind.LABEL and len(self.members) > _SHOWN:
            return f"{self.text}: any of {len(self.members)} values"
        shown = ", ".join(self.members[:_SHOWN])
        more = f" and {len(self.members) - _SHOWN} more" if len(self.members) > _SHOWN else ""
        lead = f"{self.text}: " if self.kind is CellKind.LABEL else ""
        return f"{lead}one of {shown}{more}" if len(self.members) > 1 else f"{lead}exactly {shown}"


def _interval(cell: Cell) -> str:
    low, high = (_bound(cell.low), _bound(cell.high))
    if cell.low is None:
        return f"less than {high}" if cell.high_open else f"{high} or less"
    if cell.high is None:
        return f"more than {low}" if cell.low_open else f"{low} or more"
    start = f"more than {low}," if cell.low_open else f"from {low}"
    return f"{start} up to {'but not' if cell.high_open else 'and'} including {high}"


def _bound(bound: Bound | None) -> str:
    return plain(bound) if isinstance(bound, Decimal) else str(bound)


@dataclass(frozen=True, eq=False)
class CellColumn:
    """A column of printed cells: each different text once, its meaning, and which row shows which.

    ``missing`` are the texts that stand for an unknown value, here and in a register; ``width`` is the
    number of digits of codes.
    """

    name: str
    kind: ColumnKind
    cells: tuple[Cell, ...]
    codes: npt.NDArray[np.int32]
    missing: frozenset[str]
    width: int = 0

    @property
    def texts(self) -> list[str]:
        """The different cells as printed, in order of appearance."""
        return [cell.text for cell in self.cells]

    @cached_property
    def any(self) -> npt.NDArray[np.bool_]:
        """Which of the different cells cover every value."""
        return np.array([cell.kind is CellKind.ANY for cell in self.cells], dtype=bool)

    @cached_property
    def rows(self) -> npt.NDArray[np.int64]:
        """How many rows show each of the different cells."""
        return np.bincount(self.codes, minlength=len(self.cells)).astype(np.int64)

    def understood(self, held: pl.Series | None = None) -> pl.DataFrame:
        """Every different cell with its kind, its meaning in words and its rows.

        ``held`` are the rows of a file that each entry of the column stands for, if not one.
        """
        rows = self.rows
        if held is not None:
            rows = np.bincount(self.codes, weights=held.to_numpy(), minlength=len(self.cells)).astype(np.int64)
        return pl.DataFrame(
            {
                "cell": self.texts,
                "kind": [cell.kind.value for cell in self.cells],
                "meaning": [cell.describe() for cell in self.cells],
                "rows": rows,
            },
            schema={"cell": pl.String, "kind": pl.String, "meaning": pl.String, "rows": pl.Int64},
        )

    def __repr__(self) -> str:
        return (
            f"CellColumn({self.name!r}, {self.kind.value}, {len(self.cells)} different cells in {self.codes.size} rows)"
        )
