"""How proximity is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class ProximityEntries(AttackEntries):
    """Proximity: how likely somebody's value lies near some value, by all releases together."""

    epsilon: float = option(
        0.0, "How near: a difference of numbers, or a height in the hierarchy from 0 to 1.", needed=True
    )
    kinds: str | None = option(None, "Hierarchy of the values, where they are no numbers.", file=True)
    limit: float = option(0.5, "How sure a reader may be.", least=0, most=1)

    def run(self, given: Attacked) -> Outcome:
        """One inference, seen from nearby."""
        from showthrough.attacks.proximity import proximity
        from showthrough.inference.infer import infer
        from showthrough.table.hierarchy import Hierarchy

        post = infer(given.releases, register=given.register, seconds=given.seconds, progress=given.tell)
        metric = "numeric" if self.kinds is None else Hierarchy.read(self.kinds)
        return proximity(post, self.epsilon, metric=metric, limit=self.limit)
