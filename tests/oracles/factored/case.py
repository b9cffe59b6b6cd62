"""The problem in plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.oracles.seats import Seating

Pair = tuple[Hashable, Hashable]  # person, value
Seat = tuple[Hashable, int, int | None, Hashable]  # person, release, group, value
Key = Pair | Seat


@dataclass(frozen=True)
class Row:
    """A published count, or what is known of it."""

    release: int
    group: int
    value: Hashable
    lower: float
    upper: float


@dataclass(frozen=True)
class Statement:
    """lower ≤ Σ w·a·x ≤ upper; ``terms`` holds the coefficients a."""

    terms: Mapping[Pair, int]
    lower: float
    upper: float


@dataclass(frozen=True)
class Case:
    """A problem; a group holds a value only if there is a row for it."""

    values: Sequence[Hashable]
    fits: Mapping[Hashable, Sequence[Sequence[int | None]]]  # [person][release]
    rows: Sequence[Row]
    statements: Sequence[Statement] = ()
    weight: Mapping[Hashable, int] = field(default_factory=dict)  # 1 where nothing is said
    prior: Mapping[Hashable, Mapping[Hashable, float]] | None = None

    def persons_of(self, person: Hashable) -> int:
        """How many persons stand behind a name."""
        return self.weight.get(person, 1)

    def seats(self, person: Hashable, release: int, value: Hashable) -> list[int | None]:
        """Where somebody with this value can be."""
        there = {row.group for row in self.rows if row.release == release and row.value == value}
        return [g for g in self.fits[person][release] if g is None or g in there]

    def releases(self) -> int:
        return len(next(iter(self.fits.values()), []))

    def pairs(self) -> list[Pair]:
        return [(p, s) for p in self.fits for s in self.values]

    def likely(self, pair: Pair) -> float:
        """The prior of a pair, 1 where there is none."""
        return 1.0 if self.prior is None else self.prior[pair[0]][pair[1]]

    def bounded(self) -> list[Row | Statement]:
        """All rows, published ones first."""
        return [*self.rows, *self.statements]


def of_seating(seating: Seating) -> Case:
    """The same problem in the general form."""
    rows = [
        Row(r, g, v, n, n)
        for r, release in enumerate(seating.counts)
        for g, published in enumerate(release)
        for v, n in Counter(published).items()
    ]
    return Case(seating.values(), seating.fits, rows)
