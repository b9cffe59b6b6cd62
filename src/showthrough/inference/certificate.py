"""What an answer says of itself: how far from the truth it can be, and what it took."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from showthrough.inference.splitting import ChangedCounts, premise
from showthrough.numerals import many
from showthrough.table.arrays import Ints, Reals
from showthrough.table.plain import fingerprint

ERROR_BAR = 1e-5
GAP = 2e-10  # nats; √(GAP / 2) is ERROR_BAR
CERTIFIED_BAR = 1e-3
CERTIFIED_GAP = 2e-6  # nats
RESIDUAL = 1e-8  # persons
ROUNDED = 1e-6  # persons, of counts so large that RESIDUAL is less than one rounding
MET = 1e-11  # persons; a count that is missed by less is met


class Status(StrEnum):
    """How much an answer is worth; one per island, the best first."""

    EXACT = "exact"  # every forced zero is proven and every probability is within ERROR_BAR
    CERTIFIED = "certified"  # within CERTIFIED_BAR, and some forced zeros may only be suspected
    BELIEVED = "believed"  # what noisy counts make of what the other releases leave open: neither proof nor bound
    UNCERTIFIED = "uncertified"  # a point that meets the counts is known, but not how far it is from the answer
    UNDECIDED = "undecided"  # no point that meets the counts is known yet
    RELAXED = "relaxed"  # no point meets the counts; the answer is one that misses them by as little as can be
    CONTRADICTORY = "contradictory"  # no point meets the counts

    @property
    def certain(self) -> bool:
        """Whether its probabilities are a result."""
        return self in (Status.EXACT, Status.CERTIFIED, Status.BELIEVED)

    @property
    def consistent(self) -> bool:
        """Whether a point that meets the counts is known, so that what is proven holds without an if."""
        return self in (Status.EXACT, Status.CERTIFIED, Status.BELIEVED, Status.UNCERTIFIED)


STATES = tuple(Status)
_WORDS = {
    Status.EXACT: "exact",
    Status.CERTIFIED: "certified",
    Status.BELIEVED: "believed: what noisy counts make of what the other releases leave open, neither proof nor bound",
    Status.UNCERTIFIED: "uncertified: a point that meets the counts is known, not how far it is from the answer",
    Status.UNDECIDED: "undecided: in this time no point that meets the counts was found",
    Status.RELAXED: "in releases that contradict each other, answered by missing as few counts as possible",
    Status.CONTRADICTORY: "in releases that contradict each other",
}


@dataclass(frozen=True)
class NoiseEvidence:
    """What noisy releases added: a belief about so many persons, of which ``residual`` is how far counts are missed."""

    releases: int
    by_worlds: int
    by_expected_counts: int
    residual: float


@dataclass(frozen=True, repr=False)
class Certificate:
    """Figures of the worst component that is a result; ``gap`` in nats, ``residual`` in persons."""

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
    persons_by_state: Mapping[str, int] = field(default_factory=dict)  # only states that somebody is in
    bounded_by_state: Mapping[str, int] = field(default_factory=dict)  # of them, who has bounds narrower than [0, 1]
    contradictions: int = 0  # islands of releases that contradict each other
    changed: ChangedCounts = field(default_factory=ChangedCounts)
    evidence: NoiseEvidence | None = None  # what noisy releases added; None: there are none

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
        told = asdict(self)
        if self.evidence is None:  # only where there are noisy releases
            del told["evidence"]
        return {
            **told,
            "status": str(self.status),
            "error_bar": self.error_bar,
            "seconds": dict(self.seconds),
            "persons_by_state": dict(self.persons_by_state),
            "bounded_by_state": dict(self.bounded_by_state),
            "premise": self.premise,
        }

    def fingerprint(self) -> str:
        """The SHA-256 of what is certified, whatever time it took."""
        return fingerprint({k: v for k, v in self.as_dict().items() if k != "seconds"})

    def __repr__(self) -> str:
        return f"<certificate: {self}>"

    def __str__(self) -> str:
        found = [self._numbers()]
        for state in STATES[2:]:
            if persons := self.persons_by_state.get(state, 0):
                found.append(f"{many(persons)} of {many(self.persons)} persons are {_WORDS[state]}")
        return "; ".join(part for part in found if part)

    def _numbers(self) -> str:
        good = [s for s in STATES[:2] if self.persons_by_state.get(s, 0) or s is self.status]
        if not good:
            return ""
        some = sum(self.persons_by_state.get(s, 0) for s in STATES[:2])
        sure = self.status in (Status.EXACT, Status.CERTIFIED)
        whom = "" if sure else f" for {many(some)} of {many(self.persons)} persons"
        words = "exact: every forced zero is proven"
        if good[-1] is Status.CERTIFIED:
            words = f"certified; {many(self.suspected_zeros)} forced zeros are suspected but not proven"
        return (
            f"{words}; every probability{whom} is within {_small(self.error_bar)} of the maximum-entropy answer "
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
    return STATES[int(states(np.array([gap]), np.array([residual]), np.array([suspected]), largest_count)[0])]


def states(gap: Reals, residual: Reals, suspected: Ints, largest_count: int) -> Ints:
    """[islands] the number of the status of each, in the order of STATES."""
    rounding = max(min(RESIDUAL, 1e-14 * largest_count), min(ROUNDED, 1e-15 * largest_count))
    met = residual <= max(MET, rounding)
    exact = met & (gap <= GAP) & (suspected == 0)
    known = [STATES.index(s) for s in (Status.EXACT, Status.CERTIFIED, Status.UNCERTIFIED)]
    found = np.select([exact, met & (gap <= CERTIFIED_GAP), met], known, STATES.index(Status.UNDECIDED))
    return found.astype(np.int64)
