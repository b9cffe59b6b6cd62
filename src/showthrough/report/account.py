"""What is told of an account of noisy releases, as typed content and for a terminal."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from showthrough import __version__
from showthrough.dp.account import NextCost
from showthrough.dp.composition import Guarantee
from showthrough.policy.decision import Verdict
from showthrough.release.noise import REPLACE_ONE
from showthrough.report.origin import Origin
from showthrough.report.printable import words
from showthrough.report.tables import Column, WordTable

VERSION = 1


@dataclass(frozen=True)
class AccountRow:
    """One release: its noise, how many tables it has, and its own ε where that needs no δ."""

    name: str
    mechanism: str
    tables: int
    scale: float | None
    epsilon: float | None
    fingerprints: tuple[str, ...] = ()  # of the releases that it stands for: none is counted twice


@dataclass(frozen=True)
class AccountContent:
    """Releases and what they promise together; ``bare`` are those that publish without noise."""

    rows: tuple[AccountRow, ...]
    bare: tuple[str, ...]
    neighbours: str
    spent: Guarantee
    cost: NextCost | None
    limit: float | None
    state: dict[str, Any]
    made: Origin | None = None
    again: int = 0  # releases that are copies of others, which cost nothing more

    @property
    def verdict(self) -> Verdict:
        """Block where more than the limit is spent, one more release included, or where a release has no ε at all."""
        last = self.spent if self.cost is None else self.cost.after
        over = self.limit is not None and (last.epsilon > self.limit or bool(self.bare))
        return Verdict.BLOCK if over else Verdict.PASS

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the figures say."""
        change = "one record has other values" if self.neighbours == REPLACE_ONE else "there is one record more or less"
        found = [
            f"All noisy releases together: ε = {self.spent.epsilon:.6g}, δ = {self.spent.delta:.6g}, by "
            f"{self.spent.method} composition ({self.neighbours}: {change})."
        ]
        if self.cost is not None:
            after = self.cost.after
            found.append(
                f"One more release: ε = {after.epsilon:.6g}, δ = {after.delta:.6g}, by {after.method}; it costs "
                f"{self.cost.epsilon:.6g}."
            )
        if self.again:
            found.append("A release that is named more than once, or copied, is counted once.")
        if self.bare:
            found.append(
                f"Published without noise: {', '.join(self.bare)}. The series as a whole promises no differential "
                "privacy; these figures are those of the noisy releases alone."
            )
        if self.limit is not None and self.verdict is Verdict.BLOCK:
            kept = self.spent.epsilon <= self.limit and not self.bare
            found.append(
                f"One more release would not keep the limit of ε = {self.limit:g}."
                if kept
                else f"The limit of ε = {self.limit:g} is not kept."
            )
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """The object that is written as JSON; ``account`` is the state, which the command reads again."""
        return {
            "schema": "showthrough.account",
            "version": VERSION,
            "showthrough": __version__,
            "made": None if self.made is None else self.made.as_dict(),
            "verdict": str(self.verdict),
            "neighbours": self.neighbours,
            "releases": [asdict(row) for row in self.rows],
            "without_noise": list(self.bare),
            "total": self.spent.as_dict(),
            "next": None if self.cost is None else self.cost.as_dict(),
            "words": list(self.sentences),
            "account": self.state,
        }


def show_account(console: Console, told: AccountContent) -> None:
    """A row for every release, the methods side by side, and sentences."""
    heads = [Column("release"), Column("noise"), *(Column(c, whole=True) for c in ("tables", "scale", "its own ε"))]
    rows = [(row.name, row.mechanism, str(row.tables), _number(row.scale), _number(row.epsilon)) for row in told.rows]
    console.print(WordTable("Noisy releases", heads, rows))
    if len(told.spent.tried) > 1:
        tried = [(m, _number(e), "") if isinstance(e, float) else (m, "–", e) for m, e in told.spent.tried.items()]
        console.print(WordTable("By method", [Column("method"), Column("ε", whole=True), Column("why not")], tried))
    for sentence in told.sentences:
        console.print(words(sentence))


def _number(given: float | None) -> str:
    return "–" if given is None else f"{given:.6g}"
