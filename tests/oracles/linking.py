"""Persons and groups compared one by one, membership by trying every placement, distances in plain loops."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

Cell = frozenset[int] | None  # None covers everything


def covers(cell: Cell, value: int) -> bool:
    """Whether a cell covers a value; −1 is unknown."""
    return cell is None or value == -1 or value in cell


def groups_of(person: Sequence[int], groups: Sequence[Sequence[Cell]]) -> list[int]:
    """The groups all of whose cells cover the person's values."""
    return [
        g
        for g, cells in enumerate(groups)
        if all(covers(cell, value) for cell, value in zip(cells, person, strict=True))
    ]


def placements(fits: Sequence[Sequence[int]], rows: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every way to put persons into groups they fit or outside (−1) that no group overflows."""
    for choice in product(*[[-1, *own] for own in fits]):
        if all(choice.count(g) <= size for g, size in enumerate(rows)):
            yield choice


def most_placed(fits: Sequence[Sequence[int]], rows: Sequence[int], must: Sequence[bool]) -> int:
    """The largest number of persons inside among the placements with all who must be inside; −1 if there is none."""
    return max(
        (
            sum(g >= 0 for g in choice)
            for choice in placements(fits, rows)
            if all(g >= 0 for g, known in zip(choice, must, strict=True) if known)
        ),
        default=-1,
    )


def islands(fits: Sequence[Sequence[int]], groups: int) -> list[set[int]]:
    """Groups tied together by persons who fit several, by merging sets until nothing changes."""
    found = [{g} for g in range(groups)]
    for own in fits:
        touched = [island for island in found if island & set(own)]
        if len(touched) > 1:
            found = [island for island in found if island not in touched] + [set().union(*touched)]
    return sorted(found, key=min)


def nearest_of(
    person: Sequence[float], centroids: Sequence[Sequence[float]], kinds: Sequence[str], scales: Sequence[float]
) -> list[int]:
    """The groups at the smallest distance."""
    distances = []
    for centroid in centroids:
        total = 0.0
        for value, middle, kind, scale in zip(person, centroid, kinds, scales, strict=True):
            if not math.isnan(value):
                total += float(value != middle) if kind == "nominal" else ((value - middle) / scale) ** 2
        distances.append(math.sqrt(total))
    return [g for g, distance in enumerate(distances) if math.isclose(distance, min(distances), abs_tol=1e-9)]


def within_of(
    person: Sequence[float],
    centroids: Sequence[Sequence[float]],
    spreads: Sequence[Sequence[float]],
    kinds: Sequence[str],
) -> list[int]:
    """The groups whose centroid ± spread covers the person."""
    found = []
    for g, (centroid, spread) in enumerate(zip(centroids, spreads, strict=True)):
        fits = True
        for value, middle, reach, kind in zip(person, centroid, spread, kinds, strict=True):
            if math.isnan(value):
                continue
            fits &= (reach > 0 or value == middle) if kind == "nominal" else abs(value - middle) <= reach
        if fits:
            found.append(g)
    return found
