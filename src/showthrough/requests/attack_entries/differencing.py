"""How differencing of tables of counts is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class DifferencingEntries(AttackEntries):
    """Differencing: what tables of counts give away together, hidden counts and numbers of few persons."""

    few: int = option(4, "Numbers of up to so many persons are told.", least=1)

    @classmethod
    def unable(cls, given: Attacked) -> str:
        """It looks at cells with counts."""
        from showthrough.attacks.differencing import countable

        strange = next((release for release in given.releases if not countable(release)), None)
        return super().unable(given) or ("" if strange is None else "It looks at tables of counts.")

    def run(self, given: Attacked) -> Outcome:
        """All tables on top of each other."""
        from showthrough.attacks.differencing import differencing

        return differencing(
            given.releases, few=self.few, register=given.register, seconds=given.seconds, progress=given.tell
        )
