"""How sure a reader can be, for the eye: the bands in words, one comparison for all of them, and bars."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.auditing.whole_audit import reaches
from showthrough.table.arrays import Flags, Ints, Reals

BANDS = ("certain", "p90", "p50", "low")
BAND_WORDS = {"certain": "certain", "p90": "at least 90\u202f%", "p50": "at least 50\u202f%", "low": "below"}
COMPARISON = (
    "“At least 50\u202f%” counts everybody whose likeliest value has a probability of 50\u202f% or more, so certain"
    " persons and those at exactly 50\u202f% are among them. A limit is broken only above it: a limit of 50\u202f%"
    " allows 50\u202f%."
)
STEP = 5  # percent points of a bar


def steps(largest: Reals, certain: Flags) -> Ints:
    """[20] how many persons who are not certain are in each step of 5 %; the last one reaches up to certainty."""
    best = largest[~certain & ~np.isnan(largest)]
    found = np.zeros(100 // STEP, dtype=np.int64)
    for k in range(found.size):
        found[k] = int(reaches(best, k * STEP / 100).sum())
    found[:-1] -= found[1:]
    return found


@dataclass(frozen=True)
class Bar:
    """Persons whose best guess is from ``low`` to under ``high`` percent."""

    low: int
    high: int
    persons: int

    @property
    def band(self) -> str:
        """The band that it lies in; "mixed" if it reaches from one into another."""
        if any(self.low < edge < self.high for edge in (50, 90)):
            return "mixed"
        return "p90" if self.low >= 90 else "p50" if self.low >= 50 else "low"


def bars(counts: Ints, *, least: int = 0) -> list[Bar]:
    """One bar per step; bars of under ``least`` persons are merged with their neighbours.

    First inside their band, then with other bands, until none counts fewer or one is left.
    """
    single = [Bar(k * STEP, (k + 1) * STEP, int(n)) for k, n in enumerate(counts)]
    found: list[Bar] = []
    for band in ("low", "p50", "p90"):
        found += _merged([bar for bar in single if bar.band == band], least)
    return _merged(found, least)


def _merged(row: list[Bar], least: int) -> list[Bar]:
    while len(row) > 1 and (few := [k for k, bar in enumerate(row) if 0 < bar.persons < least]):
        k = few[0]
        filled = [j for j in (k - 1, k + 1) if 0 <= j < len(row)]
        j = min(filled, key=lambda j: (row[j].persons == 0, row[j].persons))
        first, last = min(j, k), max(j, k)
        row = [
            *row[:first],
            Bar(row[first].low, row[last].high, row[first].persons + row[last].persons),
            *row[last + 1 :],
        ]
    return row
