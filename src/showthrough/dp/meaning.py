"""What ε means whatever a reader knows: semantic privacy (Ganta, Kasiviswanathan, Smith, KDD 2008, section 4).

A reader with any belief b about the table D sees an output t. Privacy is how far its conclusions lie from those that it
would have drawn had one person's record been replaced by a default: the statistical difference between b given
A(D) = t and b given A(D with the default) = t. The paper bounds it by Proposition 15 and Theorem 16. The sharper bounds
here are proven in docs/privacy.md: tanh(ε/2) where δ = 0, and tanh(ε/2) + 2β except with probability nδ/β otherwise,
for any β; with β = √δ that is smaller than Theorem 16 in both parts, for every ε and δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from showthrough.errors import ParameterError

_LARGEST = 700.0  # exponents beyond are as good as infinite


@dataclass(frozen=True)
class Semantic:
    """How much one person's record can move any reader's conclusions.

    >>> semantic(0.5).tight
    0.24491866240370913
    """

    epsilon: float
    approximate: float
    """δ, with the probability of tables for which nothing is promised."""
    persons: int | None
    paper: float
    """The most that conclusions move, by Proposition 15 (δ = 0) or Theorem 16."""
    delta: float
    """The probability with which the paper's bound may fail, by Theorem 16 with its constants written out."""
    tight: float
    """The most that they move, by the sharper bound."""
    tight_delta: float
    """The probability with which the sharper bound may fail."""

    @property
    def vacuous(self) -> bool:
        """Whether the paper's bound says nothing: no statistical difference and no probability is above 1."""
        return self.paper >= 1.0 or self.delta >= 1.0

    @property
    def tight_vacuous(self) -> bool:
        """Whether the sharper bound says nothing; large ε alone does not make it so."""
        return self.tight >= 1.0 or self.tight_delta >= 1.0

    @property
    def assumption(self) -> str:
        """What the bound leans on, in words."""
        if self.tight_vacuous:
            return (
                "No guarantee: for this ε, δ and number of persons no bound below 1 is known to hold for all persons "
                "at once, so that one record may decide everything that a reader concludes."
            )
        lead = (
            "A guarantee, whatever a reader knows or believes: with this person's record replaced by a default the "
            f"reader's conclusions would differ by at most {self.tight:.3g} (statistical difference)"
        )
        if not self.approximate:
            return f"{lead}. It compares with the same noise on a table of the same size, so ε is that of replace-one."
        return (
            f"{lead}, except with a probability of at most {min(1.0, self.tight_delta):.3g} over tables and noise, for "
            "all persons at once. ε and δ are those of replace-one."
        )

    def __str__(self) -> str:
        return self.assumption


def semantic(
    epsilon: float, delta: float = 0.0, *, n: int | None = None, exceptional: float = 0.0, failure: float | None = None
) -> Semantic:
    """What (ε, δ)-differential privacy (replace-one) of a table of ``n`` records means for each of them.

    ``exceptional`` is how likely the reader finds tables for which the promise does not hold (Theorem 18: the others
    are (ε, δ)-indistinguishable from all their neighbours). ``failure`` is the probability with which the sharper bound
    may fail, n·√δ if not given; a larger one makes the bound smaller.
    """
    _check(epsilon, delta, exceptional, failure)
    total = delta + (1.0 - delta) * exceptional
    if total and (n is None or isinstance(n, bool) or not isinstance(n, int) or n < 1):
        raise ParameterError(
            "With δ (delta) above 0 the bound holds for all records at once: n is how many there are, a whole number "
            "of at least 1.",
            parameters=("n",),
        )
    if not total:
        return Semantic(epsilon, 0.0, n, _less_one(epsilon), 0.0, math.tanh(epsilon / 2), 0.0)
    assert n is not None
    root = math.sqrt(total)
    paper_delta = n * (root + 2 * total / -math.expm1(-epsilon))
    chance = n * root if failure is None else failure
    tight = math.tanh(epsilon / 2) + 2 * n * total / chance
    return Semantic(epsilon, total, n, _less_one(3 * epsilon) + 2 * root, paper_delta, tight, chance)


def _less_one(exponent: float) -> float:
    return math.inf if exponent > _LARGEST else math.expm1(exponent)


def check_epsilon(epsilon: Any) -> None:
    """Refuse what is no ε."""
    if not _number(epsilon) or not 0 < epsilon < math.inf:
        raise ParameterError(f"ε (epsilon) is a number above 0, not {epsilon!r}.", parameters=("epsilon",))


def check_delta(delta: Any) -> None:
    """Refuse what is no δ."""
    if not _number(delta) or not 0 <= delta < 1:
        raise ParameterError(f"δ (delta) is a number of at least 0 and below 1, not {delta!r}.", parameters=("delta",))


def check_failure(failure: Any) -> None:
    """Refuse what is no probability of failure that somebody could accept."""
    if failure is not None and (not _number(failure) or not 0 < failure < 1):
        raise ParameterError(f"failure is a probability between 0 and 1, not {failure!r}.", parameters=("failure",))


def _check(epsilon: Any, delta: Any, exceptional: Any, failure: Any) -> None:
    check_epsilon(epsilon)
    check_delta(delta)
    check_failure(failure)
    if not _number(exceptional) or not 0 <= exceptional < 1:
        raise ParameterError(
            f"exceptional is a probability of at least 0 and below 1, not {exceptional!r}.", parameters=("exceptional",)
        )


def _number(given: Any) -> bool:
    return isinstance(given, (int, float)) and not isinstance(given, bool) and given == given
