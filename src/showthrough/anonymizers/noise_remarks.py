"""What the publisher of noisy counts is told: the promise, what it means for a person, and what it costs in accuracy.

All of it follows from the noisy counts and from what was asked: nothing of it depends on the records besides.
"""

from __future__ import annotations

from showthrough.anonymizers.remark import Remark
from showthrough.dp.interval import posterior_interval
from showthrough.dp.meaning import semantic
from showthrough.release.noise import REPLACE_ONE, Law, Noise
from showthrough.release.release import Release

_CHANGES = {True: "one record has other values", False: "there is one record more or less"}
_FAILURE = 0.05  # with which a bound with δ may fail, for all persons at once
LITTLE = 3.0  # from this ε on who knows everybody else may move from 50 % to 95 %


def noise_remarks(release: Release, *, left_out: bool) -> tuple[Remark, ...]:
    """The promise of a release and what follows; ``left_out`` says that rows with empty cells would have been."""
    noise = release.noise
    assert noise is not None
    change = _CHANGES[noise.neighbours == REPLACE_ONE]
    promise = Remark.of(
        "promise",
        "{tables:table|tables} of {counts:count|counts} with {mechanism} noise: ε = {epsilon:g}, δ = {delta:g} "
        f"({noise.neighbours}: {change}), whatever else a reader knows.",
        tables=len(noise.tables(())), counts=release.tally.height, mechanism=noise.mechanism, epsilon=noise.epsilon,
        delta=noise.delta,
    )  # fmt: skip
    widest = Law(noise.mechanism, noise.scale)
    error = Remark.of(
        "error",
        "A noisy count is off by {deviation:.3g} in root mean square (scale {scale:.6g}).",
        deviation=widest.deviation, scale=widest.scale,
    )  # fmt: skip
    told = Remark(
        "account",
        "No criterion of groups is checked and no loss measured against the table: that would tell of its records. "
        "What several releases promise together is told by dp.compose.",
    )
    gaps = Remark(
        "gaps",
        "Rows with empty cells are left out; whether there were any is not told, as it would be no part of ε.",
    )
    return (promise, meaning_remark(noise, release.members), error, told, *((gaps,) if left_out else ()))


def meaning_remark(noise: Noise, persons: int) -> Remark:
    """What ε and δ mean for a person, in words; ``persons`` are as many as the noisy counts say."""
    epsilon, delta = noise.by_replacing
    everybody = max(1, persons)
    bound = semantic(epsilon, delta, n=everybody, failure=_FAILURE if delta else None)
    one = _FAILURE / everybody if delta else None  # odds move by more than e^ε with a probability that is not δ
    sure = posterior_interval(0.5, epsilon=epsilon, changed=1, delta=delta, failure=one)
    figures = {"sure": sure.high, "moved": bound.tight, "failure": bound.tight_delta, "persons": persons}
    if bound.tight_vacuous and delta:
        words = (
            "That is no guarantee for all of about {persons:person|persons} at once: somebody's record may be given "
            "away altogether. Take a smaller ε, and a δ far below one in that number."
        )
        return Remark.of("meaning", words, **figures)
    failing = ", each but with a probability of {failure:.0%} for anybody of about {persons:person|persons}"
    but = failing if delta else ""
    weak = " That is little of a promise: a smaller ε would be one." if epsilon >= LITTLE else ""
    return Remark.of(
        "meaning",
        "A reader who knows all other records moves from 50 % to at most {sure:.1%} sure of a person's value, and one "
        f"record moves any reader's conclusions by at most {{moved:.3g}} (1: altogether){but}.{weak}",
        **figures,
    )
