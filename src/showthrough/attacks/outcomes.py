"""What an attack gives: who was attacked with what knowledge, what came out for everybody, rates, and a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from showthrough.attacks.statistics import Score, score
from showthrough.errors import InputError
from showthrough.showing import Showable
from showthrough.table.plain import plain

NOBODY = "Nobody is counted: no person who is known fits the releases, or all are left out."


@dataclass(frozen=True)
class Threat:
    """Who attacks: what the attacker has, what it wants, and what it takes for granted."""

    has: str
    wants: str
    assumes: str

    def __str__(self) -> str:
        return f"The attacker has {self.has}. It wants {self.wants}. It assumes {self.assumes}."


@dataclass(frozen=True, eq=False, repr=False)
class Outcome(Showable):
    """One attack on one release or history.

    ``people`` names persons and values: it is for internal eyes. Text, JSON and notebooks show counts.
    """

    attack: str
    threat: Threat
    people: pl.DataFrame
    """One row per person, or per person and value: id first, after the columns of ``by``."""
    rates: pl.DataFrame
    """How many persons are exposed: what each rate is of, then persons, of, share, low, high."""
    baseline: pl.DataFrame
    """The same for somebody who does not attack."""
    beliefs: tuple[str, ...] = ()
    """Columns of ``people`` that hold probabilities and can be scored; the last one is the baseline's."""
    by: tuple[str, ...] = ()
    """Columns of ``people`` that tell attackers apart."""
    paired: ClassVar[bool] = False
    """Whether each rate has its own baseline, of the same name, rather than one for all."""
    of_persons: ClassVar[bool] = True
    """Whether rates are of persons whom the attacker knows; else there may be none, and nothing is missing."""
    meanings: ClassVar[Mapping[str, str]] = {}
    """What each belief is, in words."""
    notes: tuple[str, ...] = ()
    """What was left out and why, in sentences with counts only."""

    def __post_init__(self) -> None:
        if self.of_persons and not self.rates["of"].sum() and NOBODY not in self.notes:
            object.__setattr__(self, "notes", (*self.notes, NOBODY))

    def score(self, truth: Any, *, beliefs: Sequence[str] | None = None) -> Score:
        """How right and how calibrated the beliefs are, beside the baseline's; ``truth`` is a frame of id and value."""
        if not self.beliefs:
            raise InputError(f"The attack {self.attack!r} has no probabilities that could be scored.")
        asked = self.beliefs if beliefs is None else tuple(beliefs)
        strange = next((name for name in asked if name not in self.beliefs), None)
        if strange is not None:
            raise InputError(f"There is no belief {strange!r}: the beliefs are {', '.join(self.beliefs)}.")
        return score(self.believed(), asked, truth, by=self.by)

    def believed(self) -> pl.DataFrame:
        """The frame that holds the beliefs: a row per person and value."""
        return self.people

    def as_dict(self) -> dict[str, Any]:
        """Counts and words as plain data for JSON."""
        told = {"attack": self.attack, "threat": self.threat, "rates": self.rates, "baseline": self.baseline}
        meant = {belief: self.meanings[belief] for belief in self.beliefs if belief in self.meanings}
        return dict(plain({**told, "beliefs": meant, "notes": self.notes}))

    @property
    def said(self) -> str:
        """What is to be said beside the rates, in sentences with counts only."""
        return ""

    def further(self) -> dict[str, pl.DataFrame]:
        """Further tables of counts by their titles."""
        return {}

    def private(self) -> pl.DataFrame:
        """All that came out, as one table for internal eyes: the people, unless an attack finds more."""
        return self.people

    def lines(self) -> list[str]:
        """Every rate beside its baseline, in words."""
        keys = self.rates.columns[: self.rates.columns.index("persons")]
        found = []
        for row in self.rates.iter_rows(named=True):
            baseline = self.beside(row)
            beside = "" if baseline is None else f"; baseline {baseline[0]} of {baseline[1]}"
            found.append(f"{', '.join(str(row[c]) for c in keys)}: {row['persons']} of {row['of']} persons{beside}.")
        return found

    def beside(self, rate: dict[str, Any]) -> tuple[int, int] | None:
        """The baseline of one rate, a row of ``rates``: persons, and of how many."""
        keys = self.rates.columns[: self.rates.columns.index("persons")]
        shared = [c for c in keys if c in self.baseline.columns[: self.baseline.columns.index("persons")]]
        same = self.baseline.filter(*(pl.col(c) == rate[c] for c in shared))
        if not same.height and not self.paired:
            same = self.baseline.filter(*(pl.col(c) == rate[c] for c in self.by if c in shared))
        return (same["persons"][0], same["of"][0]) if same.height else None

    def __str__(self) -> str:
        told = [f"Attack {self.attack}. {self.threat}", *self.lines(), self.said, *self.notes]
        return "\n".join(line for line in told if line)

    def __repr__(self) -> str:
        return f"<Outcome of the attack {self.attack}: {' '.join(line for line in [*self.lines(), self.said] if line)}>"
