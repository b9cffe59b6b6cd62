"""β-likeness: no value is much more frequent in a group than in the table, relative to the table.

Cao and Karras, *Publishing Microdata with a Robust Privacy Guarantee*, PVLDB 5(11), 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import ROUNDING, Criterion, at_most, text
from showthrough.criteria.parameters import flag, number
from showthrough.table.arrays import Flags, Reals


@dataclass(frozen=True)
class BetaLikeness(Criterion):
    """(p − q)/q ≤ ``beta`` for every value with share p in a group above its share q in the table.

    ``enhanced``: ≤ min(β, −ln q), which also bounds how common a common value may become.
    """

    beta: float
    enhanced: bool = False
    name: ClassVar[str] = "β-likeness"
    citation: ClassVar[str] = "Cao and Karras, PVLDB 2012"
    more_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number(self.name, "beta", self.beta, least=0)
        flag(self.name, "enhanced", self.enhanced)

    def __str__(self) -> str:
        return f"{'enhanced' if self.enhanced else 'basic'} {text(self.beta)}-likeness"

    def level(self, counts: GroupCounts) -> Reals:
        """The smallest β; infinite where the enhanced bound −ln q is exceeded."""
        level = np.maximum(counts.highest_ratio - 1.0, 0.0)
        if self.enhanced:
            with np.errstate(divide="ignore"):
                bound = 1.0 - np.log(counts.reference("all"))
            over = counts.ratio > (bound * (1 + ROUNDING))[counts.value]
            level[counts.group[over]] = np.inf
        return level

    def met(self, level: Reals) -> Flags:
        """At most β."""
        return at_most(level, self.beta)

    def says(self, level: float) -> str:
        """The largest relative gain."""
        if np.isinf(level):
            if self.enhanced:
                return "In some group a value gains more than −ln of its share in the table, so no β is large enough."
            return "Some group holds a value that the table lacks."
        return f"A value is at most {text(1 + level)} times as frequent in a group as in the table."
