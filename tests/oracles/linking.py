"""Persons and groups compared one by one, membership by trying every placement, distances in plain loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

Cell = frozenset[int] | None  # None covers everything


def covers(cell: Cell, value: int) -> bool:
    """Whether a cell covers a value; −1 is unknown."""
    return cell is None or value == -1 or value in cell


def groups_of(person: Sequence[int], groups: Sequence[Sequence[Cell]]) -> list[int]:
    """The groups all of whose cells cover the person's values."""
    return [
        g for g, cells in enumerate(groups) if all(covers(cell, value) for cell, value in zip(cells, person, strict=True))
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
