"""What an answer says of itself: how far from the truth it can be, and what it took."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from showthrough.inference.splitting import ChangedCounts, premise
from showthrough.table.plain import fingerprint

ERROR_BAR = 1e-5
GAP = 2e-10  # nats; √(GAP / 2) is ERROR_BAR
RESIDUAL = 1e-8  # persons
ROUNDED = 1e-6  # persons, of counts so large that RESIDUAL is less than one rounding
MET = 1e-11  # persons; a count that is missed by less is met


class Status(StrEnum):
    """How much an answer is worth."""

    EXACT = "exact"  # every forced zero is proven and every probability is within ERROR_BAR
    CERTIFIED = "certified"  # within ERROR_BAR, but some forced zeros are only suspected
    NOT_CONVERGED = "not_converged"  # no certificate: not a result


@dataclass(frozen=True, repr=False)
class Certificate:
    """Figures of the worst component; ``gap`` in nats, ``residual`` in persons."""

    status: Status
    gap: float
    residual: float
    persons: int
    releases: int
    signatures: int
    variables: int
    rows: int
    components: int
    proven_zeros: int
    proven_ones: int
    suspected_zeros: int
    newton_steps: int
    passes: int
    seconds: Mapping[str, float]
    changed: ChangedCounts = field(default_factory=ChangedCounts)

    @property
    def error_bar(self) -> float:
        """No probability is further than this from the exact maximum-entropy answer."""
        return math.sqrt(self.gap / 2)

    @property
    def premise(self) -> str:
        """What every figure and every fact leans on: nobody's value changed, but for those who are known."""
        return premise(self.changed)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            **asdict(self),
            "status": str(self.status),
            "error_bar": self.error_bar,
            "seconds": dict(self.seconds),
            "premise": self.premise,
        }

    def fingerprint(self) -> str:
        """The SHA-256 of what is certified, whatever time it took."""
        return fingerprint({k: v for k, v in self.as_dict().items() if k != "seconds"})

    def __repr__(self) -> str:
        return f"<certificate: {self}>"

    def __str__(self) -> str:
        words = {
            Status.EXACT: "exact: every forced zero is proven",
            Status.CERTIFIED: f"certified; {self.suspected_zeros} forced zeros are suspected but not proven",
            Status.NOT_CONVERGED: "not converged: the numbers are not a result",
        }
        return (
            f"{words[self.status]}; every probability is within {_small(self.error_bar)} of the maximum-entropy answer "
            f"(gap {_small(self.gap)} nats, counts met to {_small(self.residual)} persons in the worst component)"
        )


def _small(figure: float) -> str:
    """A figure at the limit of double precision is not worth more digits."""
    return "1e-15" if figure < 1e-15 else f"{figure:.1e}"


def judge(gap: float, residual: float, suspected: int, *, largest_count: int = 1) -> Status:
    """The status that the checker's figures allow.

    The gap bounds the error only of an answer that meets the counts, so the residual must be rounding: 1e-11
    persons, or what double precision leaves of the largest count. Up to RESIDUAL that is generous; beyond, where one
    rounding of the count is more than that, it is a few roundings, and never above ROUNDED, a tenth of ERROR_BAR.
    """
    rounding = max(min(RESIDUAL, 1e-14 * largest_count), min(ROUNDED, 1e-15 * largest_count))
    if not (gap <= GAP and residual <= max(MET, rounding)):
        return Status.NOT_CONVERGED
    return Status.CERTIFIED if suspected else Status.EXACT
