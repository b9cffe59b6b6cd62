"""Which persons must have changed: every smallest set whose split makes releases consistent, by trying them all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import combinations
from typing import TypeVar

from tests.oracles import History, common_values, linear, people, seats

Form = TypeVar("Form")


def part(person: Hashable, release: int) -> tuple[str, Hashable, int]:
    """What a person is called who is one release's part of somebody."""
    return ("part", person, release)


def split(history: History, changed: Iterable[Hashable]) -> History:
    """The history with one person per release for each of some."""
    gone = set(changed)
    return [
        [([part(p, r) if p in gone else p for p in members], values) for members, values in groups]
        for r, groups in enumerate(history)
    ]


def split_seats(case: seats.Seating, changed: Iterable[Hashable]) -> seats.Seating:
    """The same where persons fit several groups."""
    fits = dict(case.fits)
    for person in changed:
        own = fits.pop(person)
        for r, groups in enumerate(own):
            if groups != [None]:
                fits[part(person, r)] = [groups if k == r else [None] for k in range(len(own))]
    return seats.Seating(case.counts, fits)


def smallest(fits: Callable[[tuple[Hashable, ...]], bool], candidates: list[Hashable]) -> list[tuple[Hashable, ...]]:
    """All smallest sets of candidates that fit; none if not even all of them do."""
    for size in range(len(candidates) + 1):
        found = [chosen for chosen in combinations(candidates, size) if fits(chosen)]
        if found:
            return found
    return []


def consistent(history: History) -> bool:
    """Whether any probabilities fit."""
    return all(common_values(history, p) for p in people(history)) and linear.feasible(history)


def smallest_splits(history: History) -> list[tuple[Hashable, ...]]:
    """All smallest sets of persons in several releases whose split makes the history consistent."""
    several = [p for p in people(history) if sum(p in m for groups in history for m, _ in groups) > 1]
    return smallest(lambda chosen: consistent(split(history, chosen)), several)


def smallest_seat_splits(case: seats.Seating, named: Iterable[Hashable]) -> list[tuple[Hashable, ...]]:
    """The same where persons fit several groups."""

    def fits(chosen: tuple[Hashable, ...]) -> bool:
        form = split_seats(case, chosen)
        return all(form.options(p) for p in form.fits) and seats.feasible(form)

    several = [p for p in named if sum(groups != [None] for groups in case.fits[p]) > 1]
    return smallest(fits, several)
