"""What is told of the meaning of an ε, as typed content and for a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Console

from showthrough import __version__
from showthrough.dp.interval import PosteriorInterval
from showthrough.dp.meaning import Semantic
from showthrough.release.noise import REPLACE_ONE
from showthrough.report.printable import words
from showthrough.report.tables import Column, WordTable

VERSION = 1


@dataclass(frozen=True)
class MeaningContent:
    """A promise, the bounds for it, and where a reader who knows all other records can end up."""

    epsilon: float
    delta: float
    neighbours: str
    bound: Semantic
    informed: tuple[tuple[float, PosteriorInterval], ...]

    @property
    def bounds(self) -> tuple[tuple[str, float, float, bool], ...]:
        """Every bound: its name, how far conclusions move, how likely they move further, whether it says nothing."""
        found, named = self.bound, "Theorem 16" if self.bound.approximate else "Proposition 15"
        return (
            (f"{named} (Ganta, Kasiviswanathan, Smith)", found.paper, found.delta, found.vacuous),
            (
                "tanh(ε/2) + 2β" if found.approximate else "tanh(ε/2)",
                found.tight,
                found.tight_delta,
                found.tight_vacuous,
            ),
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the figures say."""
        found = []
        if self.neighbours != REPLACE_ONE:
            found.append(
                f"For one record more or less it is ε = {self.epsilon:g}, δ = {self.delta:g}: where one is replaced, "
                f"ε = {self.bound.epsilon:g} and δ = {self.bound.approximate:g}."
            )
        found.append(self.bound.assumption)
        (half,) = [own for p, own in self.informed if p == 0.5]
        but = f", but with a probability of {half.failure:.2g}" if half.failure else ""
        found.append(
            f"A reader who knows all other records and holds two values of a person for equally likely ends up between "
            f"{half.low:.1%} and {half.high:.1%} sure of each{but}. Where other releases tie records together, more "
            "than one record differs, and beliefs move further: `dp after` counts them."
        )
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """The object that is written as JSON."""
        names = ("bound", "moves", "except", "vacuous")
        return {
            "schema": "showthrough.meaning",
            "version": VERSION,
            "showthrough": __version__,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": self.neighbours,
            "persons": self.bound.persons,
            "bounds": [
                dict(zip(names, (name, _finite(m), _finite(e), v), strict=True)) for name, m, e, v in self.bounds
            ],
            "informed": [
                {"before": p, "low": own.low, "high": own.high, "except": own.failure} for p, own in self.informed
            ],
            "words": list(self.sentences),
        }


def show_meaning(console: Console, told: MeaningContent) -> None:
    """The bounds side by side, where an informed reader ends up, and sentences."""
    heads = [Column("bound"), Column("conclusions move by", whole=True), Column("except with probability", whole=True)]
    rows = [(name, _said(moves, empty), _said(chance, empty)) for name, moves, chance, empty in told.bounds]
    console.print(WordTable("Whatever a reader knows", heads, rows))
    heads = [Column(c, whole=True) for c in ("before", "at least", "at most")]
    rows = [(f"{p:.0%}", f"{own.low:.2%}", f"{own.high:.2%}") for p, own in told.informed]
    console.print(WordTable("How sure a reader is who knows all other records", heads, rows))
    for sentence in told.sentences:
        console.print(words(sentence))


def _said(number: float, empty: bool) -> str:
    return "says nothing" if empty else f"{number:.4g}"


def _finite(number: float) -> float | None:
    return number if number < float("inf") else None
