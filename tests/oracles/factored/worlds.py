"""Whole values: every world, weighed by the number of its seatings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from tests.oracles.factored.case import Case, Pair, Statement


def worlds(case: Case) -> tuple[Fraction, dict[Pair, Fraction]]:
    """The weight of all worlds together, and the share of it in which a person has a value.

    A world gives everybody a whole value. It weighs Π f of its values times, for every release, the
    number of ways to seat everybody so that the counts are met. Who stands behind a name with a weight
    is counted one by one; the share is that of any one of them.
    """
    everybody = [p for p in case.fits for _ in range(case.persons_of(p))]
    total, hits = Fraction(0), Counter[Pair]()
    for values in product(*[case.values] * len(everybody)):
        world = list(zip(everybody, values, strict=True))
        weight = Fraction(math.prod(Fraction(case.likely(pair)) for pair in world))
        if not weight or not all(_stated(statement, world) for statement in case.statements):
            continue
        for r in range(case.releases()):
            weight *= _seatings(case, r, world)
        total += weight
        for pair in world if weight else ():
            hits[pair] += weight
    return total, {pair: Fraction(n) / total / case.persons_of(pair[0]) for pair, n in hits.items()} if total else {}


def _stated(statement: Statement, world: Sequence[Pair]) -> bool:
    return statement.lower <= sum(statement.terms.get(pair, 0) for pair in world) <= statement.upper


def _seatings(case: Case, release: int, world: Sequence[Pair]) -> int:
    """The number of ways to seat everybody in one release, person after person."""
    rows = {(row.group, row.value): row for row in case.rows if row.release == release}
    ways: dict[tuple[int, ...], int] = {tuple([0] * len(rows)): 1}
    place = {key: k for k, key in enumerate(rows)}
    for p, s in world:
        after: Counter[tuple[int, ...]] = Counter()
        for taken, n in ways.items():
            for g in case.seats(p, release, s):
                used = list(taken)
                if g is not None:
                    used[place[g, s]] += 1
                    if used[place[g, s]] > rows[g, s].upper:
                        continue
                after[tuple(used)] += n
        ways = dict(after)
    met = [n for taken, n in ways.items() if all(row.lower <= taken[place[key]] for key, row in rows.items())]
    return sum(met)
