"""How homogeneity is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class HomogeneityEntries(AttackEntries):
    """Homogeneity: who is in groups with one value, or one that most of their records have."""

    share: float = option(1.0, "Share of the value from which a group counts.", least=0, most=1)

    def run(self, given: Attacked) -> Outcome:
        """Every release alone."""
        from showthrough.attacks.homogeneity import homogeneity

        return homogeneity(given.releases, self.share, register=given.register)
