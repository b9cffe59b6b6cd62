"""How skewness is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class SkewnessEntries(AttackEntries):
    """Skewness: of whom a value is far likelier by their group than in the whole release."""

    ratio: float = option(2.0, "How many times as likely.", least=1)
    matters: tuple[str, ...] = option((), "A value that matters; once per value. Default: all.", metavar="VALUE")

    def run(self, given: Attacked) -> Outcome:
        """Every release alone."""
        from showthrough.attacks.skewness import skewness

        return skewness(given.releases, self.ratio, values=self.matters or None, register=given.register)
