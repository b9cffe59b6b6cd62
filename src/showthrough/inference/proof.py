"""Proofs as data: what is claimed, and the weighings of published counts that show it.

A proof stands on its own. `verify` replays it from the published releases in whole numbers, by
`proof_check`, which shares no code with the solver that found it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from showthrough.inference import proof_check
from showthrough.release.release import Release


@dataclass(frozen=True)
class WeighedRow:
    """One published count and the whole weight it gets in an argument."""

    release: int  # position in the history
    group: Any
    value: Any
    weight: int


@dataclass(frozen=True)
class Argument:
    """One step of a proof: weighed rows, and the same in words.

    With weights +1 and −1 on one value it is a cut: some groups of one release against some of
    another.
    """

    rows: tuple[WeighedRow, ...]
    text: str

    @property
    def groups(self) -> tuple[tuple[int, Any], ...]:
        """The groups that the argument looks at: (release, group)."""
        return tuple(dict.fromkeys((r.release, r.group) for r in self.rows))


@dataclass(frozen=True, repr=False)
class Proof:
    """Why a value is certain or impossible for a person.

    ``by`` is "sets" (the value is missing in one of the person's groups, or the only one common to
    all) or "counts". ``release`` is set for a person that was split off by ``changed="split"``.
    """

    id: Any
    value: Any
    fact: str
    by: str
    steps: tuple[Argument, ...]
    reason: str
    names: tuple[str, ...]
    changed: str = "refuse"
    release: int | None = None

    def verify(self, releases: Sequence[Release]) -> bool:
        """Re-check the proof from the published releases alone, in whole numbers."""
        return proof_check.holds(
            releases,
            steps=[[(r.release, r.group, r.value, r.weight) for r in s.rows] for s in self.steps],
            person=(self.id, self.release),
            value=self.value,
            fact=self.fact,
            split=self.changed == "split",
        )

    def __str__(self) -> str:
        verb = "has" if self.fact == "certain" else "cannot have"
        who = f"{self.id} (as in {self.names[self.release]})" if self.release is not None else f"{self.id}"
        reason = [self.reason] if self.reason else []
        return "\n".join([*_numbered(self.steps), *reason, f"Therefore {who} {verb} {self.value}."])

    def __repr__(self) -> str:
        verb = "certain" if self.fact == "certain" else "impossible"
        return f"<proof by {self.by} in {len(self.steps)} steps: {self.value} is {verb} for {self.id}>"


@dataclass(frozen=True)
class Contradiction:
    """Why no assignment of values to persons fits the releases; the last step is overfull."""

    steps: tuple[Argument, ...]
    names: tuple[str, ...]
    changed: str = "refuse"

    def verify(self, releases: Sequence[Release]) -> bool:
        """Re-check from the published releases alone."""
        return proof_check.contradicts(
            releases,
            steps=[[(r.release, r.group, r.value, r.weight) for r in s.rows] for s in self.steps],
            split=self.changed == "split",
        )

    def __str__(self) -> str:
        return "\n".join(_numbered(self.steps))


def _numbered(steps: Sequence[Argument]) -> list[str]:
    if len(steps) == 1:
        return [steps[0].text]
    return [f"{number}. {step.text}" for number, step in enumerate(steps, start=1)]
