"""What is told of how far a noisy release can move everybody's probabilities, as typed content and for a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
from rich.console import Console

from showthrough import __version__
from showthrough.dp.movement import After
from showthrough.numerals import number_of
from showthrough.report.origin import Origin
from showthrough.report.printable import words
from showthrough.report.tables import Column, WordTable

VERSION = 1
LEVELS = (0.5, 0.9, 0.99)
_SHOWN = 20  # persons and values, for the internal audience


@dataclass(frozen=True, eq=False)
class AfterContent:
    """How many persons can come to be how sure, what that leans on, and for internal eyes who.

    ``levels`` has for each probability how many persons have a value at least that likely before, and at most after.
    ``persons`` counts persons by where p comes from; ``open`` those of whom nothing is promised.
    """

    epsilon: float
    delta: float
    failure: float
    persons: int
    by: dict[str, int]
    open: int
    most_changed: int | None
    levels: tuple[tuple[float, int, int], ...]
    assumptions: tuple[str, ...]
    whatever: str
    people: pl.DataFrame | None = None
    others: int = 0  # noisy releases of the history that are not looked at
    made: Origin | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the figures say: on top of the history, and whatever a reader knows."""
        spent = f"ε = {self.epsilon:g}" + (f", δ = {self.delta:g}" if self.delta else "")
        but = f"; each may lie outside with a probability of {self.failure:.2g}" if self.failure else ""
        found = [f"On top of the history, a noisy release of {spent} (one record replaced){but}:", *self.assumptions]
        if self.open:
            found.append(f"Of {number_of(self.open, 'person')} nothing is promised: their values can end up anywhere.")
        if self.most_changed is not None:
            found.append(
                f"The releases tie up to {number_of(self.most_changed, 'record')} together, so that odds move by up to "
                "e to so many times ε."
            )
        if self.others:
            found.append(
                f"The history has {number_of(self.others, 'noisy release')} more, neither in the probabilities before "
                "nor in this ε: for all of them together take the ε that `dp account` tells."
            )
        return (*found, f"Beside any other knowledge: {self.whatever[0].lower()}{self.whatever[1:]}")

    def as_json(self) -> dict[str, Any]:
        """The object that is written as JSON; ``people`` for the internal audience alone."""
        return {
            "schema": "showthrough.after",
            "version": VERSION,
            "showthrough": __version__,
            "audience": "shareable" if self.people is None else "internal",
            "made": None if self.made is None else self.made.as_dict(),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "failure": self.failure,
            "persons": self.persons,
            "by": self.by,
            "open": self.open,
            "most_changed": self.most_changed,
            "levels": [{"probability": p, "before": now, "after": then} for p, now, then in self.levels],
            "words": list(self.sentences),
            **({} if self.people is None else {"people": self.people.to_dicts()}),
        }


def after_content(found: After, *, internal: bool) -> AfterContent:
    """Counts of everybody's intervals."""
    rows = found.people
    who = [c for c in ("id", "release") if c in rows.columns]
    each = rows.group_by(who, maintain_order=True).agg(
        pl.col("p").max(), pl.col("high").max(), pl.col("by").first(), pl.col("changed").is_null().any().alias("open")
    )
    levels = tuple((p, int((each["p"] >= p).sum()), int((each["high"] >= p).sum())) for p in LEVELS)
    known = rows["changed"].drop_nulls()
    return AfterContent(
        found.semantic.epsilon,
        found.semantic.approximate,
        found.failure,
        each.height,
        dict(each.group_by("by", maintain_order=True).len().iter_rows()),
        int(each["open"].sum()),
        max(known.to_list(), default=None),
        levels,
        found.assumptions,
        found.semantic.assumption,
        rows.sort("high", descending=True, maintain_order=True) if internal else None,
    )


def show_after(console: Console, told: AfterContent) -> None:
    """How many can come to be how sure, for internal eyes who, and sentences."""
    heads = [Column("some value at least"), Column("persons before", whole=True), Column("after, at most", whole=True)]
    rows = [(f"{p:.0%} likely", str(now), str(then)) for p, now, then in told.levels]
    console.print(WordTable(f"What readers can come to believe of {number_of(told.persons, 'person')}", heads, rows))
    if told.people is not None:
        console.print(words("Internal: this names persons. Keep it private.", "bold yellow"))
        names = told.people.columns
        figures = [Column(c, whole=c in ("p", "changed", "low", "high")) for c in names]
        more = told.people.height - _SHOWN
        caption = f"… and {more} more" if more > 0 else ""
        shown = [tuple(map(_cell, row)) for row in told.people.head(_SHOWN).iter_rows()]
        console.print(WordTable("The highest first", figures, shown, caption=caption))
    for sentence in told.sentences:
        console.print(words(sentence))


def _cell(given: Any) -> str:
    return "–" if given is None else f"{given:.3f}" if isinstance(given, float) else str(given)
