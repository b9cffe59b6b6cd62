"""Persons in bands by how sure a reader can be: certain, at least 90 %, at least 50 %, below."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from showthrough.auditing.whole_audit import reaches
from showthrough.table.arrays import Flags, Reals


@dataclass(frozen=True)
class Bands:
    """How many of some persons are in each band; the counts are nested: the certain are among the rest."""

    persons: int
    certain: int
    p90: int
    p50: int
    unknown: int = 0  # without a certified answer

    @classmethod
    def of(cls, largest: Reals, certain: Flags, here: Flags | None = None) -> Bands:
        """From everybody's best guess; ``here`` are those who count."""
        inside = np.ones(certain.size, dtype=bool) if here is None else here
        best = np.where(certain, 1.0, largest)[inside]
        return cls(
            persons=int(inside.sum()),
            certain=int(certain[inside].sum()),
            p90=int(reaches(best, 0.9).sum()),
            p50=int(reaches(best, 0.5).sum()),
            unknown=int(np.isnan(best).sum()),
        )

    def __add__(self, other: Bands) -> Bands:
        """Both together."""
        return Bands(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def low(self) -> int:
        """Below 50 %, as far as it is known."""
        return self.persons - self.p50 - self.unknown

    def apart(self) -> dict[str, int]:
        """The bands without what is in a higher one."""
        return {
            "certain": self.certain,
            "p90": self.p90 - self.certain,
            "p50": self.p50 - self.p90,
            "low": self.low,
        }
