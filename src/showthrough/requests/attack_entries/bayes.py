"""How Bayes-optimal privacy is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class BayesEntries(AttackEntries):
    """Bayes-optimal privacy: whose value is believed otherwise after the release than before, by theta or more."""

    one: ClassVar[bool] = True

    prior: Mapping[str, str] = option(
        {},
        "What the attacker believes: p by id, or by quasi-identifiers, and value; once per attacker.",
        file=True,
        needed=True,
    )
    theta: float = option(0.2, "A belief that moves by so much is a breach.")

    @classmethod
    def unable(cls, given: Attacked) -> str:
        """Nobody else knows what the attacker believes."""
        return super().unable(given) or "It needs to know what an attacker believes beforehand."

    @classmethod
    def lacks(cls, given: Attacked) -> tuple[str, ...]:  # noqa: ARG003 - never given
        """The beliefs."""
        return ("prior",)

    def run(self, given: Attacked) -> Outcome:
        """Every prior beside the release."""
        from showthrough.attacks.bayes import bayes

        priors = {name: given.table(file) for name, file in self.prior.items()}
        believed = priors if len(priors) > 1 else next(iter(priors.values()))
        return bayes(
            given.release, believed, self.theta, register=given.register, seconds=given.seconds, progress=given.tell
        )
