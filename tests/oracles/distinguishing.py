"""Distinction and separation of columns by comparing all pairs of rows, and every set that a finder may show."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations

Row = Sequence[object]


def told_apart(rows: Sequence[Row], columns: Sequence[int]) -> tuple[Fraction, Fraction, Fraction]:
    """Share of different rows, of pairs that differ, and of rows unlike all others."""
    seen = [tuple(row[c] for c in columns) for row in rows]
    n = len(seen)
    firsts = sum(seen[i] not in seen[:i] for i in range(n))
    alone = sum(all(seen[i] != seen[j] for j in range(n) if j != i) for i in range(n))
    pairs = list(combinations(range(n), 2))
    apart = Fraction(sum(seen[i] != seen[j] for i, j in pairs), len(pairs)) if pairs else Fraction(1)
    return Fraction(firsts, n), apart, Fraction(alone, n)


def shown(rows: Sequence[Row], most: int, enough: float) -> set[tuple[int, ...]]:
    """Sets of up to so many columns none of whose proper subsets tells enough apart."""
    width = len(rows[0])
    every = chain.from_iterable(combinations(range(width), size) for size in range(1, most + 1))
    return {
        chosen
        for chosen in every
        if all(
            float(told_apart(rows, part)[0]) < enough
            for size in range(1, len(chosen))
            for part in combinations(chosen, size)
        )
    }
