"""How the intersection attack is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class IntersectionEntries(AttackEntries):
    """Intersection: the values that all groups of a person have in common (Ganta et al., KDD 2008)."""

    least: int | None = option(None, "Look at persons in at least so many releases. Default: 2.", least=1)
    beyond: bool = option(False, "Also what counts tell beyond sets: maximum entropy and proofs.")

    @classmethod
    def unable(cls, given: Attacked) -> str:
        """One release has nothing to be intersected with."""
        return super().unable(given) or ("It needs several releases." if len(given.releases) < 2 else "")

    def run(self, given: Attacked) -> Outcome:
        """All releases together."""
        from showthrough.attacks.intersection import intersection

        return intersection(
            given.releases,
            register=given.register,
            least=self.least,
            beyond=self.beyond,
            seconds=given.seconds,
            progress=given.tell,
        )
