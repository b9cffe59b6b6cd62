"""How learning from all groups is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from showthrough.errors import FieldError
from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class DefinettiEntries(AttackEntries):
    """deFinetti: all groups together teach how quasi-identifiers and values go together, and each is read by it."""

    samples: ClassVar[bool] = True

    method: str = option("", "gibbs (samples; one release) or em (a fixed point). Default: gibbs, em for several.")
    domain: Mapping[str, str] = option(
        {}, "The possible values of a quasi-identifier, in the first column of a table.", file=True, metavar="NAME=FILE"
    )

    def check(self) -> None:
        """A method that is known."""
        super().check()
        if self.method not in ("", "gibbs", "em"):
            raise FieldError("method", "is gibbs or em.")

    def run(self, given: Attacked) -> Outcome:
        """Learn from the releases."""
        from showthrough.attacks.definetti import definetti

        method = self.method or ("gibbs" if len(given.releases) == 1 else "em")
        domain = {name: given.table(file).to_series(0).to_list() for name, file in self.domain.items()}
        return definetti(
            given.releases,
            seed=given.seed,
            method=method,
            domain=domain or None,
            register=given.register,
            seconds=given.seconds,
            progress=given.tell,
        )
