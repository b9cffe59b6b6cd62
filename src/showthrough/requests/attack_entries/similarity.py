"""How similarity is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from showthrough.errors import FieldError
from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked

NEAR = 0.05
"""The share of the range of all values within which numbers count as similar, unless something else is said."""
_NO_NUMBERS = "is a distance of numbers, and not all values are numbers: kinds=FILE is a hierarchy of them."
_EITHER = "or epsilon= says which values are similar: give one of them."


@dataclass(frozen=True)
class SimilarityEntries(AttackEntries):
    """Similarity: who is in groups whose different values mean nearly the same."""

    share: float = option(1.0, "Share of similar values from which a group counts.", least=0, most=1)
    kinds: str | None = option(
        None,
        "Hierarchy of the values: those of one kind are similar. Default: that of the sensitive column, if any.",
        file=True,
    )
    level: int = option(1, "Level of that hierarchy.", least=1)
    epsilon: float | None = option(None, "Or: numbers within so much of one value are similar.", least=0)

    @classmethod
    def unable(cls, given: Attacked) -> str:
        """What is similar has to be said, unless values are numbers or have a hierarchy."""
        told = given.tree is not None or given.span is not None
        return super().unable(given) or ("" if told else "It needs to know which values are similar.")

    @classmethod
    def lacks(cls, given: Attacked) -> tuple[str, ...]:
        """The hierarchy."""
        return ("kinds",) if cls.unable(given) else ()

    @classmethod
    def usual(cls, given: Attacked) -> Self:
        """Values of one kind by their hierarchy, or numbers that are `NEAR` by their range."""
        return cls() if given.tree is not None or given.span is None else cls(epsilon=NEAR * given.span)

    def check(self) -> None:
        """Not both ways to be similar."""
        super().check()
        if self.kinds is not None and self.epsilon is not None:
            raise FieldError("kinds", _EITHER, parameters=("epsilon",))

    def run(self, given: Attacked) -> Outcome:
        """Every release alone."""
        from showthrough.attacks.similarity import similarity

        tree = given.tree if self.epsilon is None else None
        if self.kinds is None and self.epsilon is None and tree is None:
            raise FieldError("kinds", _EITHER, parameters=("epsilon",))
        if self.epsilon is not None and given.span is None:
            raise FieldError("epsilon", _NO_NUMBERS, parameters=("kinds",))
        return similarity(
            given.releases,
            self.share,
            hierarchy=self.kinds or tree,
            level=self.level,
            epsilon=self.epsilon,
            register=given.register,
        )
