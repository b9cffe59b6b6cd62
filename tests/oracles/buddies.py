"""Cracks of insert-only histories by trying every way to pair records of the earlier release with later ones.

A record is (cell, value), a cell a set of quasi-identifiers; the same number in ``groups`` is the same group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Record = tuple[frozenset, str]


def pairings(earlier: Sequence[Record], later: Sequence[Record]) -> Iterator[tuple[int, ...]]:
    """The later record of each earlier one: different ones, the same value, cells with something in common."""

    def extend(at: int, taken: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if at == len(earlier):
            yield taken
            return
        cell, value = earlier[at]
        for k, (other, theirs) in enumerate(later):
            if k not in taken and theirs == value and other & cell:
                yield from extend(at + 1, (*taken, k))

    yield from extend(0, ())


def exact(earlier: Sequence[Record], later: Sequence[Record], person: object) -> tuple[int, int, int]:
    """The fewest records of the groups that a person fits which are not the person's: forward, cross, backward."""
    first = {k for k, (cell, _) in enumerate(earlier) if person in cell}
    second = {k for k, (cell, _) in enumerate(later) if person in cell}
    found = []
    for pairing in pairings(earlier, later):
        kept = {(a, b) for a, b in enumerate(pairing) if a in first and b in second}
        inside = {b for b in pairing if b in second}
        found.append((len(first) - len(kept), len(second) - len(kept), len(inside)))
    forward, cross, backward = (min(own) for own in zip(*found, strict=True))
    return forward, cross, backward


def formulas(earlier: Sequence[Record], later: Sequence[Record], person: object) -> tuple[int, int, int]:
    """The same by comparing counts (Fung et al., EDBT 2008)."""
    forward = cross = backward = 0
    for value in {v for _, v in (*earlier, *later)}:
        one = [cell for cell, v in earlier if v == value]
        two = [cell for cell, v in later if v == value]
        mine, theirs = sum(person in cell for cell in one), sum(person in cell for cell in two)
        forward += max(0, mine - theirs)
        cross += max(0, theirs - mine)
        near = [cell for cell in one if any(person in other and other & cell for other in two)]
        reach = [cell for cell in two if any(cell & other for other in near)]
        if near:
            backward += max(0, len(near) - sum(person not in cell for cell in reach))
    return forward, cross, backward
