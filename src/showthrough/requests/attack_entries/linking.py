"""How linking is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class LinkingEntries(AttackEntries):
    """Linking: how many persons of the register can be tied to their group by what is known of them."""

    own: Mapping[str, str] = option(
        {},
        "The truth, id and group, of the release NAME; once per release. Default: the link beside its folder.",
        file=True,
    )

    @classmethod
    def unable(cls, given: Attacked) -> str:
        """Somebody has to be linked, and by more than an id."""
        if given.register is None:
            return super().unable(given) or "It needs a register of persons."
        named = all(release.roles.id is not None for release in given.releases)
        return super().unable(given) or ("All releases publish ids." if named else "")

    @classmethod
    def lacks(cls, given: Attacked) -> tuple[str, ...]:
        """The register."""
        return ("register",) if given.register is None else ()

    def run(self, given: Attacked) -> Outcome:
        """Every release alone."""
        from showthrough.attacks.linking import linking

        truth = {name: given.table(file) for name, file in self.own.items()}
        return linking(given.releases, given.register, truth=truth or None, progress=given.tell)
