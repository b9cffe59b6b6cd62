"""How a release was made and what it cost: known to the publisher alone, never saved with the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from showthrough.anonymizers.remark import Remark
from showthrough.criteria.criterion import Check
from showthrough.measuring.measure import Utility
from showthrough.numerals import number_of
from showthrough.table.frozen import Frozen

UNTIED = "untied"
"""The kind of the remark that nobody of a table is in its history."""


@dataclass(frozen=True, eq=False)
class Made:
    """Method, checks, cost and plan of a release."""

    method: str
    seconds: float | None  # None: not told, as it would tell of the records
    suppressed: int
    incomplete: int
    checks: tuple[Check, ...]
    utility: Utility | None
    remarks: tuple[Remark, ...] = ()  # of the method or strategy, with their figures
    plan: Mapping[str, Any] = field(default_factory=Frozen)
    counterfeits: int = 0
    exposed: tuple[str, ...] = ()  # ids whom earlier releases, or slots left empty, give away
    guard: Any = None  # the review and the joint posterior of a guarded release
    exact: bool = False  # whether quasi-identifiers are published as they are

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks in sentences."""
        return tuple(map(str, self.remarks))

    @property
    def untied(self) -> str | None:
        """The sentence on a history in which nobody of the table was found."""
        return next((str(remark) for remark in self.remarks if remark.kind == UNTIED), None)

    @property
    def conclusive(self) -> bool:
        """False where a guard ran out of time, or the history is tied to nobody of the table."""
        return self.untied is None and (self.guard is None or bool(self.guard.review.conclusive))

    def __str__(self) -> str:
        lines = [*(str(c) for c in self.checks), *self.notes]
        if self.utility is not None:
            lead = (
                "Quasi-identifiers are published as they are; cut down to the groups they would be: "
                if self.exact
                else ""
            )
            lines.insert(0, f"{lead or 'Cost: '}{self.utility}")
        if self.incomplete:
            were = "was" if self.incomplete == 1 else "were"
            lines.append(f"{number_of(self.incomplete, 'row')} with empty cells {were} left out.")
        return "\n".join(lines)
