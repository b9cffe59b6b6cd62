"""How the smallest set of statements is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class LeastKnowledgeEntries(AttackEntries):
    """Least knowledge: the fewest statements that make a reader certain of somebody's value, or too sure of it."""

    person: str | None = option(None, "The id of the person to be found out. Default: anybody.", metavar="ID")
    limit: float = option(1.0, "How sure a reader may be; 1: nothing may be proven.")
    most: int = option(3, "Statements in a set, at most.", least=1)
    search_seconds: float = option(60.0, "Time for the search; beyond it the answer is a bound.", least=0)
    kinds: tuple[str, ...] = option((), "Kinds of statements: known, excluded; once per kind. Default: both.")

    def run(self, given: Attacked) -> Outcome:
        """Sets by size; true statements alone where the truth is given."""
        from showthrough.attacks.least_knowledge import KINDS, least_knowledge

        return least_knowledge(
            given.releases,
            self.person,
            limit=self.limit,
            kinds=self.kinds or KINDS,
            most=self.most,
            truth=given.truth,
            register=given.register,
            seconds=min(self.search_seconds, given.seconds),
            progress=given.tell,
        )
