"""A decision for other programs: which formats there are, and what all of them are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from showthrough.errors import InputError
from showthrough.policy.decision import Decision
from showthrough.report.origin import Origin


@dataclass(frozen=True)
class Judgement:
    """What formats tell: the decision, sentences with figures, where the limits stand, and how it was made.

    ``subject`` is what was judged ("audit", "check"); ``place`` the policy file, or else a file of the history, as it
    may be told; ``lines`` whether lines of reasons are lines of it.
    """

    subject: str
    decision: Decision | None
    summary: Sequence[str]
    made: Origin
    place: str
    lines: bool

    @property
    def decided(self) -> Decision:
        """The decision, without which there is nothing to tell in some formats."""
        if self.decision is None:
            raise InputError("This format tells what became of limits: set some.")
        return self.decision
