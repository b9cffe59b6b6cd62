"""How rules about sub-populations are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from showthrough.errors import FieldError
from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    import polars as pl

    from showthrough.attacks.outcomes import Outcome
    from showthrough.release.release import Release
    from showthrough.requests.attack_entries.attacked import Attacked


@dataclass(frozen=True)
class BackgroundEntries(AttackEntries):
    """Background knowledge: how many rules about sub-populations give somebody away."""

    table: str = option("", "Your own table: its strongest rules are what the attacker knows.", file=True)
    positive: int = option(10, "Rules that say who has a value.", least=0)
    negative: int = option(10, "Rules that say who does not have a value.", least=0)
    support: int = option(3, "Persons who bear out a rule, at least.", least=1)
    rule_columns: int = option(1, "Quasi-identifiers in a rule, at most.", least=1)
    limit: float = option(1.0, "How sure a reader may be; 1: nothing may be proven.")
    elastic: bool = option(False, "Rules that contradict the releases give way.")

    @classmethod
    def unable(cls, given: Attacked) -> str:
        """Rules are mined from a table, which scores beliefs as well."""
        if given.own is None or given.sensitive_in(given.own) is None or not _quasi(given, given.own):
            return "It needs your own table with its quasi-identifiers, whose strongest rules the attacker knows."
        return super().unable(given)

    @classmethod
    def lacks(cls, given: Attacked) -> tuple[str, ...]:
        """The table."""
        return ("table",) if cls.unable(given) else ()

    def _table(self, given: Attacked) -> pl.DataFrame | None:
        """The table of rules, or that of the truth."""
        return given.table(self.table) if self.table else given.own

    def run(self, given: Attacked) -> Outcome:
        """Mine the table, attack with more and more rules; without a register the table is one."""
        from showthrough.attacks.background import background
        from showthrough.knowledge.mining import mine
        from showthrough.register.reader import telling
        from showthrough.register.register import Register

        told, table = telling(given.releases), self._table(given)
        if table is None:
            raise FieldError("table", "is missing: the attacker knows the strongest rules of your own table.")
        quasi, sensitive, id = _quasi(given, table), given.sensitive_in(table), given.id_in(table)
        if sensitive is None:
            raise FieldError("table", "lacks the sensitive column of the releases.")
        register = given.register
        if register is None and all(r.roles.id is None for r in told) and id is not None:
            register = Register.of(table.select(id, *quasi), id=id)
        published = _published(told)
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
            [rule for rule in rules if published.issuperset(str(value) for value in rule.values)],
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
        table = self._table(given)
        id = None if table is None else given.id_in(table)
        return None if table is None or id is None else as_truth(table, id, given.sensitive_in(table))


def _published(releases: Iterable[Release]) -> set[str]:
    """The values that releases tell of: rules about others tell nothing."""
    return {str(value) for r in releases if r.sensitive is not None for value in r.tally["value"].unique()}


def _quasi(given: Attacked, table: pl.DataFrame) -> list[str]:
    """The quasi-identifiers of the releases that a table has."""
    from showthrough.register.reader import telling

    found = dict.fromkeys(c for r in telling(given.releases) for c in r.roles.quasi)
    return [column for column in found if column in table.columns]
