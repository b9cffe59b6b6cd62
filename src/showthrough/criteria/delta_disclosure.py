"""δ-disclosure privacy: in every group every value is about as frequent as in the table.

Brickell and Shmatikov, *The Cost of Privacy: Destruction of Data-Mining Utility in Anonymized
Data Publishing*, KDD 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import Criterion, below, text
from showthrough.criteria.parameters import flag, number
from showthrough.table.arrays import Flags, Reals


@dataclass(frozen=True)
class DeltaDisclosure(Criterion):
    """|ln(p/q)| < ``delta`` for every value, with share p in the group and q in the table.

    By the definition a value that a group lacks breaks it (ln 0). ``occurring`` looks only at the
    values that occur, as pyCANON and ARX do (ARX to base 2: divide by ln 2).
    """

    delta: float
    occurring: bool = False
    name: ClassVar[str] = "δ-disclosure"
    citation: ClassVar[str] = "Brickell and Shmatikov, KDD 2008"
    more_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number(self.name, "delta", self.delta, above=0)
        flag(self.name, "occurring", self.occurring)

    def __str__(self) -> str:
        return f"{text(self.delta)}-disclosure{' of occurring values' if self.occurring else ''}"

    def level(self, counts: GroupCounts) -> Reals:
        """The δ that must be exceeded."""
        level: Reals = np.log(np.maximum(counts.highest_ratio, 1 / counts.lowest(counts.ratio)))
        if not self.occurring:
            level = np.where(counts.distinct < np.count_nonzero(counts.total), np.inf, level)
        return level

    def met(self, level: Reals) -> Flags:
        """Below δ."""
        return below(level, self.delta)

    def says(self, level: float) -> str:
        """The largest ratio either way."""
        if np.isinf(level):
            return "Some group lacks a value that the table holds, which tells that nobody in it has this value."
        return (
            f"A value is at most {text(float(np.exp(level)))} times more or less frequent in a group than in the table."
        )
