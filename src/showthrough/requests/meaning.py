"""What an ε means for a person: the bounds of the papers and sharper ones, for one promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from showthrough.dp.interval import posterior_interval
from showthrough.dp.meaning import check_delta, check_epsilon, semantic
from showthrough.errors import FieldError
from showthrough.release.noise import ADD_REMOVE, replaced
from showthrough.report.meaning import MeaningContent
from showthrough.table.entries import Entries, between

BEFORE = (0.01, 0.1, 0.5, 0.9)  # how sure a reader is whose beliefs are moved


@dataclass(frozen=True)
class MeaningRequest(Entries):
    """A promise (ε, δ) for tables of ``persons`` records; the rest is as in `dp.semantic`."""

    epsilon: float
    delta: float = 0.0
    persons: int | None = None
    neighbours: Literal["replace-one", "add-remove"] = "replace-one"
    exceptional: float = 0.0
    failure: float | None = None

    def check(self) -> None:
        """A promise that says how many records it is for, where that matters."""
        check_epsilon(self.epsilon)
        check_delta(self.delta)
        between("persons", self.persons, 1)
        if (self.delta or self.exceptional) and self.persons is None:
            raise FieldError("persons", "is missing: with a δ the bounds hold for all records at once; say how many.")


def run_meaning(request: MeaningRequest) -> MeaningContent:
    """The bounds for the promise where one record is replaced."""
    epsilon, delta = request.epsilon, request.delta
    if request.neighbours == ADD_REMOVE:
        epsilon, delta = replaced(epsilon, delta)
    bound = semantic(epsilon, delta, n=request.persons, exceptional=request.exceptional, failure=request.failure)
    informed = tuple(
        (p, posterior_interval(p, epsilon=epsilon, changed=1, delta=delta, failure=request.failure)) for p in BEFORE
    )
    return MeaningContent(request.epsilon, request.delta, request.neighbours, bound, informed)
