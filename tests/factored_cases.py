"""Random cases of the general problem, made from a hidden truth so that something fits, or tampered with."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace

from tests.oracles.factored import Case, Pair, Row, Statement


@dataclass(frozen=True)
class Size:
    """How large a case is at most, and what is in it."""

    persons: int = 5
    values: int = 3
    releases: int = 3
    groups: int = 3
    heaviest: int = 1  # persons behind one name
    seated: float = 0.0  # share of the persons who fit further groups, per release
    ranged: float = 0.0  # share of the counts known as a range
    statements: int = 0
    prior: bool = False


FLAVOURS = {
    "plain": Size(),
    "weighed": Size(persons=4, heaviest=4),
    "seated": Size(seated=0.6),
    "ranges": Size(ranged=0.5),
    "seated ranges": Size(seated=0.5, ranged=0.5),
    "statements": Size(statements=3),
    "prior": Size(seated=0.3, prior=True),
    "loose": Size(persons=6, releases=2, groups=2, heaviest=2, seated=0.6, ranged=0.8, statements=4, prior=True),
    "everything": Size(heaviest=2, seated=0.5, ranged=0.4, statements=2, prior=True),
}


@dataclass(frozen=True)
class Truth:
    """What really is: a value of every single person, and a seat in every release."""

    value: dict[tuple[Hashable, int], Hashable]  # person, which of those behind the name
    seat: list[dict[tuple[Hashable, int], int | None]]

    def activity(self, row: Row | Statement) -> int:
        """The count of a row, or the sum of a statement."""
        if isinstance(row, Statement):
            return sum(row.terms.get((p, s), 0) for (p, _), s in self.value.items())
        return sum(s == row.value and self.seat[row.release][one] == row.group for one, s in self.value.items())


def made(seed: int, size: Size = Size()) -> tuple[Case, Truth]:  # noqa: B008 - frozen
    """A case that its truth fits."""
    rng = random.Random(seed)
    weight = {f"p{k}": rng.randint(1, size.heaviest) for k in range(rng.randint(1, size.persons))}
    values = [f"v{k}" for k in range(rng.randint(2, size.values) if size.values > 1 else 1)]
    single = [(p, k) for p in weight for k in range(weight[p])]
    value: dict[tuple[Hashable, int], Hashable] = {one: rng.choice(values) for one in single}
    truth = Truth(value, [])
    fits: dict[Hashable, list[list[int | None]]] = {p: [] for p in weight}
    rows: list[Row] = []
    for r in range(rng.randint(1, size.releases)):
        home, groups = _homes(rng, weight, size)
        truth.seat.append(home)
        for p in weight:
            own = {home[p, k] for k in range(weight[p])}
            if rng.random() < size.seated:
                own |= {rng.choice([*range(groups), *range(groups), None]) for _ in range(rng.randint(1, 2))}
            fits[p].append(sorted(own, key=lambda g: -1 if g is None else g))
        counts = Counter((home[one], value[one]) for one in single if home[one] is not None)
        rows += [_published(rng, r, g, s, n, size) for (g, s), n in counts.items() if g is not None]
    statements = [_stated(rng, truth, list(weight), values) for _ in range(rng.randint(0, size.statements))]
    prior = _prior(rng, truth, list(weight), values) if size.prior else None
    return Case(values, fits, rows, statements, weight, prior), truth


def case(seed: int, flavour: str = "plain") -> Case:
    """A case of one of the `FLAVOURS`, which fits."""
    return made(seed, FLAVOURS[flavour])[0]


def tampered(seed: int, flavour: str = "plain") -> Case:
    """The same with one bound moved, so that most often nothing fits any more."""
    whole, rng = case(seed, flavour), random.Random(seed + 1)
    k = rng.randrange(len(whole.rows) + len(whole.statements)) if whole.rows or whole.statements else None
    if k is None:
        return whole
    if k < len(whole.rows):
        moved = _moved(rng, whole.rows[k])
        return replace(whole, rows=[moved if i == k else row for i, row in enumerate(whole.rows)])
    k -= len(whole.rows)
    own = _moved(rng, whole.statements[k])
    return replace(whole, statements=[own if i == k else s for i, s in enumerate(whole.statements)])


def _homes(
    rng: random.Random, weight: dict[str, int], size: Size
) -> tuple[dict[tuple[Hashable, int], int | None], int]:
    """Everybody's group, those behind one name in the same group unless persons fit several."""
    groups = rng.randint(1, size.groups)
    home: dict[tuple[Hashable, int], int | None] = {}
    for p, n in weight.items():
        together = rng.choice([*range(groups), *range(groups), None])
        for k in range(n):
            apart = size.seated > 0 and rng.random() < size.seated
            home[p, k] = rng.choice([*range(groups), None]) if apart else together
    return home, groups


def _published(rng: random.Random, r: int, g: int, s: Hashable, n: int, size: Size) -> Row:
    """A count as it is, or a range around it: narrow, wide, open above, or open below."""
    if rng.random() >= size.ranged:
        return Row(r, g, s, n, n)
    below, above = rng.choice([(0, 1), (1, 0), (1, 1), (2, 2), (0, math.inf), (n, 0), (n, math.inf)])
    return Row(r, g, s, max(0, n - below), n + above)


def _stated(rng: random.Random, truth: Truth, people: list[str], values: list[str]) -> Statement:
    """Some pairs with whole coefficients; exact, a range, or one-sided."""
    pairs: list[Pair] = [(p, s) for p in people for s in values]
    chosen = rng.sample(pairs, rng.randint(1, min(len(pairs), 5)))
    plain = rng.random() < 0.5
    terms = {pair: 1 if plain else rng.choice([-3, -2, -1, 1, 2, 3]) for pair in chosen}
    n = truth.activity(Statement(terms, 0, 0))
    below, above = rng.choice([(0, 0), (0, 1), (1, 0), (1, 1), (0, math.inf), (math.inf, 0)])
    return Statement(terms, n - below, n + above)


def _prior(
    rng: random.Random, truth: Truth, people: list[str], values: list[str]
) -> dict[Hashable, dict[Hashable, float]]:
    """Any positive numbers, and zeros where the truth is not."""
    real = {(p, s) for (p, _), s in truth.value.items()}
    return {
        p: {s: 0.0 if (p, s) not in real and rng.random() < 0.2 else rng.choice([0.1, 0.25, 0.5, 1, 3]) for s in values}
        for p in people
    }


def _moved(rng: random.Random, row: Row | Statement) -> Row | Statement:
    """The bounds one or two further."""
    by = rng.choice([-2, -1, 1, 2])
    lower, upper = row.lower + by, row.upper + by
    if isinstance(row, Row) and lower < 0:
        lower, upper = row.lower + 1, row.upper + 1
    return replace(row, lower=lower, upper=upper)
