"""What single rows say of every variable, in fractions: each row is asked again and again until nothing changes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from tests.oracles.factored import Case, Key
from tests.oracles.factored.linear import linear

Interval = tuple[Fraction, Fraction]
_ROUNDS = 60


def intervals(case: Case) -> dict[Key, Interval]:
    """The least and the most persons of every variable, or as near to that as some rounds come."""
    lp = linear(case)
    rows = [
        *((row, float(right), float(right)) for row, right in zip(_rows(lp.A), lp.b, strict=True)),
        *zip(_rows(lp.activity), lp.lower.tolist(), lp.upper.tolist(), strict=True),
    ]
    found = [(Fraction(0), Fraction(int(most))) for most in lp.most]
    for _ in range(_ROUNDS):
        before = list(found)
        for terms, lower, upper in rows:
            for k, factor in terms:
                rest = [_times(found[j], a) for j, a in terms if j != k]
                ends = []
                if np.isfinite(upper):
                    ends.append((Fraction(int(upper)) - sum(low for low, _ in rest), factor > 0))
                if np.isfinite(lower):
                    ends.append((Fraction(int(lower)) - sum(high for _, high in rest), factor < 0))
                for end, above in ends:
                    low, high = found[k]
                    found[k] = (low, min(high, end / factor)) if above else (max(low, end / factor), high)
        if found == before:
            break
    return dict(zip(lp.keys, found, strict=True))


def of_one_person(case: Case, key: Key, interval: Interval) -> tuple[float, float]:
    """The bounds of one of the persons behind a name."""
    low, high = interval
    return float(max(Fraction(0), low - (case.persons_of(key[0]) - 1))), float(min(Fraction(1), high))


def _rows(matrix: object) -> Iterator[list[tuple[int, int]]]:
    for row in matrix.toarray():  # type: ignore[attr-defined]
        yield [(int(k), int(row[k])) for k in np.flatnonzero(row)]


def _times(interval: Interval, factor: int) -> Interval:
    ends = interval[0] * factor, interval[1] * factor
    return min(ends), max(ends)
