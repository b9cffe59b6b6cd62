"""How proximity is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from showthrough.errors import FieldError
from showthrough.requests.attack_entries.base import AttackEntries, option
from showthrough.requests.attack_entries.similarity import NEAR

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked

_NO_NUMBERS = "is missing: not all values are numbers, so a hierarchy says which are near each other."


@dataclass(frozen=True)
class ProximityEntries(AttackEntries):
    """Proximity: how likely somebody's value lies near some value, by all releases together."""

    epsilon: float = option(
        0.0, "How near: a difference of numbers, or a height in the hierarchy from 0 to 1.", needed=True
    )
    kinds: str | None = option(
        None,
        "Hierarchy of the values, where they are no numbers. Default: that of the sensitive column, if any.",
        file=True,
    )
    limit: float = option(0.5, "How sure a reader may be.", least=0, most=1)

    @classmethod
    def unable(cls, given: Attacked) -> str:
        """What is near has to be said, unless values are numbers or have a hierarchy."""
        told = given.tree is not None or given.span is not None
        return super().unable(given) or ("" if told else "It needs to know which values are near each other.")

    @classmethod
    def lacks(cls, given: Attacked) -> tuple[str, ...]:
        """The hierarchy, and how near."""
        return ("kinds", "epsilon") if cls.unable(given) else ()

    @classmethod
    def usual(cls, given: Attacked) -> Self:
        """Values of one kind by their hierarchy, or numbers that are `NEAR` by their range."""
        if given.tree is not None:
            return cls(epsilon=1 / max(given.tree.height, 1))
        return cls(epsilon=NEAR * (given.span or 0.0))

    def run(self, given: Attacked) -> Outcome:
        """One inference, seen from nearby."""
        from showthrough.attacks.proximity import proximity
        from showthrough.inference.infer import infer
        from showthrough.table.hierarchy import Hierarchy

        if self.kinds is None and given.tree is None and given.span is None:
            raise FieldError("kinds", _NO_NUMBERS)
        post = infer(given.releases, register=given.register, seconds=given.seconds, progress=given.tell)
        metric = given.tree or "numeric" if self.kinds is None else Hierarchy.read(self.kinds)
        return proximity(post, self.epsilon, metric=metric, limit=self.limit)
