"""How a replay of the publisher's algorithm is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from showthrough.errors import FieldError
from showthrough.requests.attack_entries.base import AttackEntries, option

if TYPE_CHECKING:
    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked

_LIMITS = (
    "k", "distinct_l", "frequency_l", "entropy_l", "recursive", "m_unique", "t", "alpha", "beta", "delta_disclosure",
    "dissimilarity", "metric",
)  # fmt: skip


@dataclass(frozen=True)
class MinimalityEntries(AttackEntries):
    """Minimality: what the algorithm gives away, as it generalizes only where it must: it is run again."""

    one: ClassVar[bool] = True
    samples: ClassVar[bool] = True

    method: str = option("", "The method that published the release. Default: what the release says.")
    k: int | None = option(None, "Its k-anonymity.", least=1)
    distinct_l: int | None = option(None, "Its distinct l-diversity.", least=1)
    frequency_l: float | None = option(None, "Its l-diversity by frequency.", least=1)
    entropy_l: float | None = option(None, "Its entropy l-diversity.", least=1)
    recursive: tuple[float, int] | None = option(None, "Its recursive (c,l)-diversity.", metavar="C,L")
    m_unique: int | None = option(None, "Its m-uniqueness.", least=1)
    t: float | None = option(None, "Its t-closeness (equal distance).", least=0)
    alpha: float | None = option(None, "Its (alpha,k)-anonymity.", least=0)
    beta: float | None = option(None, "Its basic beta-likeness.", least=0)
    delta_disclosure: float | None = option(None, "Its δ-disclosure privacy.", least=0)
    dissimilarity: tuple[float, float, int] | None = option(None, "Its (ε,δ)^k-dissimilarity.", metavar="EPS,DELTA,K")
    metric: str = option("numeric", "Distance of dissimilarity: numeric or equal.")
    missing: str = option("refuse", "What it does with empty cells: refuse, value or suppress.")
    cells: str = option("tight", "The cells that Mondrian publishes: tight or recursion.")
    suppress: float = option(0.0, "Rows that it may suppress, or a share below 1.", least=0)

    @classmethod
    def unable(cls, given: Attacked) -> str:
        """It needs a register, and criteria that nobody but the publisher names."""
        return super().unable(given) or "It needs the algorithm that published the release, with its criteria."

    @classmethod
    def lacks(cls, given: Attacked) -> tuple[str, ...]:
        """The register, unless it is there, the method, unless the release says it, and criteria."""
        said = given.releases and all("method" in release.parameters for release in given.releases)
        return (*(() if given.register else ("register",)), *(() if said else ("method",)), "k")

    def run(self, given: Attacked) -> Outcome:
        """Replay `anonymize` with these criteria."""
        from showthrough.attacks.minimality import minimality
        from showthrough.criteria.criteria_entries import CriteriaEntries

        release = given.release
        method = self.method or str(release.parameters.get("method", ""))
        if not method:
            raise FieldError("method", "is missing: the release does not say how it was made.")
        limits = CriteriaEntries(**{name: getattr(self, name) for name in _LIMITS})
        criteria = limits.criteria(release.sensitive, dict(release.hierarchies), None)
        if not criteria:
            raise FieldError("k", "is missing: name the criteria that the release was made for.")
        if given.register is None:
            raise FieldError("register", "is missing: everybody's quasi-identifiers are what the attacker has.")
        publish: dict[str, Any] = {
            "method": method,
            "criteria": criteria,
            "cells": self.cells,
            "suppression_limit": self.suppress,
            "missing": self.missing,
            "output": release.kind,
        }
        return minimality(
            release,
            register=given.register,
            publish=publish,
            seed=given.seed,
            seconds=given.seconds,
            progress=given.tell,
        )
