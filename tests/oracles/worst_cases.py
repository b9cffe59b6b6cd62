"""Worst knowledge by trying all of it on all worlds: groups are lists of values, persons their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np

Groups = Sequence[Sequence[str]]
Atom = tuple[int, int, str]  # group, person, value


def worlds(groups: Groups) -> list[tuple[tuple[str, ...], ...]]:
    """Every assignment of the values of each group to its persons, each once."""
    return list(product(*(sorted(set(permutations(group))) for group in groups)))


def atoms(groups: Groups) -> list[Atom]:
    """Every person of every group with every value that it can have."""
    return [(g, i, v) for g, group in enumerate(groups) for i in range(len(group)) for v in sorted(set(group))]


def truth(groups: Groups) -> np.ndarray:
    """Which atoms (rows) hold in which worlds (columns)."""
    every = worlds(groups)
    return np.array([[world[g][i] == v for world in every] for g, i, v in atoms(groups)], dtype=bool)


def formulas(holds: np.ndarray, parts: int) -> np.ndarray:
    """The worlds of every implication from up to ``parts`` atoms together to one of up to ``parts`` atoms."""
    chosen = [list(c) for n in range(1, parts + 1) for c in combinations(range(holds.shape[0]), n)]
    premises = np.unique([holds[c].all(axis=0) for c in chosen], axis=0)
    ends = np.unique([holds[c].any(axis=0) for c in chosen], axis=0)
    return np.unique((~premises[:, None, :] | ends[None, :, :]).reshape(-1, holds.shape[1]), axis=0)


def by_formulas(groups: Groups, k: int, parts: int = 1) -> list[Fraction]:
    """The largest P(atom | k implications) of each group, over all of them."""
    holds = truth(groups)
    single = formulas(holds, parts)
    known = np.ones((1, holds.shape[1]), dtype=bool)
    best = [Fraction(0)] * len(groups)
    for turn in range(k + 1):
        if turn:
            known = np.unique((known[:, None, :] & single[None, :, :]).reshape(-1, holds.shape[1]), axis=0)
            known = known[known.any(axis=1)]
        have = known.astype(np.int64) @ holds.T.astype(np.int64)
        left = known.sum(axis=1)
        for column, (g, _, _) in enumerate(atoms(groups)):
            at = int(np.argmax(have[:, column] / left))
            best[g] = max(best[g], Fraction(int(have[at, column]), int(left[at])))
    return best


def by_pairs(groups: Groups, k: int) -> list[Fraction]:
    """The same for implications "if this atom, then the target's", which are known to be the worst."""
    holds, listed = truth(groups), atoms(groups)
    best = [Fraction(0)] * len(groups)
    for target, (g, _, _) in enumerate(listed):
        others = [i for i in range(len(listed)) if i != target]
        for chosen in combinations(others, min(k, len(others))):
            known = ~holds[list(chosen)].any(axis=0) | holds[target]
            best[g] = max(best[g], Fraction(int(holds[target].sum()), int(known.sum())))
    return best


def by_skyline(groups: Groups, excluded: int, known: int, family: int) -> list[Fraction]:
    """The largest P(value | target) of each group over all that a reader at this point can know."""
    every = worlds(groups)
    people = [(g, i) for g, group in enumerate(groups) for i in range(len(group))]
    best = [Fraction(0)] * len(groups)
    for target in people:
        if target[1]:  # members of a group are alike
            continue
        values = sorted(set(groups[target[0]]))
        for value in values:
            for gone in _up_to([v for v in values if v != value], excluded):
                possible = [w for w in every if _of(w, target) not in gone]
                for relatives in _up_to([p for p in people if p != target], family):
                    kept = [
                        w for w in possible if _of(w, target) == value or all(_of(w, p) != value for p in relatives)
                    ]
                    others = [p for p in people if p != target and p not in relatives]
                    best[target[0]] = max(best[target[0]], _known(kept, others, known, target, value))
    return best


def _known(kept: list, others: list, known: int, target: tuple[int, int], value: str) -> Fraction:
    """The largest share of worlds with the value, whatever so many other persons are known to have."""
    found = Fraction(0)
    for told in _up_to(others, known):
        parts: dict[tuple[str, ...], list[int]] = {}
        for world in kept:
            part = parts.setdefault(tuple(_of(world, p) for p in told), [0, 0])
            part[0] += _of(world, target) == value
            part[1] += 1
        found = max([found, *(Fraction(have, all_) for have, all_ in parts.values())])
    return found


def _of(world: tuple[tuple[str, ...], ...], person: tuple[int, int]) -> str:
    return world[person[0]][person[1]]


def _up_to(items: list, most: int) -> Iterator[tuple]:
    for n in range(min(most, len(items)) + 1):
        yield from combinations(items, n)
