"""How membership is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    import polars as pl

    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class MembershipEntries(AttackEntries):
    """Membership: of whom in the register it shows that they are in the release, or that they are not."""

    low: float = option(0.1, "Who is in it with so much or less counts as found outside.", least=0, most=1)
    high: float = option(0.9, "Who is in it with so much or more counts as found inside.", least=0, most=1)

    @classmethod
    def unable(cls, given: Attacked) -> str:
        """Somebody has to be asked after."""
        return super().unable(given) or ("It needs a register of persons." if given.register is None else "")

    @classmethod
    def lacks(cls, given: Attacked) -> tuple[str, ...]:
        """The register."""
        return ("register",) if given.register is None else ()

    def run(self, given: Attacked) -> Outcome:
        """Every release alone."""
        from showthrough.attacks.membership import membership

        return membership(given.releases, given.register, low=self.low, high=self.high, progress=given.tell)

    def truth(self, given: Attacked) -> pl.DataFrame | None:
        """Who stands in the publisher's table of the one release, and who does not."""
        import polars as pl

        from showthrough.attacks.membership import IN, OUT

        if given.truth is None or given.register is None or len(given.releases) > 1:
            return None
        ids = given.register.ids.cast(pl.String)
        there = ids.is_in(given.truth["id"].cast(pl.String).implode())
        return pl.DataFrame({"id": ids, "there": there}).select(
            "id", pl.when("there").then(pl.lit(IN)).otherwise(pl.lit(OUT)).alias("value")
        )
