"""How rules about sub-populations are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from showthrough.errors import FieldError
from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    import polars as pl

    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class BackgroundEntries(AttackEntries):
    """Background knowledge: how many rules about sub-populations give somebody away."""

    table: str = option("", "Your own table: its strongest rules are what the attacker knows.", file=True, needed=True)
    positive: int = option(10, "Rules that say who has a value.", least=0)
    negative: int = option(10, "Rules that say who does not have a value.", least=0)
    support: int = option(3, "Persons who bear out a rule, at least.", least=1)
    rule_columns: int = option(1, "Quasi-identifiers in a rule, at most.", least=1)
    limit: float = option(1.0, "How sure a reader may be; 1: nothing may be proven.")
    elastic: bool = option(False, "Rules that contradict the releases give way.")

    def run(self, given: Attacked) -> Outcome:
        """Mine the table, attack with more and more rules; without a register the table is one."""
        from showthrough.attacks.background import background
        from showthrough.knowledge.mining import mine
        from showthrough.register.reader import telling
        from showthrough.register.register import Register

        told, table = telling(given.releases), given.table(self.table)
        quasi = list(dict.fromkeys(c for r in told for c in r.roles.quasi if c in table.columns))
        sensitive, id = given.sensitive_in(table), given.id_in(table)
        if sensitive is None:
            raise FieldError("table", "lacks the sensitive column of the releases.")
        register = given.register
        if register is None and all(r.roles.id is None for r in told) and id is not None:
            register = Register.of(table.select(id, *quasi), id=id)
        rules = mine(
            table,
            sensitive=sensitive,
            quasi=quasi,
            positive=self.positive,
            negative=self.negative,
            support=self.support,
            columns=self.rule_columns,
        )
        return background(
            given.releases,
            rules,
            self.limit,
            register=register,
            elastic=self.elastic,
            seconds=given.seconds,
            progress=given.tell,
        )

    def truth(self, given: Attacked) -> pl.DataFrame | None:
        """The table scores the beliefs too, where it has ids."""
        from showthrough.requests.attack_entries.attacked import as_truth

        if given.truth is not None:
            return given.truth
        table = given.table(self.table)
        id = given.id_in(table)
        return None if id is None else as_truth(table, id, given.sensitive_in(table))
