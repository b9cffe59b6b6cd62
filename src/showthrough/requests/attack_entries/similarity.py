"""How similarity is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from showthrough.errors import FieldError
from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class SimilarityEntries(AttackEntries):
    """Similarity: who is in groups whose different values mean nearly the same."""

    share: float = option(1.0, "Share of similar values from which a group counts.", least=0, most=1)
    kinds: str | None = option(None, "Hierarchy of the values: those of one kind are similar.", file=True)
    level: int = option(1, "Level of that hierarchy.", least=1)
    epsilon: float | None = option(None, "Or: numbers within so much of one value are similar.", least=0)

    @classmethod
    def unable(cls, given: Attacked) -> str:
        """What is similar has to be said."""
        return super().unable(given) or "It needs to know which values are similar: kinds= or epsilon=."

    def check(self) -> None:
        """One of the two ways to be similar."""
        super().check()
        if (self.kinds is None) == (self.epsilon is None):
            raise FieldError(
                "kinds", "or epsilon= says which values are similar: give one of them.", parameters=("epsilon",)
            )

    def run(self, given: Attacked) -> Outcome:
        """Every release alone."""
        from showthrough.attacks.similarity import similarity

        return similarity(
            given.releases,
            self.share,
            hierarchy=self.kinds,
            level=self.level,
            epsilon=self.epsilon,
            register=given.register,
        )
