"""One quasi-identifier of a register beside the cells of a release; and who fits which groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.errors import InputError, InternalError
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import starts


@dataclass(frozen=True)
class Attribute:
    """Exact values of persons and published cells of groups, both as codes.

    Cell c covers the values of the runs ``low[k]:high[k]``, k in ``start[c]:start[c + 1]``, ascending, or
    all values if ``everything[c]``. A person of unknown value (−1) is covered by every cell.
    """

    person: Codes  # [n] code of the value, or -1
    group: Codes  # [m] code of the cell
    start: Ints  # [cells + 1]
    low: Codes  # [runs]
    high: Codes  # [runs], not included
    everything: Flags  # [cells]
    name: str = ""

    def __post_init__(self) -> None:
        cells, ends = self.everything.size, self.start[1:-1]
        if self.start.size != cells + 1 or int(self.start[0]) != 0 or int(self.start[-1]) != self.low.size:
            raise InternalError(f"{self._named}: the cells and the runs that they cover do not match")
        if (np.diff(self.start) < 0).any():
            raise InternalError(f"{self._named}: a cell covers fewer than no values")
        if self.group.size and not 0 <= int(self.group.min()) <= int(self.group.max()) < cells:
            raise InternalError(f"{self._named}: a group has a cell that is not among the {cells} cells")
        if int(self.person.min(initial=0)) < -1 or int(self.low.min(initial=0)) < 0:
            raise InternalError(f"{self._named}: values are codes from 0, and only persons may have -1 (unknown)")
        if self.low.size != self.high.size or (self.low >= self.high).any():
            raise InternalError(f"{self._named}: every run must hold a value")
        falling = self.low[1:] < self.high[:-1]
        falling[ends[(ends > 0) & (ends < self.low.size)] - 1] = False  # another cell
        if falling.any():
            raise InternalError(f"{self._named}: the values that a cell covers must ascend")

    @property
    def values(self) -> int:
        """One more than the largest code of a value."""
        return 1 + max(int(self.person.max(initial=-1)), int(self.high.max(initial=0)) - 1)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.everything.size

    @property
    def _named(self) -> str:
        return f"attribute {self.name}" if self.name else "an attribute"


@dataclass(frozen=True)
class Candidates:
    """For each person the groups that the person can be in, ascending."""

    start: Ints  # [n + 1]
    group: Codes

    def __post_init__(self) -> None:
        if self.start.ndim != 1 or self.start.size == 0 or int(self.start[-1]) != self.group.size:
            raise InternalError("candidates: the lists do not match their starts")

    @property
    def persons(self) -> int:
        """How many persons there are."""
        return self.start.size - 1

    @property
    def counts(self) -> Ints:
        """[n] how many groups each person fits."""
        return np.diff(self.start)

    def of(self, person: int) -> Codes:
        """The groups that one person fits."""
        return self.group[self.start[person] : self.start[person + 1]]

    def anywhere(self, persons: Flags, groups: int) -> Candidates:
        """The same with some persons who fit every group.

        >>> Candidates(np.array([0, 1, 2]), np.array([1, 0])).anywhere(np.array([True, False]), 3).group.tolist()
        [0, 1, 2, 0]
        """
        counts = np.where(persons, groups, self.counts)
        group = np.tile(np.arange(groups, dtype=self.group.dtype), int(persons.sum()))
        found = np.empty(int(counts.sum()), dtype=self.group.dtype)
        free = np.repeat(persons, counts)
        found[free], found[~free] = group, self.group[~np.repeat(persons, self.counts)]
        return Candidates(starts(counts), found)


def matched(persons: int, groups: int, attributes: list[Attribute]) -> None:
    """Refuse attributes of different tables."""
    for attribute in attributes:
        if attribute.person.size != persons or attribute.group.size != groups:
            raise InputError(
                f"All quasi-identifiers must speak of the same persons and groups: expected {persons} persons and "
                f"{groups} groups, found {attribute.person.size} and {attribute.group.size}"
                + (f" for {attribute.name}." if attribute.name else ".")
            )
