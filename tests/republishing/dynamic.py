"""Tables that change: who is there in each release, and the releases that kernels make of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from showthrough import Release
from showthrough.republishing.m_invariance import MInvariantResult, m_invariant


def present(generator: np.random.Generator, *, persons: int, releases: int) -> Iterator[np.ndarray]:
    """Persons in each of several releases: some leave, some come, some come back."""
    inside = generator.random(persons) < 0.5
    for _ in range(releases):
        yield np.flatnonzero(inside)
        change = generator.random(persons) < 0.3
        inside = np.where(change, generator.random(persons) < 0.5, inside)


@dataclass
class Publisher:
    """Keeps the signature of everybody ever published and makes one release after the other."""

    value: np.ndarray
    m: int
    signatures: tuple[tuple[int, ...], ...] = ()
    of_person: dict[int, int] = field(default_factory=dict)

    def publish(self, persons: np.ndarray, seed: int, **options) -> MInvariantResult:
        signature = np.array([self.of_person.get(int(p), -1) for p in persons], dtype=np.int32)
        result = m_invariant(
            self.value[persons], self.m, signature=signature, signatures=self.signatures, seed=seed, **options
        )
        self.signatures = result.signatures
        for person, group in zip(persons.tolist(), result.group.tolist(), strict=True):
            if group >= 0:
                self.of_person[person] = int(result.group_signature[group])
        return result


def release(persons, value, group, *, fakes=((), ()), name=""):
    """A bucketized release with ids; records without a group are left out, counterfeits have no id."""
    persons, value, group = np.asarray(persons), np.asarray(value), np.asarray(group)
    shown = group >= 0
    fake_group, fake_value = (np.asarray(part, dtype=np.int64) for part in fakes)
    frame = pl.DataFrame(
        {
            "id": [*(f"p{p}" for p in persons[shown]), *([None] * len(fake_group))],
            "value": [f"v{v}" for v in [*value[shown], *fake_value]],
            "group": [*group[shown].tolist(), *fake_group.tolist()],
        }
    )
    number = {int(g): int(n) for g, n in zip(*np.unique(fake_group, return_counts=True), strict=True)}
    return Release.bucketized(frame, id="id", sensitive="value", group="group", name=name, counterfeits=number or None)
