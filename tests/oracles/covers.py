"""Releases whose values are published as sets, as one linear program: who can have what.

A release is a list of groups, each with its persons and the sets that were published for them, one per person in any
order. x[p, s] is the probability of a value, y[p, r, k, s] that it moreover stands behind the k-th set of the person's
group; every set stands for one person.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

Group = tuple[list[str], list[frozenset[str]]]


def bounds(releases: list[list[Group]], values: list[str]) -> dict[tuple[str, str], tuple[float, float]]:
    """The least and the greatest probability of every value of every person."""
    people = sorted({p for release in releases for persons, _ in release for p in persons})
    number: dict[object, int] = {}
    for p in people:
        for s in values:
            number[p, s] = len(number)
    rows, right = [], []
    for r, release in enumerate(releases):
        for persons, sets in release:
            for k, own in enumerate(sets):
                for p in persons:
                    for s in own:
                        number[p, r, k, s] = len(number)

    def row(terms: dict[object, float], total: float) -> None:
        rows.append({number[key]: a for key, a in terms.items()})
        right.append(total)

    for p in people:
        row({(p, s): 1.0 for s in values}, 1.0)
    for r, release in enumerate(releases):
        for persons, sets in release:
            for p in persons:
                for s in values:
                    behind = {(p, r, k, s): 1.0 for k, own in enumerate(sets) if s in own}
                    row({(p, s): -1.0, **behind}, 0.0)
            for k, own in enumerate(sets):
                row({(p, r, k, s): 1.0 for p in persons for s in own}, 1.0)
    A = np.zeros((len(rows), len(number)))
    for k, terms in enumerate(rows):
        for at, a in terms.items():
            A[k, at] = a
    found = {}
    for p in people:
        for s in values:
            c = np.zeros(len(number))
            c[number[p, s]] = 1.0
            ends = [linprog(sign * c, A_eq=A, b_eq=right, bounds=(0, 1)) for sign in (1.0, -1.0)]
            assert all(end.status == 0 for end in ends), "nothing fits"
            found[p, s] = (float(ends[0].fun), float(-ends[1].fun))
    return found
