"""How cracks of histories that only grow are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from showthrough.errors import FieldError
from showthrough.requests.attack_entries.base import AttackEntries

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked

_REGISTER = "is missing: cracks are counted for persons whose quasi-identifiers are known."


@dataclass(frozen=True)
class BcfEntries(AttackEntries):
    """Forward, cross and backward cracks: which records a table that only grows rules out of a person's group."""

    @classmethod
    def unable(cls, given: Attacked) -> str:
        """It compares releases with cells, for persons of a register."""
        if given.register is None or len(given.releases) < 2:
            return "It needs a register and at least two releases of a table that only grows."
        return super().unable(given)

    @classmethod
    def lacks(cls, given: Attacked) -> tuple[str, ...]:
        """The register."""
        return ("register",) if given.register is None else ()

    def run(self, given: Attacked) -> Outcome:
        """Every pair of releases."""
        from showthrough.attacks.bcf import bcf

        if given.register is None:
            raise FieldError("register", _REGISTER)
        return bcf(given.releases, register=given.register, seconds=given.seconds, progress=given.tell)
